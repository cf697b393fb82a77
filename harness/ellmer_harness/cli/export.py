"""write recordings as plain vcrpy YAML

The command prints the YAML of one recording. With --out, it writes a whole tree to a folder of the same
structure, or one recording to a file. Any format can be exported. Two extra keys, which vcrpy ignores, keep
what vcrpy has no field for.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..format.blobs import replace_file
from ..recordings import Found, Unreadable
from ..recordings.conversion import to_yaml
from ..recordings.untrusted_files import unreadable_on_error
from ._terminal import complain, counted, one, one_line, recordings, rewritten, say


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments of the command."""
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="the cassettes to export, or folders of them"
    )
    parser.add_argument("--out", type=Path, help="a folder, or a file named .yaml")


def run(options: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    if options.out is None:
        return _printed(options.paths)
    if options.out.suffix in {".yaml", ".yml"}:
        return _written(one(options.paths[0]), options.paths[0], options.out)
    count = failed = 0
    for root in options.paths:
        for file, found in recordings([root], "exporting"):
            inside = file.relative_to(root).parent if root.is_dir() else Path()
            failed += _written(found, file, options.out / inside / rewritten(file, ".yaml"))
            count += 1
    say(
        f"{counted(count - failed, 'recording')} written to {options.out}"
        + f", {failed} could not be read" * bool(failed)
    )
    return 1 if failed else 0


def _printed(paths: list[Path]) -> int:
    if len(paths) > 1 or paths[0].is_dir():
        complain("ellmer-harness: only one recording can be printed; use --out FOLDER for several")
        return 2
    with unreadable_on_error(paths[0]):
        text = to_yaml(one(paths[0]))
    sys.stdout.write(text)
    return 0


def _written(found: Found | Unreadable, file: Path, target: Path) -> int:
    try:
        if isinstance(found, Unreadable):
            raise found
        with unreadable_on_error(file):
            text = to_yaml(found)
    except Unreadable as error:
        complain(one_line(error))
        return 1
    if any(each.status == 0 for each in found.interactions):
        complain(one_line(f"{file}: vcrpy cannot replay an exception; it will answer with the status 0"))
    replace_file(target, text)
    return 0
