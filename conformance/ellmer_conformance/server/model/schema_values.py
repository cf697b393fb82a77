"""Makes data that satisfy a JSON Schema, from the user's words where they fit.

Else a value comes from `default`, `examples`, `enum`, or the limits of the schema. Schemas of Gemini, with types in
capital letters, are read as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil
from re import _constants as code  # type: ignore[attr-defined]  # the standard library's own reader of patterns
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from ...contract.exchange import Json
from ...contract.readers.gemini import get
from ...contract.readers.json_access import items_of, object_of, text_of
from .user_words import UserWords, content_words

_DEEP = 12  # levels of a schema that refers to itself
_MOST_VALUES = 10_000  # steps for all data; a schema may grow without end
_LONGEST = 2000  # characters of a text of the user's that becomes a value
_PLACE = re.compile(
    r"city|town|place|location|address|country|region|destination|airport|where", re.IGNORECASE
)
_FREE = re.compile(
    r"query|question|text|prompt|message|scene|description|input|content|expression|topic|request|body|task|note"
    r"|summary|answer|response|reply|reason|thought|explanation|^q$|^sentence",
    re.IGNORECASE,
)
_IS_EXPRESSION = re.compile(r"expression|formula|equation|calculation", re.IGNORECASE)
_EXPRESSION = re.compile(r"[-(\d][\d\s.,+*/^()×÷%-]*[\d)]")
_HAS_DIGITS = re.compile(r"zip|postal|postcode|phone", re.IGNORECASE)
_DIGITS = re.compile(r"(?<![\w-])\+?\d{4,15}(?![\w-])")
_FORMATS: Mapping[str, str] = {
    "date": "2026-01-01",
    "date-time": "2026-01-01T12:00:00Z",
    "time": "12:00:00Z",
    "duration": "PT1H",
    "email": "user@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uuid": "123e4567-e89b-42d3-a456-426614174000",
}
_ABSENT = object()


def filled(schema: Json, words: UserWords) -> Any:
    """Returns data that satisfy a schema.

    Args:
        schema: The schema; references are within it.
        words: The values of the user's text. They are used up.
    """
    return _Filling(schema, words).value(schema, "", 0)


def takes_names(schema: Json) -> int:
    """Returns the number of required texts of an object that names of the user's text can fill."""
    properties = object_of(schema.get("properties"))
    return sum(
        _type(object_of(properties.get(name))) == "string"
        and not {"enum", "const", "format"} & object_of(properties.get(name)).keys()
        and not _FREE.search(str(name))
        for name in items_of(schema.get("required"))
    )


def takes_a_list(schema: Json) -> bool:
    """Tells whether an object must have a list."""
    properties = object_of(schema.get("properties"))
    return any(_type(object_of(properties.get(name))) == "array" for name in items_of(schema.get("required")))


def _type(schema: Json) -> str:
    """Returns the type of a schema in JSON Schema's words, or the one that its other fields tell."""
    kind = schema.get("type")
    kinds = [each for each in kind if each != "null"] if isinstance(kind, list) else [kind]
    named = text_of(kinds[0] if kinds else "null").lower()
    if named:
        return named
    if "properties" in schema or "additionalProperties" in schema:
        return "object"
    return "array" if "items" in schema or "prefixItems" in schema else "string"


class _Filling:
    """One value in the making: the schema with its definitions, and the words that are left."""

    def __init__(self, root: Json, words: UserWords) -> None:
        self._root, self._words = root, words
        self._left = _MOST_VALUES

    def value(self, schema: Any, name: str, depth: int) -> Any:
        """Returns a value for a schema. `name` is the name of its property."""
        if self._left <= 0:
            return None
        schema = self._resolved(schema, depth)
        if "const" in schema:
            return schema["const"]
        return self._choice(schema) if items_of(schema.get("enum")) else self._of_type(schema, name, depth)

    def _of_type(self, schema: Json, name: str, depth: int) -> Any:
        match _type(schema):
            case "object":
                return self._object(schema, depth)
            case "array":
                return self._array(schema, name, depth)
            case "integer" | "number" as kind:
                return self._number(schema, whole=kind == "integer")
            case "boolean":
                return schema.get("default", True)
        return None if _type(schema) == "null" else self._text(schema, name)

    def _resolved(self, schema: Any, depth: int) -> Json:
        """Returns a schema with its reference, its parts and its first alternative put together."""
        schema, seen = object_of(schema), 0
        self._left -= 1
        if self._left <= 0 or depth > 2 * _DEEP:
            return {}
        while seen < _DEEP and (reference := text_of(schema.get("$ref"))):
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            schema, seen = {**self._referred(reference), **rest}, seen + 1
        for part in items_of(schema.get("allOf")):
            schema = _joined(schema, self._resolved(part, depth + 1))
        options = items_of(schema.get("anyOf") or schema.get("oneOf"))
        if options:
            rest = {key: value for key, value in schema.items() if key not in {"anyOf", "oneOf"}}
            schema = _joined(rest, self._resolved(self._option(options, depth), depth + 1))
        return object_of(schema)

    def _option(self, options: Sequence[Any], depth: int) -> Any:
        """Returns the first alternative, but in the depth of a recursion the simplest one."""
        some = [option for option in options if object_of(option).get("type") != "null"] or options
        if depth >= _DEEP // 2:
            return next((option for option in options if object_of(option).get("type") == "null"), some[-1])
        said = content_words(self._words.text)
        return next((option for option in some if self._named_by(object_of(option)) & said), some[0])

    def _named_by(self, option: Json) -> frozenset[str]:
        """Returns the words that tell an alternative: its title, the name of its reference, and its constants."""
        whole = {**self._referred(text_of(option.get("$ref"))), **option} if "$ref" in option else option
        values = [object_of(each) for each in object_of(whole.get("properties")).values()]
        constants = [each for value in values for each in [value.get("const"), *_only(value.get("enum"))]]
        names = [whole.get("title"), text_of(option.get("$ref")).rpartition("/")[2], *constants]
        return frozenset[str]().union(*(content_words(each) for each in names if isinstance(each, str)))

    def _referred(self, reference: str) -> Json:
        found: Any = self._root
        for key in reference.removeprefix("#").strip("/").split("/"):
            found = object_of(found).get(key.replace("~1", "/").replace("~0", "~")) if key else found
        return object_of(found)

    def _choice(self, schema: Json) -> Any:
        """Returns the value of an `enum` that the text names, the default one, or the first one."""
        text_words = content_words(self._words.text)
        for option in schema["enum"]:
            if isinstance(option, str) and (names := content_words(option)) and names <= text_words:
                return option
        default = schema.get("default", _ABSENT)
        return default if default in schema["enum"] else schema["enum"][0]

    def _object(self, schema: Json, depth: int) -> Json:
        properties = object_of(schema.get("properties"))
        required = [name for name in items_of(schema.get("required")) if isinstance(name, str)]
        if not required and properties and depth == 0 and "required" not in schema:
            required = list(properties)[:1] if len(properties) > 1 else list(properties)
        ordered = [name for name in properties if name in required]
        ordered += [name for name in required if name not in properties]
        found = (
            {name: self.value(properties.get(name, {}), name, depth + 1) for name in ordered}
            if depth < _DEEP
            else {}
        )
        for name in properties:
            if name not in found and self._is_named(object_of(properties[name])):
                found[name] = self._choice(self._resolved(properties[name], depth))
        return {name: found[name] for name in [*properties, *ordered] if name in found}

    def _is_named(self, schema: Json) -> bool:
        """Tells whether the text names a value of an optional property's `enum`."""
        text_words = content_words(self._words.text)
        options = [option for option in items_of(schema.get("enum")) if isinstance(option, str)]
        return any((names := content_words(option)) and names <= text_words for option in options)

    def _array(self, schema: Json, name: str, depth: int) -> list[Any]:
        first = [self.value(each, name, depth + 1) for each in items_of(schema.get("prefixItems"))]
        items = self._resolved(schema.get("items"), depth)
        least = max(_whole(get(schema, "minItems"), 0), 0)
        most = _whole(get(schema, "maxItems"), 20)
        if depth >= _DEEP:
            return first
        found = list(first)
        if schema.get("items") is not None or not first:
            wanted = max(
                least - len(first),
                min(self._available(items), most - len(first)),
                0 if first else min(1, most),
            )
            found += [self.value(items, name, depth + 1) for _ in range(wanted)]
        if schema.get("uniqueItems") is True:
            found = _distinct(found, _type(items))
        return found

    def _available(self, items: Json) -> int:
        """Returns the number of elements that the text has values for."""
        match _type(items):
            case "string" if "enum" not in items:
                return len(self._words.names)
            case "integer" | "number":
                return len(self._words.numbers)
            case "object":
                names = takes_names(items)
                return len(self._words.names) // names if names else 0
        return 0

    def _number(self, schema: Json, *, whole: bool) -> float:
        least, most = _limits(schema, whole=whole)
        step = schema.get("multipleOf")
        found = self._words.number(whole=whole, accepts=(least, most))
        if found is None:
            examples = [schema.get("default"), *items_of(schema.get("examples")), schema.get("example")]
            found = next(
                (each for each in examples if isinstance(each, int | float) and not isinstance(each, bool)),
                None,
            )
        if found is None:
            found = least if least is not None else min(1, most) if most is not None else 1
        if isinstance(step, int | float) and step > 0:
            found = ceil(found / step) * step
        return int(found) if whole else found

    def _text(self, schema: Json, name: str) -> str:
        least, most = _whole(get(schema, "minLength"), 0), _whole(get(schema, "maxLength"), _LONGEST)
        found = self._said(schema, name)
        pattern = text_of(schema.get("pattern"))
        if pattern:
            return matching(pattern, [found, *self._words.text.split()])
        found = found[:most].strip() or found[:most]
        return found if len(found) >= least else (found or "x").ljust(min(least, _LONGEST), "x")

    def _said(self, schema: Json, name: str) -> str:
        """Returns the words of the user that fit a text best, or else a value of the schema's own."""
        words, form = self._words, text_of(schema.get("format")).lower()
        hints = f"{name} {form}"
        found = self._written(name, form)
        if found is not None:
            pass
        elif re.search(r"mail", hints, re.IGNORECASE) and (form or words.emails):
            found = words.take(words.emails)
        elif re.search(r"ur[il]|link", hints, re.IGNORECASE) and (form or words.urls):
            found = words.take(words.urls)
        elif re.search(r"file|path", name, re.IGNORECASE) and words.files:
            found = words.take(words.files)
        elif re.search(r"^from|origin|departure|source", name, re.IGNORECASE):
            found = words.name_after("from") or words.take(words.names)
        elif re.search(r"^to$|destination|arrival|target", name, re.IGNORECASE):
            found = words.name_after("to", "into") or words.take(words.names)
        elif _PLACE.search(name):
            found = (
                words.name_after("in", "at", "for", "near", "of", "to")
                or words.take(words.names)
                or words.take(words.quotes)
            )
        elif _FREE.search(name):
            found = words.take(words.quotes) or words.text[:_LONGEST]
        elif not form:
            found = words.take(words.quotes) or words.take(words.names)
        return found or self._own_value(schema, name, form)

    def _written(self, name: str, form: str) -> str | None:
        """Returns what the user wrote in a form of its own: a date, a time, an expression, the digits of a code."""
        words = self._words
        if form == "date" or (not form and re.search(r"date|day$", name, re.IGNORECASE)):
            return words.take(words.dates) or _FORMATS["date"]
        if form == "date-time" and (words.dates or words.clock):
            return f"{words.take(words.dates) or _FORMATS['date']}T{words.clock or '12:00:00'}Z"
        if form == "time" and words.clock:
            return f"{words.clock}Z"
        pattern = (
            _EXPRESSION if _IS_EXPRESSION.search(name) else _DIGITS if _HAS_DIGITS.search(name) else None
        )
        found = pattern.search(words.text) if pattern else None
        return found[0].strip() if found else None

    def _own_value(self, schema: Json, name: str, form: str) -> str:
        examples = [schema.get("default"), *items_of(schema.get("examples")), schema.get("example")]
        example = next((each for each in examples if isinstance(each, str)), None)
        return (
            example if example is not None else _FORMATS.get(form) or self._words.text[:100] or name or "text"
        )


def _only(options: Any) -> list[Any]:
    """Returns the value of an `enum` that has one."""
    return options if isinstance(options, list) and len(options) == 1 else []


def _joined(first: Json, second: Json) -> Json:
    """Returns two schemas as one, with the properties and the requirements of both."""
    both = {**second, **first}
    for key in ("properties", "$defs"):
        if key in first or key in second:
            both[key] = {**object_of(second.get(key)), **object_of(first.get(key))}
    if "required" in first or "required" in second:
        both["required"] = list(
            dict.fromkeys([*items_of(second.get("required")), *items_of(first.get("required"))])
        )
    return both


def _limits(schema: Json, *, whole: bool) -> tuple[float | None, float | None]:
    """Returns the smallest and the greatest number that a schema accepts."""
    step = 1 if whole else 0.5
    least, most = _real(schema.get("minimum")), _real(schema.get("maximum"))
    over, under = _real(schema.get("exclusiveMinimum")), _real(schema.get("exclusiveMaximum"))
    if over is not None and (least is None or over >= least):
        least = over + (step if under is None or over + step < under else (under - over) / 2)
    if under is not None and (most is None or under <= most):
        most = under - (step if over is None or under - step > over else (under - over) / 2)
    return least, most


def _real(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _whole(value: Any, default: int) -> int:
    number = int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 10 else value
    return min(number, _LONGEST) if isinstance(number, int) and not isinstance(number, bool) else default


def _distinct(values: list[Any], kind: str) -> list[Any]:
    """Returns values that differ: a repeated text gets a number, and a repeated number the next one."""
    found: list[Any] = []
    for value in values:
        new, number = value, 2
        while new in found and kind in {"string", "integer", "number"}:
            new = f"{value} {number}" if kind == "string" else new + 1
            number += 1
        found.append(new)
    return found


# --- A text that matches a pattern --------------------------------------------------------------------------

_CATEGORIES = {code.CATEGORY_DIGIT: "1", code.CATEGORY_WORD: "a", code.CATEGORY_SPACE: " "}
_LONGEST_PATTERN = 200  # characters of a pattern that is read, and times that a part is repeated


def matching(pattern: str, candidates: Iterable[str]) -> str:
    """Returns the first candidate that matches a pattern, or else the shortest text that is easy to make."""
    try:
        matches = re.compile(pattern).search if len(pattern) <= _LONGEST_PATTERN else None
        if matches is None:
            return next(iter(candidates), "")
        shortest = _text(parser.parse(pattern))
    except (re.error, OverflowError, RecursionError):
        return next(iter(candidates), "")
    if _repeats_within_repeats(pattern):
        return shortest  # such a pattern may take years to compare with a long text
    return next(
        (text for text in candidates if text and len(text) <= _LONGEST_PATTERN and matches(text)), shortest
    )


def _repeats_within_repeats(pattern: str) -> bool:
    return re.search(r"[*+}]\)?[*+{]", pattern) is not None


def _text(parts: Any) -> str:
    return "".join(_part(operation, argument) for operation, argument in parts)


def _part(operation: Any, argument: Any) -> str:
    if operation in {code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT}:
        least, most, part = argument
        count: int = min(max(least, min(1, most)), _LONGEST_PATTERN)
        return _text(part) * count
    make = _PARTS.get(operation)
    return make(argument) if make else ""


def _member(members: Any) -> str:
    """Returns a character of a class."""
    if members[0][0] is code.NEGATE:
        excluded = re.compile("|".join(re.escape(_member([each])) for each in members[1:]) or "(?!)")
        return next(letter for letter in "a1 _-" if not excluded.match(letter))
    operation, argument = members[0]
    if operation is code.RANGE:
        return chr(argument[0])
    if operation is code.CATEGORY:
        return _CATEGORIES.get(argument, "-")
    return chr(argument)


_PARTS: dict[Any, Callable[[Any], str]] = {
    code.LITERAL: chr,
    code.NOT_LITERAL: lambda letter: "a" if letter != ord("a") else "b",
    code.ANY: lambda _: "a",
    code.IN: _member,
    code.SUBPATTERN: lambda group: _text(group[-1]),
    code.BRANCH: lambda branches: _text(branches[1][0]),
}
