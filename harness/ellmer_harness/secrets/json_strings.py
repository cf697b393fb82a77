"""The strings of a JSON value: each with the name that suggests a credential, if it has one, and each with its places."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, compress, pairwise, repeat
from operator import is_
from typing import Any

from pydantic_core import from_json

from ellmer_core.base.budget import RECORDING, has_more_values

from ..format.compression import archived_part, undo
from .named_credentials import hinted, is_of_a_visitor, kind, telling
from .quick_search import has_name_in_binary
from .service_keys import runs

Location = tuple[Any, object]
"""The place above, and the step from there; the outermost is `("", None)` or what stands for it."""
_NAMES = ("name", "key", "header", "field", "variable", "env", "id", "n", "k", "Name", "Key")
_TYPES = ("__typename", "type")  # `{"type": "access_token", "value": …}`
_VALUES = frozenset(("value", "val", "secret_value", "secretValue", "content", "data", "v", "Value"))
_VALUE = "value"  # of a name above: `"password": {"value": …, "type": "string"}`
_NAMING = frozenset((*_NAMES, *_TYPES))
_COLUMNS, _ROWS = ("columns", "fields", "headers", "header"), ("rows", "data", "values", "records")
_JWK = "kty"  # RFC 7517: the field of each JSON web key
_PRIVATE = "private_key"  # what the secret fields of such a key are
NUMBERS = frozenset((int, float, bool, type(None)))
FLAT = NUMBERS | {str}
_KINDS = FLAT | {dict, list}
_FIELDS = 12  # an object that names its value has few others
_RUN = 16
_PRINTABLE = bytes(32 <= code < 127 or code in b"\t\r\n" for code in range(256))


def strings(value: Any) -> list[tuple[str, str]]:
    """Returns each distinct string once without a name, and once more with each name that suggests a credential.

    The value is searched level by level, in bulk: a cassette has millions of values, and few have such a name.
    """
    plain: dict[str, None] = {}
    named: dict[tuple[str, str], None] = {}
    level = [value]
    while level:
        kinds = {*map(type, level)}
        if not _KINDS.issuperset(kinds):
            level = [part for item in level for part in _readable(item)]
            kinds = {*map(type, level)}
        texts, objects, lists = (only(kind, level, kinds) for kind in (str, dict, list))
        lists = [items for items in lists if not has_only_numbers(items)]
        names = dict.fromkeys(chain.from_iterable(objects))
        plain.update(dict.fromkeys(texts))
        plain.update(names)
        named.update(dict.fromkeys(_telling(objects, lists, names)))
        level = [*_values(objects, names), *chain.from_iterable(lists)]
    return [*(("", text) for text in plain), *named]


def places(value: Any, where: str = "") -> dict[tuple[str, str], list[Location]]:
    """Returns the same strings, each with its places. This is several times slower, so it is used only for
    strings with findings.
    """
    found: dict[tuple[str, str], list[Location]] = defaultdict(list)
    left: list[tuple[Any, Location, str]] = [(value, (where, None), "")]
    while left:
        item, place, key = left.pop()
        if isinstance(item, str):
            found["", item].append(place)
            if telling(key):
                found[key, item].append(place)
        elif isinstance(item, dict):
            naming = "" if _VALUES.isdisjoint(item) else _named(item)
            private = _private_fields(item)
            for named, at in _cells(item, place):
                found[named].append(at)
            for name, inner in item.items():
                found["", name].append(place)
                holder = naming if name in _VALUES else _PRIVATE if name in private else ""
                if not holder and name == _VALUE and isinstance(inner, str):
                    holder = key
                left.append((inner, (place, name), holder or name))
        elif isinstance(item, list | tuple):
            left += _items(item, place, key)
        elif isinstance(item, bytes):
            left += [(inner, place, key) for inner in _of_bytes(item)]
    return found


def only(kind: type, level: Sequence[Any], kinds: Collection[type]) -> list[Any]:
    """Returns the values of a type. `kinds` are the types of all."""
    if kind not in kinds:
        return []
    return [*level] if len(kinds) == 1 else [*compress(level, map(is_, map(type, level), repeat(kind)))]


def _readable(item: Any) -> list[Any]:
    """Returns the values in an item, converted to the types that are searched."""
    if type(item) in _KINDS:
        return [item]
    if isinstance(item, bytes):
        return _of_bytes(item)
    if isinstance(item, dict):
        return [{**item}]
    return [[*item]] if isinstance(item, list | tuple) else [str(item)]


def _values(objects: list[dict[str, Any]], names: Container[str]) -> Iterable[Any]:
    if "text" not in names:
        return chain.from_iterable(map(dict.values, objects))
    return (
        "".join(item) if name == "text" and _lines(item) else item
        for each in objects
        for name, item in each.items()
    )


def _lines(value: Any) -> bool:
    """Tells whether this is a cassette's form of a text with several lines."""
    return isinstance(value, list) and all(isinstance(line, str) for line in value)


def has_only_numbers(items: Sequence[Any]) -> bool:
    return bool(items) and type(items[0]) in NUMBERS and NUMBERS.issuperset(map(type, items))


def _telling(
    objects: list[dict[str, Any]], lists: list[list[Any]], names: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """Yields the strings under telling names: those of a field, of `{"name": …, "value": …}` and of a pair."""
    if wanted := {*filter(telling, names)}:
        for each in objects:
            yield from (found for name in each if name in wanted for found in _texts(name, each[name]))
    naming = _NAMING.intersection(names)
    both = (item for item in objects if not _VALUES.isdisjoint(item) and not _NAMING.isdisjoint(item))
    valued = [*both] if naming else []
    if hinted(
        "\n".join({item[name] for name in naming for item in valued if isinstance(item.get(name), str)})
    ):
        for each in valued:
            if name := _named(each):
                yield from (found for field in _VALUES & each.keys() for found in _texts(name, each[field]))
    if _JWK in names:
        yield from ((_PRIVATE, each[name]) for each in objects for name in _private_fields(each))
    if not _ROW_NAMES.isdisjoint(names):
        yield from (named for each in objects for named, _ in _cells(each, ("", None)))
    pairs = (items for items in lists if len(items) == 2 and _pair(items))
    yield from ((pair[0], text) for pair in pairs for text in pair)
    yield from ((name, items[at]) for items in lists for at, name in _options(items).items())


def _telling_columns(table: dict[str, Any]) -> Iterator[tuple[str, int, str]]:
    """Yields the columns of a table whose names suggest a credential: the field of the rows, the place in a row, and the name."""
    names = next((table[field] for field in _COLUMNS if isinstance(table.get(field), list)), ())
    columns = [(at, name) for at, name in enumerate(names) if isinstance(name, str) and telling(name)]
    for field in _ROWS if columns else ():
        if isinstance(table.get(field), list):
            yield from ((field, at, name) for at, name in columns)


def _cells(table: dict[str, Any], place: Location) -> Iterator[tuple[tuple[str, str], Location]]:
    """Yields the texts in the columns of a table whose names suggest a credential: each with its name, and its place."""
    for field, at, name in _telling_columns(table):
        for number, row in enumerate(table[field]):
            if isinstance(row, list) and at < len(row) and isinstance(row[at], str):
                yield (name, row[at]), (((place, field), number), at)


def _private_fields(value: dict[str, Any]) -> list[str]:
    """Returns the names of the secret texts in a JSON web key. A public key has none."""
    return [name for name in ("d", "k") if _JWK in value and isinstance(value.get(name), str)]


def _texts(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yields the strings in a field: a single one, those of a list, or that of `{"value": …}`."""
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            yield name, item
        elif isinstance(item, list | tuple):
            left += item
        elif isinstance(item, dict):
            named = f"{item.get('name')}="
            left += [item[_VALUE]] if isinstance(item.get(_VALUE), str) and not is_of_a_visitor(named) else []
        elif isinstance(item, bytes):
            left += _of_bytes(item)


_ROW_NAMES = frozenset(_ROWS)
_MAGIC = ((b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"))


def _of_bytes(data: bytes) -> list[Any]:
    if data.startswith(b"PK\x03\x04"):
        data = archived_part(data, RECORDING.unpacked) or data
    for magic, encoding in _MAGIC:
        if data.startswith(magic):
            with suppress(Exception):  # the codec's own error, or a bomb: the bytes are searched as they are
                data = undo(data, encoding)
    whole = parsed(data)
    return [*readable(data), *([*pair] for pair in in_binary(data))] if whole is None else [whole]


def pointer(place: Location) -> str:
    """Returns a place as a JSON pointer after the name of the outermost value."""
    steps: list[str] = []
    above, step = place
    while step is not None:
        steps.append(f"/{step}")
        above, step = above
    return str(above) + "".join(reversed(steps))


def parsed(body: bytes | str) -> Any:
    """Returns the value of a JSON text, or `None` for any other text."""
    opening = (b"{", b"[") if isinstance(body, bytes) else ("{", "[")
    if body[:1] not in opening or has_more_values(body, RECORDING.values):
        return None
    try:
        return from_json(body)
    except (ValueError, TypeError):
        pass  # `json` takes half a surrogate, too
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def readable(data: bytes) -> Iterator[str]:
    """Yields the readable text in bytes: all of it, or the runs of printable characters."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" not in text:
        yield text
        return
    yield from (run.decode("ascii") for run in runs(data, _PRINTABLE, _RUN))


_NAME_AND_VALUE = re.compile(rb"([A-Za-z][\w.-]{2,40})(?s:\0.\0\0\0|[^\x20-\x7e]{1,8})([\x20-\x7e]{4,4000})")


def in_binary(data: bytes) -> Iterator[tuple[str, str]]:
    """Yields the names of credentials in MessagePack, BSON and the like, each with the text behind it, before which its length may be."""
    if has_name_in_binary(data):
        for found in _NAME_AND_VALUE.finditer(data):
            name, text = (part.decode("ascii") for part in found.groups())
            if telling(name):
                yield name, text[1:] if ord(text[0]) == len(text) - 1 else text


def _items(items: Sequence[Any], place: Location, key: str) -> Iterator[tuple[Any, Location, str]]:
    if key == "text" and _lines(items):
        yield "".join(items), (place, 0), key
        return
    key = items[0] if _pair(items) else "" if key == "text" else key
    options = _options(items)
    for index, item in enumerate(items):
        if type(item) not in NUMBERS:
            yield item, (place, index), options.get(index, key)


def _pair(items: Sequence[Any]) -> bool:
    """Tells whether this is a header or a form field whose name suggests a credential. A list of two addresses does not count."""
    texts = len(items) == 2 and all(isinstance(item, str) for item in items)
    return texts and ":" not in items[0][1:] and telling(items[0])


def _options(items: Sequence[Any]) -> dict[int, str]:
    """Returns the names of the values in the arguments of a command, `["--api-key", "…"]`, by their places."""
    texts = [item if isinstance(item, str) else "" for item in items]
    named = enumerate(pairwise(texts), 1)
    return {at: name for at, (name, value) in named if _is_option(name) and not value.startswith("-")}


def _is_option(name: str) -> bool:
    return name.startswith("--") and "=" not in name and telling(name)


def _named(value: dict[str, Any]) -> str:
    """Returns the name in `{"name": "API_KEY", "value": …}` if it suggests a credential, else `""`."""
    if len(value) > _FIELDS:
        return ""
    found = (value.get(field) for field in _NAMES if field in value)
    types = (value[field] for field in _TYPES if kind(str(value.get(field))[:80]) == "secret")
    return next(
        (name for name in (*found, *types) if isinstance(name, str) and len(name) <= 80 and telling(name)), ""
    )
