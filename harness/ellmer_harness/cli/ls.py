"""list recordings with their interactions, size, origin and date

The command prints one line for every recording under the paths. `from` is the origin of the answers, or the
format of another tool. Unreadable files are listed as well, and the exit code is then 1.
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from ..display import size
from ..format.serializer import OURS
from ..recordings import Found, Unreadable
from ._terminal import complain, counted, one_line, recordings, say


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments of the command."""
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="the files or folders to list")


def run(options: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    count = interactions = total = broken = 0
    for file, found in recordings(options.paths, "reading"):
        if isinstance(found, Unreadable):
            broken += 1
            complain(one_line(found))
            continue
        count += 1
        interactions += len(found.interactions)
        total += file.stat().st_size
        say(one_line(_line(file, found)))
    say(
        f"{counted(count, 'recording')}, {counted(interactions, 'interaction')}, {size(total)}"
        + f", {broken} unreadable" * bool(broken)
    )
    return 1 if broken else 0


def _line(file: Path, found: Found) -> str:
    hosts = dict.fromkeys(_host(each.url) for each in found.interactions)
    return (
        f"{len(found.interactions):5}  {size(file.stat().st_size):>8}  {_origin(found):16}  {_day(found):10}  "
        f"{file}  {', '.join(hosts)}"
    )


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or "?"
    except ValueError:
        return "?"


def _origin(found: Found) -> str:
    if found.kind != "ours":
        return found.kind
    return str(found.metadata[OURS].get("recorded_from", "unknown"))


def _day(found: Found) -> str:
    noted = (found.metadata.get(OURS) or {}).get("recorded_at")
    times = (
        [datetime.fromisoformat(noted)] if noted else [each.when for each in found.interactions if each.when]
    )
    return str(min(times).astimezone(UTC).date()) if times else "-"
