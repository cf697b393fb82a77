"""Records the public suites of `run.py` again, with vcrpy and with our engine, against a local fake of their servers.

`python bench/suites/rerecord.py [SUITE…] [--cassetter] [--out FILE]` copies each suite without its cassettes, and runs it twice: with vcrpy, and with
`-p ellmer_harness.pytest.vcr_engine`. The plugin `fake.py` answers from the original cassettes, over sockets and TLS. Then each
replays what it recorded, and vcrpy replays what our engine recorded. With `--cassetter`, and for suites of cassetter's, cassetter and our engine for
its cassettes do. No line of a suite is changed. Exit code 1 if a
test that passes with vcrpy does not pass with ours, or if our engine recorded or replayed nothing.
"""

# ruff: noqa: T201  # a script, which prints what it measures

from __future__ import annotations

import argparse
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from run import (
    FOLDER,
    PYTEST_VCR,
    RECORDING,
    WAYS,
    Result,
    Suite,
    Way,
    cassettes_of,
    chosen_suites,
    download,
    run,
)

_WAYS = {way.name: way for way in WAYS}
_PAIRS = {False: ("vcrpy", "engine"), True: ("cassetter", "cassetter-engine")}
_MODE = {RECORDING: ("--record-mode=new_episodes",), PYTEST_VCR: ("--vcr-record=new_episodes",)}


@dataclass(frozen=True)
class Recorded:
    """A run that recorded, and the runs that replayed what it recorded."""

    live: Result
    replayed: Result
    by_theirs: Result


def main() -> int:
    """Prints the table and returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suites", nargs="*", help="only those whose names contain this")
    parser.add_argument("--cassetter", action="store_true", help="with cassetter in place of vcrpy")
    parser.add_argument("--out", type=Path, help="write the table to a file, too")
    options = parser.parse_args()
    chosen = chosen_suites(options.suites)
    lines = [
        "| suite | recorded by vcrpy or cassetter | replayed | recorded by the engine | replayed | replayed by the former |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lost = 0
    for suite in chosen:
        download(suite)
        names = _PAIRS[suite.of_cassetter or options.cassetter]
        theirs, ours = (recorded(suite, _WAYS[name], _WAYS[names[0]]) for name in names)
        lost += told_lost(theirs, ours)
        cells = [theirs.live, theirs.replayed, ours.live, ours.replayed, ours.by_theirs]
        lines.append(f"| {suite.name} {suite.version} | {' | '.join(map(told, cells))} |")
        print(lines[-1], flush=True)
    if options.out:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 1 if lost else 0


def recorded(suite: Suite, way: Way, theirs: Way) -> Recorded:
    """Records a copy of the suite that has no cassettes, and replays what was recorded, with the other recorder, too."""
    root = FOLDER / f"{suite.name}-{suite.version}-{way.name}-again"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(suite.root, root, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    for path in cassettes_of(root):
        path.unlink()
    fakes = {"FAKE_CASSETTES": str(suite.root), "FAKE_ROOT": str(root)}
    fakes |= {"FAKE_URLS": "1"} if suite.reads_urls else {}
    fakes |= {name: f"value_of_{name}" for name in suite.variables}
    search = os.pathsep.join([str(root), str(Path(__file__).parent)])
    live = run(
        suite, way, root, ("-p", "fake", *_MODE.get(suite.plugin or "", ())), **fakes, PYTHONPATH=search
    )
    keep(suite, way, "recording")
    replayed = run(suite, way, root)
    keep(suite, way, "replay")
    return Recorded(live, replayed, replayed if way is theirs else run(suite, theirs, root))


def keep(suite: Suite, way: Way, kind: str) -> None:
    """Keeps the output of a run beside the table."""
    log = FOLDER / f"{suite.name}-{way.name}.log"
    shutil.copy(log, FOLDER / f"{suite.name}-{way.name}-{kind}.log")


def told(result: Result) -> str:
    """Returns a cell of the table."""
    counts = "".join(f", {number} {kind}" for kind, number in result.counts.items() if number)
    return f"{len(result.passed)} pass, {len(result.failed)} fail, {result.seconds:.0f} s{counts}"


def told_lost(theirs: Recorded, ours: Recorded) -> int:
    """Names the tests that pass with vcrpy and not with ours, and an engine that was not used. Returns their number."""
    pairs = {
        "while recording": (theirs.live, ours.live),
        "in the replay": (theirs.replayed, ours.replayed),
        "in the replay by the other": (theirs.replayed, ours.by_theirs),
    }
    found = [
        f"not {when}: {test}"
        for when, (vcrpy, engine) in pairs.items()
        for test in sorted(vcrpy.passed - engine.passed)
    ]
    found += [
        f"the engine {kind} nothing"
        for kind, run in (("recorded", ours.live), ("replayed", ours.replayed))
        if not run.counts.get(kind)
    ]
    print(*found, sep="\n", file=sys.stderr)
    return len(found)


if __name__ == "__main__":
    raise SystemExit(main())
