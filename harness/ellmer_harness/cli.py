"""`ellmer-harness`: looks after cassettes on disk.

`scan PATH…` looks for secrets in everything below the paths, whoever wrote it, and for cassettes of ours that
are broken or miss a blob. Exit code 0: clean, 1: something was found, 2: a path cannot be read.
`export PATH` prints a cassette as plain vcrpy YAML.
"""

# ruff: noqa: T201  # printing is what a command line is for

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .blobs import Blobs
from .codec import decode
from .errors import CassetteError
from .scan import scan
from .scrub import Scrub
from .serializer import OURS, Serializer

__all__ = ["main"]

_BLOB = re.compile(r"[0-9a-f]{64}\.\w+")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; gives the exit code."""
    parser = argparse.ArgumentParser(prog="ellmer-harness", description="Looks after recorded HTTP traffic.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    scanning = commands.add_parser("scan", help="look for secrets, broken cassettes and missing blobs")
    scanning.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="files or folders")
    scanning.add_argument("--accept", action="append", default=[], metavar="FINGERPRINT", help="is no secret")
    scanning.set_defaults(run=_scan)
    exporting = commands.add_parser("export", help="print a cassette as plain vcrpy YAML")
    exporting.add_argument("path", type=Path, metavar="PATH")
    exporting.set_defaults(run=_export)
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except (OSError, CassetteError) as error:
        print(f"ellmer-harness: {error}", file=sys.stderr)
        return 2


def _scan(options: argparse.Namespace) -> int:
    files = [file for path in options.paths for file in _files(path)]
    known = [(value, name) for value, name in Scrub.of(None).values.items()]
    used, found = set[str](), 0
    for file in files:
        content = _content(file)
        used |= set(_BLOB.findall(json.dumps(content))) if _is_cassette(content) else set()
        problems = [str(one) for one in scan(content, known) if one.fingerprint not in options.accept]
        for problem in [*problems, *_damage(file, content)]:
            found += 1
            print(f"{file}: {problem.removeprefix(': ')}")
    orphans = [file for file in files if _BLOB.fullmatch(file.name) and file.name not in used]
    for file in orphans:
        print(f"{file}: no cassette among these uses this blob")
    print(f"{len(files)} files: {found} problems, {len(orphans)} orphan blobs")
    return 1 if found else 0


def _export(options: argparse.Namespace) -> int:
    from .persister import to_yaml  # noqa: PLC0415  # imports vcrpy, which takes its time

    print(to_yaml(options.path), end="")
    return 0


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    elif path.is_dir():
        inside = (file for file in sorted(path.rglob("*")) if file.is_file())
        yield from (
            file for file in inside if not any(part[0] == "." for part in file.relative_to(path).parts)
        )
    else:
        raise FileNotFoundError(f"{path} is neither a file nor a folder")


def _content(file: Path) -> Any:
    """The JSON in a file, else its bytes."""
    data = file.read_bytes()
    data = gzip.decompress(data) if file.suffix == ".gz" else data
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data


def _is_cassette(content: Any) -> bool:
    return isinstance(content, dict) and OURS in (content.get("metadata") or {})


def _damage(file: Path, content: Any) -> Iterator[str]:
    """What keeps a cassette of ours from being replayed; nothing about any other file."""
    if isinstance(content, bytes):
        if file.suffix == ".json" and OURS.encode() in content:
            yield "a cassette that is not whole JSON"
        return
    if not _is_cassette(content):
        return
    blobs = Blobs(file.parent / "blobs")
    try:
        Serializer(blobs, near=file.parent).parse(json.dumps(content))
        for interaction in content["interactions"]:
            decode(interaction["request"]["body"], blobs)
            decode(interaction["response"]["body"], blobs)
    except CassetteError as error:
        yield str(error)
    except (KeyError, TypeError) as error:
        yield f"an interaction is not complete: {error!r}"
