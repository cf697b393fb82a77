"""Streams of alike events have the form and the text that they have when each event is parsed."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ellmer_harness.format import uniform_events
from ellmer_harness.format.json_text import layout_bytes
from ellmer_harness.format.sse_and_ndjson import parse, write

#: What a text of an alike event may be, and what it may not be.
WORDS = st.sampled_from(
    [
        "a",
        " the",
        "é",
        r"\n",
        r"\"",
        r"\\",
        "",
        r"\u00e9",
        r"\/",
        '","b":"',
        "\x7f",
        "\u2028",
        '"',
        "\\",
        "\x01",
    ]
)
FRAMES = st.sampled_from(
    [
        'data: {"id":"x","n":%d,"delta":{"text":"%s"}}\n\n',
        'event: delta\ndata: {"n":%d,"text":"%s","more":[]}\n\n',
        'data: {"list":["%s",%d,"%s"]}\n\n',
        'data: {"text":"%s","text":"%s"}\n\n',
        'data: {"text": "%s"}\n\n',
        'data: {"number":0%d,"text":"%s"}\n\n',
        'data: {"number":%d.5,"text":"%s"}\n\n',
        'data: {"o":"%s","p":{"q":"%s"}}\n\n',
    ]
)
OTHERS = st.sampled_from(
    [
        *("data: [DONE]\n\n", 'data: {"role":"assistant"}\n\n', ": ping\n\n", "data: \n\n", "\n\n", "\n"),
        *('data: {"a": 1}\n\n', 'data: {"a":"\\u00e9"}\n\n', "event: end\ndata: {}\n\n", "data: x\r\n\r\n"),
    ]
)


def event(frame: str, number: int, *words: str) -> str:
    """Returns an event with a number and some words in it."""
    values = [*words] * 3
    return re.sub("%[ds]", lambda kind: str(number) if kind[0] == "%d" else values.pop(0), frame)


@given(
    FRAMES,
    st.lists(WORDS, min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(0, 150), st.one_of(OTHERS, WORDS)), max_size=4),
)
@example('data: {"a":"%s","b":"%s"}\n\n', ["a"], [(3, '","b":"')])
@example('data: {"a":"%s","b":"%s"}\n\n', ["a"], [(3, "\\")])
def test_alike_events_have_the_form_and_the_layout_of_others(frame, words, others):
    events = [event(frame, at, f"{words[at % len(words)]}{at}") for at in range(150)]
    for place, other in others:
        events.insert(place, other if other.endswith("\n") else event(frame, 7, other))
    body = "".join(events).encode()
    found = uniform_events.parse(body)
    if found is not None:
        assert found.form() == parse(body)
        assert layout_bytes({"body": found}) == layout_bytes({"body": parse(body)})
        assert write(found.form()) == body


@pytest.mark.parametrize("name", ["", "event: delta\n"])
@pytest.mark.parametrize(
    "data", ['{"text":" w%d"}', '{"n":%d,"delta":{"text":"é %d"},"x":null}', '{"o":"","n":%d}']
)
def test_streams_of_language_models_are_alike(name, data):
    plain = "".join(f"{name}data: {data.replace('%d', str(at))}\n\n" for at in range(150)).encode()
    start, end = b'event: start\ndata: {"role":"assistant"}\n\n', b"data: [DONE]\n\n"
    for body in (plain, start + plain, plain + end, start + plain + start + plain + end):
        assert uniform_events.parse(body)


@pytest.mark.parametrize(
    "data",
    [
        '{"a":1,"a":%d}',
        '{"a": "%d"}',
        '{"a":%d.50}',
        '{"a":0%d}',
        '{"a":"\\/%d"}',
        '{"a":-0,"b":%de5}',
        '"%d"',
        "[%d]",
    ],
)
def test_what_json_does_not_restore_is_not_alike(data):
    body = "".join(f"data: {data.replace('%d', str(at))}\n\n" for at in range(1, 150)).encode()
    assert uniform_events.parse(body) is None
    assert uniform_events.parse(body.decode().encode("latin-1").replace(b"data", b"d\xe9ta")) is None
