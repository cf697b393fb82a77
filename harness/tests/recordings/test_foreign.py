"""Recordings of other tools are replayed without an import."""

import json
from base64 import b64encode

import httpx
import pytest
import yaml

from ellmer_harness import CassetteError, Miss, use_cassette
from ellmer_harness.cli import main
from ellmer_harness.recordings.formats.mock_servers import of_wiremock

pytest_plugins = ["pytester"]
API = "https://api.example.com"


def interaction(uri, answer, body=""):
    return {
        "request": {"method": "POST", "uri": uri, "body": body, "headers": {"X-Trace": ["1"]}},
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": {"Content-Type": ["application/json"]},
            "body": {"string": answer},
        },
    }


def har(uri, answer, body):
    request = {"method": "POST", "url": uri, "headers": [], "postData": {"mimeType": "", "text": body}}
    content = {"text": b64encode(answer).decode(), "encoding": "base64"}
    return {"log": {"entries": [{"request": request, "response": {"status": 200, "content": content}}]}}


FILES = {
    "a.yaml": lambda *it: yaml.safe_dump({"version": 1, "interactions": [interaction(*it)]}),
    "a.json": lambda uri, answer, body: json.dumps(
        {"version": 1, "interactions": [interaction(uri, answer.decode(), body)]}
    ),
    "a.har": lambda *it: json.dumps(har(*it)),
}


@pytest.mark.parametrize("name", FILES)
def test_it_is_played_and_left_alone(tmp_path, name):
    path = tmp_path / name
    path.write_text(FILES[name](f"{API}/x?api_key=theirs", b'{"a": 1}', '{"n": 1}'))
    before = path.read_bytes()

    for mode in ("replay", "record"):
        with use_cassette(path, mode=mode) as cassette:
            assert httpx.post(f"{API}/x?api_key=mine", json={"n": 1}).json() == {"a": 1}
        assert (cassette.verdict.state, cassette.verdict.recorded_from) == ("replayed", "imported")
    with pytest.raises(Miss, match="/n: "), use_cassette(path, allow_unused=True):
        httpx.post(f"{API}/x?api_key=mine", json={"n": 2})
    with pytest.raises(CassetteError, match="nothing recorded from 'live' can be added"):
        use_cassette(path, mode="append").__enter__()
    assert path.read_bytes() == before


def test_a_test_may_name_one_and_finds_it_migrated(suite, pytester):
    path = pytester.path / "cassettes" / "test_it" / "old.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(FILES["a.yaml"]("https://api.example.com/x", b"7", '{"n":0}'))
    code = "import pytest\n@pytest.mark.cassette('old.yaml')\ndef test_a(ask): assert ask() == 7"
    suite(code).assert_outcomes(passed=1)
    assert main(["migrate", str(path)]) == 0
    suite(code).assert_outcomes(passed=1)
    assert [each.name for each in path.parent.iterdir()] == ["old.json"]


@pytest.mark.parametrize("text", ["", "nonsense", "a: b", "{}", "[" * 100_000, "interactions: [1]"])
def test_what_is_no_recording_is_told_and_left_alone(tmp_path, text):
    path = tmp_path / "c.json"
    path.write_text(text)
    with pytest.raises(CassetteError, match="cannot be used"):
        use_cassette(path).__enter__()
    assert path.read_text() == text


def test_a_byte_order_mark_and_other_ends_of_lines_do_no_harm(server, record, tmp_path):
    with use_cassette(tmp_path / "c.json", **record):
        httpx.post(f"{API}/x", json={"n": 1})
    text = (tmp_path / "c.json").read_bytes()
    (tmp_path / "c.json").write_bytes(b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n"))
    with use_cassette(tmp_path / "c.json"):
        assert httpx.post(f"{API}/x", json={"n": 1}).json() == {"echo": '{"n":1}'}


@pytest.mark.parametrize(
    ("answer", "content"),
    [
        ({"body": "Grüße"}, "Grüße".encode()),
        ({"jsonBody": {"a": [1]}}, b'{"a": [1]}'),
        ({"jsonBody": []}, b"[]"),
        ({"base64Body": "AAE="}, b"\x00\x01"),
        ({}, None),
    ],
)
def test_an_answer_of_wiremock_has_any_of_its_forms(answer, content, tmp_path):
    mapping = {"request": {"method": "GET", "urlPath": "/x"}, "response": {"status": 200, **answer}}
    found = of_wiremock(mapping, "0", tmp_path)

    assert (found.status, found.url) == (200, "http:///x")
    assert found.content == content
