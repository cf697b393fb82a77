"""Reuses the verdicts on a request that differs from another one only in plain words.

Whoever asks another question sends the same request with another text: the rules look at what a request is made of, and at
texts only for what is no plain sentence (a blank one, a file in base64, a tag, a word that an option asks for). So requests
that are equal but for short plain texts are judged once. Only what no rule objects to is kept: a finding may quote.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from ..contract import readers
from ..contract.exchange import Request
from ..contract.readers.read_cache import reading_once
from ..contract.rule import Verdict

__all__ = ["Alike", "Judged", "without_words"]

_KEPT = 1024
_LONGEST = 262_144  # bytes of a body that is looked at
#: What a rule may look for in a text.
_TELLING = tuple(b"json redacted scrubbed omitted truncated filtered placeholder ...".split())
# A text that says nothing to a rule. A quote within a JSON string has a backslash before it, so what follows is found as a
# key with its value only.
_PLAIN = rb""": ?"[A-Za-z0-9](?:[A-Za-z0-9 ,.?!'()+*:;-]{0,398}[A-Za-z0-9.?!')])?\""""
_KEYS = {b'"%s":"x"' % key: re.compile(b'"%s"' % key + _PLAIN) for key in (b"content", b"text")}


class Judged(NamedTuple):
    """What the rules say of a request, and how many turns it has."""

    verdicts: tuple[Verdict, ...]
    turn: int


def without_words(body: bytes) -> bytes:
    """A body with its plain texts left out; as it is, where one may tell a rule something."""
    low = body.lower()
    if not any(word in low for word in _TELLING):
        for instead, words in _KEYS.items():
            body = words.sub(instead, body)
    return body


class Alike:
    """Verdicts of requests without objection, by what is left without their words."""

    def __init__(self) -> None:
        self._found: dict[tuple[object, ...], Judged] = {}

    def judged(
        self, request: Request, body: bytes, judge: Callable[[Request], tuple[Verdict, ...]]
    ) -> Judged:
        """Returns what the rules say, or what they said of one that is alike."""
        if len(body) > _LONGEST:
            return _judged(request, judge)
        beta = request.headers.get("anthropic-beta", "")
        key = (request.wire, request.vendor, request.model, request.stream, beta, without_words(body))
        found = self._found.get(key)
        if found is None:
            found = _judged(request, judge)
            if not any(verdict.violations for verdict in found.verdicts):
                self._keep(key, found)
        return found

    def _keep(self, key: tuple[object, ...], found: Judged) -> None:
        self._found[key] = found
        if len(self._found) > _KEPT:
            del self._found[next(iter(self._found))]


def _judged(request: Request, judge: Callable[[Request], tuple[Verdict, ...]]) -> Judged:
    with reading_once():
        return Judged(judge(request), _turn(request))


def _turn(request: Request) -> int:
    return max([0, *(item.turn for item in readers.read(request))])
