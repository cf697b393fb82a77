"""Finds the rule for an error text that describes a fault and quotes no known sentence: it names a field, and says that it is
unknown or missing, or that its value is wrong. The fault is put into an example of a book, and the book judges it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from enum import StrEnum
from functools import reduce
from itertools import islice
from operator import getitem
from typing import Any, NamedTuple

from ..observed.exchange import Json
from ..rule import Rule
from ..rulebook import RuleBook
from .sentences import FUNCTION_WORDS

__all__ = ["TYPES", "Described", "What", "described", "folded", "has_field", "judging"]


class What(StrEnum):
    """What a text says of a field."""

    UNKNOWN = "unknown"
    MISSING = "missing"
    WRONG = "wrong"


_TOO_LONG, _VARIANT = "string too long", "unknown variant"
#: Phrases of refusals, what they say, and whether the field stands before them. Longer ones come first.
_PHRASES = (
    ("extra inputs are not permitted, field", What.UNKNOWN, False),
    ("extra inputs are not permitted", What.UNKNOWN, True),
    ("unrecognized request argument supplied", What.UNKNOWN, False),
    ("argument not supported on this model", What.UNKNOWN, False),
    ("argument not supported", What.UNKNOWN, False),
    ("does not support parameter", What.UNKNOWN, False),
    ("this model doesn't support the", What.UNKNOWN, False),
    ("unsupported parameter(s)", What.UNKNOWN, False),
    ("unsupported parameter", What.UNKNOWN, False),
    ("unknown parameter", What.UNKNOWN, False),
    ("unknown field: parameter", What.UNKNOWN, False),
    ("extraneous key", What.UNKNOWN, False),
    ("is unsupported", What.UNKNOWN, True),
    ("unknown name", What.UNKNOWN, False),
    ("json: unknown field", What.UNKNOWN, False),
    ("unrecognized key(s) in object:", What.UNKNOWN, False),
    ("missing required parameter", What.MISSING, False),
    ("missing required field", What.MISSING, False),
    ("missing field", What.MISSING, False),
    ("required properties [", What.MISSING, False),
    ("field required", What.MISSING, True),
    ("is a required property", What.MISSING, True),
    ("cannot unmarshal", What.WRONG, False),
    ("invalid type for", What.WRONG, False),
    ("is not one of [", What.WRONG, True),
    (": value is '", What.WRONG, True),
    (': value is "', What.WRONG, True),
    ("specified in the request are not valid", What.WRONG, True),
    ("must be one of", What.WRONG, True),
    ("input should be", What.WRONG, True),
    (_TOO_LONG, What.WRONG, True),
    (_VARIANT, What.WRONG, True),
    (": data did not match any variant", What.WRONG, True),
    ("input tag", What.WRONG, True),
    ("invalid value at", What.WRONG, False),
    (": only ", What.WRONG, True),
)
_TOKEN = re.compile(r"[\w$.\[\]-]++")
_VALUE = re.compile(r"""['"`]([^'"`]{1,60}+)['"`]""")
_AT_A_PLACE = re.compile(r"""' \([^()]*\), \\?["']([^"'\\]*)""")
#: The type that a server of Go could not read, and the field: `ChatRequest` is the type of the whole body.
_UNMARSHALLED = re.compile(r" (\w+)(?: \S+)? into Go struct field \w*\.([\w.]+)")
#: How a validator of JSON Schema ends: `x is not one of ['a', 'b'] - 'messages.['0].role'`.
_PLACED_BEHIND = re.compile(r"[^\[\]]*\] - '(\S*)")
_GOT = re.compile(r"[^.]*but got an? (?:empty )?(\w+)")
#: The beginning of a path that somebody masked or cut: `***.thinking`, `…content.0.text`. What a path has then.
_MASKED, _SOMEWHERE = re.compile(r"(?<!\*)\*{2,}+\.|…\.?"), "somewhere-in-it"
#: A value of each type that a text tells.
_TOLD: Mapping[str, Any] = {
    "null": None,
    "string": "?",
    "array": [],
    "object": {},
    "number": 1,
    "bool": True,
    "boolean": True,
    "integer": 1,
}
_UNQUOTED = re.compile(r" (\w+), expected\b")
_UNTIL_QUOTE = re.compile("['\"]")
_NAMES = re.compile(r"[A-Za-z_$][\w$-]*+|(?<=\.)\*")
#: What follows a phrase about a value that is not one of those that can be at its place.
_KINDS = re.compile(r" (?:'|a valid )")
#: Steps of a path that are types, and no fields; words that introduce a field, or the place of one.
TYPES, _BEFORE = frozenset({"value", "custom"}), frozenset({"property", "field", "parameter", "argument"})
#: How Google tells the value at a key of an object: `properties[2].value`. What a path has then.
_ENTRY, _ANY_KEY = re.compile(r"\[\d+\]\.value\b"), "*"
#: What a path begins with before the fields of the body: Google's Code Assist wraps one, and pydantic names it.
_AROUND_A_BODY = (["request"], ["body"])
#: Keywords of a schema that contain schemas.
_OF_SCHEMAS = frozenset({"properties", "items", "prefixItems", "anyOf", "oneOf", "allOf", _ANY_KEY})
#: Longer than any field that has a limit in characters.
_LONG_STRING = "x" * 2000
_OF_NO_API = "field_of_no_api"
#: Values of a field that is unknown whatever its value is.
_ANY: Sequence[Any] = ("?", 1, True, [], {})
_BODIES = 8  # examples of a book that a fault is put into
_AROUND = 300  # characters on each side of a phrase that are read


class Described(NamedTuple):
    """A fault that a text describes: the phrase that says so, the path of a field without the numbers of list elements, and its value if the text has it."""

    what: What
    phrase: str
    path: tuple[str, ...]
    value: Any = None

    @property
    def is_cut(self) -> bool:
        """Whether the beginning of the path is not known."""
        return self.path[:1] == (_SOMEWHERE,)

    def unnamed(self) -> Described:
        """Returns the same fault of a field that no API has, if it is one of an unknown field: a rule about any field refuses this, too."""
        is_unknown = self.what is What.UNKNOWN
        return self._replace(path=(*self.path[:-1], _OF_NO_API)) if is_unknown else self

    def deeper(self) -> Described:
        """Returns the same fault of an object anywhere in the one that the path leads to."""
        return self._replace(path=(*self.path[:-1], _SOMEWHERE, self.path[-1]))

    def __str__(self) -> str:
        field = f"`{'.'.join(self.path).replace(_SOMEWHERE, '…')}`"
        match self.what:
            case What.UNKNOWN:
                return f"the API does not take the field {field}"
            case What.MISSING:
                return f"the field {field} is missing"
        return f"the value of {field} is wrong"


def described(text: str) -> Described | None:
    """Returns the first fault that a text describes."""
    text = _MASKED.sub(f"{_SOMEWHERE}.", text)
    low = text.lower()
    for phrase, what, before in _PHRASES:
        at = low.find(phrase)
        if at >= 0 and (found := _said_by(phrase, what, text, at, before=before)):
            return found
    return None


def _said_by(phrase: str, what: What, text: str, at: int, *, before: bool) -> Described | None:
    """Returns the fault that a phrase at a place of a text tells, if the text names its field."""
    end = at + len(phrase)
    earlier, later = text[max(at - _AROUND, 0) : at], text[end : end + _AROUND]
    if phrase in _READ_APART:
        return _READ_APART[phrase](Described(what, phrase, ()), _tokens(earlier), text, end)
    path = _path(_tokens(earlier), _tokens(later), before=before)
    if phrase == ": only " and _tokens(earlier)[-2:-1] != ["invalid"]:
        return None
    if not path or (phrase == "input should be" and not _KINDS.match(text, end)):
        return None
    if phrase == _TOO_LONG:
        return Described(what, phrase, path, _LONG_STRING)
    return Described(what, phrase, *_valued(what, path, later))


def _unmarshalled(fault: Described, _: Sequence[str], text: str, end: int) -> Described | None:
    unread = _UNMARSHALLED.match(text, end)
    return unread and fault._replace(path=tuple(unread[2].split(".")), value=_TOLD.get(unread[1], "?"))


def _one_of(fault: Described, earlier: Sequence[str], text: str, end: int) -> Described | None:
    placed = _PLACED_BEHIND.match(text, end) if earlier else None
    return placed and fault._replace(path=tuple(_NAMES.findall(placed[1])), value=earlier[-1])


def _of_a_type(fault: Described, _: Sequence[str], text: str, end: int) -> Described | None:
    """Returns the fault of `Invalid type for 'input': expected a string, but got an object instead`, if the field is one of the body."""
    path = _path((), _tokens(text[end : end + _AROUND]), before=False)
    got = _GOT.match(text, end, end + _AROUND)
    value = _TOLD.get(got[1], "?") if got else 1
    return fault._replace(path=path, value=value) if len(path) == 1 else None


#: Phrases whose field and value stand at places of their own, and what reads them.
_READ_APART: Mapping[str, Callable[[Described, Sequence[str], str, int], Described | None]] = {
    "cannot unmarshal": _unmarshalled,
    "is not one of [": _one_of,
    "invalid type for": _of_a_type,
}


def _tokens(text: str) -> list[str]:
    return [
        token for each in _TOKEN.findall(text) if (token := each if each.endswith("..") else each.strip(".-"))
    ]


def _path(earlier: Sequence[str], later: Sequence[str], *, before: bool) -> tuple[str, ...]:
    """Returns the path of the field: the place that contains it, which may stand on the other side of the phrase, and its name."""
    if before:
        field, rest = earlier[-1:], earlier[:-1]
        named = rest[-2:-1] if rest[-1:] and rest[-1] in _BEFORE else ()
        place: Sequence[str] = [each for each in named if each.lower() not in FUNCTION_WORDS]
    else:
        field = later[:1]
        place = (
            later[2:3]
            if later[1:2] == ["at"] and later[2:3] != ["line"]
            else [each for each in earlier[-1:] if "[" in each and "[" not in "".join(field)]
        )
    if any(token.endswith("..") for token in (*place, *field)):  # it was cut
        return ()
    names = [name for token in (*place, *field) for name in _NAMES.findall(_ENTRY.sub(f".{_ANY_KEY}", token))]
    inner = names[1:] if names[:1] in _AROUND_A_BODY and len(names) > 1 else names
    return tuple(name for name in inner if name not in TYPES)


def _valued(what: What, path: tuple[str, ...], later: str) -> tuple[tuple[str, ...], Any]:
    """Returns the path and the value that the text names; without a value in the text, one that no field accepts."""
    told = _VALUE.findall(later) if what is What.WRONG else []
    if (
        kind := _UNTIL_QUOTE.split(later, 1)[0]
    ) in _TOLD and what is What.WRONG:  # `Value is 'null' but should be`
        return path, _TOLD[kind]
    if told and "found using" in later:  # `Input tag 'x' found using 'type'`
        return (*path, *told[1:2]), told[0]
    if told and later.startswith(" `"):  # `unknown variant `x``
        return path, told[0]
    if plain := _UNQUOTED.match(later):  # the same in a text that lost them
        return path, plain[1]
    if placed := _AT_A_PLACE.match(later):  # `Invalid value at 'contents' (…), "x"`
        return path, placed[1]
    return path, "?"


def folded(name: str) -> str:
    """Returns a name without the differences of `toolChoice` and `tool_choice`."""
    return name.replace("_", "").lower()


def judging(book: RuleBook, fault: Described) -> tuple[bool, list[Rule]]:
    """Tells whether an example of the book has a place for a fault, and returns the first rule that refuses it, for each
    kind of object. An unknown field is refused whatever its value is.
    """
    found, placed = list[Rule](), False
    while len(fault.path) > 1 and fault.path[-2] in _OF_SCHEMAS and not any(_places(book, fault)):
        fault = fault._replace(
            path=(*fault.path[:-2], fault.path[-1])
        )  # a schema in it has the same keywords
    for body, steps, key in islice(_likely_places(book, fault), _BODIES):
        placed = True
        pointer = "".join(f"/{step}" for step in (*steps, key))
        already = _refusing(book, body, pointer)
        refusing = [_refusing(book, changed, pointer) for changed in _changed(body, steps, key, fault)]
        new = (rule for rule in refusing[0] if rule not in already and all(rule in each for each in refusing))
        found += islice(new, 1)
    if not found and fault.phrase == _VARIANT and isinstance(fault.value, str):  # the type of an element
        return judging(book, fault._replace(value=[{"type": fault.value}]))
    return placed, found


def has_field(book: RuleBook, fault: Described) -> bool:
    """Tells whether an example of the book has the field of a fault."""
    return any(_places(book, fault._replace(what=What.MISSING)))


def _refusing(book: RuleBook, body: Json, pointer: str) -> list[Rule]:
    """Returns the rules that refuse a body at a place, inside of it, or at the object that it belongs to."""
    owner = pointer.rpartition("/")[0]
    return [
        verdict.rule
        for verdict in book.judge(book.request(body))
        if verdict.rule.refusal and not verdict.rule.preview
        if any(each.pointer.startswith(pointer) or each.pointer == owner for each in verdict.violations)
    ]


def _changed(body: Json, steps: Sequence[str | int], key: str, fault: Described) -> Iterator[Json]:
    """Yields a body with the fault, once for each value that the field may have."""
    for value in _ANY if fault.what is What.UNKNOWN else [fault.value]:
        changed = deepcopy(body)
        owner = reduce(getitem, steps, changed)  # type: ignore[arg-type]  # the steps come from this body
        owner[key] = value
        if fault.what is What.MISSING:
            del owner[key]
        yield changed


def _likely_places(book: RuleBook, fault: Described) -> Iterable[tuple[Json, Sequence[str | int], str]]:
    """Returns the places for a fault. A wrong value is put where a field has one, if an example has the field."""
    having = [*_places(book, fault._replace(what=What.MISSING))] if fault.what is What.WRONG else []
    return having or _places(book, fault)


def _places(book: RuleBook, fault: Described) -> Iterator[tuple[Json, Sequence[str | int], str]]:
    """Yields examples of a book, each with the keys that lead to an object that can have the fault, and the name of the field there:
    one for each kind of object.
    """
    *outer, name = fault.path
    seen = set[tuple[Any, Any]]()
    for body in (body for rule in book.rules.values() for body in rule.examples):
        for steps in _owners(body, outer):
            owner = reduce(getitem, steps, body)  # type: ignore[arg-type]  # the steps come from this body
            key = next((key for key in owner if folded(key) == folded(name)), "")
            kind = str(owner.get("role")), str(owner.get("type"))
            if kind not in seen and (key or fault.what is not What.MISSING):
                seen.add(kind)
                yield body, steps, key or name


def _owners(
    value: Any, names: Sequence[str], steps: tuple[str | int, ...] = ()
) -> Iterator[tuple[str | int, ...]]:
    """Yields the keys that lead to the objects at a path. A name may also be the type or the role of the object before it."""
    if names and names[0] == _SOMEWHERE:
        yield from _owners(value, names[1:], steps)
        inner = (
            enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
        )
        for key, each in inner:
            yield from _owners(each, names, (*steps, key))
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from _owners(each, names, (*steps, at))
    elif isinstance(value, dict) and not names:
        yield steps
    elif isinstance(value, dict):
        for key in [key for key in value if names[0] == _ANY_KEY or folded(key) == folded(names[0])]:
            yield from _owners(value[key], names[1:], (*steps, key))
        if names[0] in {value.get("type"), value.get("role")}:
            yield from _owners(value, names[1:], steps)
