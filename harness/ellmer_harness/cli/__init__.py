"""`ellmer-harness`: manages recorded HTTP traffic on disk. Each command is one module.

The exit code is 0 for success, 1 if a problem was found or an action failed, and 2 for a usage error.
`diff` has a code for each kind of difference.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from ..errors import HarnessError
from . import diff, export, import_, ls, migrate, prune, scan, serve, show
from ._terminal import complain

__all__ = ["main"]

_COMMANDS = {
    "ls": ls,
    "show": show,
    "diff": diff,
    "scan": scan,
    "import": import_,
    "serve": serve,
    "export": export,
    "migrate": migrate,
    "prune": prune,
}
_ABOUT = """\
Manage recorded HTTP traffic: cassettes, and recordings that other tools made.

The commands ls, show, diff, scan, serve, import and migrate read these formats, gzipped or not:
cassettes of vcrpy and pytest-recording (YAML, JSON), of cassetter (YAML, TOML), of pydantic-ai and langchain,
of VCR for R, Ruby and Go, HAR files, and our own.
"""
_CODES = "Exit code 0: success; 1: a problem was found, or a file failed; 2: usage error."


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if not hasattr(options, "run"):
        parser.print_help(sys.stderr)
        return 2
    try:
        return int(options.run(options))
    except BrokenPipeError:  # `… | head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (OSError, HarnessError) as error:
        complain(f"ellmer-harness: {error}")
        return 2


def _parser() -> argparse.ArgumentParser:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="ellmer-harness",
        description=_ABOUT,
        epilog=f"{_CODES} The command diff has codes of its own.",
        formatter_class=form,
    )
    commands = parser.add_subparsers(metavar="COMMAND", title="commands")
    for name, module in _COMMANDS.items():
        about = (module.__doc__ or "").strip()
        command = commands.add_parser(
            name,
            help=about.partition("\n")[0],
            description=about,
            epilog=getattr(module, "CODES", _CODES),
            formatter_class=form,
        )
        module.arguments(command)
        command.set_defaults(run=module.run)
    return parser
