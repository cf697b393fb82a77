"""A cassette of a wrong shape is a `CassetteError` that names line and field."""

import json
from contextlib import suppress

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ellmer_harness import CassetteError, Miss, use_cassette
from ellmer_harness.cli import main
from ellmer_harness.format.json_text import layout
from ellmer_harness.format.serializer import line_of

URL = "https://api.example.com/x"
GOOD = {
    "version": 1,
    "metadata": {
        "ellmer_harness": {"format": 1, "recorded_from": "live", "recorded_at": "2026-11-20T14:00:00Z"}
    },
    "interactions": [
        {
            "request": {"method": "GET", "uri": URL, "headers": {"accept": ["*/*"]}, "body": None},
            "response": {
                "status": {"code": 200, "message": "OK"},
                "headers": {"content-type": ["application/json"]},
                "body": {"base64": "aGVsbG8="},
                "stream": {"sizes": "2 3", "ms": "1 2", "end": "closed"},
            },
        }
    ],
}
JUNK = [None, 0, 1.5, True, "x", [], {}, [1], {"x": 1}]


def with_(path, value):
    cassette = json.loads(json.dumps(GOOD))
    *steps, last = path
    inside = cassette
    for step in steps:
        inside = inside[step]
    if value is ...:
        del inside[last]
    else:
        inside[last] = value
    return cassette


def paths(value, path=()):
    for step, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, step)
        if isinstance(item, dict | list):
            yield from paths(item, (*path, step))


def replayed(file, cassette):
    file.write_text(layout(cassette))
    with use_cassette(file, allow_unused=True, allow_idle=True, stale="error", max_age=10**5):
        httpx.get(URL)


@pytest.mark.parametrize("path", [*paths(GOOD)], ids=lambda path: "/".join(map(str, path)))
def test_nothing_but_our_own_errors_whatever_stands_there(path, tmp_path):
    for junk in (*JUNK, ...):
        with suppress(CassetteError, Miss, httpx.HTTPError):
            replayed(tmp_path / "c.json", with_(path, junk))


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (
            ("interactions", 0, "response", "status"),
            ...,
            r"line 12, interactions/0/response/status: an object .*missing",
        ),
        (
            ("interactions", 0, "response", "status", "code"),
            "200",
            r'response/status/code: a number .* it is "200"',
        ),
        (
            ("interactions", 0, "response", "stream", "sizes"),
            "a b",
            r'line 16, .*stream/sizes: "events" or sizes',
        ),
        (
            ("interactions", 0, "request", "headers", "accept"),
            "*/*",
            "line 6, .*headers/accept: a list of texts",
        ),
        (
            ("metadata", "ellmer_harness", "recorded_at"),
            "soon",
            "recorded_at: a date and time is expected here",
        ),
        (
            ("metadata", "ellmer_harness", "not_compared"),
            ["a", 1],
            "not_compared: a list of texts is expected",
        ),
        (
            ("metadata", "ellmer_harness", "recorded_from"),
            1,
            "recorded_from: a text is expected here; it is 1",
        ),
        (("interactions", 0), 7, "interactions/0: an object is expected here; it is 7"),
    ],
)
def test_the_error_names_line_and_field(path, value, told, tmp_path):
    with pytest.raises(CassetteError, match=told):
        replayed(tmp_path / "c.json", with_(path, value))


@pytest.mark.parametrize(
    "form", [{"base64": "no base64!"}, {"text": 1}, {"json": 1, "coding": {"coding": "x"}}]
)
def test_a_body_that_is_none_names_its_field(form, tmp_path):
    with pytest.raises(
        Miss, match="line 15, interactions/0/response/body: a body in the cassette cannot be read"
    ):
        replayed(tmp_path / "c.json", with_(("interactions", 0, "response", "body"), form))


@settings(max_examples=30, deadline=None, database=None)
@given(
    value=st.recursive(
        st.integers() | st.text(), lambda each: st.lists(each) | st.dictionaries(st.text(), each)
    )
)
def test_lines_are_found(value):
    text = layout({"before": [1, {"a": 2}], "it": {"mark": value}})
    assert text.splitlines()[line_of(text, ("it", "mark")) - 1].lstrip(' {"it:').startswith('mark"') or (
        '"mark"' in text.splitlines()[line_of(text, ("it", "mark")) - 1]
    )


def test_billion_laughs_end_at_once(tmp_path, capsys):
    # Three billion items: whoever begins to build them does not get to the end of this test.
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    for name, before in zip("bcdefghijk", "abcdefghij", strict=True):
        lines.append(f"{name}: &{name} [{', '.join(['*' + before] * 9)}]")
    (tmp_path / "c.yaml").write_text("\n".join([*lines, "interactions: *k"]))
    assert main(["migrate", str(tmp_path / "c.yaml")]) == 1
    assert "aliases" in capsys.readouterr().err


def test_numbers_are_on_one_line():
    vector = [n / 7 for n in range(1536)]
    text = layout(
        {"data": [{"embedding": vector, "outline": [[[1.5, 2], [3, 4]]] * 50, "said": ["a" * 60] * 3}]}
    )
    assert json.loads(text)["data"][0]["embedding"] == vector
    assert len(text.splitlines()) == 13


def test_media_are_read_when_the_cassette_opens(server, record, tmp_path):
    image = b"\x89PNG" + bytes(range(256)) * 40
    server.whole(image, "image/png")
    with use_cassette(tmp_path / "c.json", **record):
        httpx.get(URL)
    [blob] = (tmp_path / "blobs").iterdir()
    with use_cassette(tmp_path / "c.json"):
        blob.unlink()
        assert httpx.get(URL).content == image
