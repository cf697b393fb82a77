"""Streams whose events are alike, as those of language models are: they differ in a few values, and all else is the same text.

Three events show what differs. The stream is then cut at the text between these values, and what is left is compared
with what a string or an integer may be. This proves what parsing and writing each event would prove, in a fraction of the time. The few events
that look different (the first, the last) are parsed one by one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any

from pydantic_core import from_json

from ellmer_core.base.budget import RECORDING, has_more_values

from .json_text import Form, Laid, compact, searcher, seems_deep
from .sse_and_ndjson import plain_event

_LEAST = 100  # events; fewer may be indented
_SHORTEST = 20  # bytes of an event; those of shorter ones are read as quickly
_FEW = 8  # times as many events as others must be alike
_BEGINNING = 50  # bytes by which the form is found
_BORDER = b"\n\n"
_EVENT = re.compile(rb"(?:event: ([^\n]*)\n)?data: (\{[^\n]*\})")
_TEXT, _WHOLE = "\x01text", "\x01whole"
_HOLES = re.compile(rb'("\\u0001(?:text|whole)")')
_NAME = re.compile(rb'"[^"\\]*":"\Z')


@dataclass(slots=True)
class Uniform(Laid):
    """The text of the form of a stream, with its layout. `samples` are values like its events, with all that they say, piece by piece.
    `said` is the text of the events, each of uniform ones as its values that differ, behind their names.
    """

    samples: Sequence[Any]
    said: bytes

    def form(self) -> Form:
        """Returns the form of the stream, parsed."""
        form: Form = from_json(self.text)
        return form

    def shortened(self, text: bytes) -> bytes:
        """Returns the text of a value with this form in it, with `said` in its place."""
        begin = text.find(self.text[:_BEGINNING])  # of all, a search would take longer than what it saves
        end = begin + len(self.text)
        return text[:begin] + self.said + text[end:] if text[begin:end] == self.text else text


@dataclass
class _Frame:
    """What uniform events have in common: the field before the data, and the text between the values that differ."""

    name: bytes | None
    between: list[bytes]
    kinds: list[bytes]

    @property
    def begin(self) -> bytes:
        """What an event begins with."""
        return (b"" if self.name is None else b"event: " + self.name + b"\n") + b"data: " + self.between[0]

    @property
    def written(self) -> bytes:
        """What an event begins with in a cassette."""
        named = "" if self.name is None else f'"event":{compact(self.name.decode())},'
        return f'{{{named}"data":'.encode() + self.between[0]

    @property
    def end(self) -> bytes:
        """What an event ends with."""
        return self.between[-1]


def parse(body: bytes) -> Uniform | None:
    """Returns the text of the form of a stream, or `None` if it is another kind of stream, or has too few events."""
    if len(body) < _SHORTEST * _LEAST or b"\r" in body or not body.endswith(_BORDER):
        return None
    if has_more_values(body, RECORDING.values):
        return None
    try:
        frame = _frame([_event_after(body, len(body) * part // 4) for part in (1, 2, 3)])
        return _parsed(body, frame)
    except ValueError:
        return None


def _event_after(body: bytes, place: int) -> bytes:
    begin = body.index(_BORDER, place) + len(_BORDER)
    return body[begin : body.index(_BORDER, begin)]


def _frame(events: Sequence[bytes]) -> _Frame:
    """Returns what events have in common. Raises `ValueError` if they have different fields, or no value that differs."""
    found = [*filter(None, map(_EVENT.fullmatch, events))]
    if len(found) < len(events) or len({each[1] for each in found}) > 1:
        raise ValueError("the events have different fields")
    text = compact(_common([from_json(each[2], allow_inf_nan=False) for each in found])).encode()
    if seems_deep(text) or any(b"\\u0001" in each for each in events):
        raise ValueError("the JSON of the events may not be restored unchanged")
    pieces = _HOLES.split(text)
    if len(pieces) == 1:
        raise ValueError("nothing differs")
    between, kinds = pieces[::2], pieces[1::2]
    for number, kind in enumerate(kinds):
        if b"text" in kind:  # the quotes are outside of what differs
            between[number] += b'"'
            between[number + 1] = b'"' + between[number + 1]
    return _Frame(found[0][1], between, kinds)


def _common(values: Sequence[Any]) -> Any:
    """Returns a value with a mark for each text and each whole number that differs. Raises `ValueError` for other differences."""
    first = values[0]
    if {*map(type, values)} != {type(first)}:
        raise ValueError("the types differ")
    if values.count(first) == len(values):
        return first
    if isinstance(first, dict) and all([*each] == [*first] for each in values):
        return {name: _common([each[name] for each in values]) for name in first}
    if isinstance(first, list) and {*map(len, values)} == {len(first)}:
        return [_common(each) for each in zip(*values, strict=True)]
    if type(first) not in (str, int):
        raise ValueError("the values differ")
    return _TEXT if isinstance(first, str) else _WHOLE


def _parsed(body: bytes, frame: _Frame) -> Uniform:
    """Returns the text of the form. Raises `ValueError` if too few events are alike."""
    runs = _runs(body, frame)
    uniform = [part for run in runs if isinstance(run, list) for part in run]
    others = sum(isinstance(run, dict) for run in runs)
    if len(uniform) < _LEAST + _FEW * others:
        raise ValueError("too few events are alike")
    samples: list[Any] = []
    text, said = list[bytes](), list[bytes]()
    between = frame.end + b"},\n" + frame.written
    for run in runs:
        if isinstance(run, list):
            columns = _columns(run, frame)
            samples += _samples(columns, frame, alone=len(runs) == 1)
            text.append(frame.written + between.join(run) + frame.end + b"}")
            said.append(_first_event_and_other_texts(columns, frame) or text[-1])
        else:
            samples.append(run)
            text.append(compact(run).encode())
            said.append(text[-1])
    return Uniform([b'{"sse": [\n' + b",\n".join(text) + b"\n]}"], samples, b",\n".join(said))


def _runs(body: bytes, frame: _Frame) -> list[list[bytes] | Form]:
    """Returns the events in order. Uniform ones are a list of what differs between them; each other one has its own form."""
    begin, end = frame.begin, frame.end
    after, before = len(begin), -len(end)
    events = body[: -len(_BORDER)].split(_BORDER)
    differing = [event[after:before] for event in events]
    if begin + (end + _BORDER + begin).join(differing) + end + _BORDER == body:
        return [differing]
    least = len(begin) + len(end)
    runs: list[list[bytes] | Form] = []
    for uniform, group in groupby(
        events, lambda event: event.startswith(begin) and event.endswith(end) and len(event) >= least
    ):
        if uniform:
            runs.append([event[after:before] for event in group])
        else:
            runs += [plain_event(event.decode() + "\n\n") for event in group]
    return runs


def _columns(run: Sequence[bytes], frame: _Frame) -> list[Sequence[bytes]]:
    """Returns the values in which similar events differ. Raises `ValueError` if one of them is neither text nor a number."""
    marks = [bytes([number]) for number in range(1, len(frame.kinds))]
    lines = b"\n".join([*run, b""])
    if len(marks) > _MOST or lines.count(b"\n") > len(run) or any(mark in lines for mark in marks):
        raise ValueError("it has control characters")
    for mark, text in zip(marks, frame.between[1:-1], strict=True):
        lines = lines.replace(text, mark)
    ascii_lines = lines if lines.isascii() else lines.decode().encode("ascii", "replace")
    if not _lines(tuple(frame.kinds))(ascii_lines.decode("ascii")):
        raise ValueError("a value that differs from event to event is neither a string nor a number")
    if not marks:
        return [run]
    pieces = lines.translate(_LINE_ENDS).split(b"\n")[:-1]
    return [pieces[number :: len(frame.kinds)] for number in range(len(frame.kinds))]


def _samples(columns: Sequence[Sequence[bytes]], frame: _Frame, *, alone: bool) -> list[Any]:
    """Returns two events with all that differs in uniform ones: texts are joined. If all events are uniform, it returns only the texts."""
    texts = [b"text" in kind for kind in frame.kinds]
    first = [b"" if text else each[0] for text, each in zip(texts, columns, strict=True)]
    whole = [b"".join(each) if text else each[0] for text, each in zip(texts, columns, strict=True)]
    if alone:
        written = [
            b"[" + b",".join([b'"' + value + b'"' for value in values]) + b"]" for values in (first, whole)
        ]
    else:
        written = [frame.written + _filled(frame.between, values) + b"}" for values in (first, whole)]
    samples: list[Any] = from_json(b"[" + b",".join(written) + b"]")
    return samples


def _first_event_and_other_texts(columns: Sequence[Sequence[bytes]], frame: _Frame) -> bytes | None:
    """Returns the first of uniform events, and of the others the texts that differ, with their names; `None` if one has no name."""
    said = [frame.written + _filled(frame.between, [each[0] for each in columns]) + b"}"]
    for before, kind, column in zip(frame.between, frame.kinds, columns, strict=False):
        if b"text" not in kind:
            continue
        if not (found := _NAME.search(before)):
            return None
        said.append(found[0] + (b'",\n' + found[0]).join(column) + b'"')
    return b",\n".join(said)


def _filled(between: Sequence[bytes], values: Sequence[bytes]) -> bytes:
    return b"".join([text for pair in zip(values, between[1:], strict=True) for text in pair])


_MOST = 8  # values that differ in an event: control characters up to the first that text has
_LINE_ENDS = bytes(10 if 0 < code <= _MOST else code for code in range(256))
_PATTERNS = {
    b"text": r'(?:[ !#-\[\]-\x7f]|\\["\\bfnrt])*',
    b"whole": "(?:0|-?[1-9][0-9]{0,17})",
}


@cache
def _lines(kinds: tuple[bytes, ...]) -> Callable[[str], bool]:
    """Returns a function that tells whether each line has values of these kinds, with the marks between them."""
    patterns = [_PATTERNS[b"text" if b"text" in kind else b"whole"] for kind in kinds]
    line = "".join(rf"{pattern}\x{number:02x}" for number, pattern in enumerate(patterns, 1))
    line = line.removesuffix(rf"\x{len(kinds):02x}")
    return searcher(rf"\A(?:{line}\n)*\z")
