"""convert recordings of other tools to cassettes, and keep the originals

The folder structure is kept: tests/cassettes/test_chat/test_story[gpt].yaml becomes OUT/test_chat/ with the
file name that the pytest plugin expects. Bodies are copied byte for byte, which is checked before a file is
written. Only headers on the list of recorded headers are copied. A file that contains a secret is not
written.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..format.blobs import replace_file
from ..recordings import Found
from ..recordings.conversion import Converted
from ._conversion import Tally, named, rules
from ._conversion import arguments as shared
from ._terminal import complain, one_line, recordings, say


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments of the command."""
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="the recordings to import, or folders of them"
    )
    parser.add_argument(
        "--out", type=Path, required=True, help="a folder, or a file named .json for one recording"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace existing cassettes")
    shared(parser)


def run(options: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    if options.out.suffix == ".json" and (len(options.paths) > 1 or options.paths[0].is_dir()):
        complain("ellmer-harness: --out names a file, which holds one recording; name a folder for several")
        return 2
    tally, allowed, written = Tally(), rules(options), set[Path]()
    for root in options.paths:
        for file, found in recordings([root], "importing"):
            target = _target(options.out, root, file)
            if isinstance(found, Found) and found.kind == "ours":
                tally.unchanged += 1
            elif target in written:
                tally.refuse(f"{file}: {target} would be two cassettes; import them into different folders")
            elif target.exists() and not options.overwrite:
                tally.refuse(f"{file}: {target} already exists; use --overwrite to replace it")
            elif cassette := tally.converted(file, found, target.parent, _blobs(options, target), allowed):
                _write(cassette, file, target, dry=options.dry_run)
                written.add(target)
    return tally.report("would be imported" if options.dry_run else "imported")


def _write(cassette: Converted, file: Path, target: Path, *, dry: bool) -> None:
    if dry:
        say(one_line(f"{file} → {target}"))
        return
    cassette.blobs.save()
    replace_file(target, cassette.text)


def _target(out: Path, root: Path, file: Path) -> Path:
    if out.suffix == ".json":
        return out
    return out / (file.relative_to(root).parent if root.is_dir() else Path()) / named(file)


def _blobs(options: argparse.Namespace, target: Path) -> Path:
    chosen: Path | None = options.blobs
    return chosen or (target.parent if target == options.out else options.out) / "blobs"
