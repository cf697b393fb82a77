"""`conformance probe`: plays a client against a server, and judges its answers."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import click

__all__ = ["command"]


@click.command("probe")
@click.argument("base_url")
@click.option("--wire", required=True, help="The wire format that the server speaks.")
@click.option("--model", required=True, help="A model that it serves.")
@click.option("--vendor", default="", help="Whose dialect it claims to speak [the format's own provider].")
@click.option("--name", default="", help="What the report calls it [the host].")
@click.option("--key-env", help="The variable that holds a key; with one, a wrong key must be refused.")
@click.option("--header", "more", multiple=True, metavar="NAME=VALUE", help="A further header. Repeatable.")
@click.option(
    "--rules/--no-rules", "with_rules", default=True, help="Also send what each rule refuses and takes."
)
@click.option("--timeout", default=60.0, show_default=True, help="Seconds for one answer.")
@click.option("--report", type=click.Path(path_type=Path), help="Folder for report.json and the other forms.")
@click.option(
    "--baseline", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Expected failures."
)
def command(
    *,
    base_url: str,
    wire: str,
    model: str,
    vendor: str,
    name: str,
    key_env: str | None,
    more: tuple[str, ...],
    with_rules: bool,
    timeout: float,
    report: Path | None,
    baseline: Path | None,
) -> None:
    """Play a client against the server at BASE_URL (a gateway, vLLM, Ollama, a proxy), and judge its answers.

    The base URL ends where a client's does: `http://localhost:4000/v1`, `http://localhost:11434` for Ollama. Some fifteen
    questions are asked, streamed and not: text, tools, images, structured output; then requests that are wrong. What the
    server can do is found out and shown. Exit code 0: every rule is kept; 1: some are not; 2: it could not be asked.

    \b
    conformance probe http://localhost:4000/v1 --wire openai-chat --model my-model --report out
    """
    from ..baseline import BaselineError, load  # noqa: PLC0415 - likewise
    from ..contract import rules  # noqa: PLC0415 - `conformance --help` should not wait for it
    from ..probe import Target, probed  # noqa: PLC0415 - likewise
    from ..report import files  # noqa: PLC0415 - likewise
    from ..report.formats.matrix import console, print_report  # noqa: PLC0415 - likewise

    if wire not in rules.WIRES:
        raise click.UsageError(f"There is no wire format {wire!r}; there are {', '.join(rules.WIRES)}.")
    key = os.environ.get(key_env or "", "")
    if key_env and not key:
        raise click.UsageError(f"There is no key in the variable {key_env}.")
    target = Target(base_url, wire, model, vendor=vendor, name=name, checks_keys=bool(key), timeout=timeout)
    target = replace(target, key=key or target.key, headers=tuple(_header(each) for each in more))
    found = probed(target, with_rules=with_rules)
    if baseline:
        try:
            expected = load(baseline)
        except BaselineError as error:
            raise click.UsageError(str(error)) from None
        found.rows = [expected.expected(row) for row in found.rows]
    print_report(found, console(sys.stdout), report)
    for path in files.write(found, report) if report else ():
        click.echo(f"wrote {path}")
    sys.exit(2 if not any(row.verdict != "not-testable" for row in found.rows) else found.exit_code)


def _header(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise click.UsageError(f"--header takes NAME=VALUE, and this is {text!r}.")
    return name.strip(), value
