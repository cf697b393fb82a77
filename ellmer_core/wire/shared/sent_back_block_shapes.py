"""Checks that a block has the fields it needs to be sent back. The provider would refuse every further request with an
incomplete one.

A shape is a type, a pattern of a string, `[shape]` for a list, a tuple of alternatives, a `Tagged` union, or a
mapping of fields. A field whose name ends in `?` may be missing or null. Fields that a shape does not name are
allowed.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..request_and_stream_merger import Json

__all__ = ["WORD", "Shape", "Tagged", "fits", "legal"]


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
            return isinstance(value, (list, tuple)) and all(fits(one, inner) for one in value)
        case tuple():
            return any(fits(value, one) for one in shape)
        case Mapping():
            return isinstance(value, Mapping) and all(_has(value, name, one) for name, one in shape.items())
    return value is None


def _has(value: Mapping[str, Any], name: str, shape: Shape) -> bool:
    found = value.get(name.removesuffix("?"))
    return (found is None and name.endswith("?")) or fits(found, shape)


def legal(block: Any, shape: Shape, wire: str) -> Json | None:
    """Returns the block if the API accepts it back. Otherwise, it warns and returns `None`."""
    if fits(block, shape):
        return dict(block)
    warnings.warn(
        f"{wire}: a block of the answer lacks required fields, so it is not sent back: {block!r:.100}",
        stacklevel=2,
    )
    return None
