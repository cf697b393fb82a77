"""The index's URL, the choice of an archive, and the pin of an archive."""

import json
import re

import pytest
from servers.package_index import GOOD, TOP, packed

from ellmer_conformance.recordings.corpus import fetch, pins, propose
from ellmer_conformance.recordings.corpus.fetch import Corrupt
from ellmer_conformance.recordings.corpus.pins import FILES, Pin, PinError


@pytest.mark.parametrize(
    ("named", "url"),
    [
        ({}, "https://pypi.org/simple"),
        ({"PIP_INDEX_URL": "https://a/simple/"}, "https://a/simple"),
        ({"PIP_INDEX_URL": "https://a", "UV_INDEX_URL": "https://b?c=https://d"}, "https://b?c=https://d"),
        ({"UV_INDEX_URL": "https://b", "UV_DEFAULT_INDEX": "ours=https://c"}, "https://c"),
    ],
)
def test_the_index_is_the_one_of_uv_and_pip(monkeypatch, named, url):
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in named.items():
        monkeypatch.setenv(name, value)
    assert fetch.index_url() == url


def test_the_newest_source_distribution_is_chosen():
    found = [
        "a-1.9.tar.gz",
        "a-1.10.tar.gz",
        "a-2.0b1.tar.gz",
        "a-1.11-py3-none-any.whl",
        "b-9.tar.gz",
        "a-x.tar.gz",
    ]
    files = dict.fromkeys(found, "")
    assert fetch.newest("A", files) == ("a-1.10.tar.gz", "1.10")
    assert fetch.newest("A", files, "2.0b1") == ("a-2.0b1.tar.gz", "2.0b1")
    assert fetch.newest("A", files, "3") is None


def test_a_pin_is_proposed(played):
    pin = played(packed(GOOD))
    with fetch.client() as http:
        found = propose.of_package(http, "stories")
    assert found == Pin(
        **{
            **vars(pin),
            "members": ("tests/cassettes/*",),
            "files": 1,
            "interactions": 1,
            "distinct": 1,
            "first": "2023-11-27",
            "last": "2023-11-27",
            "holds": {"openai-chat": 1},
        }
    )
    assert found.link("tests/cassettes/hello [1].yaml") == (
        f"https://inspector.pypi.io/project/stories/1.0/packages/{pin.archive.removeprefix(FILES)}"
        "/stories-1.0/tests/cassettes/hello%20%5B1%5D.yaml"
    )


def test_a_package_without_recordings_is_no_corpus(played):
    played(packed({f"{TOP}/PKG-INFO": "", f"{TOP}/tests/data.json": "{}"}))
    with fetch.client() as http, pytest.raises(Corrupt, match="no recording of a chat"):
        propose.of_package(http, "stories")


def test_patterns_end_at_the_folder_that_is_named_like_one_of_recordings():
    members = ["a/cassettes/b/c.yaml", "a/cassettes/d.yaml", "tests/_vcr/x/y.yaml", "tests/plain/z.json"]
    assert propose.patterns(members) == ("a/cassettes/*", "tests/_vcr/*", "tests/plain/*")


def test_a_pin_survives_its_file(tmp_path, played):
    pin = Pin(**{**vars(played(b"")), "size": 1, "holds": {"openai-chat": 1}, "first": "2023-11-27"})
    (tmp_path / "corpus.toml").write_text(pins.as_toml(pin))
    assert pins.load(tmp_path / "corpus.toml") == [pin]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"sha256": "abc"}, "SHA-256"),
        ({"package": "../evil"}, "not a package name with a version"),
        ({"version": "1/../.."}, "not a package name with a version"),
        ({"archive": "http://example.org/a.tar.gz"}, "https"),
        ({"size": 0}, "size"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_wrong_pin_is_told(tmp_path, played, changed, told):
    text = pins.as_toml(Pin(**{**vars(played(b"")), "size": 1}))
    lines = [line for line in text.splitlines() if line.partition(" ")[0] not in changed]
    lines += [f"{name} = {json.dumps(value)}" for name, value in changed.items()]
    (tmp_path / "corpus.toml").write_text("\n".join(lines))
    with pytest.raises(PinError, match=re.escape(told)):
        pins.load(tmp_path / "corpus.toml")


def test_the_pins_that_are_shipped_hold_thousands_of_distinct_chats():
    found = pins.load(pins.shipped())
    assert sum(pin.distinct for pin in found) > 3000
    assert {wire for pin in found for wire in pin.holds} >= {
        "openai-chat",
        "openai-responses",
        "anthropic",
        "gemini",
        "bedrock",
        "mistral",
        "cohere",
        "ollama",
    }
    assert all(pin.indexed and pin.licence and pin.licence != "not told" for pin in found)


def test_a_chat_counts_whose_address_was_removed(tmp_path):
    """langchain-openai's 102 cassettes have no address."""
    asked = {"model": "gpt-5", "input": "Hi", "store": False}
    answer = {"status": {"code": 200}, "headers": {}, "body": {"string": '{"object": "response"}'}}
    request = {"method": "POST", "uri": "**REDACTED**", "body": json.dumps(asked), "headers": {}}
    cassette = {"interactions": [{"request": request, "response": answer}], "version": 1}
    (tmp_path / "a.json").write_text(json.dumps(cassette))
    assert propose.survey([tmp_path]).wires == {"openai-responses": 1}
