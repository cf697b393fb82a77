"""Bodies in readable form. `decode(encode(body)) == body` is checked for every body before it is stored.

A form is a JSON object whose first key names its kind: `json`, `sse`, `ndjson`, `eventstream`, `text`,
`base64` or `blob`. `coding` says how the bytes were compressed. If a second compression would give other
bytes, the original bytes are stored, and `reads` shows their content to people.
"""

from __future__ import annotations

import re
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ..errors import CassetteError
from . import aws_event_stream, compression, json_text, sse_and_ndjson, uniform_events
from .blobs import AT_LEAST, Blobs, bounded_bodies, inside, outside
from .uniform_events import Uniform

Form = dict[str, Any]
# Errors of the codecs for a malformed form.
_WRONG = (
    *(ValueError, LookupError, TypeError, AttributeError, StopIteration, ImportError, AssertionError),
    *(ArithmeticError, RecursionError, zlib.error),
)
_CHARSET = re.compile(r"charset=\"?([\w-]+)")


def encode(body: bytes, content_type: str, coding: str, blobs: Blobs) -> Form | None:
    """Returns the form of a body, or `None` for an empty body. `coding` is its content-encoding."""
    form = written(body, content_type, coding, blobs)
    return form.form() if isinstance(form, Uniform) else form


def written(body: bytes, content_type: str, coding: str, blobs: Blobs) -> Form | Uniform | None:
    """Returns the form of a body. For some streams, returns the text, which takes less time."""
    if not body:
        return None
    if not coding or coding == "identity":
        uniform = uniform_events.parse(body) if _is_stream(content_type, body) else None
        return uniform if uniform and not _has_long_strings(body) else _plain(body, content_type, blobs)
    if redone := compression.recipe(body, coding):
        plain, how = redone
        return {**_plain(plain, content_type, blobs), "coding": how}
    return {**_opaque(body, blobs), **_reads(body, content_type, coding, blobs)}


def decode(form: Form | None, blobs: Blobs) -> bytes:
    """Returns the bytes of a form. Raises `CassetteError` for an invalid form."""
    if form is None:
        return b""
    try:
        return _decoded(form, blobs)
    except _WRONG as error:
        raise CassetteError(
            f"a body in the cassette cannot be read: {error!r:.200} in {str(form)[:80]}…"
        ) from error


def _decoded(form: Form, blobs: Blobs) -> bytes:
    if form.get("blobs"):
        kind = next(iter(form))
        with bounded_bodies():
            form = {**form, kind: inside(form[kind], blobs)}
    plain = _write(form, blobs)
    return compression.redo(plain, form["coding"]) if "coding" in form else plain


def _write(form: Form, blobs: Blobs) -> bytes:
    kind = next(iter(form))
    if kind == "blob":
        return blobs.get(form["blob"])
    if kind not in _WRITERS:
        raise ValueError(f"{kind!r} is not a kind of body that this version supports")
    return _WRITERS[kind](form)


def _plain(body: bytes, content_type: str, blobs: Blobs) -> Form:
    for parse in _parsers(content_type, body):
        form = parse(body)
        if form is not None and (parse in _PROVEN or _is_utf8(form) or decode(form, blobs) == body):
            return _lightened(form, blobs) if _has_long_strings(body) else form
    return _opaque(body, blobs)


def _parsers(content_type: str, body: bytes) -> Iterator[Callable[[bytes], Form | None]]:
    """Yields the parsers to try: first by the content type, then by the first bytes of the body."""
    start = body[:64].lstrip()[:1]
    if _is_stream(content_type, body):
        yield sse_and_ndjson.parse_quickly
        yield sse_and_ndjson.parse
    if "amazon.eventstream" in content_type:
        yield aws_event_stream.parse
    if start in b"[{" or "json" in content_type:
        yield json_text.parse
        yield sse_and_ndjson.parse_lines
    yield _text
    if charset := _CHARSET.search(content_type):
        yield partial(_text, charset=charset[1])


def _is_stream(content_type: str, body: bytes) -> bool:
    return "event-stream" in content_type or body.startswith((b"data:", b"event:"))


def _is_utf8(form: Form) -> bool:
    """Tells whether a form is text in UTF-8. Its bytes are always the same again, because Python reads no others."""
    return "text" in form and "charset" not in form


def _text(body: bytes, charset: str = "utf-8") -> Form | None:
    try:
        text = body.decode(charset)
        lines = text.splitlines(keepends=True)
        if charset != "utf-8":
            text.encode()  # a lone surrogate has no place in a UTF-8 file
    except (UnicodeError, LookupError):
        return None
    form: Form = {"text": lines[0] if len(lines) == 1 else lines}
    return form if charset == "utf-8" else {**form, "charset": charset}


_PROVEN = (
    *(json_text.parse, aws_event_stream.parse),
    *(sse_and_ndjson.parse_quickly, sse_and_ndjson.parse, sse_and_ndjson.parse_lines),
)
"""What these give was written again and compared already, part by part."""
_WRITERS: dict[str, Callable[[Form], bytes]] = {
    "json": json_text.write,
    "sse": sse_and_ndjson.write,
    "ndjson": sse_and_ndjson.write_lines,
    "eventstream": aws_event_stream.write,
    "text": lambda form: "".join(form["text"]).encode(form.get("charset", "utf-8")),
    "base64": lambda form: b64decode(form["base64"], validate=True),
}


def _has_long_strings(body: bytes) -> bool:
    """Tells whether a value has a string that is long enough for a blob.

    Such a string has a run without quotes that is half as long. This is quick to find.
    """
    half = AT_LEAST // 2
    free = any(body.find(b'"', at, at + half) < 0 for at in range(0, len(body) - half + 1, half))
    return free and any(len(part) >= AT_LEAST and part.strip(_OF_NUMBERS) for part in body.split(b'"'))


_OF_NUMBERS = b"0123456789.,:+-eE[]{} \t\r\n"
"""The characters of a list of numbers, such as an embedding, which is no string."""


def _lightened(form: Form, blobs: Blobs) -> Form:
    kind, found = next(iter(form)), Blobs(blobs.folder)
    if kind == "text":
        return form
    try:
        light = outside(form[kind], found)
    except ValueError:
        return form
    blobs.add(found)
    return {**form, kind: light, "blobs": True} if found.fresh else form


def _opaque(body: bytes, blobs: Blobs) -> Form:
    if len(body) >= AT_LEAST:
        return {"blob": blobs.put(body)}
    return {"base64": b64encode(body).decode()}


def _reads(body: bytes, content_type: str, coding: str, blobs: Blobs) -> Form:
    try:
        return {"reads": _plain(compression.undo(body, coding), content_type, blobs)}
    except Exception:  # noqa: BLE001  # any codec's own error, or none installed: there is nothing to show
        return {}
