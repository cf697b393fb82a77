"""`conformance probe`: sends requests to a server and judges its answers."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._shared import checked_wire, provider_option
from .run import details_option

if TYPE_CHECKING:
    from ...live_apis.probe import Target
    from ...report import Report


@click.command("probe")
@click.argument("base_url")
@click.option("--wire", required=True, callback=checked_wire, help="The wire format that the server speaks.")
@click.option("--model", required=True, help="A model that the server offers.")
@provider_option("The provider whose API the server claims to be. Default: the format's own provider.")
@click.option("--name", default="", help="The name of the server in the report. Default: the host.")
@click.option(
    "--key-env",
    help="The environment variable with the API key. If it is given, the server must refuse a wrong key.",
)
@click.option(
    "--header",
    "more",
    multiple=True,
    metavar="NAME=VALUE",
    help="Send this header with every request. Repeatable.",
)
@click.option(
    "--rules/--no-rules",
    "with_rules",
    default=True,
    show_default=True,
    help="For each rule that the API enforces, also send a request that breaks it and a request that keeps it.",
)
@click.option("--timeout", default=60.0, show_default=True, help="Timeout for one answer, in seconds.")
@click.option(
    "--report",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for report.json and the other report forms. Default: none is written.",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The file of expected failures. Default: no failure is expected.",
)
@details_option
def command(
    *,
    base_url: str,
    wire: str,
    model: str,
    provider: str,
    name: str,
    key_env: str | None,
    more: tuple[str, ...],
    with_rules: bool,
    timeout: float,
    report: Path | None,
    baseline: Path | None,
    details: bool,
) -> None:
    """Send requests to the server at BASE_URL (a gateway, vLLM, Ollama, a proxy) and judge its answers.

    BASE_URL is the base URL that a client would use: `http://localhost:4000/v1`, or `http://localhost:11434`
    for Ollama. The command sends six questions about text, tools, images and structured output, five of them also
    with a stream. Then it sends the recorded requests of well-known clients of the format, for the Responses API
    the questions of Open Responses 2026-04-24, and invalid requests. The report shows which features the server
    supports, which of three tiers of rules it keeps, and for which clients it is ready. Exit code 0: every MUST rule is kept; 1: some are not; 2: the server could
    not be reached, or has no such API.

    \b
    conformance probe http://localhost:4000/v1 --wire openai-chat --model my-model --report out
    """
    from ...live_apis.probe import probed  # noqa: PLC0415 - `conformance --help` should not wait for it
    from ...live_apis.probe.readiness import lines, readiness, write  # noqa: PLC0415 - likewise
    from ...report import report_folder  # noqa: PLC0415 - likewise
    from ...report.formats.terminal import console, print_report  # noqa: PLC0415 - likewise

    target = _target(base_url, wire, model, key_env, provider=provider, name=name, timeout=timeout)
    target = replace(target, headers=tuple(_header(each) for each in more))
    found = probed(target, with_rules=with_rules)
    if baseline:
        _expect(found, baseline)
    ready = readiness(found, target.called, wire)
    print_report(found, console(sys.stdout), report, details=details, beside=lines(ready))
    for path in [*report_folder.write(found, report), write(ready, report)] if report else ():
        click.echo(f"wrote {path}")
    sys.exit(2 if not any(row.verdict != "not-testable" for row in found.rows) else found.exit_code)


def _target(base_url: str, wire: str, model: str, key_env: str | None, **more: Any) -> Target:
    from ...live_apis.probe import Target  # noqa: PLC0415 - likewise

    if not base_url.startswith(("http://", "https://")):
        raise click.UsageError(f"{base_url} is not an http or https URL. Did you mean http://{base_url}?")
    key = os.environ.get(key_env or "", "")
    if key_env and not key:
        raise click.UsageError(f"The environment variable {key_env} is empty or not set.")
    target = Target(base_url, wire, model, checks_keys=bool(key), **more)
    return replace(target, key=key or target.key)


def _expect(found: Report, baseline: Path) -> None:
    """Marks the failures that the baseline expects."""
    from ...report.baseline import BaselineError, load  # noqa: PLC0415 - likewise

    try:
        expected = load(baseline)
    except BaselineError as error:
        raise click.UsageError(str(error)) from None
    found.rows = [expected.expected(row) for row in found.rows]


def _header(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise click.UsageError(f"--header expects NAME=VALUE, not {text!r}.")
    return name.strip(), value
