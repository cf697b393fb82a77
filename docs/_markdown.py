"""Markdown for generated pages."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["cell", "linking", "prose", "table"]


def prose(text: str) -> str:
    """Returns text of a docstring or a provider, with characters escaped that Markdown would interpret."""
    return re.sub(r"(?<!`)([<>*_\[\]])(?!`)", r"\\\1", text) if "`" not in text else text.replace("<", "&lt;")


def linking(text: str) -> str:
    """Returns prose with its URLs as links."""
    parts = re.split(r"(https?://[^\s()]+)", text)
    return "".join(f"<{part}>" if part.startswith("http") else prose(part) for part in parts)


def cell(text: str) -> str:
    """Returns prose for a cell of a table."""
    return prose(text).replace("|", "\\|")


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    """Returns a table in Markdown."""
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])
