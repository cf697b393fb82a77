"""Makes data that satisfy a JSON Schema, from the user's words where they fit.

Else a value comes from `default`, `examples`, `enum`, or the limits of the schema. Schemas of Gemini, with types in
capital letters, are read as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from ...contract.observed.exchange import Json
from ...contract.readers.gemini import get
from ...contract.readers.json_access import items_of, object_of, text_of
from .arithmetic import expression_in
from .meanings import content_words, plain_words
from .money import currencies_in
from .pattern_text import matching
from .user_words import Number, UserWords, hints_of

_DEEP = 12  # levels of a schema that refers to itself
_MOST_VALUES = 10_000  # steps for all data; a schema may grow without end
_LONGEST = 2000  # characters of a text of the user's that becomes a value
_PLACE = re.compile(
    r"city|town|place|location|address|country|region|destination|airport|where|time_?zone", re.IGNORECASE
)
_FREE = re.compile(
    r"query|question|text|prompt|message|scene|description|input|content|expression|topic|request|body|task|note"
    r"|summary|answer|response|reply|reason|thought|explanation|^q$|^sentence",
    re.IGNORECASE,
)
_IS_EXPRESSION = re.compile(r"expression|formula|equation|calculation", re.IGNORECASE)
_HAS_DIGITS = re.compile(r"zip|postal|postcode", re.IGNORECASE)
_DIGITS = re.compile(r"(?<![\w-])\d{4,10}(?![\w-])")
_PHONE = re.compile(r"(?<![\w-])\+?\(?\d[\d\s()/-]{5,18}\d(?![\w-])")
_IS_ID = re.compile(
    r"(?:^|_)(?:id|code|sku|no|isbn|serial)$|(?<=[a-z])(?:Id|ID|Code|Number)$|(?:order|tracking|invoice|account)_?number",
    re.ASCII,
)
_SQL = re.compile(r"\b((?:SELECT|INSERT|UPDATE|DELETE|WITH|CREATE|DROP)\b[^\n`]+)")
_IS_PEOPLE = re.compile(r"attendee|guest|participant|invitee|recipient|people|members", re.IGNORECASE)
_IS_SQL = re.compile(r"sql|statement|^query$", re.IGNORECASE)
_IS_SONG = re.compile(r"song|track", re.IGNORECASE)
_IS_STREET = re.compile(r"street|^address|shipping", re.IGNORECASE)
_IS_HANDLE = re.compile(r"channel|handle|username|hashtag", re.IGNORECASE)
_STREET = re.compile(
    r"\d{1,5} (?:[A-Z][\w.]+ ){1,8}(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Way|Square)\b\.?"
    r"|(?<!\w)[A-ZÄÖÜ][\wäöüß]*(?:straße|strasse|str\.|weg|platz|allee|gasse) \d{1,4}[a-z]?|\d{1,4},? (?:rue|avenue|place) [\w' ]+?(?=,|$)"
)
_SAID = re.compile(
    r"\b(?:that says|saying|says|telling (?:her|him|them)(?: that)?|that|dass|que)[:,]?\s+(?P<said>[^\n]{2,})|:\s+(?P<after>[^\n]{2,})",
    re.IGNORECASE,
)
_BECAUSE = re.compile(r"\b(?:because(?: of)?|since|due to|as)\s+([^\n.?!]{2,})", re.IGNORECASE)
_SONG = re.compile(r"\bplay\s+(?:the song |me |some )*(.+?)(?:(?<!\s)\s+by\b|[.?!\n]|$)", re.IGNORECASE)
_COLOUR = re.compile(
    r"\b(?:red|green|blue|yellow|orange|purple|violet|pink|brown|black|white|gr[ae]y|gold|silver|beige|turquoise)\b",
    re.IGNORECASE,
)
_IS_MONEY = re.compile(r"currency|^(?:from|to|source|target|base|quote)$|_cur$", re.IGNORECASE)
_UNITS = re.compile(
    r"(?<=\d)\s?(?P<from>[^\W\d]+|°[CF])|\b(?:to|in|into|nach|en|à)\s+(?P<to>[^\W\d]+|°[CF])|\bhow many (?P<many>[^\W\d]+)",
    re.IGNORECASE,
)
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
    "idn-email": "user@example.com",
    "idn-hostname": "example.com",
    "iri": "https://example.com/",
    "iri-reference": "/index.html",
    "uri-reference": "/index.html",
    "uri-template": "/items/{id}",
    "json-pointer": "/items/0",
    "relative-json-pointer": "0",
    "regex": "^a$",
    "byte": "aGVsbG8=",
    "binary": "hello",
    "decimal": "1",
    "int64": "1",
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
        self._claimed: dict[str, Number] = {}
        self._dated, self._day = False, _FORMATS["date"]
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
                return self._number(schema, name, whole=kind == "integer")
            case "boolean":
                says = self._words.says(hints_of(name))
                return schema.get("default", True) if says else False
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
        """Returns the value of an `enum` that the text names and that was not taken, the default one, or the first one."""
        options, text = schema["enum"], self._words.text
        named = named_options(options, text) or _mood(options, text)
        fresh = [option for option in named if option not in self._words.options]
        if named:
            self._words.options.append((fresh or named)[0])
            return (fresh or named)[0]
        numbers = {number.value for number in self._words.numbers}
        default = schema.get("default", _ABSENT)
        numeric = [option for option in options if type(option) in {int, float} and option in numbers]
        return numeric[0] if numeric else default if default in options else options[0]

    def _object(self, schema: Json, depth: int) -> Json:
        properties = object_of(schema.get("properties"))
        required = [name for name in items_of(schema.get("required")) if isinstance(name, str)]
        if not required and properties and depth == 0 and "required" not in schema:
            required = list(properties)[:1] if len(properties) > 1 else list(properties)
        ordered = [name for name in properties if name in required]
        ordered += [name for name in required if name not in properties]
        if depth >= _DEEP:
            return {}
        if any(re.search("city|town", name) for name in properties) and any(
            re.search("country|state", name) for name in properties
        ):
            self._words.names = [part for name in self._words.names for part in name.split(", ")]
        outer, self._claimed = self._claimed, {**self._claimed, **self._claims(properties, depth)}
        claimed = self._claimed_names(properties, required)
        found = {name: self.value(properties.get(name, {}), name, depth + 1) for name in ordered}
        self._words.names += claimed.values()
        for name in properties:
            if name not in found and (value := self._optional(properties[name], name, depth)) is not _ABSENT:
                found[name] = value
        self._claimed = outer
        found |= self._demanded(schema, found, depth)
        least = min(_whole(get(schema, "minProperties"), 0), 100)
        more = self._more(schema, least - len(found), depth)
        return {name: found[name] for name in [*properties, *found] if name in found} | more

    def _demanded(self, schema: Json, found: Json, depth: int) -> Json:
        """Returns the properties that a schema requires because of others: `dependentRequired`, and `if` with `then`."""
        properties = object_of(schema.get("properties"))
        parts: list[Any] = [
            {"required": names}
            for name, names in object_of(schema.get("dependentRequired")).items()
            if name in found
        ]
        parts += [part for name, part in object_of(schema.get("dependentSchemas")).items() if name in found]
        if "if" in schema:
            parts.append(schema.get("then" if _holds(object_of(schema["if"]), found) else "else"))
        demanded: Json = {}
        for part in map(object_of, parts):
            own = object_of(part.get("properties"))
            names = [
                name for name in items_of(part.get("required")) if isinstance(name, str) and name not in found
            ]
            whole = {
                name: _joined(object_of(own.get(name)), object_of(properties.get(name))) for name in names
            }
            demanded |= {name: self.value(whole[name], name, depth + 1) for name in names}
        return demanded

    def _more(self, schema: Json, count: int, depth: int) -> Json:
        """Returns properties that a schema requires in number and not by name."""
        pattern, part = next(iter(object_of(schema.get("patternProperties")).items()), ("", None))
        names = [f"key{number}" for number in range(1, count + 1)]
        if pattern:
            made = matching(str(pattern), [])
            names = [made if n == 0 else f"{made}{n}" for n in range(max(count, 0))]
        return {
            name: self.value(part if pattern else schema.get("additionalProperties"), name, depth + 1)
            for name in names
        }

    def _claims(self, properties: Json, depth: int) -> dict[str, Number]:
        """Returns the numbers that stand beside the name of a property."""
        claims: dict[str, Number] = {}
        for name in properties if self._words.numbers else ():
            schema = self._resolved(properties[name], depth)
            if _type(schema) in {"integer", "number"}:
                hints = hints_of(name, text_of(schema.get("description")))
                share = re.search(r"brightness|volume|percent|level|opacity|share", name)
                number = self._words.number_of(hints) or (self._words.share() if share else None)
                if number and number not in claims.values():
                    claims[name] = number
        return claims

    def _claimed_names(self, properties: Json, required: Sequence[str]) -> dict[str, Any]:
        """Takes the names that only an optional property may have: `by Queen` is an artist, `because …` has a reason."""
        claimed = {}
        for name in properties:
            if name not in required and re.search(
                r"artist|author|composer|creator|singer|band", name, re.IGNORECASE
            ):
                claimed[name] = self._words.name_after("by", "von", "de")
        return {name: value for name, value in claimed.items() if value}

    def _optional(self, schema: Any, name: str, depth: int) -> Any:
        """Returns the value of an optional property if the text tells it, or `_ABSENT`."""
        schema, words = self._resolved(schema, depth), self._words
        hints = hints_of(name)
        match _type(schema):
            case _ if items_of(schema.get("enum")):
                return self._choice(schema) if named_options(schema["enum"], words.text) else _ABSENT
            case "integer" | "number" as kind:
                return (
                    self._number(schema, name, whole=kind == "integer") if name in self._claimed else _ABSENT
                )
            case "boolean":
                return words.says(hints) if hints & content_words(words.text) else _ABSENT
            case "array":
                return self._optional_list(schema, name, depth)
            case "string":
                return self._optional_text(schema, name)
        return _ABSENT

    def _optional_list(self, schema: Json, name: str, depth: int) -> Any:
        items = self._resolved(schema.get("items"), depth)
        told = content_words(name) & content_words(self._words.text)
        if items_of(items.get("enum")) or _type(items) in {"integer", "number"}:
            named = named_options(items_of(items.get("enum")), self._words.text)
            return (
                self._array(schema, name, depth)
                if named or (told and self._available(items, name))
                else _ABSENT
            )
        with_people = _IS_PEOPLE.search(name)
        files = re.search(r"file|path", name, re.IGNORECASE) and self._words.files
        email = items.get("format") == "email" and told and self._words.emails
        if _type(items) == "string" and (
            files or email or ((told or with_people) and self._available(items, name))
        ):
            return self._array(schema, name, depth)
        return _ABSENT

    def _optional_text(self, schema: Json, name: str) -> Any:
        words, form = self._words, text_of(schema.get("format")).lower()
        lowered = name.lower()
        found: str | None = None
        if form in {"date", "date-time"} or re.search(r"date|deadline|^due", lowered):
            timed = form != "date-time" or words.clocks or (words.dates and not self._dated)
            found = self._written(name, form) if (words.dates or words.clocks) and timed else None
        elif "reason" in lowered:
            because = _BECAUSE.search(words.text)
            found = because[1] if because else None
        elif re.search(r"artist|author|composer|creator|singer|band", lowered):
            found = words.name_after("by", "von", "de")
        elif _PLACE.search(name):
            found = words.name_after("in", "at", "near")
        elif form == "email" or "email" in lowered:
            found = words.take(words.emails)
        elif re.search(r"phone|mobile", lowered):
            found = self._written(name, form)
        elif re.search(r"colou?r$", lowered):
            found = colour[0].lower() if (colour := _COLOUR.search(words.text)) else None
        elif form in {"uri", "url"} or re.search(r"url|link", lowered):
            found = words.take(words.urls)
        else:
            found = words.value_after(hints_of(name)) or (self._room() if "room" in lowered else None)
        return found if found and _accepts(schema, found) else _ABSENT

    def _room(self) -> str | None:
        found = re.search(r"\bin the ((?:living |dining |bath|bed)?[a-z]+)", self._words.text)
        return found[1] if found else None

    def _array(self, schema: Json, name: str, depth: int) -> list[Any]:
        first = [self.value(each, name, depth + 1) for each in items_of(schema.get("prefixItems"))]
        items = self._resolved(schema.get("items"), depth)
        least = max(_whole(get(schema, "minItems"), 0), 0)
        most = _whole(get(schema, "maxItems"), 20)
        if depth >= _DEEP:
            return first
        found = list(first)
        if schema.get("contains") not in (None, True, {}) and not first:
            found = [self.value(schema["contains"], name, depth + 1)]
        if schema.get("items") is not None or not found:
            one = 0 if found or (depth >= _DEEP // 2 and not least) else min(1, most)  # a tree has to end
            wanted = max(
                least - len(found),
                min(self._available(items, name), most - len(found)) if one or least else 0,
                one,
            )
            found += self._elements(items, name, depth, wanted)
        if schema.get("uniqueItems") is True:
            found = _distinct(found, _type(items), items_of(items.get("enum")))
        return found

    def _elements(self, items: Json, name: str, depth: int, wanted: int) -> list[Any]:
        """Returns the elements of a list: counted things, the members of a written list, or values of the text."""
        text, count = _counted_thing(items)
        pairs = self._words.pairs() if text else []
        if not pairs:
            listed = self._listed(items, name) if not self._words.names else []
            return [*listed, *(self.value(items, name, depth + 1) for _ in range(wanted - len(listed)))][
                : max(wanted, 0)
            ]
        found = []
        for number, thing in pairs[:wanted]:
            names, quotes = list(self._words.names), list(self._words.quotes)
            value = self.value(items, name, depth + 1)
            self._words.names, self._words.quotes = names, quotes
            found.append({**value, text: thing, count: int(number)})
        return [*found, *(self.value(items, name, depth + 1) for _ in range(wanted - len(found)))]

    def _listed(self, items: Json, name: str) -> list[str]:
        """Returns the members of a list in small letters, if the elements are texts without a form."""
        special = {"enum", "const", "format", "pattern", "minLength", "maxLength"} & items.keys()
        plain = (
            _type(items) == "string"
            and not special
            and not re.search(r"file|path|ur[il]|link|mail|date", name)
        )
        addressed = _IS_PEOPLE.search(name) and self._words.emails
        return self._words.listed() if plain and not self._words.quotes and not addressed else []

    def _available(self, items: Json, name: str) -> int:
        """Returns the number of elements that the text has values for."""
        words = self._words
        match _type(items):
            case "string":
                return len(self._texts_for(items, name))
            case "integer" | "number":
                return len(words.numbers)
            case "object":
                return self._objects_for(items)
        return 0

    def _objects_for(self, items: Json) -> int:
        """Returns the number of objects that the text has values for: as many as names, but no more than addresses of mail."""
        words, properties = self._words, object_of(items.get("properties"))
        if all(_counted_thing(items)) and (counted := len(words.pairs())):
            return counted
        slots = takes_names(items)
        formed = [object_of(properties.get(name)).get("format") for name in items_of(items.get("required"))]
        most = len(words.emails) if "email" in formed and words.emails else len(words.names)
        return min(len(words.names) // slots if slots else 0, most)

    def _texts_for(self, items: Json, name: str) -> Sequence[str]:
        """Returns the texts that may be the elements of a list."""
        words, form = self._words, text_of(items.get("format"))
        if options := items_of(items.get("enum")):
            return named_options(options, words.text)
        if form == "email" or "email" in name.lower():
            return words.emails
        if form in {"uri", "url"} or re.search(r"urls?$|links?$", name.lower()):
            return words.urls
        if _IS_PEOPLE.search(name) and not words.names and words.emails:
            return words.emails
        files = re.search(r"file|path", name, re.IGNORECASE)
        return words.files if files else words.names or words.quotes or self._listed(items, name)

    def _number(self, schema: Json, name: str, *, whole: bool) -> float:
        least, most = _limits(schema, whole=whole)
        step = schema.get("multipleOf")
        found = self._claimed_number(name, whole=whole, accepts=(least, most))
        if found is None:
            kept = [number for other, number in self._claimed.items() if other != name]
            found = self._words.number(whole=whole, accepts=(least, most), kept=kept)
        if found is None:
            examples = [schema.get("default"), *items_of(schema.get("examples")), schema.get("example")]
            found = next(
                (each for each in examples if isinstance(each, int | float) and not isinstance(each, bool)),
                None,
            )
        if found is None:
            found = least if least is not None else min(1, most) if most is not None else 1
        if isinstance(step, int | float) and step > 0:
            found = _stepped(found, step)
        return int(found) if whole else found

    def _claimed_number(self, name: str, *, whole: bool, accepts: Sequence[float | None]) -> float | None:
        """Takes the number beside the property's name, in the property's unit of time."""
        number = self._claimed.get(name) or next(iter(self._words.numbers), None)
        if number is None or number not in self._words.numbers or number in _others(self._claimed, name):
            return None
        value, (least, most) = self._words.in_unit(number, name), accepts
        fits = (least is None or value >= least) and (most is None or value <= most)
        if not fits or (whole and value != int(value)):
            return None
        self._words.numbers.remove(number)
        return value

    def _text(self, schema: Json, name: str) -> str:
        least, most = _whole(get(schema, "minLength"), 0), _whole(get(schema, "maxLength"), _LONGEST)
        found = self._user_words_or_own(schema, name)
        pattern = text_of(schema.get("pattern"))
        if pattern:
            return matching(pattern, [found, *self._words.text.split()], least, most)
        found = found[:most].strip() or found[:most]
        return found if len(found) >= least else (found or "x").ljust(min(least, _LONGEST), "x")

    def _user_words_or_own(self, schema: Json, name: str) -> str:
        """Returns the words of the user that fit a text best, or else a value of the schema's own."""
        form = text_of(schema.get("format")).lower()
        found = self._written(name, form)
        if found is None and not form:
            found = self._of_a_kind(name)
        if found is None:
            found = self._address(name, form)
        if found is None:
            found = self._named(name, form)
        return found or self._own_value(schema, name, form)

    def _address(self, name: str, form: str) -> str | None:
        """Takes the address of a mailbox, a page or a file."""
        words, hints = self._words, f"{name} {form}"
        if _IS_PEOPLE.search(name) and words.emails and not words.names:
            return words.take(words.emails)
        if re.search(r"mail", hints, re.IGNORECASE) and (form or words.emails):
            return words.take(words.emails) or ""
        if re.search(r"ur[il]|link", hints, re.IGNORECASE) and (form or words.urls):
            return words.take(words.urls) or ""
        is_file = re.search(r"file|path", name, re.IGNORECASE) and words.files
        return words.take(words.files) if is_file else None

    def _named(self, name: str, form: str) -> str | None:
        """Takes a place, a passage or a name."""
        words = self._words
        if re.search(r"^from|origin|departure|source", name, re.IGNORECASE):
            return words.name_after("from", "von", "aus", "de", "desde", "da", "из") or words.take(
                words.names
            )
        if re.search(r"^to$|destination|arrival|target", name, re.IGNORECASE):
            return words.name_after(*_TO) or words.take(words.names)
        if _PLACE.search(name):
            found = words.name_after(*_IN) or words.take(words.names)
            return found or words.name_after(*_TO) or words.take(words.quotes)
        if _FREE.search(name):
            return words.take(words.quotes) or self._passage(name) or words.text[:_LONGEST]
        if form:
            return None
        called = _CALLED if re.search(r"name|title", name) else frozenset()
        return (
            words.value_after(hints_of(name) | called) or words.take(words.quotes) or words.take(words.names)
        )

    def _of_a_kind(self, name: str) -> str | None:
        """Returns what the user wrote for a currency, a unit, a channel, a program, an address or the name of a thing."""
        words, second = self._words, re.search(r"^to|target|quote", name, re.IGNORECASE) is not None
        pairs = currencies_in(words.text) if _IS_MONEY.search(name) else []
        pairs = pairs or (_units(words.text) if "unit" in name.lower() else [])
        if pairs:
            return pairs[-1] if second and len(pairs) > 1 else pairs[0]
        if _IS_HANDLE.search(name) and words.handles:
            return words.take(words.handles)
        if _IS_STREET.search(name) and (street := _STREET.search(words.text)):
            words.names = [each for each in words.names if each not in street[0]]
            return street[0]
        return self._program(name) or (words.code() if _IS_ID.search(name) else None)

    def _program(self, name: str) -> str | None:
        """Returns a statement of SQL, or the name of a song after *play*."""
        words = self._words
        pattern = (
            _SQL if _IS_SQL.search(name) else _SONG if _IS_SONG.search(name) and not words.quotes else None
        )
        found = pattern.search(words.text) if pattern else None
        if found is None:
            return None
        words.names = [each for each in words.names if each not in found[1]]
        return found[1].strip()

    def _passage(self, name: str) -> str | None:
        """Returns the words that a message should have, as in `tell Bob that lunch is ready`."""
        if not re.search(r"message|body|content|text|note", name, re.IGNORECASE):
            return None
        said = _SAID.search(self._words.text)
        return (said["said"] or said["after"]).strip() if said else None

    def _written(self, name: str, form: str) -> str | None:
        """Returns what the user wrote in a form of its own: a date, a time, an expression, the digits of a code."""
        words = self._words
        if form == "date" or (
            not form and re.search(r"date|day$|^due$|check_?(?:in|out)$", name, re.IGNORECASE)
        ):
            return words.take(words.dates) or _FORMATS["date"]
        if form == "date-time" and (words.dates or words.clocks or self._dated):
            self._day = words.take(words.dates) or (self._day if self._dated else _FORMATS["date"])
            self._dated = True
            return f"{self._day}T{words.take(words.clocks) or '12:00:00'}Z"
        if form == "time" and words.clocks:
            return f"{words.take(words.clocks)}Z"
        if not form and re.search(r"(?:^|_)time$|^at$", name) and words.clocks:
            return str(words.take(words.clocks))[:5]
        if _IS_EXPRESSION.search(name):
            return expression_in(words.text) or None
        pattern = (
            _PHONE if re.search(r"phone|mobile|tel$", name) else _DIGITS if _HAS_DIGITS.search(name) else None
        )
        found = pattern.search(words.text) if pattern else None
        return found[0].strip() if found else None

    def _own_value(self, schema: Json, name: str, form: str) -> str:
        examples = [schema.get("default"), *items_of(schema.get("examples")), schema.get("example")]
        example = next((each for each in examples if isinstance(each, str)), None)
        return (
            example if example is not None else _FORMATS.get(form) or self._words.text[:100] or name or "text"
        )


_IN = ("in", "at", "for", "near", "of", "en", "em", "bei", "im", "в")
_TO = ("to", "into", "nach", "zu", "à", "a", "para", "hacia", "ins", "en", "al", "em", "в", "на")
_CALLED = frozenset({"called", "named", "titled", "name", "titel", "heißt"})


def named_options(options: Sequence[Any], text: str) -> list[str]:
    """Returns the options of an `enum` that a text names: in the words of the text, or else by words that mean the same.

    Args:
        options: The options, of any type.
        text: The user's text.
    """
    texts = [option for option in options if isinstance(option, str) and option]
    for words_of in (plain_words, content_words):
        said = words_of(text)
        found = [option for option in texts if (names := words_of(option)) and names <= said]
        if found:
            return found
    money = currencies_in(text) if any(re.fullmatch("[A-Z]{3}", option) for option in texts) else []
    codes = [option for option in texts if option in money]
    return codes or [
        each
        for each in texts
        if re.search(rf"(?<![\w-])°?{re.escape(each)}(?![\w-])", text) and each not in {"a", "I", "A"}
    ]


def _units(text: str) -> list[str]:
    """Returns the unit of the number in a text, and the unit that it asks for."""
    found = [each.groupdict() for each in _UNITS.finditer(text)]
    source = [each["from"] for each in found if each["from"]]
    wanted = [each["many"] or each["to"] for each in found if each["many"] or each["to"]]
    return [*source[:1], *wanted[:1]]


def _others(claimed: dict[str, Number], name: str) -> list[Number]:
    return [number for other, number in claimed.items() if other != name]


def _counted_thing(items: Json) -> tuple[str, str]:
    """Returns the names of the text and of the number of an object that says how many things of a kind there are."""
    properties = object_of(items.get("properties"))
    required = [name for name in items_of(items.get("required")) if isinstance(name, str)]
    kinds = {name: _type(object_of(properties.get(name))) for name in required}
    text = [
        name
        for name in required
        if kinds[name] == "string"
        and not {"enum", "const", "format", "pattern"} & object_of(properties.get(name)).keys()
    ]
    count = [
        name
        for name in required
        if kinds[name] in {"integer", "number"}
        and re.search(r"quantity|count|amount|number|qty|how_many", name)
    ]
    return (text[0], count[0]) if len(text) == 1 and len(count) == 1 else ("", "")


def _accepts(schema: Json, text: str) -> bool:
    """Tells whether a schema of a text accepts this one."""
    if not _whole(get(schema, "minLength"), 0) <= len(text) <= _whole(get(schema, "maxLength"), _LONGEST):
        return False
    return not schema.get("pattern") or matching(text_of(schema.get("pattern")), [text]) == text


def _stepped(value: float, step: float) -> float:
    return ceil(value / step - 1e-9) * step


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


def _distinct(values: list[Any], kind: str, options: Sequence[Any]) -> list[Any]:
    """Returns values that differ: a repeated text gets a number, and a repeated number or option the next one."""
    found: list[Any] = []
    for value in values:
        new = value
        if options:
            new = next((each for each in [value, *options] if each not in found), _ABSENT)
        for number in range(2, len(found) + 2) if kind in {"string", "integer", "number"} else ():
            if new not in found:
                break
            step = 1 if kind == "string" else max(1, abs(value) // 2**52)  # 1e300 + 1 is 1e300
            new = f"{value} {number}" if kind == "string" else value + step * (number - 1)
        found += [new] if new is not _ABSENT else []
    return found


def _holds(condition: Json, found: Json) -> bool:
    """Tells whether an object satisfies the constants and the required names of a condition."""
    for name, schema in object_of(condition.get("properties")).items():
        part = object_of(schema)
        options = [part["const"]] if "const" in part else items_of(part.get("enum"))
        if name in found and options and found[name] not in options:
            return False
    return all(name in found for name in items_of(condition.get("required")))


_MOODS = {
    "positive": r"love|great|best|excellent|happy|good|amazing|wonderful|fantastic|like|perfect|awesome|toll|super|liebe|génial|adore|excelente",
    "negative": r"hate|terrible|awful|bad|worst|horrible|angry|broken|disappoint\w*|poor|slow|sad|useless|wrong|schlecht|nul|malo|not good",
    "neutral": r"",
}


def _mood(options: Sequence[Any], text: str) -> list[str]:
    """Returns the mood that most words of a text have, if the options of an `enum` are moods."""
    moods = {
        option: option.lower() for option in options if isinstance(option, str) and option.lower() in _MOODS
    }
    if len(moods) < 2:
        return []
    counts = {
        option: len(re.findall(rf"\b(?:{_MOODS[mood]})\b", text, re.IGNORECASE)) if _MOODS[mood] else 0.5
        for option, mood in moods.items()
    }
    return [max(counts, key=lambda option: counts[option])]
