"""Different requests stay different: masked values take part in matching, and values that are no secrets are not masked."""

import json
from random import Random
from string import ascii_letters, digits

import httpx
import pytest

from ellmer_harness import CassetteError, Miss, use_cassette

API = "https://api.example.com"
NAMES = [
    *(
        "sort_key",
        "key",
        "taxonKey",
        "datasetKey",
        "projectKey",
        "partition_key",
        "token",
        "page_token",
        "pageToken",
    ),
    *(
        "session",
        "session_id",
        "sessionId",
        "auth",
        "sid",
        "code",
        "state",
        "pin",
        "pass",
        "otp",
        "cursor",
        "api_key",
    ),
    *(
        "apiKey",
        "access_token",
        "refresh_token",
        "client_secret",
        "password",
        "device_code",
        "csrf",
        "csrf_token",
    ),
    *(
        "jwt",
        "bearer",
        "credential",
        "dsn",
        "assertion",
        "SAMLResponse",
        "code_verifier",
        "license_key",
        "app_key",
    ),
    *(
        "x-api-key",
        "subscription-key",
        "webhook_secret",
        "id_token",
        "keyword",
        "tokenize",
        "author",
        "primaryKey",
    ),
]
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


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "values", [*PLAIN, (secret(1), secret(2))], ids=[*(each[0] for each in PLAIN), "secret"]
)
def test_swapped_requests_get_their_own_answers(cassette, name, values):
    first, second = ({"url": f"/x?{httpx.QueryParams({name: value})}"} for value in values)
    cassette(first, second)

    assert cassette.replayed(second, first) == [1, 0]


@pytest.mark.parametrize("name", NAMES)
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


def test_cookies_and_signatures_tell_no_requests_apart(cassette):
    signed = [
        {"url": f"/x?X-Amz-Signature={secret(n)}&X-Amz-Date=2026010{n}T00", "headers": {"cookie": f"s={n}"}}
        for n in (1, 2)
    ]
    cassette(*signed)

    assert cassette.replayed(*reversed(signed)) == [0, 1]


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


def test_many_values_get_fingerprints_that_differ(cassette):
    requests = [{"url": f"/x?token={secret(n)}"} for n in range(300)]
    cassette(*requests)

    assert cassette.replayed(*reversed(requests)) == [*reversed(range(300))]
