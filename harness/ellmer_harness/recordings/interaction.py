"""A recorded exchange, with the details that its file has."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..exchange.messages import Headers

__all__ = ["Interaction", "value_of"]


@dataclass(frozen=True)
class Interaction:
    """A recorded request and its answer. Header names are in lower case, and a name may come more than once.

    Args:
        place: Its JSON pointer in the file, or its line.
        method: The HTTP method.
        url: The URL.
        sent: The request's headers as (name, value) pairs.
        body: The request's body; None if the recorder did not keep it.
        status: The HTTP status; None if there is no answer, 0 if there was an exception (`error`).
        reason: The phrase of the status line.
        headers: The answer's headers as (name, value) pairs.
        content: The answer's body, in the content-encoding of its headers, or decompressed if the recorder did that.
        when: The time of the recording, if the file has it.
        stream: Chunk sizes and gaps, as a cassette has them.
        error: The exception that came instead of an answer: `error` and `message`.
        chunks: The sizes in bytes of the chunks of the answer, if the recorder kept them.

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
