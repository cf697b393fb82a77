"""The section of `docs/architecture.md` that lists the files of each flow in order."""

from __future__ import annotations

import ast
import re

from .follow import ROOT, Path_
from .subjects import FLOWS

__all__ = ["PAGE", "Listed", "listed", "section", "with_section"]

PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- flows: `python -m flows` writes this -->", "<!-- end of the flows -->"
_HEAD = re.compile(r"^### (?P<title>.+): (?P<files>\d+) files, (?P<functions>\d+) functions$", re.MULTILINE)
_FILE = re.compile(r"^\d+\. `(?P<file>[^`]+)`", re.MULTILINE)

#: The files of a flow on the page, and the number of functions there.
Listed = tuple[list[str], int]


def with_section(flows: dict[str, Path_]) -> str:
    """Returns the page with these flows in place of those that it had."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{section(flows)}\n{END}{rest.partition(END)[2]}"


def section(flows: dict[str, Path_]) -> str:
    """Returns a heading with the counts, and a numbered list of files, for each flow."""
    return "\n".join(_one(FLOWS[name][0], flow) for name, flow in flows.items())


def _one(title: str, flow: Path_) -> str:
    head = f"### {title}: {len(flow)} files, {sum(map(len, flow.values()))} functions\n"
    lines = (f"{number}. `{file}`: {_about(file)}" for number, file in enumerate(flow, 1))
    return "\n".join([head, *lines, ""])


def _about(file: str) -> str:
    """Returns the first sentence of a module's docstring."""
    doc = ast.get_docstring(ast.parse((ROOT / file).read_text(encoding="utf-8"))) or ""
    return re.split(r"(?<=\.)\s", " ".join(doc.split()), maxsplit=1)[0]


def listed() -> dict[str, Listed]:
    """Returns what the page lists, by the title of the flow."""
    text = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    heads = list(_HEAD.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return {
        head["title"]: (_FILE.findall(text[head.end() : end]), int(head["functions"]))
        for head, end in zip(heads, ends, strict=True)
    }
