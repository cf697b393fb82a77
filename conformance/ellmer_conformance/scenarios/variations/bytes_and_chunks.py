"""Other bytes or other chunks with the same meaning: other chunk boundaries, and other forms that the stream's format
allows.

https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from random import Random

from .event_rewriting import sizes
from .variation import Change, Variation, VariedAnswer

_EOL = re.compile(rb"\r\n|\n|\r")
_SSE = frozenset({"openai-chat", "openai-responses", "anthropic", "gemini", "mistral", "cohere"})
_LINES = _SSE | {"ollama"}


def split(place: int) -> Variation:
    """Splits the body into two chunks at a position."""

    def cut(it: VariedAnswer) -> VariedAnswer:
        return it.cut(place, len(it.body)) if place < len(it.body) else it

    told = f"the body arrives in two pieces, which meet at byte {place}"
    return Variation(f"split:{place}", "STR-001", cut, description=told)


def random(seed: int) -> Variation:
    """Splits the body into chunks of 1 to 16 bytes."""

    def cut(it: VariedAnswer) -> VariedAnswer:
        lots = Random(seed)  # noqa: S311 - to be repeatable, not secret
        return it.cut(*lots.choices(range(1, 17), k=len(it.body)))

    return Variation(
        f"random:{seed}", "STR-001", cut, description="the body arrives in pieces of 1 to 16 bytes"
    )


def _inside_characters(it: VariedAnswer) -> VariedAnswer:
    """Returns chunks that end inside every character of more than one byte, with each byte alone."""
    found = re.split(rb"(?<=[\x80-\xff])|(?=[\x80-\xff])", it.body)
    return replace(it, writes=tuple(piece for piece in found if piece))


def _events(it: VariedAnswer, change: Callable[[bytes], bytes]) -> VariedAnswer:
    """Returns each event as a separate write, with changed bytes."""
    return replace(it, writes=tuple(change(event) for event in it.cut(*sizes(it)).writes))


def _line_ends(eol: bytes, it: VariedAnswer) -> VariedAnswer:
    return _events(it, lambda event: _EOL.sub(eol, event))


def _torn_crlf(it: VariedAnswer) -> VariedAnswer:
    """Returns chunks that end between each CR and its LF."""
    pieces = re.split(rb"(?<=\r)", _line_ends(b"\r\n", it).body)
    return replace(it, writes=tuple(piece for piece in pieces if piece))


def _between(lines: bytes) -> Change:
    def change(it: VariedAnswer) -> VariedAnswer:
        return _events(it, lambda event: lines + event)

    return change


def _colons(it: VariedAnswer) -> VariedAnswer:
    return _events(it, lambda event: re.sub(rb"(?m)^(data|event): ", rb"\1:", event))


def _several_lines(it: VariedAnswer) -> VariedAnswer:
    """Splits data over two lines. A reader joins them with a line end, which JSON allows after a brace."""
    return _events(it, lambda event: re.sub(rb"(?m)^data: ?\{", b"data: {\ndata: ", event))


#: Longer than the lines that readers of lines have room for by default: 64 KiB, 128 KiB and 1 MiB.
_LONG = 2**20 + 2**16
_JSON_END = re.compile(rb"(?m)\}\r?$")


def _long_lines(it: VariedAnswer) -> VariedAnswer:
    """Fills the line of the second event with spaces, which mean nothing between the values of JSON."""
    written = it.cut(*sizes(it)).writes
    padded = tuple(_JSON_END.sub(lambda end: b" " * _LONG + end[0], each, count=1) for each in written[1:2])
    return replace(it, writes=(*written[:1], *padded, *written[2:]))


def _bom(it: VariedAnswer) -> VariedAnswer:
    return replace(it, writes=(b"\xef\xbb\xbf", *it.writes))


BYTES = (
    Variation("every-byte", "STR-001", lambda it: it.cut(1), description="each byte arrives alone"),
    Variation(
        "whole", "STR-001", lambda it: it.cut(len(it.body)), description="the body arrives in one piece"
    ),
    *(random(seed) for seed in (1, 2, 3)),
    *(split(place) for place in (1, 7, 100, 333)),
    Variation(
        "inside-characters",
        "STR-002",
        _inside_characters,
        description="the bytes of a character arrive one by one",
    ),
    Variation(
        "crlf",
        "STR-003",
        partial(_line_ends, b"\r\n"),
        wires=_LINES - {"gemini"},
        description="lines end in CR and LF",
    ),
    Variation(
        "lf",
        "STR-003",
        partial(_line_ends, b"\n"),
        wires=frozenset({"gemini"}),
        description="lines end in LF alone",
    ),  # Google sends CRLF
    Variation(
        "torn-crlf", "STR-003", _torn_crlf, wires=_LINES, description="pieces end between a CR and its LF"
    ),
    Variation(
        "torn-lines",
        "STR-003",
        lambda it: _torn_crlf(_several_lines(it)),
        wires=_SSE,
        description="the data of an event is on several lines, and pieces end between a CR and its LF",
    ),
    Variation("cr", "STR-003", partial(_line_ends, b"\r"), wires=_SSE, description="lines end in CR alone"),
    Variation(
        "comments",
        "STR-004",
        _between(b": keep-alive\n\n"),
        wires=_SSE,
        description="a comment stands before each event",
    ),
    Variation(
        "comment-lines",
        "STR-004",
        _between(b":\n: OPENROUTER PROCESSING\n"),
        wires=_SSE,
        description="each event begins with comments",
    ),
    Variation(
        "ids-and-retry",
        "STR-004",
        _between(b"id: 7\nretry: 3000\n"),
        wires=_SSE,
        description="each event has an `id:` and a `retry:` line",
    ),
    Variation("no-space", "STR-004", _colons, wires=_SSE, description="no space follows the colons"),
    Variation(
        "several-lines",
        "STR-004",
        _several_lines,
        wires=_SSE,
        description="the data of an event is on several lines",
    ),
    Variation(
        "blank-lines",
        "STR-004",
        _between(b"\n"),
        wires=_LINES,
        description="a blank line stands before each event",
    ),
    Variation(
        "long-line",
        "STR-029",
        _long_lines,
        first=True,
        wires=_LINES,
        description="a line is longer than a megabyte",
    ),
    Variation("bom", "STR-005", _bom, wires=_SSE, description="a byte order mark stands before the stream"),
)
