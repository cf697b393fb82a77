"""The cassette as others read it: its schema, and the fixtures with the replay that is expected of each."""

import json
from base64 import b64decode
from importlib.resources import files
from pathlib import Path

import httpx
import pytest
from jsonschema import Draft202012Validator

from ellmer_harness import Match, Miss, use_cassette

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "harness" / "fixtures"
NAMES = sorted(file.name.removesuffix(".replay.json") for file in FIXTURES.glob("*.replay.json"))
SCHEMA = json.loads((files("ellmer_harness") / "format" / "cassette.schema.json").read_text("utf-8"))
VALID = Draft202012Validator(SCHEMA)


def cassettes():
    yield from (FIXTURES / f"{name}.json" for name in NAMES)
    yield from sorted((ROOT / "cassettes").rglob("*.json"))[::20]
    yield from (ROOT / "examples").glob("*/tests/cassettes/**/*.json")


def test_the_schema_takes_the_cassettes_of_this_repository():
    Draft202012Validator.check_schema(SCHEMA)
    found = [json.loads(file.read_text("utf-8")) for file in cassettes()]
    read = [each for each in found if isinstance(each, dict) and "interactions" in each]
    assert len(read) > 50
    assert [str(error) for each in read for error in VALID.iter_errors(each)] == []


def set_at(value, path, new):
    copy = json.loads(json.dumps(value))
    place = copy
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = new
    return copy


@pytest.mark.parametrize(
    ("path", "new"),
    [
        (["version"], 2),
        (["metadata", "ellmer_harness", "format"], 2),
        (["interactions"], {}),
        (["interactions", 0, "request", "method"], None),
        (["interactions", 0, "request", "headers", "accept"], []),
        (["interactions", 0, "request", "body"], {"xml": "<a/>"}),
        (["interactions", 0, "request", "body"], {"json": 1, "text": "1"}),
        (["interactions", 0, "response", "status", "code"], "200"),
        (["interactions", 0, "response", "stream"], {"sizes": "many"}),
        (["interactions", 0, "response", "error"], {"message": "why"}),
        (["interactions", 0, "response", "body"], {"sse": [{"name": "x"}]}),
        (["interactions", 0, "response", "body"], {"blob": "../secret"}),
        (["interactions", 0, "fingerprints"], {"body": "123"}),
    ],
)
def test_the_schema_refuses_what_is_no_cassette(path, new):
    good = json.loads((FIXTURES / "json.json").read_text("utf-8"))
    assert VALID.is_valid(good)
    assert not VALID.is_valid(set_at(good, path, new))


def bytes_of(value):
    return b64decode(value["base64"]) if "base64" in value else value.get("body", "").encode()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", NAMES)
def test_the_replay_is_the_expected_one(name):
    expected = json.loads((FIXTURES / f"{name}.replay.json").read_text("utf-8"))
    cassette = use_cassette(FIXTURES / f"{name}.json", mode="replay", match=Match())
    misses = 0
    cassette.__enter__()
    try:
        with httpx.Client() as client:
            for step in expected["steps"]:
                misses += "miss" in step or "end" in step.get("answer", {})
                replay(client, step)
        assert len(cassette.misses) == misses
        assert cassette.index is not None
        assert cassette.index.unused_places() == expected["unused"]
    finally:
        cassette.close_quietly()


def replay(client, step):
    asked = step["request"]
    request = httpx.Request(asked["method"], asked["url"], headers=asked["headers"], content=bytes_of(asked))
    if "miss" in step:
        with pytest.raises(Miss):
            client.send(request)
        return
    wanted = step["answer"]
    if "status" not in wanted:
        with pytest.raises(getattr(httpx, wanted["error"])):
            client.send(request)
        return
    response = client.send(request, stream=True)
    assert response.status_code == wanted["status"]
    dropped = {"content-length", "content-encoding"}
    assert [[n, v] for n, v in response.headers.multi_items() if n not in dropped] == wanted["headers"]
    chunks, ended = [], {}
    try:
        chunks.extend(response.iter_bytes())
    except httpx.TransportError as error:
        ended = {"error": type(error).__name__}
    except Miss:
        ended = {"end": "closed"}
    assert ended == {name: wanted[name] for name in ("error", "end") if name in wanted}
    assert b"".join(chunks) == bytes_of(wanted)
    assert [len(each) for each in chunks] == wanted.get("chunks", [len(each) for each in chunks])
