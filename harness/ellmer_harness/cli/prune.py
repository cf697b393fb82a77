"""remove unused media, and interactions that a test run reported as unused

The command looks for unused media in every folder `blobs` below the paths. The paths must contain all cassettes
that use the media. --report names the file that `pytest --cassette-report=FILE` wrote. The command then removes
interactions that no test of that run requested. With --orphans, it also removes cassettes that no test opened.
A cassette is replaced only after its new version was checked.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..display import size
from ..errors import CassetteError
from ..format.blobs import Blobs, file_bytes, replace_file
from ..format.serializer import Serializer
from ..recordings import Found
from ..recordings.untrusted_files import bounded_json
from ._terminal import complain, counted, files, one_line, recordings, say
from .scan import BLOB


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments of the command."""
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="folders with cassettes and their media"
    )
    parser.add_argument(
        "--report", type=Path, metavar="FILE", help="the report of a test run about unused recordings"
    )
    parser.add_argument("--orphans", action="store_true", help="also remove cassettes that no test opened")
    parser.add_argument(
        "--dry-run", action="store_true", help="print what would be removed, and remove nothing"
    )


def run(options: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    unused, orphans = _report(options.report)
    if options.orphans and options.report is None:
        complain("ellmer-harness: --orphans needs the --report of a test run")
        return 2
    cassettes, broken = _cassettes(options.paths)
    for complaint in broken:
        complain(f"{complaint}; nothing is removed because the media that it uses are unknown")
    if broken:
        return 1
    used, removed = set[str](), False
    for file in cassettes:
        left = unused.get(file.resolve(), [])
        if options.orphans and file.resolve() in orphans:
            removed = _remove(file, "no test opened it", dry=options.dry_run)
        else:
            used |= _without(file, left, dry=options.dry_run)
            removed |= bool(left)
    for blob in _blobs(options.paths):
        if cassettes and blob.name not in used:
            removed = _remove(blob, "no cassette uses it", dry=options.dry_run)
    if not removed:
        say(f"{counted(len(cassettes), 'cassette')}, nothing to remove")
    return 0


def _report(path: Path | None) -> tuple[dict[Path, list[str]], set[Path]]:
    """Returns the unused interactions of each cassette, and the cassettes that no test opened."""
    try:
        found = json.loads(bounded_json(file_bytes(path))) if path else {}
        unused = {Path(file).resolve(): _texts(left) for file, left in found.get("unused", {}).items()}
        return unused, {Path(file).resolve() for file in _texts(found.get("orphans", []))}
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise CassetteError(
            f"{path} is not a report of a test run (pytest --cassette-report={path}): {error}"
        ) from error


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise TypeError(f"{str(value)[:60]} is not a list of texts")
    return value


def _cassettes(paths: list[Path]) -> tuple[list[Path], list[str]]:
    """Returns the cassettes, and the error of each that cannot be read."""
    good, broken = list[Path](), list[str]()
    for file, found in recordings(paths, "reading"):
        if not isinstance(found, Found):
            broken += [str(found)]
        elif found.kind == "ours":
            good.append(file)
    return good, broken


def _without(file: Path, left: list[str], *, dry: bool) -> set[str]:
    """Removes the named interactions (`#3 POST https://…`) and returns the media that the cassette still
    uses.
    """
    serializer = Serializer(file.parent / "blobs", near=file.parent)
    text = file.read_text(encoding="utf-8")
    if not left:
        return set(BLOB.findall(text))
    cassette = serializer.deserialize(text)
    gone = {*_numbers(file, cassette["interactions"], left)}
    for line in left:
        say(one_line(f"{file}: {'would remove' if dry else 'removed'} {line}"))
    interactions = [each for number, each in enumerate(cassette["interactions"], 1) if number not in gone]
    media = Blobs(serializer.blobs.folder)
    shorter = Serializer(media, near=file.parent).serialize({**cassette, "interactions": interactions})
    if Serializer(Blobs(media.folder), near=file.parent).deserialize(shorter)["interactions"] != interactions:
        raise CassetteError(
            f"{file} could not be rewritten without these interactions; it was left unchanged"
        )
    if not dry:
        replace_file(file, shorter)
    return set(BLOB.findall(shorter))


def _numbers(file: Path, interactions: list[dict[str, Any]], left: list[str]) -> Iterator[int]:
    """Yields the numbers of the interactions. Raises `CassetteError` if the report is about another version
    of the cassette.
    """
    for line in left:
        match = re.fullmatch(r"#(\d+) (\S+) (.*)", line)
        number = int(match[1]) if match else 0
        request = interactions[number - 1]["request"] if 1 <= number <= len(interactions) else {}
        if match is None or (request.get("method"), request.get("uri")) != (match[2], match[3]):
            raise CassetteError(
                f"{file} has no interaction {line!r}: it was changed after the test run. Run the tests again"
            )
        yield number


def _blobs(paths: list[Path]) -> list[Path]:
    return [file for file in files(paths) if BLOB.fullmatch(file.name)]


def _remove(file: Path, why: str, *, dry: bool) -> bool:
    """Removes the file, or says that it would. Returns True."""
    say(one_line(f"{'would remove' if dry else 'removed'} {file} ({size(file.stat().st_size)}): {why}"))
    if not dry:
        file.unlink()
    return True
