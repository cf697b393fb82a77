"""Plain values for traffic: a request, its answer, and the verdicts on the request.

`request.py` has the request and what it says; its names can be imported from here, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..request import Item, Json, Media, Request
from ..rule import Verdict

__all__ = ["Exchange", "Item", "Json", "Media", "Request", "Response"]


@dataclass(frozen=True)
class Response:
    """An answer of a provider.

    Args:
        status: The HTTP status.
        headers: The headers by lower-case name. Default: empty.
        body: The bytes of the body, without content encoding. Default: `b""`.
        ended: Whether the body arrived whole. It is `False` if the connection broke. Default: `True`.

    Examples:
        >>> Response(200, body=b"{}").size
        2
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    ended: bool = True

    @property
    def size(self) -> int:
        """The number of bytes in the body."""
        return len(self.body)


@dataclass(frozen=True)
class Exchange:
    """A request and its answer.

    Args:
        request: The request.
        response: The answer; `None` (default) if none came or none was recorded.
        verdicts: The verdict of each rule on the request, if the strict server has judged it; empty (default) if not.

    Examples:
        >>> Exchange(Request("openai-chat", "openai", {})).response is None
        True
    """

    request: Request
    response: Response | None = None
    verdicts: Sequence[Verdict] = ()

    @property
    def refused(self) -> bool:
        """Whether the answer's status says that the request is wrong: 400 to 428. From 429 on, the same request may succeed later."""
        return self.response is not None and 400 <= self.response.status < 429
