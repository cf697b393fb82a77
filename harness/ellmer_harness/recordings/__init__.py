"""Recordings of HTTP traffic by any recorder: every interaction of a file, in one form.

The supported formats are our cassettes, those of vcrpy (YAML and JSON, pytest-recording's too, with
pydantic-ai's `parsed_body`, and langchain's gzipped YAML), of cassetter (YAML and TOML), of VCR for R, Ruby and Go, of the
recorders of braintrust and Mastra, httprr's traces (Go), httpmock's YAML (Rust), WireMock's and MockServer's JSON, HAR files,
recordings of Azure's test proxy, of llama-stack and of DataDog's Java tests (`.rec`), records of one exchange, pairs of files
(`x.request.json`, `x.response.json`), and logs with one JSON value on each line. Any of them may be gzipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from .format_detection import SUFFIXES, Found, Unreadable, each, read
from .interaction import Interaction

__all__ = ["SUFFIXES", "Found", "Interaction", "Unreadable", "each", "find", "read"]


def find(paths: Iterable[Path | str]) -> Iterator[Path]:
    """Finds the files under some paths, sorted within each folder.

    Args:
        paths: Files and folders.

    Returns:
        An iterator of the paths of the files.

    Raises:
        Unreadable: If a path does not exist.

    Examples:
        >>> from ellmer_harness.recordings import find
        >>> [path.name for path in find(["weather.json"])]
        ['weather.json']
    """
    for path in map(Path, paths):
        if not path.exists():
            raise Unreadable(path, "there is no such file or folder")
        if not path.is_file() and not path.is_dir():
            raise Unreadable(path, "it is a device or a pipe")
        yield from (path,) if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
