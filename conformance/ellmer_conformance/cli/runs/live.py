"""`conformance live`: runs the cases with the real API, and reports where the strict server differs."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ...files import write_text
from ...report.formats.terminal_escaping import printable
from .run import filters


@click.command("live")
@filters
@click.option(
    "--cassettes",
    type=click.Path(path_type=Path),
    default=Path("build/live"),
    show_default=True,
    help="Folder for the recordings.",
)
@click.option(
    "--base-url",
    default="",
    help="Send requests to this base URL instead of the provider's. Requires exactly one --wire and one --provider.",
)
@click.option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the drift report to this file, too.",
)
def command(cassettes: Path, base_url: str, report: Path | None, **wanted: tuple[str, ...]) -> None:
    """Run the cases with the real API, judge them, keep the recordings, and report where the strict server differs.

    Each request is also sent to the strict server. The drift report lists where the two differ: in the status, in the
    type and the text of an error, in the fields of an answer. The command needs the provider's key in the
    environment, and costs a few small requests for each case.

    Exit code 0: the strict server agrees with the live API, and every rule is kept; 1: something differs or is
    broken; 2: the cases could not be run.
    """
    from ...live_apis.drift import can_go_live, drifted, markdown, play_live  # noqa: PLC0415 - `conformance --help` should not wait for it  # noqa: PLC0415 - likewise
    from ...runner.selection import FILTERS, UnknownChoice, select  # noqa: PLC0415 - likewise

    try:
        plays = select(wanted["adapter"], {name: wanted[name] for name in FILTERS}, record=True, live=True)
    except UnknownChoice as error:
        raise click.UsageError(str(error)) from error
    if base_url and len({(play.wire, play.provider) for play in plays}) > 1:
        raise click.UsageError(
            "--base-url requires exactly one --wire and one --provider, because a URL belongs to one provider."
        )
    checked = list(play_live(filter(lambda play: can_go_live(play.case), plays), cassettes, base_url))
    text = markdown(checked)
    click.echo(printable(text))
    if report:
        write_text(report, text)
    if not checked or any(each.run.trouble and not each.run.exchanges for each in checked):
        sys.exit(2)
    sys.exit(int(drifted(checked) or any(each.broken or each.run.trouble for each in checked)))
