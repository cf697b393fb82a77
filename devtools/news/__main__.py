"""The command: `python -m devtools.news`, which `nox -s news` runs.

python -m devtools.news                 what is neither known nor declined; exit code 1 if there is any
python -m devtools.news --note          write known.toml from what the project knows now
python -m devtools.news anthropic       only this package
python -m devtools.news --wheels DIR    the releases in a folder instead of the index
"""

# ruff: noqa: S603, T201 - it runs pip, and prints
from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from zipfile import ZipFile

from . import knowledge
from .names import KINDS, Name, names_of
from .sources import SOURCES, Source

__all__ = ["main", "news", "report"]

CACHE = Path(__file__).parents[2] / "build/news"


def main(arguments: Sequence[str]) -> int:
    """Prints the news and returns 1, or 0 if there are none."""
    options = _parser().parse_args(arguments)
    chosen = [source for source in SOURCES if not options.packages or source.package in options.packages]
    found: dict[Source, tuple[str, list[Name]]] = {}
    for source in chosen:
        wheel = newest(source, options.wheels)
        with ZipFile(wheel) as opened:
            found[source] = release_of(wheel), names_of(source, opened)
    if options.note:
        return _note(found)
    lines = list(report(found, options.wheels))
    print("\n".join(lines) if lines else "There is no news: every name is known or declined.")
    return 1 if lines else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m devtools.news", description="What the providers have and we do not know."
    )
    parser.add_argument("packages", nargs="*", help="only these packages")
    parser.add_argument("--note", action="store_true", help="write known.toml")
    parser.add_argument("--wheels", type=Path, help="a folder with the releases; default: the package index")
    return parser


def _note(found: dict[Source, tuple[str, list[Name]]]) -> int:
    releases, names = knowledge.known()
    names = {
        key: by
        for key, by in names.items()
        if key[0] not in {name.provider for _, each in found.values() for name in each}
    }
    for source, (release, each) in found.items():
        releases[source.package] = release
        names |= {name[:3]: by for name in each if (by := knowledge.knower(name))}
    knowledge.KNOWN.write_text(knowledge.written(releases, names), "utf-8")
    print(f"{len(names):,} names are known.")
    return 0


# --- what is new -----------------------------------------------------------------------------------------


def news(
    names: Iterable[Name], known: Iterable[tuple[str, str, str]], declined: Sequence[knowledge.Declined]
) -> list[Name]:
    """Returns the names that are neither known nor declined.

    Args:
        names: The names of releases.
        known: The provider, kind and name of each known name.
        declined: The classes of names that are not for this project.
    """
    seen = set(known)
    return [
        name for name in names if name[:3] not in seen and not any(each.covers(name) for each in declined)
    ]


def report(found: dict[Source, tuple[str, list[Name]]], wheels: Path | None = None) -> Iterator[str]:
    """Yields the lines of the report: by provider and kind each new name, with the release that brought it."""
    releases, known = knowledge.known()
    declined = knowledge.declined()
    for source, (release, names) in found.items():
        fresh = news(names, known, declined)
        if fresh:
            yield f"{source.provider or 'prices'}: {source.package} {release}"
        since = _brought(source, fresh, releases.get(source.package, ""), release, wheels) if fresh else {}
        for kind in KINDS:
            for name in (each for each in fresh if each.kind == kind):
                yield f"  {kind:13} {name.name}  ({since.get(name[:3], release)}, {name.file})"


def _brought(
    source: Source, fresh: Sequence[Name], seen: str, newest_release: str, wheels: Path | None
) -> dict[tuple[str, str, str], str]:
    """Returns the release that brought each new name: the first one after the last release that somebody looked at."""
    if wheels or not seen or seen == newest_release:
        return {}
    between = [
        each for each in releases_of(source.package) if _order(seen) < _order(each) < _order(newest_release)
    ]
    found: dict[tuple[str, str, str], str] = {}
    for release in sorted(between, key=_order):
        with ZipFile(fetched(source.package, release)) as opened:
            there = {name[:3] for name in names_of(source, opened)}
        found |= {name[:3]: release for name in fresh if name[:3] in there and name[:3] not in found}
        if len(found) == len(fresh):
            break
    return found


# --- releases --------------------------------------------------------------------------------------------


def newest(source: Source, folder: Path | None) -> Path:
    """Returns the wheel of the newest release: from a folder, or from the package index."""
    if folder is None:
        return fetched(source.package, "")
    found = sorted(
        folder.glob(f"{source.package.replace('-', '_')}-*.whl"), key=lambda wheel: _order(release_of(wheel))
    )
    if not found:
        raise SystemExit(f"There is no release of {source.package} in {folder}.")
    return found[-1]


@cache
def fetched(package: str, release: str) -> Path:
    """Returns the wheel of a release, or of the newest one, from the package index."""
    folder = CACHE / package / (release or "newest")
    if not release or not folder.is_dir():
        _pip(
            "download",
            "--no-deps",
            "--only-binary",
            ":all:",
            "--dest",
            str(folder),
            f"{package}=={release}" if release else package,
        )
    return max(folder.glob("*.whl"), key=lambda wheel: _order(release_of(wheel)))


def releases_of(package: str) -> list[str]:
    """Returns the releases in the package index."""
    told = _pip("index", "versions", package)
    listed = re.search(r"Available versions: (.*)", told)
    return listed[1].split(", ") if listed else []


def _pip(*arguments: str) -> str:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"pip {' '.join(arguments)} failed:\n{done.stderr}")
    return done.stdout


def release_of(wheel: Path) -> str:
    """Returns `2.12.0` for `anthropic-2.12.0-py3-none-any.whl`."""
    return wheel.name.split("-")[1]


def _order(release: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", release)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
