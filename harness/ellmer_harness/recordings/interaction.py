"""One recorded exchange, as far as its file tells."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..exchange.messages import Headers

__all__ = ["Interaction", "value_of"]


@dataclass(frozen=True)
class Interaction:
    """A request and its answer. `place` is its JSON pointer in the file, or its line.

    Header names are lower-case; a name may come more than once. `body` is None where the recorder did not keep it,
    `status` None where there is no answer, 0 where there was an exception instead (`error`). `content` is the answer's
    body: in the content-encoding that its headers tell, or plain if the recorder undid that and left the header.
    `when` is the time of the recording, where the file tells. `chunks` are the sizes in bytes in which the answer came,
    where the recorder kept them.
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
    """The values of a header, joined with a comma; `""` if there is none."""
    return ", ".join(value for key, value in headers if key == name)
