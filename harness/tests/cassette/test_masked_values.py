"""Different requests stay different: masked values take part in matching, and values that are no secrets are not masked."""

import json
from random import Random
from string import ascii_letters, digits

import httpx
import pytest

from ellmer_harness import CassetteError, Match, Miss, use_cassette
from ellmer_harness.secrets.named_credentials import is_signature
from ellmer_harness.secrets.redaction import is_secret_name

API = "https://api.example.com"
NAMES = [
    *("sort_key", "key", "taxonKey", "datasetKey", "projectKey", "partition_key", "token", "page_token"),
    *("pageToken", "session", "session_id", "sessionId", "auth", "sid", "code", "state", "pin"),
    *("pass", "otp", "cursor", "api_key", "apiKey", "access_token", "refresh_token", "client_secret"),
    *("password", "device_code", "csrf", "csrf_token", "jwt", "bearer", "credential", "dsn"),
    *(
        "assertion",
        "SAMLResponse",
        "code_verifier",
        "license_key",
        "app_key",
        "x-api-key",
        "subscription-key",
    ),
    *("webhook_secret", "id_token", "keyword", "tokenize", "author", "primaryKey", "secondary_key"),
    *("foreign_key", "cache_key", "object_key", "index_key", "row_key", "hash_key", "range_key"),
    *("group_key", "parent_key", "child_key", "map_key", "sitekey", "site_key", "public_key"),
    *("publishable_key", "sentry_key", "shared_key", "signing_key", "master_key", "account_key"),
    *("storage_key", "service_key", "admin_key", "server_key", "client_key", "function_key"),
    *("role_key", "room_key", "stream_key", "video_key", "track_key", "song_key", "color_key"),
    *("colour_key", "layout_key", "locale_key", "lang_key", "menu_key", "page_key", "next_token"),
    *("previous_token", "prev_token", "continuation_token", "sync_token", "start_token", "offset_token"),
    *("request_token", "delta_token", "resume_token", "skip_token", "idempotency_token", "max_tokens"),
    *("total_token", "stop_token", "eos_token", "bos_token", "download_token", "upload_token"),
    *(
        "share_token",
        "invite_token",
        "reset_token",
        "verify_token",
        "verification_token",
        "confirmation_token",
    ),
    *("unsubscribe_token", "activation_token", "device_token", "push_token", "bot_token", "app_token"),
    *("user_token", "guest_token", "visitor_token", "anonymous_token", "session_token", "security_token"),
    *("auth_token", "authToken", "bearer_token", "oauth_token", "oauth_verifier", "oauth_callback"),
    *("ticket", "nonce", "challenge", "signature_method", "hash", "digest", "checksum", "etag"),
    *("version_key", "revision_key", "change_key", "secret", "secrets", "shared_secret", "app_secret"),
    *("api_secret", "consumer_key", "consumer_secret", "consumerKey", "credentialId", "credential_id"),
    *("credentials", "cred", "login", "user", "username", "userpass", "pwd", "passwd", "passphrase"),
    *("passcode", "passwort", "pass_through", "passenger", "compass", "bypass", "cookie", "cookies"),
    *("cookie_id", "consent", "auth_user", "authuser", "authority", "author_id", "authorId"),
    *("authorization", "authorized", "session_name", "sessions", "sessionToken", "session-key"),
    *("sess", "sid_type", "side", "inside", "sas", "sas_token", "connection", "connectionString"),
    *("conn_id", "code_challenge", "postcode", "post_code", "zipcode", "zip_code", "country_code"),
    *("countryCode", "currency_code", "error_code", "lang_code", "area_code", "promo_code"),
    *("coupon_code", "invite_code", "discount_code", "barcode", "qrcode", "encode", "decode"),
    *("codec", "pin_code", "pincode", "mapping", "shipping", "pinned", "spinner", "sig", "sigma"),
    *("design", "signal", "assign", "key_id", "keyId", "key_name", "keyName", "keys", "monkey"),
    *(
        "turkey",
        "hotkey",
        "keyring",
        "api-version",
        "x-amz-meta",
        "otp_length",
        "dns",
    ),
]
"""Names of parameters: two hundred and more, of which some suggest a credential and others only look like it."""
SIGNATURES = {"sig"}  # they differ in each run, and are not compared
PLAIN = [("name", "date"), ("PROJ-1", "PROJ-2"), ("page1", "page2"), ("1", "2"), ("a b", "a+b"), ("ä", "ö")]


def secret(seed):
    return "".join(Random(seed).choices(ascii_letters + digits, k=40))


@pytest.fixture
def cassette(server, record, tmp_path):
    """Records a request for each of some arguments of `ask`, and returns the file and a function that replays them."""
    path = tmp_path / "c.json"

    def ask(client, url="/x", **options):
        return client.request(options.pop("method", "GET"), API + url, **options).json()

    def recorded(*requests, **options):
        for number, _ in enumerate(requests):
            server.whole({"n": number})
        with use_cassette(path, **record, **options), httpx.Client() as client:
            for request in requests:
                ask(client, **request)
        return path

    def replayed(*requests, **options):
        with use_cassette(path, allow_unused=True, **options), httpx.Client() as client:
            return [ask(client, **request)["n"] for request in requests]

    recorded.replayed = replayed
    return recorded


@pytest.mark.slow
@pytest.mark.parametrize(
    "values", [*PLAIN, (secret(1), secret(2))], ids=[*(each[0] for each in PLAIN), "secret"]
)
def test_swapped_requests_get_their_own_answers(cassette, values):
    """In one cassette, all names at once: the requests are sent in the opposite order."""
    names = [name for name in NAMES if name not in SIGNATURES]
    requests = [{"url": f"/x?{httpx.QueryParams({name: value})}"} for name in names for value in values]
    cassette(*requests)

    assert len(NAMES) >= 200
    assert cassette.replayed(*reversed(requests)) == [*reversed(range(len(requests)))]


HEADERS = [
    *(f"x-{name.replace('_', '-')}".lower() for name in NAMES),
    *(
        "authorization",
        "proxy-authorization",
        "api-key",
        "x-goog-api-key",
        "ocp-apim-subscription-key",
        "private-token",
    ),
]


@pytest.mark.parametrize(
    "values",
    [(secret(1), secret(2)), (f"Bearer {secret(3)}", f"Bearer {secret(4)}")],
    ids=["plain", "bearer"],
)
def test_requests_that_differ_in_a_credential_header_get_their_own_answers(cassette, values):
    names = [
        name for name in HEADERS if is_secret_name(name) and "cookie" not in name and not is_signature(name)
    ]
    requests = [{"url": f"/{name}", "headers": {name: value}} for name in names for value in values]
    cassette(*requests)

    assert len(names) >= 60
    assert cassette.replayed(*reversed(requests)) == [*reversed(range(len(requests)))]


USUAL = (
    *(
        "accept",
        "accept-language",
        "accept-charset",
        "if-none-match",
        "if-match",
        "if-modified-since",
        "prefer",
    ),
    *(
        "user-agent",
        "origin",
        "referer",
        "x-http-method-override",
        "x-stainless-retry-count",
        "openai-project",
    ),
    *("openai-organization", "anthropic-dangerous-direct-browser-access", "x-goog-user-project", "x-tenant"),
)


def test_requests_that_differ_in_any_header_get_their_own_answers(cassette):
    names = dict.fromkeys(
        name
        for name in (*USUAL, *HEADERS, "salt")  # which is beside the fingerprints
        if "cookie" not in name and not is_signature(name) and "amz" not in name
    )
    values = ("de", "en", "application/json")
    requests = [{"url": f"/{name}", "headers": {name: value}} for name in names for value in values]
    text = cassette(*requests).read_text()

    assert len(names) >= 200
    assert cassette.replayed(*reversed(requests)) == [*reversed(range(len(requests)))]
    assert '"accept-language"' in text
    assert "en-" not in text


def test_the_operations_of_aws_get_their_own_answers(cassette):
    requests = [
        {
            "headers": {
                "x-amz-target": f"DynamoDB_20120810.{name}",
                "x-amz-date": f"20261130T00000{len(name) % 10}Z",
            }
        }
        for name in ("ListTables", "DescribeLimits")
    ]
    cassette(*requests)

    assert cassette.replayed(*reversed(requests)) == [1, 0]


@pytest.mark.parametrize("name", ["accept-language", "idempotency-key", "x-request-id", "traceparent"])
def test_another_value_of_a_header_gets_the_answer(cassette, name):
    """In the recorded order. What is another value in each run is not written at all."""
    text = cassette(*({"headers": {name: value}} for value in ("a", "b"))).read_text()

    assert cassette.replayed({"headers": {name: "c"}}, {"headers": {name: "d"}}) == [0, 1]
    assert ("fingerprints" in text) is (name == "accept-language")


@pytest.mark.parametrize("name", [*dict.fromkeys(name for name in HEADERS if not is_secret_name(name))][:40])
def test_headers_that_are_kept_tell_requests_apart(server, record, tmp_path, name):
    for number in range(2):
        server.whole({"n": number})
    match = Match(headers=(name,))
    with (
        use_cassette(tmp_path / "c.json", **record, keep_headers=[name], match=match),
        httpx.Client() as client,
    ):
        for value in ("one", "two"):
            client.get(f"{API}/x", headers={name: value})
    with use_cassette(tmp_path / "c.json", keep_headers=[name], match=match), httpx.Client() as client:
        assert [client.get(f"{API}/x", headers={name: value}).json()["n"] for value in ("two", "one")] == [
            1,
            0,
        ]


@pytest.mark.parametrize(
    "name",
    ["sort_key", "key", "taxonKey", "token", "page_token", "session_id", "api_key", "password", "code"],
)
@pytest.mark.parametrize(
    "values", [("PROJ-1", "PROJ-2", "PROJ-3"), tuple(map(secret, range(3)))], ids=["id", "secret"]
)
def test_another_value_gets_no_answer(cassette, name, values):
    first, second, other = ({"url": f"/x?{name}={value}"} for value in values)
    cassette(first, second)

    with pytest.raises(Miss):
        cassette.replayed(other)


@pytest.mark.parametrize("name", ["key", "token", "api_key", "access_token", "password"])
def test_a_secret_is_not_written_and_cannot_be_guessed(cassette, name):
    value = secret(1)
    text = cassette({"url": f"/x?{name}={value}"}).read_text()
    written = json.loads(text)["interactions"][0]

    assert value not in text
    assert written["request"]["uri"] == f"{API}/x?{name}=REDACTED"
    assert len(written["fingerprints"].pop("salt")) == 8
    assert {place: len(digits) for place, digits in written["fingerprints"].items()} == {f"?{name}": 3}


def test_a_masked_parameter_of_a_path_ends_at_the_next_slash(cassette):
    path = cassette({"url": f"/a;v=1;pass={secret(1)}/x"}, {"url": f"/a;pass={secret(2)}/y"}, mask=True)
    uris = [it["request"]["uri"] for it in json.loads(path.read_text())["interactions"]]

    assert uris == [f"{API}/a;v=1;pass=REDACTED/x", f"{API}/a;pass=REDACTED/y"]
    assert cassette.replayed({"url": f"/a;pass={secret(3)}/y"}) == [1]
    with pytest.raises(Miss):
        cassette.replayed({"url": f"/a;pass={secret(2)}/z"})


def test_a_program_with_other_credentials_gets_its_answers(cassette):
    cassette({"url": f"/x?key={secret(1)}&q=1"}, {"url": f"/x?key={secret(1)}&q=2"})

    assert cassette.replayed({"url": f"/x?key={secret(2)}&q=2"}, {"url": f"/x?key={secret(2)}&q=1"}) == [1, 0]
    assert cassette.replayed({"url": "/x?q=2"}, {"url": "/x?key=dummy&q=1"}) == [1, 0]


@pytest.mark.parametrize(
    "header", ["authorization", "x-api-key", "x-auth-token", "api-key", "proxy-authorization"]
)
def test_headers_tell_requests_apart(cassette, header):
    first, second = ({"headers": {header: f"Bearer {secret(n)}"}} for n in (1, 2))
    text = cassette(first, second).read_text()

    assert secret(1) not in text
    assert cassette.replayed(second, first) == [1, 0]
    assert cassette.replayed({}, {}) == [0, 1]  # without credentials, in the recorded order


def test_one_credential_in_all_requests_needs_no_fingerprint(cassette):
    same = {"headers": {"authorization": f"Bearer {secret(1)}"}}

    assert "fingerprints" not in cassette(same, same).read_text()


def test_cookies_tell_no_requests_apart(cassette):
    sent = [{"url": "/x", "headers": {"cookie": f"s={n}"}} for n in (1, 2)]
    cassette(*sent)

    assert cassette.replayed(*reversed(sent)) == [0, 1]


def test_signatures_tell_requests_apart_unless_they_are_made_anew(cassette):
    signed = [
        {"url": f"/x?X-Amz-Signature={secret(n)}&X-Amz-Date=2026010{n}T00", "headers": {"cookie": f"s={n}"}}
        for n in (1, 2, 3, 4)
    ]
    cassette(*signed[:2])

    assert cassette.replayed(*reversed(signed[:2])) == [1, 0]
    assert cassette.replayed(*signed[2:]) == [0, 1]


@pytest.mark.parametrize("name", ["api_key", "access_token", "password", "otp"])
def test_a_signature_is_no_other_credential(cassette, name):
    cassette({"url": f"/x?sig={secret(1)}"}, {"url": f"/x?X-Amz-Signature={secret(2)}"})

    with pytest.raises(Miss):
        cassette.replayed({"url": f"/x?{name}={secret(3)}"})


def test_masked_bodies_tell_requests_apart(cassette):
    bodies = [
        {"method": "POST", "json": {"password": word, "user": "me"}}
        for word in ("correct horse", "battery staple")
    ]
    text = cassette(*bodies, mask=True).read_text()

    assert "battery" not in text
    assert cassette.replayed(*reversed(bodies)) == [1, 0]
    with pytest.raises(Miss):
        cassette.replayed({"method": "POST", "json": {"password": "another one", "user": "me"}})


@pytest.mark.parametrize(
    "elsewhere",
    [
        lambda word: {"url": f"/teams/{word}/members?page=2"},
        lambda word: {"url": f"/teams?name={word}"},
        lambda word: {"method": "POST", "json": {"team": [word, word], "page": 2}},
        lambda word: {"method": "POST", "data": {"page": "2", "team": word}},
    ],
)
def test_a_word_that_is_a_secret_elsewhere_tells_requests_apart(cassette, elsewhere):
    words = ("battery-staple", "correct-horse")
    logins = [{"method": "POST", "json": {"password": word}} for word in words]
    others = [elsewhere(word) for word in words]
    text = cassette(*others, *logins, mask=True).read_text()

    assert "battery" not in text
    assert cassette.replayed(*others, *logins) == [0, 1, 2, 3]
    assert cassette.replayed(*reversed(others)) == [1, 0]
    with pytest.raises(Miss):
        cassette.replayed(elsewhere("another-one"))


@pytest.mark.parametrize(
    "bodies",
    [('{"a":1,"a":2}', '{"a":3,"a":2}'), ('{"a":1e400}', '{"a":2e400}'), ('{"a":-1e999}', '{"a":-2e999}')],
)
def test_json_that_python_reads_alike_is_compared_byte_for_byte(cassette, bodies):
    first, second = ({"method": "POST", "content": body} for body in bodies)
    cassette(first, second)

    assert cassette.replayed(second, first) == [1, 0]


def test_a_cassette_without_fingerprints_is_replayed_in_order(cassette):
    requests = [{"url": f"/x?token={secret(n)}"} for n in (1, 2)]
    path = cassette(*requests)
    old = json.loads(path.read_text())
    for interaction in old["interactions"]:
        del interaction["fingerprints"]
    path.write_text(json.dumps(old))

    assert cassette.replayed(*requests) == [0, 1]
    assert cassette.replayed({"url": "/x?token=anything"}, {"url": "/x"}) == [0, 1]


def test_fingerprints_of_a_wrong_shape_are_named(cassette):
    path = cassette({"url": f"/x?token={secret(1)}"})
    broken = json.loads(path.read_text())
    broken["interactions"][0]["fingerprints"] = {"?token": "abc"}
    path.write_text(json.dumps(broken))

    with pytest.raises(CassetteError, match="fingerprints"):
        cassette.replayed({})


@pytest.mark.slow
def test_many_values_get_fingerprints_that_differ(cassette):
    requests = [{"url": f"/x?token={secret(n)}"} for n in range(300)]
    cassette(*requests)

    assert cassette.replayed(*reversed(requests)) == [*reversed(range(300))]
