"""Replaces secrets that a server generates by placeholders that work in a replay.

Nobody knows such a token beforehand. A value from an answer is `REDACTED_1` in the answer and in each request
that sends it back. In a replay, the client gets the placeholder, sends it, and finds the recording. A secret
that appears first in a request is the client's own: it becomes `REDACTED`, and any value matches it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from vcr.request import Request

from ..exchange.messages import Headers
from ..exchange.reply import Reply, chunks, saved
from .cassette_scan import masks
from .redaction import MASK, Scrub

Json = dict[str, Any]
Interaction = tuple[Any, Json]
_NUMBERED = re.compile(rf"{MASK}_(\d+)")
_ROUNDS = 4  # a secret may be part of another, or of its wrapping
_LEAST = 8  # shorter values of cookies are words that may be anywhere


@dataclass
class Masking:
    """The masked values of a recording, with their placeholders."""

    values: dict[str, str] = field(default_factory=dict, repr=False)
    number: int = 0

    def cookies(self, headers: Headers) -> Iterator[tuple[str, str]]:
        """Yields the cookies that are set. Each has a placeholder for its value and no expiry date."""
        for name, value in headers:
            if name == "set-cookie":
                pair, *attributes = value.split(";")
                cookie, equals, content = pair.partition("=")
                others = [
                    attribute
                    for attribute in attributes
                    if not attribute.strip().lower().startswith("expires=")
                ]
                yield name, ";".join([cookie + equals + self._placeholder(content.strip('" ')), *others])

    def begin_after(self, interactions: Sequence[Interaction]) -> None:
        """Starts numbering after the placeholders that exist already."""
        self.number = max([self.number, *map(_highest, interactions)])

    def applied(self, interactions: Sequence[Interaction], accepted: Collection[str]) -> list[Interaction]:
        """Returns the interactions without their secrets, except accepted ones."""
        for _ in range(_ROUNDS):
            scrub = Scrub(self.values)
            interactions = [_masked(scrub, *each) for each in interactions]
            found = [masks(_plain(*each), accepted) for each in interactions]
            if not any(each.keys() - self.values.keys() for each in found):
                break
            for (request, _), secrets in zip(interactions, found, strict=True):
                self._learn(request, secrets)
        return [*interactions]

    def _learn(self, request: Any, secrets: Collection[str]) -> None:
        """Notes the secrets of an interaction. A secret in the request that no earlier answer had is the
        client's own.
        """
        sent = f"{request.uri}\n{(request.body or b'').decode('latin-1')}"
        for secret in secrets:
            if secret not in self.values:
                self.values[secret] = MASK if secret in sent else self._next()

    def _placeholder(self, value: str) -> str:
        if len(value) < _LEAST:
            return MASK if value else value
        return self.values.setdefault(value, self._next())

    def _next(self) -> str:
        self.number += 1
        return f"{MASK}_{self.number}"


def _masked(scrub: Scrub, request: Any, response: Json) -> Interaction:
    """Returns an interaction with every known value replaced."""
    headers = {name: scrub.text(value) for name, value in request.headers.items()}
    asked = Request(request.method, scrub.text(request.uri), scrub.body(request.body or b""), headers)
    timed = "ms" in (response.get("stream") or {})
    reply = Reply.recorded(response, timed=timed)
    sizes, waits = [len(piece.data) for piece in reply.pieces], [piece.wait for piece in reply.pieces]
    body = scrub.body(reply.body, sizes)
    fitting = [
        (name, str(len(body)) if name == "content-length" and body != reply.body else scrub.text(value))
        for name, value in reply.headers
    ]
    return asked, saved(scrub.head(reply), fitting, body, chunks(sizes, waits), timed=timed)


def _plain(request: Any, response: Json) -> Json:
    """Returns the value to search, with the request first."""
    answer = {"headers": response["headers"], "body": response["body"]["string"]}
    return {
        "uri": request.uri,
        "headers": dict(request.headers),
        "body": request.body or b"",
        "response": answer,
    }


def _highest(interaction: Interaction) -> int:
    """Returns the highest number of an existing placeholder."""
    request, response = interaction
    text = f"{request.uri}{request.body!r}{response['headers']}{response['body']['string']!r}"
    return max((int(found) for found in _NUMBERED.findall(text)), default=0)
