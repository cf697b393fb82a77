"""Three hundred and thirty-four odd exchanges, recorded and replayed with ours by every client, and with two other recorders by five.

`python bench/fidelity/run.py [--out FILE] [--details]` prints how many of them replay as the client sees them without a
recorder: the same status, body bytes, exception with its text, and headers that clients act on. `--details` lists the others. It makes four
environments in `build/fidelity`: in that of niquests, which takes the place of urllib3, all clients are installed,
and the packages with which they decode br and zstd. Exit code 1 if one of ours differs. Needs `uv` on the path.
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
from one import ALL

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[2]
VCRPY, CASSETTER = "vcrpy==9.4.2", "cassetter==0.16.1"
PINNED = (
    "trustme==1.2.1",
    "httpx==0.28.1",
    "httpx2==2.16.2",
    "requests==2.34.2",
    "urllib3==2.8.0",
    "aiohttp==3.14.5",
)
EVERY = (
    *PINNED,
    "botocore==1.44.8",
    "curl-cffi==0.17.0",
    "niquests==3.21.2",
    "pyreqwest==0.15.1",
    "tornado==6.6.1",
)
DECODERS = ("brotli==1.2.1", "zstandard==0.25.0", "backports.zstd==1.8.0")
FIVE = ("httpx", "httpx2", "requests", "urllib3", "aiohttp")
INSTALLS = {
    "vcrpy": (VCRPY, "-e", f"{ROOT}[harness]"),
    "cassetter": (CASSETTER,),
    "ours": (VCRPY, "-e", f"{ROOT}[harness]"),
    "ours, all clients": (VCRPY, "-e", f"{ROOT}[harness]"),
}
Differs = list[list[str]]


def main() -> int:
    """Prints the table; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="write the table to a file, too")
    parser.add_argument("--details", action="store_true", help="list what differs")
    options = parser.parse_args()
    found = {
        (recorder, client): differing(recorder, client)
        for recorder in INSTALLS
        for client in (CLIENTS if "all" in recorder else FIVE)
    }
    if options.details:
        for (recorder, client), exchanges in found.items():
            print(*(f"{recorder}, {client}: {name}: {what}" for name, what in exchanges), sep="\n")
    print(text := table(found))
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    most = len(ALL) // 50  # two in a hundred
    return int(any(len(each) > most for (recorder, _), each in found.items() if "ours" in recorder))


def differing(recorder: str, client: str) -> Differs:
    """The exchanges that this client sees otherwise in a replay of this recorder, and how."""
    command = [str(python_of(recorder)), str(HERE / "one.py"), recorder.partition(",")[0], client]
    found: Differs = []
    while len(found) < len(ALL):
        done = subprocess.run([*command, str(len(found))], check=False, capture_output=True, text=True)
        found += map(json.loads, done.stdout.splitlines())
        if done.returncode:
            found.append([ALL[len(found)].name, "it did not end"])
    return [each for each in found if each]


def python_of(recorder: str) -> Path:
    """An environment with the recorder and the clients; made once."""
    packages = INSTALLS[recorder]
    clients = (*EVERY, *DECODERS) if "all" in recorder else PINNED
    name = "all" if "all" in recorder else packages[0].partition("=")[0]
    folder = ROOT / "build" / "fidelity" / name
    if not (folder / "done").exists():
        subprocess.run(["uv", "venv", "-q", "--clear", "--python", sys.executable, str(folder)], check=True)
        python = str(folder / "bin" / "python")
        subprocess.run(["uv", "pip", "install", "-q", "--python", python, *packages, *clients], check=True)
        (folder / "done").touch()
    return folder / "bin" / "python"


def table(found: dict[tuple[str, str], Differs]) -> str:
    """The numbers of exchanges that replay as they were, as Markdown."""
    titles = {
        "vcrpy": VCRPY,
        "cassetter": CASSETTER,
        "ours": "ours",
        "ours, all clients": "ours, all clients installed",
    }
    lines = [
        f"| of {len(ALL)} exchanges, with | {' | '.join(each.replace('==', ' ') for each in titles.values())} |",
        "|---|" + "---:|" * len(titles),
    ]
    for client in CLIENTS:
        seen = (found.get((recorder, client)) for recorder in titles)
        same = ("" if each is None else str(len(ALL) - len(each)) for each in seen)
        lines.append(f"| {client} | {' | '.join(same)} |")
    version = ".".join(map(str, sys.version_info[:3]))
    return "\n".join([*lines, "", f"Python {version}, {datetime.now(UTC):%Y-%m-%d}", ""])


if __name__ == "__main__":
    raise SystemExit(main())
