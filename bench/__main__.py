"""Measures speed: `python -m bench core|replay|recording|server`. Each subcommand prints a table."""

# ruff: noqa: T201 - it prints
from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path


@dataclass(frozen=True)
class Benchmark:
    """A subcommand: its module, which has `run(options)`, and its help."""

    module: str
    help: str


BENCHMARKS = {
    "core": Benchmark("core", "the chat library, against programs on plain httpx"),
    "replay": Benchmark(
        "replay", "loading, replaying and recording cassettes, against vcrpy and MockTransport"
    ),
    "recording": Benchmark("recording", "what recording costs the processor, against vcrpy and no recorder"),
    "server": Benchmark("strict_server", "the strict server, against aimock where it is installed"),
    "lint": Benchmark(
        "lint_scale", "four commands over a million simulated interactions, on Dask and in processes"
    ),
    "browser": Benchmark("browser", "the frames of the chat app in a browser (nox -s bench_browser)"),
    "peers": Benchmark("peers", "other chat libraries, each in its own environment (nox -s bench_peers)"),
}
#: These need only what the tests need. `nox -s bench` runs them.
USUAL = ("core", "replay", "recording", "server")


def main(arguments: list[str] | None = None) -> int:
    """Runs one benchmark, or the usual ones one after another.

    Returns 1 if a target was missed. `--quick` shows only that the programs run, so a missed target is printed, and
    the exit code stays 0.
    """
    options = parser().parse_args(arguments)
    names = USUAL if options.benchmark == "all" else (options.benchmark,)
    missed = [name for name in names if measured(name, options)]
    if missed:
        print(f"targets were missed: {', '.join(missed)}")
    return int(bool(missed) and not options.quick)


def measured(name: str, options: argparse.Namespace) -> bool:
    """Runs a benchmark and tells whether it missed a target."""
    print(f"\n== {name}: {BENCHMARKS[name].help}", flush=True)
    missed: int = import_module(f"{__package__}.{BENCHMARKS[name].module}").run(options)
    return missed != 0


def parser() -> argparse.ArgumentParser:
    """Returns the command line."""
    found = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    commands = found.add_subparsers(dest="benchmark", required=True, metavar="BENCHMARK")
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--quick", action="store_true", help="measure little: it shows that the program runs")
    server = argparse.ArgumentParser(add_help=False)
    server.add_argument(
        "--aimock",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="where `npm install @copilotkit/aimock` was run (default: here)",
    )
    for name, benchmark in BENCHMARKS.items():
        more = [server] if name == "server" else []
        command = commands.add_parser(name, parents=[shared, *more], help=benchmark.help)
        if name == "peers":
            command.add_argument("names", nargs="*", metavar="LIBRARY", help="only these (default: all)")
    commands.add_parser("all", parents=[shared, server], help=f"one after another: {', '.join(USUAL)}")
    return found


if __name__ == "__main__":
    sys.exit(main())
