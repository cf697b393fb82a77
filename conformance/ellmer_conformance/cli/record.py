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
@click.option(
    "--base-url",
    default="",
    help="With --live: this base URL in place of the vendor's (a gateway, a region), with one --wire and --vendor.",
)
@click.argument("pytest_args", nargs=-1, type=click.UNPROCESSED)
def command(
    cassettes: Path, *, live: bool, base_url: str, pytest_args: tuple[str, ...], **wanted: tuple[str, ...]
) -> None:
    """Record the cassettes again: live where a key is in the environment, else from the strict server.

    A recording from the strict server says so, and recording twice changes nothing. A live one is judged by what was
    answered, and keys and names of organisations stay out of it. Nothing is overwritten by a recording that breaks a
    rule. Then run `conformance run`. See docs/record-live.md.
    """
    if base_url and not live:
        raise click.UsageError("--base-url goes with --live: the strict server has a URL of its own.")
    more = [*(["--live"] if live else []), *([f"--live-base-url={base_url}"] if base_url else [])]
    cassettes.mkdir(parents=True, exist_ok=True)
    sys.exit(run(cassettes, None, wanted, ["--record", *more, *pytest_args]))
