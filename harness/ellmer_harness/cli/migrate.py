"""convert a tree of recordings to cassettes of this version, in place

Recordings of other tools are converted to cassettes beside them and then removed (--keep keeps them).
Existing cassettes are rewritten in the format of this version. All files are written and checked first, and
replaced only if all of them are correct. If a file fails, or the command is stopped, nothing is changed.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from ..format.blobs import replace_file
from ..format.serializer import OURS
from ..recordings import Found, Unreadable
from ..recordings.conversion import Converted
from ._conversion import Tally, named, rules
from ._conversion import arguments as shared
from ._terminal import complain, one_line, recordings, say


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments of the command."""
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="the recordings to convert, or folders of them"
    )
    parser.add_argument("--keep", action="store_true", help="do not remove the recordings of other tools")
    shared(parser)


@dataclass(frozen=True)
class _Move:
    """A new file and the path that it will replace. `staged` is `None` if the file is at its path already."""

    staged: Path | None
    target: Path
    source: Path


def run(options: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    migration, good = _Migration(options), False
    try:
        for root in options.paths:
            for file, found in recordings([root], "migrating"):
                migration.stage(root, file, found)
        good = not migration.tally.failed and not options.dry_run
        if good:
            migration.swap()
    finally:
        migration.tidy(all_of_it=not good)
    if migration.tally.failed:
        complain("nothing was changed")
    return migration.tally.report("migrated" if good else "can be migrated")


class _Migration:
    """Converts files one by one, before any file is replaced."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.rules = options, rules(options)
        self.tally = Tally()
        self.moves: list[_Move] = []
        self.media: list[Path] = []

    def stage(self, root: Path, file: Path, found: Found | Unreadable) -> None:
        """Converts one recording to a cassette, and writes it under a temporary name."""
        ours = isinstance(found, Found) and found.kind == "ours"
        target = file if ours else file.with_name(named(file))
        blobs = self._blobs(root, file, found)
        cassette = self.tally.converted(file, found, target.parent, blobs, self.rules)
        if cassette is None:
            return
        there = (
            target.exists() and target.read_bytes() == cassette.text.encode()
        )  # or a migration was stopped midway
        if ours and there:
            self.tally.done, self.tally.unchanged = self.tally.done - 1, self.tally.unchanged + 1
        elif not ours and not there and self._taken(target, file):
            self.tally.refuse(
                f"{file}: {target} would be the target of two recordings; move one of them away"
            )
        elif self.options.dry_run:
            say(one_line(f"{file} → {target}"))
        else:
            self._write(cassette, _Move(None if there else _beside(target), target, file))

    def swap(self) -> None:
        """Moves all new files to their paths, and then removes the old files."""
        for move in self.moves:
            if move.staged:
                move.staged.replace(move.target)
        for move in self.moves:
            if move.source != move.target and not self.options.keep:
                move.source.unlink()

    def tidy(self, *, all_of_it: bool) -> None:
        """Removes temporary files, and media that no cassette uses."""
        staged = [move.staged for move in self.moves if move.staged]
        for path in [*staged, *(self.media if all_of_it else [])]:
            path.unlink(missing_ok=True)

    def _taken(self, target: Path, file: Path) -> bool:
        return any(move.target == target for move in self.moves) or (target.exists() and target != file)

    def _write(self, cassette: Converted, move: _Move) -> None:
        self.moves.append(move)
        folder = cassette.blobs.folder
        self.media += [folder / name for name in cassette.blobs.fresh if not (folder / name).exists()]
        cassette.blobs.save()
        if move.staged:
            replace_file(move.staged, cassette.text)

    def _blobs(self, root: Path, file: Path, found: Found | Unreadable) -> Path:
        chosen: Path | None = self.options.blobs
        if chosen is None and isinstance(found, Found) and found.kind == "ours":
            return file.parent / str(found.metadata[OURS].get("blobs", "blobs"))
        return chosen or (root if root.is_dir() else root.parent) / "blobs"


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name[:100]}.migrating")
