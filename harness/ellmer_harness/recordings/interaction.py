"""A recorded exchange, with the details that its file has, and its bodies under any key and in any form: parsed, text,
bytes, base64, compressed, or in a separate file.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from ellmer_core.base.budget import RECORDING

from ..exchange.messages import Headers
from ..format.blobs import taken
from .untrusted_files import file_bytes


@dataclass(frozen=True)
class Interaction:
    """A recorded request and its answer. Header names are in lower case, and a name may come more than once.

    Args:
        place: Its JSON pointer in the file, or its line.
        method: The HTTP method.
        url: The URL.
        sent: The request's headers as (name, value) pairs. Default: empty.
        body: The request's body; None if the recorder did not keep it. Default: `None`.
        status: The HTTP status; None if there is no answer, 0 if there was an exception (`error`). Default: `None`.
        reason: The phrase of the status line. Default: `""`.
        headers: The answer's headers as (name, value) pairs. Default: empty.
        content: The answer's body, in the content-encoding of its headers, or decompressed if the recorder did that.
            Default: `None`, the recorder did not keep it.
        when: The time of the recording, if the file has it. Default: `None`, not known.
        stream: Chunk sizes and gaps, as a cassette has them. Default: `None`, not recorded.
        error: The exception that came instead of an answer: `error` and `message`. Default: `None`, there was no
            exception.
        chunks: The sizes in bytes of the chunks of the answer, if the recorder kept them. Default: none.

    Examples:
        >>> from ellmer_harness.recordings import read
        >>> read(Path("weather.json")).interactions[0].content
        b'{"temperature":21}'
    """

    place: str
    method: str
    url: str
    sent: Headers = field(default_factory=list, repr=False)
    body: bytes | None = field(default=None, repr=False)
    status: int | None = None
    reason: str = ""
    headers: Headers = field(default_factory=list, repr=False)
    content: bytes | None = field(default=None, repr=False)
    when: datetime | None = None
    stream: dict[str, Any] | None = None
    error: dict[str, str] | None = None
    chunks: tuple[int, ...] = ()


def value_of(headers: Headers, name: str) -> str:
    """Returns the values of a header, joined with a comma; `""` if there is none."""
    return ", ".join(value for key, value in headers if key == name)


def joined(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Returns the headers with the values of each name in one text, separated by commas."""
    found: dict[str, list[str]] = {}
    for name, value in headers:
        found.setdefault(name, []).append(value)
    return {name: ", ".join(values) for name, values in found.items()}


_KEYS = ("body", "text", "body_text", "content")


def body_of(message: Mapping[str, Any], folder: Path) -> bytes | None:
    """Returns the body of a request or an answer, or `None` if the recorder did not store it. `folder` is
    that of the file.
    """
    if message.get("parsed_body") is not None:
        return json_bytes(message["parsed_body"])
    for key in _KEYS:
        if message.get(key) is not None:
            return _bytes(message[key], folder)
    return b64decode(message["body_base64"]) if message.get("body_base64") else None


def json_bytes(value: Any) -> bytes:
    """Returns a parsed body as equivalent bytes. The original bytes are not known."""
    return json.dumps(value, default=str).encode()


def _bytes(value: Any, folder: Path) -> bytes | None:
    match value:
        case bytes() | None:
            return value
        case str():
            return value.encode(errors="surrogatepass")
        case {"on_disk": str(name)} | {"file": True, "string": str(name)}:
            return beside(folder, name)
        case {"string": str(inner), **more} if more.keys() <= {"encoding", "file", "size"}:
            return encoded(inner, str(more.get("encoding")))
        case {"string": inner, **more} if more.keys() <= {"encoding", "file", "size"}:
            return _bytes(inner, folder)
        case _:
            return _unpacked(value, folder)


def encoded(text: str, encoding: str) -> bytes:
    """Encodes text that a recorder has decoded. betamax and VCR for Ruby store the encoding."""
    try:
        return text.encode(encoding)
    except (LookupError, UnicodeError):  # no encoding of text (ASCII-8BIT), or not all of it
        return text.encode(errors="surrogatepass")


def _typed(kind: str, content: Any) -> bytes | None:
    """Reads a body of cassetter: parsed, or bytes in hex (https://github.com/Kludex/cassetter)."""
    match kind:
        case "none":
            return b""
        case "binary":
            return bytes.fromhex(content)
        case "text":
            return str(content).encode()
    return json_bytes(content)


def _of_kind(kind: str, more: Mapping[str, Any], folder: Path) -> bytes | None:
    """Reads a body of braintrust's recorder, which does not store the blank lines between the events of a
    stream.
    """
    match kind:
        case "empty":
            return b""
        case "sse":
            return "".join(f"{chunk.rstrip()}\n\n" for chunk in more["chunks"]).encode()
        case "base64":
            return b64decode(more["value"])
        case "binary":
            return beside(folder, more["path"])
    return str(more["value"]).encode() if kind == "text" else json_bytes(more["value"])


def _unpacked(value: Any, folder: Path) -> bytes | None:  # noqa: PLR0911 - one return per form
    match value:
        case {"raw_gzip": str(text)}:
            return _inflated(b64decode(text))
        case {"base64_string": str(text)} | {"base64": str(text)} | {"b64": str(text)}:
            return b64decode(text)
        case {"json": inner, **more} if more.keys() <= {"b64", "canonical_json"}:
            return json_bytes(inner)
        case {"kind": "empty" | "json" | "text" | "base64" | "sse" | "binary" as kind}:
            return _of_kind(kind, value, folder)
        case {"type": "none" | "json" | "text" | "binary" as kind, **more} if more.keys() <= {"content"}:
            return _typed(kind, more.get("content"))
        case {"__type__": str(), "__data__": inner}:
            return json_bytes(inner)
        case [{"__type__": str(), "__data__": _}, *_]:
            return b"".join(b"data: %s\n\n" % json_bytes(each.get("__data__")) for each in value)
        case {"fields": _}:
            return None  # what a form was made of, not what was sent
        case _:
            return json_bytes(value) if value != {} else None


def _inflated(data: bytes) -> bytes:
    engine = zlib.decompressobj(47)  # R's memCompress("gzip") writes zlib's header, or gzip's
    plain = engine.decompress(data, RECORDING.unpacked)
    if engine.unconsumed_tail:
        raise ValueError(f"a body is larger than {RECORDING.unpacked // 1024**2} MB")
    return taken(plain)


def beside(folder: Path, name: str) -> bytes:
    """Returns the body that a recorder put into a file. The file must be in the recording's folder or below
    it, because an untrusted recording could name any file.
    """
    inside = folder.resolve()
    for path in (folder / name, folder / Path(name).name):
        if path.resolve().is_relative_to(inside) and path.is_file():
            return taken(file_bytes(path))
    raise ValueError(f"the file {name} with a body is missing; put it beside the recording")
