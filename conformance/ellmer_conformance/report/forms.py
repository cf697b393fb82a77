"""Every form of a report, written into one folder."""

from __future__ import annotations

from pathlib import Path

from . import document
from .values import Report

__all__ = ["write"]


def write(report: Report, folder: Path) -> list[Path]:
    """Writes them; returns the paths that a person is told."""
    folder.mkdir(parents=True, exist_ok=True)
    document.write(report, folder / "report.json")
    return [folder / "report.json"]
