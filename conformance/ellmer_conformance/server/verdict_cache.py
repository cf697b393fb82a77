"""Reuses the verdicts on a request that differs from another one only in plain words.

Whoever asks another question sends the same request with another text: the rules look at what a request is made of, and at
texts only for what is no plain sentence (a blank one, a file in base64, a tag, a word that an option asks for). So requests
that are equal but for short plain texts are judged once. Only what no rule objects to is kept: a finding may quote.
Who goes on with a conversation sends all of it again: turns of plain text behind three that are alike change nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from ..contract import readers
from ..contract.exchange import Request
from ..contract.readers.read_cache import reading_once
from ..contract.verdict import Verdict

__all__ = ["Alike", "Judged", "without_repeats", "without_words"]

_KEPT = 1024
_LONGEST = 262_144  # bytes of a body that is looked at
#: What a rule may look for in a text.
_TELLING = tuple(b"json redacted scrubbed omitted truncated filtered placeholder ...".split())
# A text that says nothing to a rule. A quote within a JSON string has a backslash before it, so what follows is found as a
# key with its value only.
_PLAIN = rb""": ?"[A-Za-z0-9](?:[A-Za-z0-9 ,.?!'()+*:;-]{0,398}[A-Za-z0-9.?!')])?\""""
_KEYS = {b'"%s":"x"' % key: re.compile(b'"%s"' % key + _PLAIN) for key in (b"content", b"text")}
_MESSAGE = b'"role"'  # in each message of every format but a few: what was said before comes again
_WORDS_ONLY = re.compile(
    rb'(?:[\s:,{}\[\]]|"(?:user|assistant|model|content|parts|text|type|input_text|output_text|x)")*'
)
_PIECES, _SHORT = 8192, 1000  # pieces of bodies that are remembered, and the bytes each may have
_BARE: dict[bytes, bytes] = {}  # pieces without their words


class Judged(NamedTuple):
    """What the rules say of a request, whether none of them objects, and how many turns it has."""

    verdicts: Sequence[Verdict]
    fine: bool
    turn: int


class _Deferred(Sequence[Verdict]):
    """The verdicts on a request that none of the rules objects to: they are asked for when somebody wants to see them."""

    def __init__(self, judge: Callable[[], Sequence[Verdict]]) -> None:
        self._judge = judge

    @cached_property
    def _found(self) -> Sequence[Verdict]:
        return self._judge()

    def __getitem__(self, index: Any) -> Any:
        return self._found[index]

    def __len__(self) -> int:
        return len(self._found)


def without_words(body: bytes) -> bytes:
    """Returns a body with its plain texts left out; as it is, where one may tell a rule something."""
    return _MESSAGE.join(_bare_pieces(body))


def without_repeats(pieces: list[bytes]) -> list[bytes]:
    """Returns the pieces of a body without its words; of turns that are alike and say no more than words, the
    first three.
    """
    found = pieces[:7]
    for place in range(7, len(pieces), 2):
        pair = pieces[place : place + 2]
        if (
            pair != found[-2:]
            or not pair == found[-4:-2] == found[-6:-4]
            or not all(map(_is_words_only, pair))
        ):
            found += pair
    return found


def _bare_pieces(body: bytes) -> list[bytes]:
    pieces = body.split(_MESSAGE)
    bare = {piece: _BARE.get(piece) for piece in pieces}
    new = [piece for piece, known in bare.items() if known is None]
    found = _without_words(_MESSAGE.join(new)).split(_MESSAGE) if new else []
    if new and (found == new or len(found) != len(new)):  # a piece is telling, or a text is like `_MESSAGE`
        return _without_words(body).split(_MESSAGE)
    bare.update(zip(new, found, strict=True))
    _remember(new, found)
    return [bare[piece] or b"" for piece in pieces]


def _without_words(body: bytes) -> bytes:
    low = body.lower()
    if not any(word in low for word in _TELLING):
        for instead, words in _KEYS.items():
            body = words.sub(instead, body)
    return body


@lru_cache(1024)
def _is_words_only(piece: bytes) -> bool:
    """Tells whether a message has a text in it, and nothing else that could be counted."""
    return len(piece) <= _SHORT and _WORDS_ONLY.fullmatch(piece) is not None


def _remember(pieces: Iterable[bytes], bare: Iterable[bytes]) -> None:
    if len(_BARE) > _PIECES:
        _BARE.clear()
    _BARE.update((piece, less) for piece, less in zip(pieces, bare, strict=True) if len(piece) <= _SHORT)


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
        pieces = _bare_pieces(body)
        fewer = without_repeats(pieces)
        beta = request.headers.get("anthropic-beta", "")
        key = (request.wire, request.vendor, request.model, request.stream, beta, _MESSAGE.join(fewer))
        found, dropped = self._found.get(key), len(pieces) - len(fewer)
        if found is None or not (dropped or found.verdicts):
            found = _judged(request, judge)
            self._keep(key, found._replace(verdicts=(), turn=found.turn - dropped) if dropped else found)
        elif dropped:
            verdicts = _Deferred(lambda: _judged(request, judge).verdicts)
            return Judged(verdicts, fine=True, turn=found.turn + dropped)
        return found

    def _keep(self, key: tuple[object, ...], found: Judged) -> None:
        if found.fine:
            self._found[key] = found
        if len(self._found) > _KEPT:
            del self._found[next(iter(self._found))]


def _judged(request: Request, judge: Callable[[Request], tuple[Verdict, ...]]) -> Judged:
    with reading_once():
        verdicts = judge(request)
        return Judged(verdicts, not any(verdict.violations for verdict in verdicts), _turn(request))


def _turn(request: Request) -> int:
    return max([0, *(item.turn for item in readers.read(request))])
