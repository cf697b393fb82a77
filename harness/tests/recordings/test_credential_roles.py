"""A value that is only named like a credential is a problem for `scan` if a request uses it as one; other formats than ours have roles."""

import json

import pytest

from ellmer_harness.cli import main
from ellmer_harness.cli.scan import searched
from ellmer_harness.recordings import credential_roles
from ellmer_harness.recordings.interaction import Interaction
from ellmer_harness.secrets.cassette_scan import Finding

from .test_public_pages import GITHUB, TOKEN, exchange

KEY = "tS4bW1kQz8pVx2LmNr6YcD9hGf3JaE7u"
OTHER = "Zk3vPq9XwB2nLs7RfT1mYc5HdJ8gUe4a"
COOKIE = f"app_session={KEY}"
OTHERS = f"other_session={OTHER}"
BOTH = f"{COOKIE}; {OTHERS}"
TICKET = f"https://api.example.com/?ticket=ST-8852493-{KEY[:20]}-ap2"
SESSION = "9f8b7c6d-1a2b-4c3d-8e4f-5a6b7c8d9e0f"
OBJECT = "AP5c39e67b56459410e9d2f6426125cb16"  # of Twilio
AWS = f"AWS4-HMAC-SHA256 Credential=AKIA{OTHER[:16].upper()}/20150607/eu-west-1/ec2/aws4_request, SignedHeaders=host, Signature={32 * 'a7'}"
DIGEST = f'Digest username="ann", realm="a@example.com", nonce="{OTHER}", uri="/x", response="{32 * "a7"}", nc=00000001'
AUTH = {"Authorization": [f"Bearer {OTHER}"]}
API = "https://api.example.com/v1/items"
JSON = "application/json"


def got(**fields):
    return exchange(url=API, kind=JSON, page=json.dumps(fields))


def sent(url=API, headers=AUTH, method="GET", body="", **more):
    found = exchange(method, url=url, sent=headers, kind=JSON, page="{}", **more)
    found["request"]["body"] = body
    return found


def form(**fields):
    return "&".join(f"{name}={value}" for name, value in fields.items())


@pytest.fixture
def found(tmp_path):
    """Returns a function that tells the certain and the possible findings in a recording, but the key that authorizes."""

    def of(*interactions):
        (tmp_path / "c.json").write_text(json.dumps({"version": 1, "interactions": interactions}))
        file = searched(tmp_path / "c.json")
        certain = [text for _, text in file.problems if "headers/Authorization" not in text]
        return len(certain), len(file.possible)

    return of


LOGIN = {"method": "POST", "headers": {}, "body": form(username="ann", password="<PASSWORD>")}


@pytest.mark.parametrize(
    ("exchanges", "certain", "possible"),
    [
        ([got(access_token=KEY)], 1, 0),
        ([got(note=f"the key: {GITHUB}")], 1, 0),
        ([got(embed_token=KEY)], 0, 1),
        ([got(csrf_token=KEY)], 0, 1),
        ([got(embed_token=KEY), sent(f"{API}?token={KEY}")], 2, 0),
        ([got(next=f"{API}?api_key={KEY}")], 0, 1),
        ([got(next=f"{API}?page=2&access_token={KEY}")], 1, 0),
        ([sent(f"{API}?api_key=REDACTED", {}, Link=[f"<{API}?page=2&api_key={KEY}>"])], 1, 0),
        ([sent(f"{API}?api_key={KEY}")], 1, 0),
        ([got(player=f"{API}/embed.js?apiKey={KEY}"), sent(f"{API}?apiKey={KEY}")], 0, 2),
        ([sent(**{"Set-Cookie": [COOKIE]})], 0, 1),
        ([sent(**{"Set-Cookie": [COOKIE]}), sent(headers={**AUTH, "Cookie": [COOKIE]})], 2, 0),
        ([sent(headers={}, **{"Set-Cookie": [COOKIE]}), sent(headers={"Cookie": [COOKIE]})], 0, 2),
        ([sent(headers={"Cookie": [COOKIE]})], 1, 0),
        ([sent(headers={}, **{"Set-Cookie": [COOKIE, OTHERS]}), sent(headers={"Cookie": [BOTH]})], 0, 3),
        ([sent(headers={}, Location=[TICKET]), sent(TICKET, {})], 0, 2),
        ([sent(headers={}, Location=[TICKET]), sent(TICKET)], 2, 0),
        ([sent(**LOGIN, **{"Set-Cookie": [COOKIE]})], 1, 0),
        ([sent(**LOGIN, **{"Set-Cookie": [f"XSRF-TOKEN={KEY}; path=/; Secure"]})], 0, 1),
        (
            [
                sent(**LOGIN, **{"Set-Cookie": [f"csrftoken={KEY}"]}),
                sent(headers={**AUTH, "Cookie": [f"csrftoken={KEY}"]}),
            ],
            0,
            2,
        ),
        ([sent(f"{API}?oauth_token=tests5b7k2m9qx")], 0, 0),
        ([sent(f"{API}?oauth_token=tests5b7k2m9qx4w")], 0, 1),
        ([sent(headers={"X-Authorization": ["YW5uOmtlljkleS1vZi1hbm4tNDI3MTE6"]})], 0, 1),
        ([sent(headers={"X-Session-Id": [SESSION]})], 0, 1),
        ([sent(**{"Mcp-Session-Id": [SESSION]}), sent(headers={"Mcp-Session-Id": [SESSION]})], 2, 0),
        ([sent(method="POST", body=form(user="ann", signature=KEY))], 0, 1),
        ([sent(f"{API}?card_token={KEY}")], 0, 1),
        ([sent(f"{API}?user_token={KEY}")], 1, 0),
        ([sent(headers={"X-Card-Token": [KEY]})], 1, 0),
        ([sent(headers={"X-CSRF-Token": [KEY]})], 0, 1),
        ([sent(f"{API}?q=1&signature={KEY}")], 0, 1),
        ([sent(f"{API}?X-Amz-Signature={KEY}")], 1, 0),
        ([sent(f"{API}?PHPSESSID={SESSION.replace('-', '')}")], 1, 0),
        ([sent(method="POST", body=form(password="hunter42!"))], 1, 0),
        ([sent(f"{API}?user=ann&password=badpassword")], 0, 1),
        ([sent(method="POST", body=form(password="wrongPasswordOfAnn"))], 0, 1),
        ([got(refresh_token="9f7fe8cb-74f6-eeee-896c-615bfd7ee589")], 0, 1),
        ([sent(**{"X-Cloud-Authorization": [KEY]})], 1, 0),
        ([exchange(sent=AUTH, page=f'<script>x = {{"client_secret": "{KEY}"}}</script>')], 0, 1),
        ([got(client_secret=f"pi_{KEY[:24]}_secret_12345")], 0, 0),
        ([got(client_secret=f"pi_{KEY[:24]}_secret_{OTHER[:25]}")], 1, 0),
        ([sent(headers={"Signed": [f"AWS {'A' * 20}:{KEY[:27]}="]})], 0, 0),
        ([sent(headers={"Authorization": [f"SharedKey accountofann:{(KEY + OTHER)[:43]}="]})], 0, 0),
        ([sent("https://ann:my_app_password@api.example.com/v1")], 0, 0),
        ([sent("https://admin:admin@api.example.com/v1")], 0, 1),
        ([sent("https://admin:Administrator@api.example.com/v1")], 0, 1),
        ([sent("https://admin:smartvm@api.example.com/v1")], 0, 1),
        ([sent("https://api.bart.gov/api/etd.aspx?cmd=etd&key=MW9S-E7SL-26DU-VV8V")], 0, 0),
        ([sent("https://admin:tr0ub4dor@api.example.com/v1")], 1, 0),
        ([sent("https://admin:tr0ub4dor@localhost:8080/v1")], 0, 1),
        ([sent(f"https://admin:{KEY}@localhost:8080/v1")], 1, 0),
        ([sent(headers={"Authorization": ["Basic YWRtaW46aGFja21l"]})], 0, 1),
        ([sent(method="POST", body="user=ann&password=Passw0rd1!")], 0, 1),
        ([sent(method="POST", body="user=ann&password=winter4x7q")], 1, 0),
        ([sent(method="POST", body="user=ann&password=Testpassword123%21")], 0, 2),
        ([got(password="@V3ryS3cur3P@55w0rd")], 0, 1),
        ([sent(method="POST", body=form(password="thiZ_is_v8ry_s3cret"))], 0, 1),
        ([sent(method="POST", body=form(password=f"secret{KEY}"))], 1, 0),
        ([sent(headers={"Authorization": ['Basic <%= Base64.encode64("a%40b:words").chomp %>']})], 0, 0),
        ([sent(headers={"Authorization": [f'Signature keyId="{KEY}/{OTHER}",signature="{KEY}"']})], 0, 0),
        ([sent(headers={"Authorization": [DIGEST]})], 0, 1),
        ([sent(method="POST", body="user=ann&password=12345678")], 0, 1),
        ([sent("http://127.0.0.1:3000/login", method="POST", body="user=ann&password=winter4x7q")], 0, 1),
        ([got(secret_access_key=f"{KEY}{OTHER[:8]}")], 1, 0),
        (
            [
                sent(
                    headers={
                        "Authorization": ["<AUTHORIZATION>"],
                        "Accept": ["text/html </a> application/json, 9x8Kq2Lm4Zt7"],
                    }
                )
            ],
            0,
            0,
        ),
        (
            [
                got(
                    reference="CmRSAAAAUydvyOgiljHLAONyzNLGulgxJctym4A8j8O9xvMYXLOWb6RyCv9jue_0OzOpQGc2--hf_JYzCj8eZWfOOw0439LI615Hnl47hsREZ37j9"
                )
            ],
            0,
            0,
        ),
        ([sent(f"https://{KEY}:{OTHER}@api.example.com/v1"), got(account_sid=OBJECT)], 1, 1),
        ([sent(f"https://{KEY}:@api.example.com/v1")], 1, 0),
        ([sent(headers={"Signed": [AWS]})], 1, 0),
        ([sent(f"https://{KEY}:{KEY}@api.example.com/v1")], 1, 0),
        ([sent(headers={"X-Login": ["Basic cHNjX2FwcDpwc2NfYXBw"]})], 0, 1),
        ([sent(method="POST", body=form(ApplicationSid=OBJECT))], 0, 1),
        ([sent(method="POST", body=form(sid=OBJECT[2:]))], 1, 0),
        ([sent("https://www.youtube.com/youtubei/v1/search?key=AIza" + TOKEN[:33] + "Q7")], 0, 1),
    ],
    ids=str,
)
def test_a_finding_is_certain_if_the_value_is_used_as_a_credential(found, exchanges, certain, possible):
    assert found(*exchanges) == (certain, possible)


def test_a_header_of_har_has_its_name_beside_it(tmp_path):
    request = {"method": "GET", "url": API, "headers": [], "queryString": []}
    headers = [
        {"name": "Set-Cookie", "value": f"{COOKIE}; path=/"},
        {"name": "X-Auth-Token", "value": OTHER},
    ]
    answer = {
        "status": 200,
        "statusText": "OK",
        "headers": headers,
        "content": {"text": "{}", "mimeType": JSON},
    }
    entry = {"request": request, "response": answer}
    (tmp_path / "c.har").write_text(json.dumps({"log": {"version": "1.2", "entries": [entry]}}))
    file = searched(tmp_path / "c.har")
    assert [text.split(":")[0] for _, text in file.problems] == ["/log/entries/0/response/headers/1/value"]
    assert len(file.possible) == 1


def test_possible_findings_are_counted_and_strict_lists_them(tmp_path, capsys):
    (tmp_path / "c.json").write_text(json.dumps({"version": 1, "interactions": [got(embed_token=KEY)]}))
    assert main(["scan", str(tmp_path)]) == 0
    assert (
        "1 value is named like a credential, but no request uses it as one: see --strict"
        in capsys.readouterr().out
    )
    assert main(["scan", str(tmp_path), "--strict"]) == 1
    mark = capsys.readouterr().out.split("fingerprint ")[1][:8]
    assert main(["scan", str(tmp_path), f"--accept={mark}"]) == 0
    assert "named like" not in capsys.readouterr().out


def test_a_request_is_read_once_for_all_findings(monkeypatch):
    read = []
    monkeypatch.setattr(credential_roles, "_names", lambda text: read.append(text) or iter(()))
    login = Interaction("/0", "POST", "https://example.com/", body=b"a=1")
    found = [Finding(f"/0/response/body/{at}", "a key", f"{at:08x}", "place") for at in range(9)]

    assert [*credential_roles.certain([login], found)] == [False] * 9
    assert len(read) == 1
