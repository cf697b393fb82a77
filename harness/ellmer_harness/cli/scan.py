"""look for secrets, broken cassettes and missing media

Every file below the paths is searched for the values of keys, tokens and passwords in the environment, for
known patterns of keys, and for random-looking values with suspicious names, also encoded and compressed.
Broken cassettes, missing blobs and unused blobs are listed. The exit code is 1 if a problem was found.
"""

from __future__ import annotations

import argparse
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from ..errors import CassetteError
from ..format.blobs import Blobs
from ..format.bodies import decode
from ..format.serializer import OURS, Serializer
from ..recordings.format_detection import content
from ..recordings.untrusted_files import file_bytes, unzipped
from ..secrets.cassette_scan import scan
from ..secrets.redaction import Scrub
from ._terminal import files, one_line, progress, say

BLOB = re.compile(r"[0-9a-f]{64}\.\w+")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments of the command."""
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="files or folders")
    parser.add_argument(
        "--accept",
        action="append",
        default=[],
        metavar="FINGERPRINT",
        help="the fingerprint of a finding that is not a secret",
    )


def run(options: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    found = files(options.paths)
    secrets = [(value, name) for value, name in Scrub.of(None).values.items()]
    used, count = set[str](), 0
    for file in progress(found, "scanning"):
        try:
            value = _content(file)
        except (OSError, ValueError) as error:
            count += 1
            say(one_line(f"{file}: it cannot be read, so it was not searched: {error}"))
            continue
        used |= set(BLOB.findall(json.dumps(value))) if _is_cassette(value) else set()
        problems = [
            str(finding) for finding in scan(value, secrets) if finding.fingerprint not in options.accept
        ]
        for problem in [*problems, *_damage(file, value)]:
            count += 1
            say(one_line(f"{file}: {problem.removeprefix(': ')}"))
    orphans = [file for file in found if BLOB.fullmatch(file.name) and file.name not in used]
    for file in orphans:
        say(one_line(f"{file}: no cassette under these paths uses this blob"))
    sums = [(len(found), "file"), (count, "problem"), (len(orphans), "orphan blob")]
    searched, *rest = (f"{number} {name}{'s' * (number != 1)}" for number, name in sums)
    say(f"{searched}: {', '.join(rest)}")
    return 1 if count else 0


def _content(file: Path) -> Any:
    """Returns the parsed YAML or JSON of a file. Returns the bytes of any other file.

    Raises `OSError` or `ValueError` for a device, a pipe, a file that is too large, and damaged gzip.
    """
    data = file_bytes(file)
    if data.startswith(b"\x1f\x8b"):
        try:
            data = unzipped(data)
        except (EOFError, zlib.error) as error:
            raise ValueError(f"its gzip is damaged: {error}") from error
    try:
        suffix = Path(file.name.removesuffix(".gz")).suffix
        value = content(data.decode(), suffix if suffix in {".yaml", ".yml"} else ".json")
    except (ValueError, RecursionError, yaml.YAMLError):
        return data
    return value if isinstance(value, dict | list) else data


def _is_cassette(value: Any) -> bool:
    return isinstance(value, dict) and OURS in (value.get("metadata") or {})


def _damage(file: Path, value: Any) -> Iterator[str]:
    """Yields the reasons why a cassette of ours cannot be replayed. Other files have none."""
    if isinstance(value, bytes):
        if file.suffix == ".json" and OURS.encode() in value:
            yield "the cassette is not complete JSON"
        return
    if not _is_cassette(value):
        return
    blobs = Blobs(file.parent / "blobs")
    try:
        Serializer(blobs, near=file.parent).parse(json.dumps(value))
        for interaction in value["interactions"]:
            decode(interaction["request"]["body"], blobs)
            decode(interaction["response"]["body"], blobs)
    except CassetteError as error:
        yield str(error)
    except (KeyError, TypeError) as error:
        yield f"an interaction is not complete: {error!r}"
