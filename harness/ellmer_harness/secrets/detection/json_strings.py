"""The strings of a JSON value, each with its place and its key."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from pydantic_core import from_json

from .credential_names import telling

__all__ = ["Place", "parsed", "places", "pointer", "readable", "runs", "strings"]

Place = tuple[Any, object]
"""The place above, and the step from there; the outermost is `("", None)` or what stands for it."""
_NAMES = ("name", "key", "header", "field", "variable", "env", "id", "n", "k", "Name", "Key")
_VALUES = frozenset(("value", "val", "secret_value", "secretValue", "content", "data", "v", "Value"))
_NUMBERS = (int, float, bool, type(None))
_FIELDS = 12  # an object that names its value has few others
_RUN = 16
_PRINTABLE = bytes(32 <= one < 127 or one in b"\t\r\n" for one in range(256))


def strings(value: Any, key: str = "") -> dict[tuple[str, str], None]:
    """Returns the distinct strings. Each has the key that it is the value of, if the key suggests a
    credential.
    """
    plain: dict[str, None] = {}
    named: dict[tuple[str, str], None] = {}
    left: list[tuple[Any, str]] = [(value, key)]
    while left:
        item, key = left.pop()
        if isinstance(item, str):
            if telling(key):
                named[key, item] = None
            else:
                plain[item] = None
        elif isinstance(item, dict):
            naming = "" if _VALUES.isdisjoint(item) else _named(item)
            for name, inner in item.items():
                plain[name] = None
                if type(inner) in _NUMBERS:
                    continue
                of = naming if naming and name in _VALUES else name
                if type(inner) is str and not telling(of):  # most are, and need not wait for their turn
                    plain[inner] = None
                else:
                    left.append((inner, of))
        elif isinstance(item, list):
            left += [(inner, of) for inner, _, of in _items(item, ("", None), key)]
        elif isinstance(item, bytes):
            left += [(inner, key) for inner in _of_bytes(item)]
    return dict.fromkeys([("", text) for text in plain]) | named


def places(value: Any, where: str = "") -> dict[tuple[str, str], list[Place]]:
    """Returns the same strings, each with its places. This is several times slower, so it is used only for
    strings with findings.
    """
    found: dict[tuple[str, str], list[Place]] = defaultdict(list)
    left: list[tuple[Any, Place, str]] = [(value, (where, None), "")]
    while left:
        item, place, key = left.pop()
        if isinstance(item, str):
            found[key if telling(key) else "", item].append(place)
        elif isinstance(item, dict):
            naming = "" if _VALUES.isdisjoint(item) else _named(item)
            for name, inner in item.items():
                found["", name].append(place)
                left.append((inner, (place, name), naming if naming and name in _VALUES else name))
        elif isinstance(item, list):
            left += _items(item, place, key)
        elif isinstance(item, bytes):
            left += [(inner, place, key) for inner in _of_bytes(item)]
    return found


def _of_bytes(data: bytes) -> list[Any]:
    whole = parsed(data)
    return [*readable(data)] if whole is None else [whole]


def pointer(place: Place) -> str:
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
    if body[:1] not in opening:
        return None
    try:
        return from_json(body)
    except ValueError:
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


def runs(data: bytes, table: bytes, least: int) -> Iterator[bytes]:
    """Yields the runs of at least `least` bytes that have a 1 in the table. Finding them in bulk is fast."""
    marks, at, wanted = data.translate(table), 0, b"\1" * least
    while (at := marks.find(wanted, at)) >= 0:
        end = marks.find(b"\0", at)
        end = len(data) if end < 0 else end
        yield data[at:end]
        at = end


def _items(items: list[Any], place: Place, key: str) -> Iterator[tuple[Any, Place, str]]:
    if key == "text" and all(isinstance(line, str) for line in items):
        yield "".join(items), (place, 0), key  # as a cassette has a text of several lines
        return
    if len(items) == 2 and isinstance(items[0], str) and isinstance(items[1], str) and telling(items[0]):
        key = items[0]  # a header, or a field of a form, as a pair
    yield from (
        (item, (place, index), key) for index, item in enumerate(items) if not isinstance(item, int | float)
    )


def _named(value: dict[str, Any]) -> str:
    """Returns the name in `{"name": "API_KEY", "value": …}` if it suggests a credential, else `""`."""
    found = (value.get(one) for one in _NAMES if one in value) if len(value) <= _FIELDS else ()
    return next((name for name in found if isinstance(name, str) and len(name) <= 80 and telling(name)), "")
