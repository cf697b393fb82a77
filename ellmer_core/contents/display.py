"""Registers renderers, so that contents, turns, tools and chats can be shown without importing a renderer.

The package registers a renderer for each form (`ellmer_core/__init__.py`), and loads it on first use. This module stands
alone because `import ellmer_core` loads it, and is to load nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: One function for each form: `text`, `rich` (a renderable of the package rich), `html` and `notebook` (Markdown that loads nothing).
RENDERERS: dict[str, Callable[[Any], Any]] = {}


class Displayed:
    """A value that terminals and notebooks can show."""

    def displayed_as(self, form: str) -> Any:
        """Returns the value in one of the forms of `RENDERERS`."""
        return RENDERERS[form](self)

    def __rich__(self) -> Any:
        return self.displayed_as("rich")
