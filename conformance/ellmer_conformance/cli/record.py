"""`conformance record`: records the cassettes again."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from .run import filters, run

__all__ = ["command"]


@click.command("record")
@filters
@click.option("--cassettes", type=click.Path(path_type=Path), default=Path("cassettes"), show_default=True)
@click.option("--live", is_flag=True, help="From the real API or not at all: a missing key is an error.")
@click.argument("pytest_args", nargs=-1, type=click.UNPROCESSED)
def command(cassettes: Path, live: bool, pytest_args: tuple[str, ...], **wanted: tuple[str, ...]) -> None:
    """Record the cassettes again: live where a key is in the environment, else from the strict server.

    A recording from the strict server says so, and recording twice changes nothing. Nothing is overwritten
    by a recording that breaks a rule. Then run `conformance run`.
    """
    cassettes.mkdir(parents=True, exist_ok=True)
    sys.exit(run(cassettes, None, wanted, ["--record", *(["--live"] if live else []), *pytest_args]))
