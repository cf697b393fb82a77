"""The tools of a request that the client describes and runs."""

from __future__ import annotations

from collections.abc import Iterator

from ....exchange import Json
from ....readers.anthropic import tools

__all__ = ["custom"]


def custom(request: Json) -> Iterator[tuple[int, str, Json]]:
    """Yields each client tool with its index and pointer. Anthropic's own tools have another type."""
    for index, (pointer, tool) in enumerate(tools(request)):
        if tool.get("type") in {None, "custom"}:
            yield index, pointer, tool
