"""JSON objects: they are merged, trimmed and written exactly, and errors in them are explained."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

from ...errors import ResponseError
from ..neutral_parameters import NEUTRAL

__all__ = ["json_text", "merged", "nested", "only", "parameters", "sensible", "without"]

Json = dict[str, Any]
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
                f"This is not an answer in the expected format ({error!r}): {json!r:.200}"
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
    if not params:
        return {}
    unsupported = [name for name in params if name in NEUTRAL and name not in names]
    if unsupported:
        warnings.warn(f"{wire} has no parameter {', '.join(map(repr, unsupported))}: ignored", stacklevel=4)
    body: Json = {}
    for name, value in params.items():
        if name not in unsupported and value is not None:
            body = merged(body, nested(names[name], value) if name in names else {name: value})
    return body
