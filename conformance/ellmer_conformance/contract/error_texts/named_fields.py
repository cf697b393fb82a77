"""Compares the fields that an error text names with those that the refusals of rules name: `'input[4].arguments'`, `response_format`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache

from ..rules._shape_faults import IDS
from .described_faults import TYPES, folded
from .refusals import Refusals, known_texts, texts_of
from .sentences import ESCAPED, words
from .similarity import Match
from .templates import PLACE, has

__all__ = ["IDENTIFIER", "SEVERAL", "NamedFields", "with_last_names"]

_LONG = 15  # words of a sentence that no other rule has, whatever stands in its places
#: The distance of a rule that is about other names, and the number of names of a rule that may be about any.
_OTHERS, SEVERAL = 3, 4
IDENTIFIER = re.compile(r"[A-Za-z]\w+")
#: A quoted name or path, or a place for one in a template; an index in a path.
_QUOTED = re.compile(r"['\"`]([\w.\[\]{}-]+)['\"`]")
_QUOTED_PATH = re.compile(r"['\"`]([A-Za-z]\w*[.\[][\w.\[\]]*)['\"`]")
_PATH = re.compile(r"(?:^|\s)([a-z]\w*(?:\.[\w{}]+)+): ", re.MULTILINE)
_PATH_FIRST = re.compile(r"(?:^|\s)([a-z]\w*(?:\.\w+)+): ", re.MULTILINE)
_FIELD_NAME = re.compile(r"(?<![\w.'\"`/-])[a-z]+(?:_[a-z]+)+(?![\w.'\"`/\[-])")
_INDEX = re.compile(r"\[[^\]]*\]")
#: A parameter at the end of a sentence without quotes: `Argument not supported on this model: presencePenalty`.
_PARAMETER = re.compile(r"(?:: |parameter )([a-z]+(?:_[a-z]|[A-Z])\w*)\b(?=[\s\"'.}]*(?:$|[\"'}]))")


def _paths(text: str) -> list[list[str]]:
    """Returns the paths of fields that a text names, each as names: `input`, `arguments` for `'input[4].arguments'`."""
    plain = ESCAPED.sub("", text)
    found = [*_QUOTED_PATH.findall(plain), *_PATH.findall(plain)]
    return [[name for name in IDENTIFIER.findall(PLACE.sub("", path)) if name not in TYPES] for path in found]


#: The paths in the known texts of rules, which are read once.
_known_paths = cache(_paths)


class NamedFields:
    """Compares the paths of fields in a text with those in the known texts of rules."""

    def __init__(self, text: str, refusals: Refusals) -> None:
        self._text = text
        self._ours = [path for path in _paths(text) if path]
        self.has_paths = bool(self._ours)
        self._fields = {*map(folded, _field_names(text))}
        self._refusals = refusals

    def __call__(self, match: Match) -> tuple[bool, bool, bool, int, int]:
        """Tells whether no path is one of the rule's wire format, whether the rule is about other fields, whether it has none of the
        fields that the text names without quotes, how many names of a path no known path begins with, and the distance of the quoted names.
        """
        theirs = [
            [],
            *(path for said in texts_of(match.book, match.rule) for path in _known_paths(said.text)),
        ]
        distance = _distance(self._text, match)
        left = [len(path) - max(_shared(path, known) for known in theirs) for path in self._ours]
        foreign = self.foreign(match, {path[0] for path in self._ours})
        return foreign, distance == _OTHERS, self.lacks(match), min(left, default=0), distance

    def foreign(self, match: Match, roots: AbstractSet[str]) -> bool:
        """Tells whether no path of the rule's wire format begins with one of these names."""
        known = _roots(self._refusals)[match.book.wire]
        return bool(roots and known) and match.book.wire != "*" and known.isdisjoint(roots)

    def lacks(self, match: Match) -> bool:
        """Tells whether the text names fields without quotes, and the rule none of them."""
        names = (_known_names(said.text) for said in texts_of(match.book, match.rule))
        return bool(self._fields) and all(map(self._fields.isdisjoint, names))

    def is_of_others(self, match: Match) -> bool:
        """Tells whether the text quotes the paths of fields, and the rule is about one other field, whatever the path to it: each `call_id`."""
        ours = {*map(_last, _QUOTED_PATH.findall(ESCAPED.sub("", self._text)))}
        known = known_texts(match.book, match.rule) if match.rule.id not in IDS else ()
        theirs = {_last(path) for each in known for path in _QUOTED_PATH.findall(each)}
        return bool(ours) and len(theirs) == 1 and theirs.isdisjoint(ours)

    def omits(self, match: Match) -> bool:
        """Tells whether each text of a rule quotes a path, such as `thinking.budget_tokens`, and the text has no name of them: a number
        may stand in its place.
        """
        quoted = [
            {_last(path) for path in _QUOTED_PATH.findall(said.text)}
            for said in texts_of(match.book, match.rule)
        ]
        names = {*IDENTIFIER.findall(self._text)}
        return all(each and names.isdisjoint(each) for each in quoted)


def with_last_names(text: str) -> str:
    """Returns a text with the last name of each quoted path in the path's place: `'reasoning.bogus'` is about `bogus`."""
    return _QUOTED_PATH.sub(lambda path: _last(path[1]), text)


@cache
def _roots(refusals: Refusals) -> Mapping[str, set[str]]:
    """Returns the first names of the paths that the known texts of each wire format name."""
    found = defaultdict[str, set[str]](set)
    for book, _, at in refusals.rules:
        found[book.wire] |= {path[0] for text in refusals.groups[at] for path in _known_paths(text) if path}
    return found


@cache
def _known_names(text: str) -> frozenset[str]:
    """Returns the names in a known text, as they are compared."""
    return frozenset(map(folded, IDENTIFIER.findall(text)))


def _field_names(text: str) -> list[str]:
    """Returns the names with `_` that a text has outside of quotes and paths: `response_format`."""
    return _FIELD_NAME.findall(ESCAPED.sub("", text))


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _distance(text: str, match: Match) -> int:
    """Tells how far the parameters that a rule's refusals quote are from those that the text quotes: `'input[4].query'`.

    A rule about any parameter is nearer than one whose refusals quote others, and the nearest of those is made of a shape.
    """
    plain = ESCAPED.sub("", text)
    known = known_texts(match.book, match.rule)
    ours = {_last(name) for name in _names(plain)} - {""} or {*_PARAMETER.findall(plain)}
    theirs = [name for each in known for name in (*_names(each), *_PARAMETER.findall(each))]
    fixed = {last for name in theirs if IDENTIFIER.fullmatch(last := _last(name))}
    quotes = any(_QUOTED.search(each) for each in known)
    if (
        not ours and quotes and fixed and not any("{" in name for name in theirs)
    ):  # it quotes nothing: what do its words name?
        return int(fixed.isdisjoint(IDENTIFIER.findall(plain)))
    if not ours or not theirs or not ours.isdisjoint(map(_last, theirs)):
        return 0
    any_name = any(name.startswith("{") and name.endswith("}") for name in theirs) or len(fixed) >= SEVERAL
    if any_name and any(
        len(words(each)) >= _LONG and has(" ".join(plain.split()), each, wholly=False) for each in known
    ):
        return 0  # the name stands in a place of the rule's own sentence
    return 1 if match.rule.id in IDS else 2 if any_name else _OTHERS


def _names(text: str) -> list[str]:
    """Returns the names that a text quotes, or the path that it begins with."""
    return _QUOTED.findall(text) or _PATH_FIRST.findall(text)


def _last(path: str) -> str:
    """Returns the last name of a path: `id` of `input[3].id`, and nothing of `messages.0`."""
    name = _INDEX.sub("", path).rpartition(".")[2]
    return "" if name.isdigit() else name
