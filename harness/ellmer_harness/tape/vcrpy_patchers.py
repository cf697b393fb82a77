"""The index for vcrpy's patchers, for the clients that opted in to them.

Their recordings are scrubbed, and a request that was not recorded is a `Miss`, as for other clients. vcrpy
does the rest: bodies are read whole, failures are not recorded, and `tape.sent` does not list these requests.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from vcr.request import Request

from ..exchange.reply import Reply
from .matching import redacted_exchange
from .matching.cassette_index import CassetteIndex, Response
from .tape_state import TapeState

__all__ = ["PatchedIndex"]


class PatchedIndex(CassetteIndex):
    """The index for vcrpy's patchers. `tape` is `None` while the file is loaded, when no client adds
    interactions.
    """

    tape: TapeState | None = None

    def append(self, request: Request, response: Response) -> None:
        """Adds an exchange of a patched client."""
        if self.tape is None:
            super().append(request, response)
        elif not self.tape.allows(request.host):
            body = {"string": b"", **response["body"]}
            reply = Reply.recorded({**response, "body": body})
            live, masking = self.tape.recorded_from == "live", self.tape.masking
            kept = redacted_exchange.response(self.tape.scrub, reply, live=live, masking=masking)
            self.place(self._clean(request), kept)

    def filter_request(self, request: Request) -> Request | None:
        """Returns the request, or `None` if the cassette does not handle it."""
        return None if self.tape and self.tape.allows(request.host) else request

    def can_play_response_for(self, request: Request) -> bool:
        """Tells whether an unused recording exists for the request. Raises `Miss` if one is required."""
        assert self.tape is not None, "the file is loaded before the first lookup"
        if self.tape.allows(request.host):
            return False
        ask = self.ask(self._clean(request))
        if self.find(ask) is not None or (self.on_repeat != "error" and self.played(ask)):
            return True
        if self.tape.offline:
            raise self.tape.miss(ask, self)
        return False

    def play_response(self, request: Request) -> Response:
        """Returns the recorded answer."""
        place = self.take(self.ask(self._clean(request)))
        assert place is not None, "asked only after can_play_response_for"
        return self.response(place)

    def _clean(self, request: Request) -> Request:
        assert self.tape is not None, "the file is loaded before the first lookup"
        headers = [(_text(name).lower(), _text(value)) for name, value in request.headers.items()]
        body, normalize = _bytes(request.body), self.tape.normalize
        scrub, method, url = self.tape.scrub, request.method, request.uri
        return redacted_exchange.request(scrub, method, url, headers, body, normalize=normalize)


def _text(value: Any) -> str:
    """Returns the value of a header. botocore has bytes, and aiohttp has lists."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return ", ".join(map(_text, value)) if isinstance(value, list | tuple) else str(value)


def _bytes(body: Any) -> bytes:
    """Returns the body as it is sent: files and iterators are read, and aiohttp's JSON is written."""
    match body:
        case bytes() | bytearray() | memoryview():
            return bytes(body)
        case dict() | list():
            return json.dumps(body, default=str).encode()
        case str() | None:
            return (body or "").encode()
        case Iterable() if not hasattr(body, "add_field"):  # files, too; aiohttp's form can be sent only once
            return b"".join(map(_bytes, body))
    return f"<{type(body).__name__}>".encode()
