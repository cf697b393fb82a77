"""Writes every form of a report to one folder."""

from __future__ import annotations

import os
from pathlib import Path

from ..files import write_text
from . import report_json
from .formats.badge import badges
from .formats.html import page
from .formats.markdown import markdown
from .formats.sarif import sarif
from .results import Report


def write(report: Report, folder: Path, *, cassettes: str = "cassettes") -> list[Path]:
    """Writes the report in all forms, and adds to CI's job summary if there is one. Returns the main paths."""
    report_json.write(report, folder / "report.json")
    texts = {
        "index.html": page(report, str(folder)),
        "summary.md": markdown(report, str(folder)),
        "conformance.sarif": sarif(report, cassettes=cassettes),
        **{f"badges/{name}": text for name, text in badges(report)},
    }
    for name, text in texts.items():
        write_text(folder / name, text)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(texts["summary.md"])
    return [folder / "report.json", folder / "index.html"]
