"""Markdown for generated pages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

__all__ = ["cell", "laid_out", "linking", "prose", "table"]

#: Columns of the JSON beside other JSON.
WIDTH = 60
#: Characters of a URL that is shown as it is.
LONGEST = 80


def prose(text: str) -> str:
    """Returns text of a docstring or a provider, with characters escaped that Markdown would interpret."""
    return re.sub(r"(?<!`)([<>*_\[\]])(?!`)", r"\\\1", text) if "`" not in text else text.replace("<", "&lt;")


def linking(text: str) -> str:
    """Returns prose with its URLs as links."""
    parts = re.split(r"(https?://[^\s()]+)", text)
    return "".join(link(part) if part.startswith("http") else prose(part) for part in parts)


def link(url: str) -> str:
    """Returns a link. The text of a long one is the repository or the host, and the file."""
    if len(url) <= LONGEST:
        return f"<{url}>"
    host, _, path = url.removeprefix("https://").partition("/")
    place = "/".join(path.split("/")[:2]) if host == "github.com" else host
    return f"[{prose(place)}: {prose(path.rpartition('/')[2])}]({url})"


def cell(text: str) -> str:
    """Returns prose for a cell of a table."""
    return prose(text).replace("|", "\\|")


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    """Returns a table in Markdown."""
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


def laid_out(value: Any, margin: str = "") -> str:
    """Returns JSON in which a value that fits is on one line."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + len(margin) <= WIDTH or not isinstance(value, dict | list) or not value:
        return line
    inner = f"{margin}  "
    if isinstance(value, list):
        parts, ends = [laid_out(each, inner) for each in value], "[]"
    else:
        parts = [
            f"{json.dumps(name, ensure_ascii=False)}: {laid_out(each, inner)}" for name, each in value.items()
        ]
        ends = "{}"
    return f"{ends[0]}\n{inner}" + f",\n{inner}".join(parts) + f"\n{margin}{ends[1]}"
