"""Tools: Python functions that the model may ask us to call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .types import TypeObject

__all__ = ["ToolDef"]


@dataclass(frozen=True)
class ToolDef:
    """A function with what the model needs to know to ask for it. Calling it calls the function."""

    function: Callable[..., Any]
    name: str
    description: str
    arguments: TypeObject
    convert: bool = True
    annotations: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)
