"""No secret reaches the disk: known ones are replaced, found ones are refused, and neither is shown."""

import gzip
import json
from base64 import b64encode
from urllib.parse import quote

import httpx
import pytest

from ellmer_harness import Miss, SecretFound, use_cassette
from ellmer_harness.cassette.cassette_index import recorded_response
from ellmer_harness.exchange.messages import Failure
from ellmer_harness.exchange.reply import Reply
from ellmer_harness.secrets.cassette_scan import scan
from ellmer_harness.secrets.redaction import Scrub, clean_url, masked

API = "https://api.example.com"
KEY = "aB3/dE5+gH7_jK9-mN1=pQ"  # letters that JSON, URLs and base64 each write in their own way
OTHER_KEY = "pQ7Zx2Lm9Vb4Ry8N"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"


def files(folder):
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_headers_are_written_only_if_they_are_listed(server, record, tmp_path):
    server.whole({}, "application/json", "set-cookie: s=1", "x-request-id: 7", "retry-after: 1", "x-mine: 2")
    headers = {
        "authorization": f"Bearer {KEY}",
        "x-api-key": KEY,
        "cookie": "c=1",
        "anthropic-version": "1",
        "x-stainless-runtime-version": "3",
    }
    with use_cassette(tmp_path / "c.json", **record, keep_headers=["x-mine", "cookie"]) as cassette:
        httpx.post(f"{API}/x?key={KEY}&q=1", json={}, headers=headers)
    interaction = json.loads((tmp_path / "c.json").read_text())["interactions"][0]

    assert interaction["request"]["headers"].keys() == {"accept", "content-type", "anthropic-version"}
    assert interaction["response"]["headers"].keys() == {
        "content-type",
        "content-length",
        "retry-after",
        "x-mine",
    }
    assert interaction["request"]["uri"] == f"{API}/x?key=REDACTED&q=1"
    assert cassette.sent[0].headers["authorization"] == "Bearer REDACTED"
    assert cassette.sent[0].headers["x-api-key"] == "REDACTED"
    assert KEY not in repr(cassette.exchanges)


def test_another_key_or_none_replays_it(server, record, tmp_path):
    with use_cassette(tmp_path / "c.json", **record):
        httpx.get(f"{API}/x?key={quote(KEY)}&q=1", headers={"authorization": KEY})
    with use_cassette(tmp_path / "c.json"):
        httpx.get("https://user:pass@api.example.com/x?q=1")


def test_named_secrets_are_replaced_on_both_sides_and_match_again(server, record, tmp_path):
    server.chunked([f'data: {{"you":"{KEY}"}}\n\n'.encode(), b"data: 2\n\n"])

    def ask(key):
        with httpx.stream("POST", f"{API}/{quote(key, safe='')}", json={"account": key}) as response:
            return list(response.iter_raw())

    with use_cassette(tmp_path / "c.json", **record, secrets={"ACCOUNT": KEY}):
        ask(KEY)
    assert KEY.encode() not in files(tmp_path)
    with use_cassette(tmp_path / "c.json", secrets={"ACCOUNT": "mine"}) as cassette:
        assert ask("mine") == [b'data: {"you":"<ACCOUNT>"}\n\n', b"data: 2\n\n"]
    assert cassette.exchanges[0].headers


def test_the_length_fits_after_a_replacement(server, record, tmp_path):
    with use_cassette(tmp_path / "c.json", **record, secrets={"K": KEY}):
        httpx.post(API, content=KEY)
    with use_cassette(tmp_path / "c.json", secrets={"K": KEY}):
        response = httpx.post(API, content=KEY)
    assert response.json() == {"echo": "<K>"}
    assert int(response.headers["content-length"]) == len(response.content)


def test_keys_of_the_environment_are_replaced_unasked(server, record, tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", TOKEN)
    with use_cassette(tmp_path / "c.json", **record):
        httpx.post(API, json={"text": f"my key is {TOKEN}"})
    assert TOKEN.encode() not in files(tmp_path)
    assert b"my key is <SOME_API_KEY>" in files(tmp_path)


@pytest.mark.parametrize(
    "form", [str.upper, str.lower, lambda key: key.encode().hex(), lambda key: key.encode().hex().upper()]
)
def test_a_key_of_the_environment_is_replaced_in_other_case_and_in_hexadecimal(
    server, record, tmp_path, monkeypatch, form
):
    key = "canary9F8e7d6c5b4a39281706f5e4d3"
    monkeypatch.setenv("SOME_API_KEY", key)
    with use_cassette(tmp_path / "c.json", **record):
        httpx.post(API, json={"text": f"my key is {form(key)}"})
    assert form(key).encode() not in files(tmp_path)
    assert b"my key is <SOME_API_KEY>" in files(tmp_path)


@pytest.mark.parametrize("form", [str, str.upper, lambda key: key[::-1], lambda key: key.encode().hex()])
def test_neither_a_reason_phrase_nor_an_error_has_a_known_value(form):
    said = form("canary9F8e7d6c5b4a39281706f5e4d3")
    reply = Reply(401, f"No {said}", failure=Failure("ReadError", said, said))
    scrub = Scrub({"canary9F8e7d6c5b4a39281706f5e4d3": "<KEY>"})
    assert said not in repr(recorded_response(scrub, reply, live=False))


PLACES = {
    "request JSON": {"json": {"deep": [{"text": f"see {TOKEN}!"}]}},
    "tool arguments": {"json": {"arguments": json.dumps({"t": TOKEN})}},
    "form": {"data": {"token": TOKEN}},
    "multipart": {"files": {"f": ("a.bin", b"\x00" + TOKEN.encode())}},
    "base64": {"json": {"data": b64encode(b"x" + TOKEN.encode()).decode()}},
    "base64 inside text": {"content": "see:" + b64encode(f"user:{TOKEN}".encode()).decode()},
    "base64 glued to a word": {"json": {"x": "token" + b64encode(f"user {TOKEN}".encode()).decode()}},
    "gzip": {"content": gzip.compress(TOKEN.encode()), "headers": {"content-encoding": "gzip"}},
    "gzip in base64": {"json": {"z": b64encode(gzip.compress(TOKEN.encode() * 9)).decode()}},
    "a large binary": {"content": b"\xff" * 5000 + TOKEN.encode()},
    "the path": {"url": f"{API}/{TOKEN}/x"},
    "a parameter": {"url": f"{API}/x?state={TOKEN}"},
    "an escaped parameter": {"url": f"{API}/x?state=" + "".join(f"%{ord(c):02x}" for c in TOKEN)},
    "a kept header": {"headers": {"accept": TOKEN}},
    "a named field": {"json": {"client_secret": "9f8e7d6c5b4a39281706f5e4d3c2b1a0"}},
    "an assignment": {"content": "password=9f8e7d6c5b4a39281706f5e4d3c2b1a0&x=1"},
    "PEM": {"json": {"pem": "-----BEGIN RSA PRIVATE KEY-----\nMII"}},
    "a JSON web token": {
        "content": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"
    },
    "a login form": {"data": {"user": "me", "password": "S3cret!pw"}},
    "a login": {"json": {"user": "me", "userPassword": "S3cret!pw"}},
    "a part": {"data": {"db_password": "S3cret!pw"}, "files": {"f": b"1"}},
    "another part": {"data": {"auth_token": "9f8e7d6c5b4a39281706f5e4d3c2b1a0"}, "files": {"f": b"1"}},
    "XML": {"content": "<SecretAccessKey>9f8e7d6c5b4a39281706f5e4d3c2b1a0</SecretAccessKey>"},
    "camel case": {"json": {"sessionToken": "9f8e7d6c5b4a39281706f5e4d3c2b1a0"}},
    "an environment": {"content": "DB_PASSWORD=9f8e7d6c5b4a39281706f5e4d3c2b1a0"},
    "JSON in JSON": {"json": {"arguments": '{"api_token": "9f8e7d6c5b4a39281706f5e4d3c2b1a0"}'}},
    "a password in a URL": {"json": {"db": "postgres://me:S3cret!pw@db.example.com/x"}},
}


@pytest.mark.parametrize("place", PLACES)
def test_a_secret_anywhere_is_refused_and_nothing_is_written(server, record, tmp_path, place):
    server.whole({})
    (tmp_path / "c.json").write_text("the good one")
    with (
        pytest.raises(SecretFound, match=r"fingerprint [0-9a-f]{8}") as refusal,
        use_cassette(tmp_path / "c.json", **record),
    ):
        httpx.request("POST", **{"url": API} | PLACES[place])

    assert files(tmp_path) == b"the good one"
    assert TOKEN not in str(refusal.value)
    assert "9f8e7d6c5b4a" not in str(refusal.value)
    assert "S3cret" not in str(refusal.value)


@pytest.mark.parametrize("send", ["data", "json", "files"])
def test_a_named_secret_is_replaced_however_it_is_escaped(server, record, tmp_path, send):
    def ask(secret):
        return httpx.post(API, **{send: {"password": secret}}).json()

    server.whole({})
    with use_cassette(tmp_path / "c.json", **record, secrets={"PASSWORD": 'p@ss/"wörd" & 1'}):
        ask('p@ss/"wörd" & 1')
    assert b"<PASSWORD>" in files(tmp_path)
    with use_cassette(tmp_path / "c.json", secrets={"PASSWORD": "mine & 2/3"}):
        assert ask("mine & 2/3") == {}


SERVICES = {
    "sk_" + "live_": 24,
    "glpat-": 20,
    "npm_": 36,
    "SG.9f8e7d6c5b4a39281706f5.": 43,
    "xapp-1-": 40,
    "GOCSPX-": 28,
    "pplx-": 48,
    "nvapi-": 64,
    "whsec_": 32,
}


@pytest.mark.parametrize("prefix", SERVICES)
def test_the_keys_of_services_are_known(prefix):
    key = prefix + (b64encode(bytes(range(7, 255, 3))).decode().replace("/", "x"))[: SERVICES[prefix]]
    assert [*scan({"said": f"use {key}."})]


@pytest.mark.parametrize(
    "content",
    [{"error": f"bad key {TOKEN}"}, gzip.compress(json.dumps({"k": TOKEN}).encode())],
    ids=["JSON", "gzip"],
)
def test_a_secret_in_an_answer_too(server, record, tmp_path, content):
    server.whole(content, "application/json", *["content-encoding: gzip"] * isinstance(content, bytes))
    with (
        pytest.raises(SecretFound, match="/interactions/0/response/body"),
        use_cassette(tmp_path / "c.json", **record),
    ):
        httpx.get(API)
    assert not files(tmp_path)


def test_a_known_value_is_found_however_it_is_wrapped(server, record, tmp_path):
    wrapped = {
        "b64": b64encode(f"me:{KEY}".encode()).decode(),
        "escaped": json.dumps({"k": KEY}).replace("/", "\\/"),
    }
    with (
        pytest.raises(SecretFound, match="the value of <ACCOUNT>") as refusal,
        use_cassette(tmp_path / "c.json", **record, secrets={"ACCOUNT": KEY}),
    ):
        httpx.post(API, json=wrapped)
    assert str(refusal.value).count("request/body") == 1 + ("escaped" in str(refusal.value))


def test_a_finding_may_be_accepted_by_its_fingerprint(server, record, tmp_path):
    def ask(**options):
        server.whole({})
        with use_cassette(tmp_path / "c.json", **record, **options):
            httpx.post(API, json={"t": TOKEN})

    with pytest.raises(SecretFound) as refusal:
        ask()
    ask(not_secret=[str(refusal.value).partition("fingerprint ")[2][:8]])
    assert TOKEN.encode() in files(tmp_path)


def test_ordinary_traffic_is_no_secret():
    harmless = {
        "id": "chatcmpl-BuFelt7bkjYdsZGg8EKQVprtt6efi",
        "call": "call_DmOzG1b6JBDhOoSVg0iQ4uLe",
        "signature": b64encode(bytes(range(200))).decode(),
        "text": "Set password = your-password-goes-here, then sk-your-key-goes-here-please",
        "schema": {"password": {"type": "string"}, "api_key": "your-api-key-goes-here"},
        "authorization": "Bearer REDACTED",
        "sha": "9f8e7d6c5b4a39281706f5e4d3c2b1a0",
        "nextPageToken": "9f8e7d6c5b4a39281706f5e4d3c2b1a0",
        "code": "api_key=settings.OPENAI_API_KEY; token = github3.authorize(login); password = getPasswordOfUser",
        "usage": {"total_tokens": 12, "token": " antidisestablishmentarianism"},
        "placeholder": "client_secret=%5B%27scrubbed%27%5D&password=<PASSWORD1>",
    }
    assert not list(scan(harmless))


def test_base64_that_has_the_beginning_of_a_key_is_no_secret():
    token = "EAAC" + "kT9Zp2Qx7LmVb4RyNc8Wd1Hs5Jf3GaUeXoBi6KtMzPqYvSrDlEwCnFjAhOgIu"
    assert not [*scan({"data": f"/9j/4gxYSUNDX1BST0ZJTEUA{token}+/{token}/2Q=="})]
    assert [*scan({"note": f"use {token}"})]


def test_a_miss_shows_no_secret(server, record, tmp_path):
    with use_cassette(tmp_path / "c.json", **record, secrets={"K": KEY}):
        httpx.post(API, json={"k": KEY, "n": 1})
    with pytest.raises(Miss) as miss, use_cassette(tmp_path / "c.json", secrets={"K": KEY}):
        httpx.post(f"{API}?key={OTHER_KEY}", json={"k": KEY, "n": 2})
    assert KEY not in str(miss.value)
    assert OTHER_KEY not in str(miss.value)


def test_a_miss_shows_no_secret_that_nobody_named(server, record, tmp_path):
    with use_cassette(tmp_path / "c.json", **record):
        httpx.post(API, json={"n": 1})
    with pytest.raises(Miss) as miss, use_cassette(tmp_path / "c.json"):
        httpx.post(API, json={"n": 2, "password": "S3cret!pw", "said": f"it is {TOKEN}"})
    assert "/n: [-1-]{+2+}" in str(miss.value)
    assert "/password: " in str(miss.value)
    assert TOKEN not in str(miss.value)
    assert "S3cret" not in str(miss.value)


def test_a_request_that_differs_by_its_secret_alone(server, record, tmp_path):
    with use_cassette(tmp_path / "c.json", **record):
        httpx.post(API, json={"password": "REDACTED"})
    told = "recorded with another secret"
    with pytest.raises(Miss, match=told), use_cassette(tmp_path / "c.json"):
        httpx.post(API, json={"password": "S3cret!pw"})


def test_small_parts():
    assert (
        clean_url("https://u:p@x/y?a=1&api-key=2&X-Amz-Signature=3#f")
        == "https://x/y?a=1&api-key=REDACTED&X-Amz-Signature=REDACTED#f"
    )
    assert masked("authorization", "Bearer abc") == "Bearer REDACTED"
    assert masked("accept", "abc") == "abc"
    sizes = [3, 5, 2]
    assert Scrub({"secret": "<S>"}).body(b"xxsecretyy", sizes) == b"xx<S>yy"
    assert sizes == [5, 0, 2]


def test_of_two_values_the_longer_is_replaced_and_each_in_every_form():
    scrub = Scrub(
        {
            "abc": "<1>",
            "abcdef/g h": "<2>",
            "abXYZ": "<3>",
            "ä\U0001f600secret": "<4>",
            "x%2Fy": "<5>",
            "x/y": "<6>",
        }
    )
    assert scrub.text("abcdef/g h abcd abXYZab abcdef%2Fg+h x%2Fy x/y") == "<2> <1>d <3>ab <2> <5> <6>"
    assert (
        scrub.body(json.dumps({"a": "ä\U0001f600secret", "b": "abcdef/g h"}).encode())
        == b'{"a": "<4>", "b": "<2>"}'
    )
    assert scrub.body("\u00e4\U0001f600secret".encode() + b"\xff") == b"<4>\xff"
    assert Scrub({"": "<1>"}).text("abc") == "abc"


def test_thousands_of_values_are_replaced_in_one_pass():
    values = {f"{n:08d}-secret": f"<{n}>" for n in range(5_000)}
    text = "".join(f"{value} and " for value in values)
    assert Scrub(values).text(text) == "".join(f"{new} and " for new in values.values())


def login_and_page(server):
    """A login whose answer brings a token, which the next requests send back."""
    token, page, csrf = "tok_9f8e7d6c5b4a39281706f5e4", "cGFnZS0yOjlmOGU3ZDZjNWI0YQ", "aX9kQ2mZ7pR4tW1v"
    cookie = f"set-cookie: sid={csrf}; Path=/; Expires=Fri, 21 Oct 2050 07:28:00 GMT; HttpOnly"
    server.whole({"access_token": token, "csrf_token": csrf}, "application/json", cookie)
    server.whole({"items": [1], "next": f"{API}/items?token={page}"})
    server.whole({"items": [2], "said": f"you are {token}"})


def follow():
    """Handles such answers as a client does. It knows none of them beforehand."""
    with httpx.Client() as client:
        told = client.post(f"{API}/login", data={"user": "me", "password": "S3cret!pw"}).json()
        again = {"token": told["access_token"], "csrf": client.cookies["sid"]}
        first = client.post(f"{API}/items/{told['access_token']}", json=again).json()
        return told["csrf_token"] == client.cookies["sid"], client.get(first["next"]).json()["items"]


def test_what_the_server_made_up_replays_as_itself(server, record, tmp_path):
    login_and_page(server)
    with use_cassette(tmp_path / "c.json", **record, mask=True):
        assert follow() == (True, [2])
    written = files(tmp_path)
    for secret in (b"9f8e7d6c", b"cGFnZS0y", b"aX9kQ2mZ", b"S3cret"):
        assert secret not in written
    assert b'"sid=REDACTED_1; Path=/; HttpOnly"' in written
    with use_cassette(tmp_path / "c.json"):
        assert follow() == (True, [2])


def test_numbers_go_on_where_a_cassette_is_appended_to(server, record, tmp_path):
    def ask(n):
        server.whole({"token": f"{n}9f8e7d6c5b4a39281706f5e4"})
        return httpx.get(f"{API}/{n}").json()["token"]

    with use_cassette(tmp_path / "c.json", **record, mask=True):
        ask(1)
    with use_cassette(tmp_path / "c.json", **{**record, "mode": "append"}, mask=True):
        assert ask(1) == "REDACTED_1"
        ask(2)
    with use_cassette(tmp_path / "c.json"):
        assert [ask(1), ask(2)] == ["REDACTED_1", "REDACTED_2"]


def test_a_masked_stream_keeps_its_chunks(server, record, tmp_path):
    chunks = [b'data: {"api_key": "9f8e7d6c5b4a', b'39281706f5e4"}\n\n', b"data: 2\n\n"]
    server.chunked(chunks)
    with use_cassette(tmp_path / "c.json", **record, mask=True):
        httpx.get(API)
    with use_cassette(tmp_path / "c.json"), httpx.stream("GET", API) as response:
        assert b"".join(response.iter_raw()) == b'data: {"api_key": "REDACTED_1"}\n\ndata: 2\n\n'


def test_a_secret_that_several_rules_know_is_one_finding_at_each_place():
    found = [*scan({"api_key": TOKEN, "said": f"Bearer {TOKEN}"})]

    assert [(finding.where, finding.what) for finding in found] == [
        ("/api_key", "a GitHub token"),
        ("/said", "a GitHub token"),
    ]
