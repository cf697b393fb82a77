"""Kinds of secrets in all places and encodings: all of them are found."""

import gzip
import io
import json
import re
import zipfile
import zlib
from base64 import b64encode
from html import escape
from pathlib import Path
from random import Random
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from urllib.parse import quote, quote_plus

import httpx
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ellmer_harness import use_cassette
from ellmer_harness.secrets.cassette_scan import masks, scan, scan_written
from ellmer_harness.secrets.key_patterns import ALPHABETS, PATTERNS
from ellmer_harness.secrets.named_credentials import kind
from ellmer_harness.secrets.redaction import letter_by_letter, spellings
from ellmer_harness.secrets.service_keys import around, keys


def _archive(text):
    with io.BytesIO() as written:
        with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as files:
            files.writestr("config/.env", text)
        return b64encode(written.getvalue()).decode()


HEX, ALNUM, BASE64 = "0123456789abcdef", ascii_letters + digits, ascii_letters + digits + "+/"
URLSAFE, UPPER = ascii_letters + digits + "-_", ascii_uppercase + digits


def lot(alphabet, size, before="", after=""):
    """Generates random characters, as a key generator does (hypothesis itself prefers `0000`)."""
    return st.integers(0, 2**40).map(
        lambda seed: before + "".join(Random(seed).choices(alphabet, k=size)) + after
    )


def several(*parts):
    return st.tuples(*parts).map("".join)


def of_sample(sample):
    """Generates a key as a row of the table of services has it."""
    pieces = re.split(r"\{([A-Z])(\d+)\}", sample)
    parts = [
        lot(ALPHABETS[letter], int(size), before)
        for before, letter, size in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=False)
    ]
    return several(*parts, st.just(pieces[-1]))


# What says itself what it is: found in any text.
KEYS = {
    "anthropic": lot(URLSAFE, 95, "sk-ant-api03-"),
    "openai": lot(URLSAFE, 48, "sk-proj-"),
    "openrouter": lot(HEX, 64, "sk-or-v1-"),
    "langfuse": lot(HEX, 32, "sk-lf-"),
    "stripe": lot(ALNUM, 24, "sk" + "_live_"),
    "elevenlabs": lot(HEX, 48, "sk_"),
    "pinecone": lot(ALNUM, 40, "pcsk_"),
    "google": lot(URLSAFE, 35, "AIza"),
    "google oauth": lot(URLSAFE, 60, "ya29."),
    "groq": lot(ALNUM, 52, "gsk_"),
    "xai": lot(ALNUM, 80, "xai-"),
    "perplexity": lot(ALNUM, 48, "pplx-"),
    "nvidia": lot(URLSAFE, 64, "nvapi-"),
    "cerebras": lot(ALNUM, 48, "csk-"),
    "siliconflow": lot(ascii_lowercase, 48, "sk-"),
    "together": lot(URLSAFE, 43, "tgp_v1_"),
    "jina": lot(ALNUM, 60, "jina_"),
    "voyage": lot(URLSAFE, 43, "pa-"),
    "bedrock": lot(BASE64, 128, "ABSK"),
    "replicate": lot(ALNUM, 37, "r8_"),
    "fireworks": lot(ALNUM, 24, "fw_"),
    "langsmith": lot(HEX, 32, "lsv2_pt_", "_1a2b3c4d5e"),
    "tavily": lot(ALNUM, 32, "tvly-"),
    "hugging face": lot(ascii_letters, 34, "hf_"),
    "databricks": lot(HEX, 32, "dapi"),
    "github": lot(ALNUM, 36, "ghp_"),
    "github fine": lot(ALNUM + "_", 82, "github_pat_"),
    "gitlab": lot(URLSAFE, 20, "glpat-"),
    "gitlab trigger": lot(HEX, 40, "glptt-"),
    "atlassian": lot(URLSAFE, 186, "ATATT3xFfGF0"),
    "bitbucket": lot(ALNUM, 32, "ATBB"),
    "npm": lot(ALNUM, 36, "npm_"),
    "pypi": lot(URLSAFE, 60, "pypi-AgEIcHlwaS5vcmc"),
    "rubygems": lot(HEX, 48, "rubygems_"),
    "docker": lot(URLSAFE, 27, "dckr_pat_"),
    "aws id": lot(UPPER, 16, "AKIA"),
    "alibaba": lot(ALNUM, 20, "LTAI"),
    "azure ad": several(lot(ALNUM, 3), lot(digits, 1), lot(URLSAFE, 34, "Q~")),
    "stripe webhook": lot(ALNUM, 32, "whsec_"),
    "square": lot(URLSAFE, 43, "sq0csp-"),
    "sendgrid": several(lot(URLSAFE, 22, "SG."), lot(URLSAFE, 43, ".")),
    "brevo": lot(HEX, 64, "xkeysib-"),
    "mailgun": lot(HEX, 32, "key-"),
    "mailchimp": lot(HEX, 32, "", "-us12"),
    "twilio": lot(HEX, 32, "SK"),
    "shopify": lot(HEX, 32, "shpat_"),
    "digitalocean": lot(HEX, 64, "dop_v1_"),
    "slack": lot(ALNUM, 24, "xoxb-123456789012-"),
    "slack hook": lot(ALNUM, 24, "https://hooks.slack.com/services/T0AB12CD3/B0EF45GH6/"),
    "discord hook": lot(URLSAFE, 68, "https://discord.com/api/webhooks/123456789012345678/"),
    "telegram": lot(URLSAFE, 33, "123456789:AA"),
    "telegram path": lot(URLSAFE, 35, "https://api.telegram.org/bot110201543:", "/getMe"),
    "vault": lot(ALNUM, 24, "hvs."),
    "terraform": several(lot(ALNUM, 14), lot(ALNUM, 67, ".atlasv1.")),
    "pulumi": lot(HEX, 40, "pul-"),
    "notion": lot(ALNUM, 46, "ntn_"),
    "notion old": lot(ALNUM, 43, "secret_"),
    "linear": lot(ALNUM, 40, "lin_api_"),
    "airtable": several(lot(ALNUM, 14, "pat"), lot(HEX, 64, ".")),
    "supabase": lot(HEX, 40, "sbp_"),
    "supabase new": lot(URLSAFE, 31, "sb_secret_"),
    "grafana": lot(ALNUM, 32, "glsa_", "_1a2b3c4d"),
    "grafana cloud": lot(BASE64, 100, "glc_"),
    "sentry": lot(HEX, 64, "sntryu_"),
    "sentry org": lot(BASE64, 120, "sntrys_"),
    "posthog": lot(ALNUM, 43, "phx_"),
    "new relic": lot(UPPER, 27, "NRAK-"),
    "dynatrace": several(lot(UPPER, 24, "dt0c01."), lot(UPPER, 64, ".")),
    "figma": lot(URLSAFE, 40, "figd_"),
    "postman": several(lot(HEX, 24, "PMAK-"), lot(HEX, 34, "-")),
    "doppler": lot(ALNUM, 43, "dp.pt."),
    "heroku": lot(URLSAFE, 60, "HRKU-AA"),
    "fly": lot(BASE64, 100, "fm2_"),
    "netlify": lot(ALNUM, 36, "nfp_"),
    "render": lot(ALNUM, 32, "rnd_"),
    "tailscale": lot(ALNUM, 32, "tskey-auth-"),
    "planetscale": lot(URLSAFE, 43, "pscale_tkn_"),
    "contentful": lot(URLSAFE, 43, "CFPAT-"),
    "clickup": lot(UPPER, 32, "pk_12345678_"),
    "artifactory": lot(ALNUM, 69, "AKCp"),
    "e2b": lot(HEX, 40, "e2b_"),
    "json web token": several(
        lot(URLSAFE, 30, "eyJhbGciOi"), lot(URLSAFE, 60, ".eyJzdWIiOi"), lot(URLSAFE, 43, ".")
    ),
    "age": lot(UPPER, 58, "AGE-SECRET-KEY-1"),
    "url": lot(ALNUM, 14, "postgres://me:", "@db.example.com/x"),
    "url of letters": lot(ascii_lowercase, 12, "amqps://me:", "@mq.example.com"),
    "redis url": lot(ALNUM, 20, "redis://:", "@cache.example.com:6379/0"),
    "bearer": lot(URLSAFE, 40, "Bearer "),
    "okta": lot(URLSAFE, 40, "SSWS 00"),
    "device_code": lot(URLSAFE, 40, "https://example.com/cb?device_code="),
    "code": lot(URLSAFE, 40, "https://example.com/cb?state=1&code="),
    "pin": lot(digits, 6, "https://example.com/x?user=1&pin="),
    "SAMLResponse": lot(BASE64, 60, "https://example.com/x?user=1&SAMLResponse="),
    "basic": lot(ALNUM, 12).map(lambda word: "Basic " + b64encode(f"admin:{word}".encode()).decode()),
    "PEM": lot(BASE64, 64, "-----BEGIN RSA PRIVATE KEY-----\n"),
    "PKCS 8": lot(BASE64, 64, "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"),
    "OpenSSH": lot(BASE64, 64, "-----BEGIN OPENSSH PRIVATE KEY-----\n"),
    "PGP": lot(BASE64, 64, "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n"),
    "PuTTY": lot(BASE64, 64, "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n"),
}
# What its name tells, drawn by lot.
DRAWN = {
    "AWS": lot(BASE64, 40),
    "64 characters": lot(BASE64, 64),
    "Azure": lot(BASE64, 86, "", "=="),
    "hex": lot(HEX, 32),
    "long hex": lot(HEX, 64),
    "letters and digits": lot(ALNUM, 24),
    "letters": lot(ascii_letters, 32),
    "small letters": lot(ascii_lowercase, 40),
    "URL-safe": lot(URLSAFE, 43),
    "UUID": st.uuids(version=4).map(str),
}
CHOSEN = {
    "mixed": lot(ALNUM, 10),
    "letters": lot(ascii_lowercase, 12),
    "with symbols": lot(ALNUM + "!$+/*", 14),
    "words": st.just("correct horse battery staple"),
    "word and digits": st.sampled_from(["sesame2024", "Winter2025!", "mypass99", "S3cret!pw"]),
}
NAMES = (
    *("api_key", "apiKey", "API-KEY", "x-api-key", "aws_secret_access_key", "SecretAccessKey", "AccountKey"),
    *("client_secret", "clientSecret", "private_key", "signing_key", "token", "access_token", "refreshToken"),
    *("auth", "authorization", "Authorization", "cookie", "session_id", "sessionId", "connectionString"),
    *("OPENAI_API_KEY", "credentials", "id_token", "webhook_secret", "encryptionKey", "DB_CREDENTIAL"),
)
PASSWORDS = (
    "password",
    "passwd",
    "db_password",
    "userPassword",
    "PGPASSWORD",
    "passphrase",
    "new_password",
    "pwd",
    *("sms_code", "backup_code", "recovery_code", "unlock_code", "verification_code"),
    *("psk", "bindpw", "snmp_community", "recoveryKey"),
)
ROLES = (
    *("device_code", "code_verifier", "csrf_token", "xsrf-token", "csrfmiddlewaretoken", "SAMLResponse"),
    *("client_assertion", "bearer", "jwt", "id_token_hint", "session_token", "security_token", "app_secret"),
    *("hmac_key", "vault_token", "signing_secret", "webhook_secret", "wstoken"),
    *("authorization_code", "activationCode", "auth_req_id", "presharedKey", "client-key-data"),
    *("fernet_key", "deployKey", "PHPSESSID"),
)
FIELDS = {
    "JSON": lambda name, value: {"a": [{name: value}]},
    "a pair in JSON": lambda name, value: {"variables": [{"name": name, "value": value}]},
    "another pair": lambda name, value: {"Key": name, "Value": value},
    "headers in JSON": lambda name, value: {"headers": [["accept", "*/*"], [name, value]]},
    "JSON in JSON": lambda name, value: {"arguments": json.dumps({name: value})},
    "a form": lambda name, value: {"text": f"user=me&{name}={quote(value, safe='')}"},
    "a URL": lambda name, value: {"uri": f"https://example.com/x?a=1&{name}={quote(value, safe='')}"},
    "XML": lambda name, value: {"text": f"<q><{name} id='1'>{value}</{name}></q>"},
    "XML with a namespace": lambda name, value: {
        "text": f"<w:{name} Type='http://x.org#Text'>{value}</w:{name}>"
    },
    "CDATA": lambda name, value: {"text": f"<q><{name}><![CDATA[{value}]]></{name}></q>"},
    "a plist": lambda name, value: {
        "text": f"<plist><dict>\n<key>{name}</key>\n<string>{value}</string></dict></plist>"
    },
    "XML-RPC": lambda name, value: {
        "text": f"<member><name>{name}</name><value><string>{value}</string></value></member>"
    },
    "attributes": lambda name, value: {
        "text": f'<appSettings><add key="{name}" value="{value}"/></appSettings>'
    },
    "a property": lambda name, value: {
        "text": f'<properties><entry key="{name}">{value}</entry></properties>'
    },
    "a name and a value in YAML": lambda name, value: {"text": f"env:\n- name: {name}\n  value: {value}\n"},
    "GraphQL": lambda name, value: {
        "query": f'mutation {{ login(user: "me", {name.replace("-", "_")}: "{value}") {{ id }} }}'
    },
    "SOAP": lambda name, value: {
        "text": f'<soap:Body><ns1:login xmlns:ns1="urn:x"><ns1:{name}\n xsi:type="xsd:string">{value}</ns1:{name}></ns1:login>'
    },
    "an attribute": lambda name, value: {"text": f'<login user="me" {name}="{value}"/>'},
    "multipart": lambda name, value: {
        "text": f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n--x--'
    },
}
TEXTS = {
    "an assignment": lambda name, value: {"said": f"export {name}={value}\n"},
    "code": lambda name, value: {"said": f'the file says {name} = "{value}" here'},
    "a header": lambda name, value: {"said": f"GET / HTTP/1.1\n{name}: {value}\nAccept: */*"},
    "a connection string": lambda name, value: {"said": f"Endpoint=https://x.net;{name}={value};Timeout=3"},
    "an option of a command": lambda name, value: {"said": f"tool login --{name} {value} --quiet"},
    "a table in CSV": lambda name, value: {"said": f"id,{name},note\n1,{value},x\n"},
    "a table with tabs": lambda name, value: {"said": f"id\t{name}\n1\t{value}\n"},
    "a table in Markdown": lambda name, value: {"said": f"| {name} | id |\n|---|---|\n| `{value}` | 1 |\n"},
    "a row in Markdown": lambda name, value: {"said": f"| set | to |\n|---|---|\n| {name} | {value} |\n"},
    "a cell in HTML": lambda name, value: {"said": f"<tr><th>{name}</th><td>{value}</td></tr>"},
    "a block in YAML": lambda name, value: {"said": f"{name}: |\n  {value}\n"},
    "a sentence": lambda name, value: {"said": f"The {name} is {value}"},
}
WRAPPINGS = {
    "as it is": lambda text: {"said": f"use {text} please"},
    "JSON in JSON": lambda text: {"arguments": json.dumps({"x": text})},
    "escaped": lambda text: {"said": json.dumps(json.dumps({"x": text}))[1:-1]},
    "URL-encoded": lambda text: {"said": f"state={quote_plus(text)}&x=1"},
    "base64": lambda text: {"data": b64encode(f"it is {text}.".encode()).decode()},
    "base64 glued": lambda text: {"data": "token" + b64encode(f"it is {text}.".encode()).decode()},
    "gzip": lambda text: {"data": b64encode(gzip.compress(text.encode())).decode()},
    "binary": lambda text: b"\x00\xff\x81" * 50 + b"\n" + text.encode() + b"\n\xfe\x00" * 50,
    "zlib": lambda text: {"data": b64encode(zlib.compress(text.encode())).decode()},
    "hexadecimal": lambda text: {"data": f"it is {text}.".encode().hex()},
    "letters as escapes": lambda text: {"said": "".join(f"\\u{ord(letter):04x}" for letter in f"is {text}.")},
    "HTML, escaped twice": lambda text: {"said": escape(escape(f'<a title="{text}">', quote=True))},
    "URL-encoded three times": lambda text: {
        "said": quote(quote(quote(f"a b={text}", safe=""), safe=""), safe="")
    },
    "base64 in JSON in base64": lambda text: {
        "x": b64encode(json.dumps({"y": b64encode(f"and {text}".encode()).decode()}).encode()).decode()
    },
}
#: Every kind by its name, as docs/recordings/secrets.md lists them, and where it is told by the name of its field, that name.
KINDS = {
    **{what: (value, "") for what, value in KEYS.items()},
    **{f"{name}: drawn by lot": (DRAWN["AWS"], name) for name in NAMES},
    **{f"{name}: {what}": (value, name) for name in PASSWORDS for what, value in CHOSEN.items()},
    **{f"api_key: {what}": (value, "api_key") for what, value in DRAWN.items()},
    **{
        f"{row.what}: {sample}": (of_sample(sample), "") for row in PATTERNS for sample in row.samples.split()
    },
    **{f"{where}: drawn by lot": (lot(URLSAFE, 43), where) for where in ROLES},
}
few = settings(max_examples=3, phases=[Phase.generate], deadline=None, database=None, derandomize=True)


def seen(places):
    """Asserts that each of these holds a secret that is found. One search is faster than many."""
    found = {finding.where.split("/")[1] for finding in scan(places)}
    assert found == set(places), {place: places[place] for place in set(places) - found}


@pytest.mark.parametrize("what", KEYS)
@few
@given(data=st.data())
def test_keys_of_services_wherever_and_however(what, data):
    key = data.draw(KEYS[what])
    seen({name: wrap(key) for name, wrap in WRAPPINGS.items()})


@pytest.mark.parametrize("what", DRAWN)
@few
@given(data=st.data(), name=st.sampled_from(NAMES))
def test_values_drawn_by_lot_under_a_telling_name(what, data, name):
    value = data.draw(DRAWN[what])
    seen({where: place(name, value) for where, place in {**FIELDS, **TEXTS}.items()})


@pytest.mark.parametrize("what", CHOSEN)
@few
@given(data=st.data(), name=st.sampled_from(PASSWORDS))
def test_passwords_of_any_kind_in_a_field_for_them(what, data, name):
    value = data.draw(CHOSEN[what])
    seen({where: place(name, value) for where, place in FIELDS.items()})


def drawn_from(strategy):
    found = []

    @settings(max_examples=1, phases=[Phase.generate], deadline=None, database=None, derandomize=True)
    @given(value=strategy)
    def draw(value):
        found.append(value)

    draw()
    return found[-1]


@pytest.fixture(scope="module")
def drawn():
    """Returns a value of each kind, without well-known words."""
    return {what: (drawn_from(value), name) for what, (value, name) in KINDS.items()}


def exchanges(drawn, server, record, tmp_path, **options):
    """Records every kind, ten in an exchange, with the secrets in requests and in answers."""
    held = [
        FIELDS["JSON"](name, value) if name else {"said": f"use {value} please"}
        for value, name in drawn.values()
    ]
    with use_cassette(tmp_path / "c.json", **record, **options), httpx.Client() as client:
        for at in range(0, len(held), 10):
            text = json.dumps(some := held[at : at + 10])
            server.whole({"held": some, "base64": b64encode(text.encode()).decode(), "in JSON": text})
            client.post("https://api.example.com/x", json={"n": at, "held": some})


def on_disk(value, folder):
    """Tells whether a secret is in one of the files, plain or in a usual encoding."""
    forms = {value, json.dumps(value)[1:-1], json.dumps(json.dumps(value))[1:-1], quote(value, safe="")}
    forms |= {b64encode(value.encode()[start:]).decode()[4:-4] for start in range(3) if len(value) > 12}
    text = "".join(file.read_text("utf-8", "replace") for file in folder.rglob("*") if file.is_file())
    return any(form in text for form in forms if len(form) >= 4)


@pytest.mark.slow
def test_none_of_270_kinds_is_on_the_disk(drawn, server, record, tmp_path):
    assert len(KINDS) >= 270
    exchanges(drawn, server, record, tmp_path, mask=True)
    assert json.loads((tmp_path / "c.json").read_text())["interactions"]
    assert [what for what, (value, _) in drawn.items() if on_disk(value, tmp_path)] == []


def test_each_of_270_kinds_is_refused(drawn):
    places = {
        what: FIELDS["JSON"](name, value) if name else {"said": value}
        for what, (value, name) in drawn.items()
    }
    assert [what for what, place in places.items() if not [*scan(place)]] == []


def test_the_page_of_the_docs_lists_every_kind():
    page = Path(__file__).parents[3].joinpath("docs", "recordings", "secrets.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"`([^`\n]+)`", page))
    told = {*KEYS, *NAMES, *PASSWORDS, *ROLES, *DRAWN, *CHOSEN, *FIELDS, *TEXTS, *WRAPPINGS}
    assert told <= listed, told - listed


@few
@given(data=st.data())
def test_keys_that_are_split_over_events(data):
    key = data.draw(KEYS["openai"])
    at = data.draw(st.integers(1, len(key) - 1))
    events = [
        {"id": n, "delta": {"text": text}} for n, text in enumerate(("it is ", key[:at], key[at:], "."))
    ]
    stream = "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()

    for body in ({"sse": [{"data": event} for event in events]}, {"ndjson": events}, stream):
        assert any("over several events" in finding.what for finding in scan({"body": body}))


@pytest.mark.parametrize(
    "place",
    [
        {"sentry": "https://0123456789abcdef0123456789abcdef@o4501.ingest.sentry.io/1234567"},
        {"dsn": "https://0123456789abcdef0123456789abcdef@o4501.ingest.us.sentry.io/1234567"},
        {"uri": "https://o1.ingest.sentry.io/api/1/envelope/?sentry_key=0123456789abcdef0123456789abcdef"},
        {"uri": "https://api.gbif.org/v1/x?datasetKey=50c9509d-22c7-4a22-a47d-8c48425ef4a7"},
        {"headers": {"Cookie": ["GPS=1; __Secure-ROLLOUT_TOKEN=CJmT-PrdoKbUwgEQysj02rWMkQMYysj02rWMkQM%3D"]}},
        {"headers": {"Cookie": ["__Secure-YNID=13.YT=hhfHfJjOodtJefQ5qAUx5Wmzj7-hNkTw2"]}},
        {"publishableKey": "9f8e7d6c5b4a39281706f5e4d3c2b1a0"},
        {"UPLOADCARE_PUB_KEY": "e5b76258e05f2aabe85c"},
        {"public_api_key": "9f8e7d6c5b4a39281706f5e4d3c2b1a0"},
        {"api_key": "phc_C44vUK9R1J6HYVdfJarTEPqVAoRPJzMXzFcj8PIrJgP"},
        {"url": "https://example.com/1?key=crossref.0f3a9c1d7be24856a1b0c9d8e7f60512"},
        {"clientToken": "pub" + "e4f163c23bbf91c16b8f57f56af9fc58"},
        {"policy": "report-uri https://l.example.com/v1?dd-api-key=pube4f163c23bbf91c16b8f57f56af9fc58&x=1"},
        {"api_key": "pk_live_" + "51H7qZkLmNoPqRsTuVwXyZ0123456789"},
        {"html": '<button data-event-name="menu.main.pin">move to the sidebar</button>'},
        {
            "headers": {
                "Set-Cookie": [
                    "__cf_bm=Kx9WqT2rYp4ZLmN8vB3cJd7HgF1sAeUi-1700000000-1.0.1.1-Qw; path=/; HttpOnly"
                ]
            }
        },
        {
            "headers": {
                "Cookie": "_ga=GA1.2.1234567890.0987654321; NID=511=QwErTyUiOpAsDfGhJkLzXcVbNm0123456789"
            }
        },
        {
            "response": {
                "set-cookie": [
                    "guest_id=v1%3A165192895206834262; Max-Age=63072000; Expires=Mon, 06 May 2024 13:09:12 GMT; Domain=.x.com; Secure",
                    "locale=en-US; expires=Wed, 21-Aug-2019 08:30:33 GMT; Max-Age=31536000; path=/; secure; HttpOnly",
                ]
            }
        },
        {
            "report": "nel=https://nel.heroku.com/reports?sid=1b10b0ff-8a76-4548-befa-353fc6c6c045&s=y0xQmtuDU%2BxdTPc0%2FgbG9obLZQyIRHUNuQS9Eyl5Mgs%3D"
        },
        {
            "image": "U/SxyzGtPbqvE3sGyqaDcnC/ABSK0XK/64p1jW1uLeuzYsdvvuvfOe47KrG5uLaqmhmLq0XK64p1jW1uLeuzYsdvvuvf"
        },
        {
            "thought": "gAAAAABow5mIpncOw3sk_xuIRtmC8SQwnYkKsuHNTCOzgaYm92ouU25znn9xnsNxxaUQLA0dGesut1vbLIWjENX9ZWXl6Ky"
        },
        {
            "set-cookie": [
                "WMF-Last-Access-Global=04-Apr-2023;Path=/;Domain=.wikipedia.org;HttpOnly;secure;Expires=Sat, 06 May 2023",
                "acw_tc=ac11000117590534470462294e03d55ceb9a442bcbcb8a410844d;path=/;HttpOnly;Max-Age=1800",
                "2eef5f4c257f6bca76e8da5586743beb=de04e502e3969a930842cae695f8b12c; path=/; HttpOnly; Secure",
            ]
        },
        {
            "authorization": "AWS4-HMAC-SHA256 Credential=<KEY_ID>/<DATE>/<REGION>/bedrock/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=<SIGNATURE>"
        },
        {"typed": "sk-ant-api03-invalid-key", "x-api-key": "invalid_key_12345", "id": "AKIATEST1234567890AB"},
        {"password_hash": "SHA256", "passwordHash": "pbkdf2-sha256", "root_pass": "Base64-Windows"},
        {
            "cookies": "BrowserId=i4v_OfVjEe-59fvltpfDhA; LSKey-c$CookieConsentPolicy=0:1; yuv=coC3j06jVRpuLXNOKekpRdQs"
        },
        {
            "said": "HTTP/1.1 200 OK\r\nSet-Cookie: AWSALB=Kx9WqT2rYp4ZLmN8vB3cJd7HgF1sAeUi0123456789; Expires=x\r\n"
        },
        {"x-session-id": ["MTAuMTAwLjc3LjQ2Ojgw"]},
        {"xml": '<Role key="/library/sections/home/all?actor=5d7768268718ba001e311c30&amp;type=99"/>'},
        {"orn": "orn:okta:idp:00orp9xda1T0VTWhk697:apps:template_basic_auth:0oasb6xqn0Biax488697"},
        {"doi": '"name": "key", "secret": "https://doi.org/10.1016/S0248-8663(03)80579-9"'},
        {"emoji": '[{"cookie": "https://github.global.ssl.fastly.net/images/icons/emoji/cookie.png?v5"}]'},
        {"key": "related", "secret": "https://doi.org/10.1016/j.neuron.2019.10.012"},
        {"endpoints": {"Token": "https://account550249417109.cognitiveservices.azure.com/"}},
        {"oauth_token": "FLICKYPEDIA_OAUTH_TOKEN_123", "client_secret": "od_client_secret_12"},
        {
            "refresh_token": "deadbeef9d64b225d0c50db4854a8d6c8757702d",
            "primaryKey": "DEC0DEDITtVwMoyAuTz1LioKkC",
        },
        {
            "resetPassword": "ResetPassword",
            "password": "bad_password",
            "session_id": "default-session1_1234567893",
        },
        {"set-cookie": "cpPosIndex=1%401701533732%23001b65521f1285d5e6388027f57c9f0a; path=/"},
        {"har": {"cookies": [{"name": "__cfduid", "value": "d1a5589e8309b42c054255a4709d3a4401547156472"}]}},
        {"answer": {"response": {"headers": {"session-id": "16b57839-70a7-4ea3-998b-ac82b08fe8e9"}}}},
        {
            "ConnectionString": "InstrumentationKey=2ce5bd10-b3d0-4956-ac7f-a86a5864ee64;IngestionEndpoint=https://centralus-0.in.example/;ApplicationId=d483f942-d4a7-4da4-af20-b29da1f92f67"
        },
        {
            "Authorization": "Basic dXNlcjpwYXNzd2Q=",
            "scope": "Credential=TOKEN/20260506/us-east-1/bedrock/aws4_request",
        },
        {
            "jwt": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"
        },
        {"response": {"headers": {"X-Session-Id": ["16b57839-70a7-4ea3-998b-ac82b08fe8e9"]}}},
        {
            "azureai-model-sessionid": "NTIuMTM4LjQ1LjU2OjQ0Mw==;MTI3LjAuMC4xOjQ5OTk=;d079-20251118092207;DR:canadacentral;aoai-sp-o1-2024-12-17-lm-cac-p"
        },
        {
            "bytesBase64Encoded": "p4zS6QTX+K6JuZ/X" * 40
            + "AIzac4R9UMcIM2JgmTqPcSOe9jEBkT0RGT03SErx"
            + "7ahSm6Tr/TB8OnCm" * 40
        },
    ],
    ids=lambda place: next(iter(place)),
)
def test_public_ids_and_cookies_of_visitors_are_none(place):
    assert not [*scan(place)]


def test_beside_what_is_none_a_secret_is_found():
    signature = "5f69d324c05740f272e7c07046b973076335bd284cd150f03901ba9b30a62f4e"
    assert [
        *scan({"authorization": f"AWS4-HMAC-SHA256 Credential={signature[:24]}/x, Signature={signature}"})
    ]
    assert [
        *scan({"authorization": f'OAuth oauth_token="{signature}", oauth_nonce="x", oauth_signature="x"'})
    ]
    assert [*scan({"cookie": f"acw_tc={signature}; connect.sid={signature}"})]
    sent = {"headers": {"X-Session-Id": ["16b57839-70a7-4ea3-998b-ac82b08fe8e9"]}}
    assert len([*scan({"request": sent, "response": sent})]) == 2
    assert [*scan({"x-session-id": "MTAuMTAwLjc3LjQ2Ojgw" + signature[:12]})]
    assert [*scan({"cookies": [{"name": "sid", "value": signature}]})]
    assert [*scan({"token": f"https://api.example.com/hook?auth={signature}"})]
    assert [*scan({"secret": f"https://api.example.com/hook/Kx9WqT2r{signature}"})]
    assert [*scan({"key": "authorization", "value": f"/{'Kx9WqT2rYp4Z/Lm' * 2}"})]
    assert [*scan({"ConnectionString": f"Endpoint=https://a.example/;AccountKey={signature}"})]
    assert [*scan({"client_secret": "secret_Kx9WqT2rYp4ZLmN8vB3c"})]
    assert [*scan({"text": "p4zS6QTX+K6JuZ/X" * 40 + " AIzac4R9UMcIM2JgmTqPcSOe9jEBkT0RGT03SEr"})]
    assert [*scan({"text": "p4zS6QTX" * 9 + "AIzac4R9UMcIM2JgmTqPcSOe9jEBkT0RGT03SEr" + "7ahSm6Tr" * 9})]
    assert [*scan({"cookie": "iKG35F1OGDarAx3NqipMwIO1q1lKZoJWaYQ0YgBfbpgwEzBSUkkVcrOTd5=="})], (
        "padded, without a name"
    )


@pytest.mark.parametrize(
    "name", ["sig", "X-Amz-Signature", "X-Amz-Credential", "Signature", "key", "session"]
)
@few
@given(value=DRAWN["hex"])
def test_signed_urls_in_a_body(name, value):
    assert [*scan({"url": f"https://b.example.com/f?X-Amz-Expires=60&{name}={value}&x=1"})]
    assert [*scan({"said": f"see https://b.example.com/f?{name}={value} for it"})]


@few
@given(value=st.one_of(*DRAWN.values()), place=st.sampled_from([*FIELDS.values(), *TEXTS.values()]))
def test_what_is_masked_is_found_no_more(value, place):
    text = json.dumps(place("client_secret", value))
    for secret, instead in masks(json.loads(text)).items():
        text = text.replace(json.dumps(secret)[1:-1], instead)
    assert not [*scan(json.loads(text))]


@few
@given(
    word=st.sampled_from(
        ["<API_KEY>", "your-api-key-goes-here", "${TOKEN}", "REDACTED", "string", "****", "None"]
    )
)
def test_placeholders_are_none(word):
    for name in ("api_key", "password"):
        assert not [*scan([place(name, word) for place in (*FIELDS.values(), *TEXTS.values())])]


@pytest.mark.parametrize(
    ("name", "is_a"),
    {
        "clientSecret": "secret",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "nextPageToken": "",
        "continuation-token": "",
        "resumptionToken": "",
        "turnToken": "",
        "total_tokens": "",
        "token_type": "",
        "authorization_endpoint": "",
        "userPassword2": "password",
        "PasswordDigest": "password",
        "key": "parameter",
        "BRAVE_KEY": "secret",
        "SORT_KEY": "",
        "X-Amz-Signature": "parameter",
        "monkey": "",
        "author": "",
        "secretary": "",
    }.items(),
)
def test_the_words_of_a_name_count(name, is_a):
    assert kind(name) == is_a


@pytest.mark.parametrize(
    "value",
    [
        {"set-cookie": ["pool=web-node-12a; path=/"], "x": ["wb-cdx-nomatch-SERVER=wwwb-app251; path=/"]},
        {
            "cookie": [
                "X-Mapping-fjhppofk=1F5FD8D0B8B1A8DD0F8680D854A2C10B; TS010ecf5c=01a3504f4caec4fa070b6e8530da5ea1"
            ]
        },
        {
            "www-authenticate": [
                'Basic realm="handle", Handle sessionId="1x8ihfvka1ide19h19beg4hpid", nonce="x"'
            ]
        },
        {"uri": "https://api.example.com/cdx?resumeKey=com%252Ccnn%2529%252F%2B20010503212619"},
        {"text": "<clientToken>JwNdr1452196715903</clientToken>"},
        {
            "args": '["etcd","--key-file=/etc/kubernetes/pki/server.key","--etcd-servers=https://127.0.0.1:2379"]'
        },
        {"text": '{"lookup":"CentralAuth","allcentralidlookupproviders":["local"]}'},
        {"hashed_token": "f4ff0827eb406e73fc079754a102c054457b3c4fcdaf94e6eb4bc56a9fe60260"},
    ],
)
def test_what_names_a_place_or_a_server_is_no_secret(value):
    assert [*scan({"a": value})] == []


@pytest.mark.parametrize(
    "value",
    [
        {"set-cookie": ["pool=web-node-12a; session=kJ8sQ2mZx4Rt9Lw1Vb7Np3; path=/"]},
        {"authorization": ['Digest realm="a", username="u", response="kJ8sQ2mZx4Rt9Lw1Vb7Np3kJ8sQ2mZ"']},
        {"auth": {"client_token": "kJ8sQ2mZx4Rt9Lw1Vb7Np3kJ8sQ2mZ"}},
        {"text": 'api_key="kJ8sQ2mZx4Rt9Lw1Vb7Np3"'},
        {"password": "nothing-Else-matters"},
        {"password": "links_passwords7"},
        {"token": "qfzd-mbvx-7421-hjns"},
        {"api_key": "xkqzj_3_wvbnm_trplk"},
        {"request": {"headers": {"x-app-key": ["AUt3vD7UB84mm6jaaz"]}}},
        {"set-cookie": "persistent_login=b8a0c1ec2de31237d87845c9a3ab8c22;Path=/"},
        {"request": {"headers": {"bingapis-sessionid": ["06D6DE5A77F043D7BDF18A663C7D3843"]}}},
        {"response": {"body": {"auth-session-id": "06D6DE5A77F043D7BDF18A663C7D3843"}}},
        {"authorization": f"Basic {b64encode(b'kJ8sQ2mZx4Rt9Lw1Vb7Np3:').decode()}"},
        {"token": b64encode(b"my key is kJ8sQ2mZx4Rt9Lw1Vb7Np3").decode()},
        {"text": "Name|Password|State\nPOINT|kJ8s-Q2mZ|SA"},
        {"uri": "https://a.example/sso?SAMLart=AAQAAMFbLinlXaCM"},
        {"app_secret": "33c91a0e77c37a0ea3b7"},
        {"x-sentry-auth": "Sentry sentry_version=5, sentry_secret=220b63fca88041809b887a91c5f3701d"},
    ],
)
def test_what_looks_alike_is_one(value):
    assert [*scan({"a": value})]


RANDOM = "Zq7Lw2Xc9Vb4Nm1Kj8Hg5Fd3Sa6Po0Iu"


@pytest.mark.parametrize(
    "pieces",
    [('{"api', '_key":"', RANDOM[:9], RANDOM[9:], '"}'), ('{"api_key": "' + RANDOM[:10], RANDOM[10:] + '"}')],
)
def test_a_named_credential_that_is_split_over_events_is_found(pieces):
    events = [{"index": 1, "delta": {"partial_json": piece}} for piece in pieces]
    stream = "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()

    for body in ({"sse": [{"data": event} for event in events]}, stream):
        assert ["over several events" in each.what for each in scan({"body": body})] == [True]


@pytest.mark.parametrize(
    "body",
    [
        {"columns": ["user", "api_token"], "rows": [["ann", RANDOM], ["bob", "-"]]},
        {"name": "ci", "__typename": "AccessToken", "value": RANDOM},
        {
            "url": f"https://api.example.com/g?query=%7Blogin%28password%3A%22{RANDOM[:10]}%21%22%29%7Bid%7D%7D"
        },
        "<name>devKey</name><value><string>" + RANDOM + "</string></value>",
    ],
)
def test_a_credential_in_a_table_or_beside_its_type_is_found_once(body):
    value = {"response": {"body": {"json": body}}}
    text = json.dumps(value, indent=2).encode()

    assert len([*scan(value)]) == 1
    assert len([*scan_written(value, text)]) == 1


def test_a_column_that_is_no_credential_is_no_finding():
    body = {"columns": ["user", "type", "tokens"], "rows": [["ann", "access_token", 12]], "type": "password"}

    assert [*scan(body)] == []


VALUE = 'bedrock/Qm+Vkc9ja0F"tleS1kZQ9=='


@pytest.mark.parametrize("pieces", [2, 5, 10**6])
@pytest.mark.parametrize(
    "form", [*spellings(VALUE), *letter_by_letter(VALUE), b64encode(VALUE.encode()).decode()]
)
def test_a_value_that_is_split_over_events_is_found_in_each_spelling(form, pieces):
    size = max(1, len(form) // pieces)
    said = ["it is ", *(form[at : at + size] for at in range(0, len(form), size)), "."]
    events = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in said]
    stream = "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()

    for body in ({"sse": [{"data": event} for event in events]}, stream):
        assert [*scan({"body": body}, [(VALUE, "MY_KEY")])]


WORD = "Tr0ub4dor3x"


@pytest.mark.parametrize(
    "text",
    [
        f"machine api.example.com login me password {WORD}",
        f"machine api.example.com\n  login me\n  password {WORD}\n",
        f"default login me password {WORD}",
        f"curl -s -u 'me:{WORD}' https://api.example.com",
        f"curl https://api.example.com \\\n  --user me:{WORD}",
        f"curl --proxy-user me:{WORD} https://api.example.com",
        f"mysql -h db.example.com -u root -p{WORD} app",
        f"mysqldump --single-transaction --password={WORD} app > app.sql",
        f"sshpass -p '{WORD}' ssh root@example.com",
        f"redis-cli -h r.example.com -a {WORD} ping",
        f"docker login -u me --password {WORD} registry.example.com",
        f"PGPASSWORD={WORD} psql -U app",
        f"# host:port:database:user:password\ndb.example.com:5432:app:ada:{WORD}\n*:*:*:root:{WORD}",
        f"CREATE USER 'me'@'%' IDENTIFIED BY '{WORD}';",
        f"Driver={{ODBC Driver 18}};Server=tcp:db,1433;Uid=me;Pwd={WORD};Encrypt=yes",
        f"Data Source=db; User ID=sa; Password={WORD}",
        f"jdbc:mysql://db:3306/app?user=root&password={WORD}%",
        f"--b\r\nContent-Disposition: form-data; name=password\r\n\r\n{WORD}\r\n--b--\r\n",
        f"name,email,password\nme,me@example.com,{WORD}\n",
        f'"user";"password"\n"me";"{WORD}"\n',
        f"| user | password |\n|---|---|\n| me | {WORD} |",
        f'ConvertTo-SecureString "{WORD}" -AsPlainText -Force',
        f"::add-mask::{WORD}\n",
        f"dn: uid=me\nuserPassword:: {b64encode((WORD * 2).encode()).decode()}\n",
        f"curl -b 'sid={WORD}kJ8sQ2vX' https://app.example.com/",
        f"password={WORD}",
    ],
)
def test_chosen_passwords_in_texts_that_say_what_they_are(text):
    """The quick search does not miss them either."""
    interaction = {"response": {"body": {"text": text}}}

    assert [*scan({"said": text})]
    assert [*scan_written(interaction, json.dumps(interaction, ensure_ascii=False).encode())]


@pytest.mark.parametrize(
    "text",
    [
        "main.c:1024:5:error:undeclared\nmain.c:1024:error:note:undeclared\n2026-11-29:1200:a:b:kJ8sQ2\n10:30:45:abc:x9y8z7",
        "docker run --user 1000:1000 image; curl -u $USER:$PASSWORD https://api.example.com",
        "| field | password |\n|---|---|\n| required | minimum |",
        "Enter your name, password\nand press, enter12\n",
        "machine learning: the login page password field",
        "the token is not_a_secret_but_a_word, and --token is an option",
        "id,token_count\n1,12345\n",
        "mysql -u root -p app; sshpass -p $PASSWORD ssh; docker login -u me --password-stdin",
        '{"sub": "auth0|6707939cad3d8bec47ecfa2e", "id": "recovery-code|dev_i1kgKoFSZLbPt6G1"}',
        '["openai_project_apikey","openai_project_apikey_v2","github_token"]',
        "https://myuser-on-production@example.com/a and ftp://anonymous-ftp-user@example.com",
        "The token is OAuth2AuthorizationCodeBearer",
        "tool --auth oauth2-client-credentials-v2",
        "| Token | claude-sonnet-4-5-20250929 |",
        "id,token\n1,claude-sonnet-4-5-20250929\n",
        'setToken("accessTokenV2Response")',
        "<th>Token</th><td>claude-3-5-sonnet-20241022</td>",
    ],
)
def test_texts_about_passwords_have_none(text):
    assert [*scan({"said": text})] == []


@pytest.mark.parametrize(
    "data", [b"\x82\xa7api_key\xd9\x28%b\xa1x\x01", b"\x02api_key\x00\x29\x00\x00\x00%b\x00"]
)
def test_names_and_values_in_messagepack_and_bson(data):
    value = "".join(Random(5).choices(ALNUM, k=40))

    assert [finding.what for finding in scan({"data": b64encode(data % value.encode()).decode()})]


A_KEY = "dQ2vT9xL4mZ7rK1nB8wP3sHy"


@pytest.mark.parametrize(
    "value",
    [
        {"kty": "oct", "k": A_KEY},
        {"keys": [{"kty": "EC", "crv": "P-256", "x": "public", "d": A_KEY}]},
        {"args": ["run", "--api-key", A_KEY, "--verbose"]},
        {"url": f"https://{A_KEY}:x-oauth-basic@github.example.com/a.git"},
        {"said": f"pip install git+https://{A_KEY}@github.example.com/a.git"},
        {"said": f"aws configure set aws_secret_access_key {A_KEY}"},
        {"headers": {"x-api-key-bin": [b64encode(A_KEY.encode()).decode()]}},
        {"bindDN": "cn=ann", "bindCredentials": "Lm9!rMzax23J4"},
        {"SecretString": A_KEY},
        {"said": f".example.com\tTRUE\t/\tTRUE\t1796000000\tid\t{A_KEY}\n"},
        {"base64": _archive(f"API_SECRET={A_KEY}\n" * 3)},
    ],
)
def test_keys_that_their_place_shows(value):
    """The quick search does not miss them either."""
    interaction = {"response": {"body": {"json": value}}}

    assert [*scan(value)]
    assert [*scan_written(interaction, json.dumps(interaction).encode())]


@pytest.mark.parametrize(
    "value",
    [
        {"kty": "RSA", "n": A_KEY, "e": "AQAB", "kid": A_KEY},
        {
            "grants": [
                "http://auth0.com/oauth/grant-type/mfa-otp",
                "http://auth0.com/oauth/grant-type/passwordless/otp",
            ]
        },
        {"emojis": {"cookie": "https://github.global.ssl.fastly.net/images/icons/emoji/cookie.png?v5"}},
        {"url": "https://0f3a1b2c4d5e6f708192a3b4c5d6e7f8@o1.ingest.example.com/42"},
        {"key": "AKIAIOSFODNN7EXAMPLE"},
        {"args": ["--token", "--verbose", "--password", "required"]},
        {"recovery_key": "Not Present", "db_password": "not_set", "passphrase": "None configured yet"},
        {"password": "links_password", "said": '<val name="password">DB_PASSWORD</val>'},
        {"token": "ups_3_day_select", "api_key": "us-east-1-standard-plan-2", "secret": "FIRST_CLASS_2_DAY"},
        {"password": "ENV-cloud9_password", "said": '{"password": "ENV-cloud9_password"}'},
        {"response": {"headers": {"x-app-key": ["AUt3vD7UB84mm6jaaz"]}}},
        {"body": '{"limit": 10, "token": "next:naip:mt_m_4811501_se_11_060_20231117_20240103"}'},
        {"response": {"headers": {"Bingapis-Sessionid": ["06D6DE5A77F043D7BDF18A663C7D3843"]}}},
        {"response": {"headers": {"x-session-id": ["fababe018fe7065c_60c0bab2"]}}},
        {
            "authorization": f'Signature headers="date host",keyId="<ID>/<USER>",algorithm="rsa-sha256",signature="{"Kx9WqT2r" * 9}=="'
        },
        {
            "authorization": f'OAuth oauth_consumer_key="<KEY>", oauth_nonce="w6u9DWO0N6DyncmqVBsOzV13", oauth_signature="{"Kx9WqT2r" * 4}"'
        },
        {
            "authorization": [
                "Digest username=<USER>",
                'uri="/v2/servers/_defaultServer_/vhosts/_defaultVHost_"',
            ]
        },
        {"authorization": "Basic dGVzdDp0ZXN0cHdk", "x-rf-token": "bmljZSB0cnkgOikpKSk="},
        {"authorization": "Basic cmVhbGx5X2JhZF9hcGlfa2V5Og=="},
        {"s3_key": "t5_2t5o6/t2_4cixf/a94a8fe5ccb19ba61c4c0873d391e987982fbbd3"},
        {"secret": b64encode(b"testsecret").decode()},
        {"api_key": "TestGetFastlyaccountreturnsOKresponse1678702274"},
        {"src": "https://inbox.example.com/api/xapp-message/tracking/dHJhY2tpbmdfaWQ9WHZReTk4NXdWdWVCT0RFTF"},
        {"uri": "https://api.example.com/data?username=ada&password=api_request"},
        {"x-github-request-id": "D5C6:5F3C:1A2B3C:2B3C4D:60C05CBB"},
        {
            "text": "https://news.example.com/chips/sk-hynix-to-spend-dollar90-billion-to-build-worlds-largest-mega-fab"
        },
        {"text": "Number|Station name|State\n24526|POINT PASS |SA\n13002|GLEN-AYLE |NSW"},
        {
            "x-sentry-auth": "Sentry sentry_version=5, sentry_client=raven-ruby/3.1.2, sentry_key=220b63fca88041809b887a91c5f3701d"
        },
        {
            "text": "app.powerbigov.us/view?r="
            + b64encode(
                b'{"k":"0b1cb111-10e9-44e1-82c3-11d0d92fb2bc","t":"32f56fc7-5f81-4e22-a95b-15da66513bef"}'
            ).decode()
        },
        {"set-cookie": "dzr_uniq_id=dzr_uniq_id_fra686a3da0c1a4018414f369f27dc87b06d; path=/"},
        {"set-cookie": "route=1746607229.403.28.153032|9898ac1b7e0bd8fc3874537f2a76b591; Path=/"},
        {"set-cookie": "X-Persist=b8a0c1ec2de31237d87845c9a3ab8c22;Path=/;SameSite=None;Secure"},
        {"set-cookie": "did=s%3Av0%3Aa5eaa130-fe44-11ea-88fd-69241534caf5.UhSNGlnYpEgd9Z%2BFw81Pq; Path=/"},
    ],
)
def test_what_is_published_or_only_looks_like_a_name_is_none(value):
    assert [*scan(value)] == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("totp_code", "673137"),
        ("two-factor code", "839201"),
        ("recoveryCodes", ["5h9g4-3l4p6", "8x2m1-7q0z9"]),
    ],
)
def test_codes_that_are_used_once(name, value):
    assert {found.what for found in scan({name: value})} == {"a value named like a credential"}


def test_the_value_of_a_named_output():
    assert [found.where for found in scan({"password": {"value": WORD, "type": "string"}})] == [
        "/password/value"
    ]


TOKEN = f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MjUxNzY4OTAifQ.{'Qx7bT2mK9vLr4Wc8ZyNd'}"


@pytest.mark.parametrize("before", ["", "eyJ", "eyJ_eyJ-", "a.eyJ"])
def test_a_token_behind_other_beginnings_is_found(before):
    assert [(what, key.endswith(TOKEN)) for what, key in keys([before + TOKEN])] == [
        ("a JSON web token", True)
    ]


def test_many_beginnings_without_a_token_are_read_once():
    asked = []

    class Counting:
        def match(self, _text, start):
            asked.append(start)

    assert [*around("eyJ" * 1000 + " eyJ", "eyJ", Counting(), once=True)] == []
    assert asked == [0, 3001]
