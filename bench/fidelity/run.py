"""Seventy-five odd exchanges, recorded and replayed with three recorders by five clients.

`python bench/fidelity/run.py [--out FILE] [--details]` prints how many of them replay as the client sees them without a
recorder: the same status, body bytes, exception, and headers that clients act on. `--details` lists the others. It makes two
environments in `build/fidelity`. Exit code 1 if one of ours differs. Needs `uv` on the path.
"""

# ruff: noqa: S603, S607, T201  # a script, which runs uv and Python and prints what it measures

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from clients import CLIENTS
from exchanges import EXCHANGES

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[2]
VCRPY, CASSETTER = "vcrpy==9.4.2", "cassetter==0.16.1"
PINNED = ("httpx==0.28.1", "httpx2==2.16.2", "requests==2.34.2", "urllib3==2.8.0", "aiohttp==3.14.5")
INSTALLS = {
    "vcrpy": (VCRPY, "-e", f"{ROOT}[harness]"),
    "cassetter": (CASSETTER,),
    "ours": (VCRPY, "-e", f"{ROOT}[harness]"),
}
Differs = list[list[str]]


def main() -> int:
    """Prints the table; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="write the table to a file, too")
    parser.add_argument("--details", action="store_true", help="list what differs")
    options = parser.parse_args()
    found = {(recorder, client): differing(recorder, client) for recorder in INSTALLS for client in CLIENTS}
    if options.details:
        for (recorder, client), exchanges in found.items():
            print(*(f"{recorder}, {client}: {name}: {what}" for name, what in exchanges), sep="\n")
    print(text := table(found))
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    return int(any(found["ours", client] for client in CLIENTS))


def differing(recorder: str, client: str) -> Differs:
    """The exchanges that this client sees otherwise in a replay of this recorder, and how."""
    command = [str(python_of(recorder)), str(HERE / "one.py"), recorder, client]
    found: Differs = []
    while len(found) < len(EXCHANGES):
        done = subprocess.run([*command, str(len(found))], check=False, capture_output=True, text=True)
        found += map(json.loads, done.stdout.splitlines())
        if done.returncode:
            found.append([EXCHANGES[len(found)].name, "it did not end"])
    return [each for each in found if each]


def python_of(recorder: str) -> Path:
    """An environment with the recorder and the clients; made once."""
    packages = INSTALLS[recorder]
    folder = ROOT / "build" / "fidelity" / packages[0].partition("=")[0]
    if not (folder / "done").exists():
        subprocess.run(["uv", "venv", "-q", "--clear", "--python", sys.executable, str(folder)], check=True)
        python = str(folder / "bin" / "python")
        subprocess.run(["uv", "pip", "install", "-q", "--python", python, *packages, *PINNED], check=True)
        (folder / "done").touch()
    return folder / "bin" / "python"


def table(found: dict[tuple[str, str], Differs]) -> str:
    """The numbers of exchanges that replay as they were, as Markdown."""
    titles = {"vcrpy": VCRPY, "cassetter": CASSETTER, "ours": "ours"}
    lines = [
        f"| of {len(EXCHANGES)} exchanges, with | {' | '.join(each.replace('==', ' ') for each in titles.values())} |",
        "|---|" + "---:|" * len(titles),
    ]
    for client, pinned in zip(CLIENTS, PINNED, strict=True):
        same = (len(EXCHANGES) - len(found[recorder, client]) for recorder in titles)
        lines.append(f"| {pinned.replace('==', ' ')} | {' | '.join(map(str, same))} |")
    version = ".".join(map(str, sys.version_info[:3]))
    return "\n".join([*lines, "", f"Python {version}, {datetime.now(UTC):%Y-%m-%d}", ""])


if __name__ == "__main__":
    raise SystemExit(main())
