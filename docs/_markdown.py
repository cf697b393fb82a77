"""Markdown for generated pages."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["cell", "linking", "prose", "table"]


def prose(text: str) -> str:
    """Text from a docstring or a provider, with what Markdown would take for HTML or emphasis kept as it is."""
    return re.sub(r"(?<!`)([<>*_\[\]])(?!`)", r"\\\1", text) if "`" not in text else text.replace("<", "&lt;")


def linking(text: str) -> str:
    """Prose with its addresses as links."""
    parts = re.split(r"(https?://[^\s()]+)", text)
    return "".join(f"<{part}>" if part.startswith("http") else prose(part) for part in parts)


def cell(text: str) -> str:
    """Prose in a cell of a table."""
    return prose(text).replace("|", "\\|")


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    """Returns a table in Markdown."""
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])
