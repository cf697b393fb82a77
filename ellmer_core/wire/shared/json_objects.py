"""JSON objects: they are read strictly, merged, trimmed, written exactly, and checked before they are sent back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import wraps
from math import isfinite
from typing import Any, NamedTuple, TypeVar

from ...base.budget import CLIENT, has_more_values
from ...base.log import warn
from ...errors import ResponseError
from ..interfaces import NEUTRAL, Json

# --- reading ---------------------------------------------------------------------------------------------


_BOM = b"\xef\xbb\xbf"


def _no_constant(_: str) -> None:
    return None


def _finite(number: str) -> float | None:
    value = float(number)
    return value if isfinite(value) else None


_decoder = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)
#: What `raw_decode()` calls: returns the value at a place of a text, and its end.
scan_json: Any = _decoder.scan_once  # type: ignore[attr-defined]  # typeshed does not list it


def read_json(text: str | bytes) -> Any:
    """Returns the value of a JSON text. Raises `ValueError` if it is invalid or nests too deeply."""
    if isinstance(text, bytes):
        usual = text[:1] == b"{" and b"\0" not in text[:4]
        text = text.removeprefix(_BOM).decode("utf-8" if usual else json.detect_encoding(text), "replace")
    text = text.strip(" \t\n\r")
    if len(text) > CLIENT.values:  # each has one character
        few(text)
    try:
        value, end = _decoder.raw_decode(text)
    except RecursionError:
        raise ValueError(f"it nests deeper than {CLIENT.depth} levels") from None
    if end != len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    if end > 2 * CLIENT.depth and text.count("[") + text.count("{") > CLIENT.depth:
        bounded(value)
    return value


def few(text: str) -> None:
    """Raises `ValueError` if a JSON text has more values than an answer may."""
    if has_more_values(text, CLIENT.values):
        raise ValueError(f"it has more than {CLIENT.values:,} values")


def bounded(value: Any) -> None:
    """Raises `ValueError` if a value nests deeper than a provider's answer may."""
    if not isinstance(value, dict | list):
        return
    level = [value]
    for _ in range(CLIENT.depth):
        inside = (
            item
            for container in level
            for item in (container.values() if isinstance(container, dict) else container)
        )
        level = [item for item in inside if isinstance(item, dict | list)]
        if not level:
            return
    raise ValueError(f"it nests deeper than {CLIENT.depth} levels")


# --- bodies ----------------------------------------------------------------------------------------------


S = TypeVar("S")
R = TypeVar("R")


def sensible(read: Callable[[S, Any], R]) -> Callable[[S, Any], R]:
    """Wraps a method that reads a provider's JSON, so that malformed JSON raises a clear error."""

    @wraps(read)
    def reading(self: S, json: Any) -> R:
        try:
            return read(self, json)
        except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise ResponseError(
                f"This is not an answer in the expected format ({error!r:.200}): {json!r:.200}"
            ) from error

    return reading


def json_text(value: object) -> str:
    """Returns compact, exact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def merged(body: Mapping[str, Any], changes: Mapping[str, Any]) -> Json:
    """Returns `body` with `changes` merged in deeply. `None` deletes a key. Neither argument changes."""
    out = dict(body)
    for name, value in changes.items():
        if value is None:
            out.pop(name, None)
        elif isinstance(value, Mapping) and isinstance(out.get(name), Mapping):
            out[name] = merged(out[name], value)
        else:
            out[name] = value
    return out


def objects(values: object) -> list[Json]:
    """Returns the objects of a list, and nothing if the value is not a list."""
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def without(body: Mapping[str, Any], *names: str) -> Json:
    """Returns a copy without some keys."""
    return {name: value for name, value in body.items() if name not in names}


def only(body: Mapping[str, Any], *names: str) -> Json:
    """Returns a copy with only some keys."""
    return {name: value for name, value in body.items() if name in names}


def nested(path: str, value: object) -> Json:
    """Returns `{"a": {"b": value}}` for the path `a.b`."""
    for name in reversed(path.split(".")):
        value = {name: value}
    assert isinstance(value, dict)
    return value


def parameters(params: Mapping[str, Any], names: Mapping[str, str], wire: str) -> Json:
    """Returns parameters at their places in the body. A neutral parameter that the format does not have is left out
    with a warning. Other parameters are the provider's own, and stay unchanged.
    """
    unsupported = [name for name in params if name in NEUTRAL and name not in names]
    if unsupported:
        named = ", ".join(map(repr, unsupported))
        one = f"{wire} has no parameter {named}, so it is not sent"
        warn(one if len(unsupported) == 1 else f"{wire} has no parameters {named}, so they are not sent")
    body: Json = {}
    for name, value in params.items():
        if name not in unsupported and value is not None:
            body = merged(body, nested(names[name], value) if name in names else {name: value})
    return body


# --- shapes ----------------------------------------------------------------------------------------------


#: A text that says something, in whole characters: a kind, a status, an id.
WORD = re.compile(r"[^\ud800-\udfff]+")


class Tagged(NamedTuple):
    """Objects whose `type` decides on their shape. An unlisted type is new, and may have any shape."""

    shapes: Mapping[str, Any]


#: The shape of a value; see above.
Shape = type | re.Pattern[str] | Tagged | list[Any] | tuple[Any, ...] | Mapping[str, Any] | None


def fits(value: Any, shape: Shape) -> bool:  # noqa: PLR0911 - one return per kind of shape
    """Tells whether a value has a shape."""
    match shape:
        case type():
            return isinstance(value, shape) and not (shape is int and isinstance(value, bool))
        case re.Pattern():
            return isinstance(value, str) and shape.fullmatch(value) is not None
        case Tagged(shapes):
            kind: Any = value.get("type") if isinstance(value, Mapping) else None
            return fits(kind, WORD) and fits(value, shapes.get(kind, {}))
        case [inner] if isinstance(shape, list):
            return isinstance(value, (list, tuple)) and all(fits(item, inner) for item in value)
        case tuple():
            return any(fits(value, item) for item in shape)
        case Mapping():
            return isinstance(value, Mapping) and all(
                _field_fits(value, name, item) for name, item in shape.items()
            )
    return value is None


def _field_fits(value: Mapping[str, Any], name: str, shape: Shape) -> bool:
    found = value.get(name.removesuffix("?"))
    return (found is None and name.endswith("?")) or fits(found, shape)


def fitting(values: Any, shape: Shape) -> list[Any]:
    """Returns the items of a list that have a shape, and nothing if the value is not a list."""
    return [value for value in values if fits(value, shape)] if isinstance(values, (list, tuple)) else []


def legal(block: Any, shape: Shape, wire: str) -> Json | None:
    """Returns the block if the API accepts it back. Otherwise, it warns and returns `None`."""
    if fits(block, shape):
        return dict(block)
    warn(f"{wire}: a block of the answer lacks required fields, so it is not sent back: {block!r:.100}")
    return None


def is_forced(choice: object) -> bool:
    """Tells whether a tool choice, in the form of any wire format, forces a call."""
    kind = choice
    if isinstance(choice, Mapping):  # {"type": "any"}, {"mode": "ANY"}, {"any": {}}
        kind = choice.get("type", choice.get("mode", next(iter(choice), None)))
    return kind is not None and str(kind).lower() not in {"auto", "none"}
