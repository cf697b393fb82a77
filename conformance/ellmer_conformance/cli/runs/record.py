"""`conformance record`: records the cassettes again."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from .run import cassettes_option, filters, run


@click.command("record")
@filters
@cassettes_option
@click.option("--live", is_flag=True, help="Record only from the real API. A missing key is an error.")
@click.option(
    "--base-url",
    default="",
    help="With --live: send requests to this base URL instead of the provider's (a gateway, a region). Needs one --wire and --provider.",
)
@click.argument("pytest_args", nargs=-1, type=click.UNPROCESSED)
def command(
    cassettes: Path, *, live: bool, base_url: str, pytest_args: tuple[str, ...], **wanted: tuple[str, ...]
) -> None:
    """Record the cassettes again, live if a key is in the environment, otherwise from the strict server.

    A recording names its origin. Recording from the strict server twice gives the same files. Live recordings
    contain no API keys or names of organisations. A recording that breaks a rule does not overwrite a
    cassette. Run `conformance run` afterwards. See docs/conformance/record-live.md.
    """
    if base_url and not live:
        raise click.UsageError("--base-url needs --live, because the strict server has its own URL.")
    more = [*(["--live"] if live else []), *([f"--live-base-url={base_url}"] if base_url else [])]
    cassettes.mkdir(parents=True, exist_ok=True)
    sys.exit(run(cassettes, None, wanted, ["--record", *more, *pytest_args]))
