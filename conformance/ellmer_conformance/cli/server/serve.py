"""`conformance serve`: the strict server, for any client in any language."""

from __future__ import annotations

import re
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Literal, cast

import click

from ...contract.scope import api_version, named_betas
from ...scenarios.script import Script, ScriptError
from ...server import Entry, Mode, PortInUse, StrictServer, greeting
from ...server.status_page import named


@click.command("serve")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8087,
    show_default=True,
    help="The port to listen on; 0: any free port.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--mode",
    type=click.Choice(["reject", "observe", "proxy"]),
    default="reject",
    show_default=True,
    help="Refuse what the API refuses (reject), answer everything and note the violations (observe), or forward requests to --upstream (proxy).",
)
@click.option(
    "--name", "names", multiple=True, help="A host name under which browsers may open the pages. Repeatable."
)
@click.option(
    "--upstream",
    default="",
    metavar="URL",
    help="The base URL for --mode proxy, such as https://api.openai.com.",
)
@click.option(
    "--script",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="A file with the answers for requests that name no case, in YAML or JSON. The file is read again when it changes.",
)
@click.option(
    "--strict-script",
    is_flag=True,
    help="Refuse requests that no entry of the script fits. Default: the server's own model answers.",
)
@click.option(
    "--hostile",
    is_flag=False,
    flag_value="0",
    metavar="[SEED]",
    help="Attack the client instead of answering it; the URL /c/ATTACK/NAME chooses the attack. See `conformance hostile`.",
)
@click.option("--list-cases", is_flag=True, help="List the cases and stop.")
@click.option(
    "--record",
    default="",
    metavar="URL",
    help="Forward requests to this URL, judge them, and write the answers to --script FILE at the end.",
)
@click.option(
    "--today",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="Judge requests as of this day, such as 2026-09-01: rules that came later do not hold yet. Default: today.",
)
@click.option(
    "--report",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for report.json and its other forms, written when the server stops.",
)
def command(
    *,
    port: int,
    host: str,
    mode: str,
    names: tuple[str, ...],
    upstream: str,
    script: Path | None,
    strict_script: bool,
    hostile: str | None,
    list_cases: bool,
    record: str,
    today: datetime | None,
    report: Path | None,
) -> None:
    """Start the strict server, which refuses what the real APIs refuse and answers everything else.

    If the URL names no case, the script answers. Without a script, the server's own model answers, which follows fixed rules. Each request is logged in one
    line with the rules that it breaks, and is judged by the API version and the betas that it names. Open / in a browser to see the requests. Ctrl-C stops the server.

    In proxy mode, requests are forwarded to a real API with their keys, and judged. Keys are not stored.
    """
    if list_cases:
        click.echo("\n".join(named(CaseScripts())))
        return
    if hostile is not None:
        _attack(hostile, port, host)
        return
    if record and (upstream or script is None):
        raise click.UsageError("--record URL needs --script FILE, and cannot be used with --upstream.")
    for folder in [*([script.parent] if record and script else []), *([report] if report else [])]:
        _check_writable(folder)
    options: dict[str, Any] = {"port": port, "host": host, "names": names, "strict_script": strict_script}
    options["today"] = today and today.date()
    if record:
        server = started("proxy", record, "--record", options)
    else:
        server = started(cast("Mode", mode), upstream, "--upstream", options | {"script": script})
    server.engine.watch = log
    _serve(server, lambda: greeting(server.origin, server.engine.mode))
    if record and script:
        from ...server.scripts.script_recording import write_script  # noqa: PLC0415 - only a recording needs it

        count = write_script(server.requests, script)
        click.echo(f"wrote {count} answers to {script}")
    if report:
        _report(server, report)


def _serve(server: StrictServer, told: Callable[[], str]) -> None:
    """Serves until Ctrl-C or `kill`. Prints `told()` as soon as the server listens."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job starts without
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        server.serve_forever(lambda: click.echo(told()))
    except PortInUse as error:
        raise click.UsageError(f"{error.strerror}, with --port.") from error
    except OSError as error:
        raise click.UsageError(f"cannot listen at {server.origin}: {error.strerror}") from error


def _check_writable(folder: Path) -> None:
    """Makes the folder of what is written when the server stops. Raises `OSError` if nothing can be written there: then it is too late."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryFile(dir=folder):
        pass


def _report(server: StrictServer, folder: Path) -> None:
    seen, count = server.engine.journal.all()
    if count > len(seen):
        click.echo(
            f"The report covers only the last {len(seen):,} of {count:,} requests; earlier ones are not stored."
        )
    write(seen, server.engine.mode, folder)


def _attack(seed: str, port: int, host: str) -> None:
    """Serves the hostile provider until it is interrupted."""
    from ...hostile.attacks import prepare  # noqa: PLC0415 - most servers are not hostile
    from ...hostile.provider import HostileProvider  # noqa: PLC0415 - likewise

    prepare()
    server = StrictServer(port=port, host=host, handler=HostileProvider(seed))
    _serve(server, lambda: f"a hostile provider (seed {seed}) at {server.origin}")


class CaseScripts(Mapping[str, Script]):
    """The scripts of all cases. They are loaded when the first one is looked up, and many servers need none."""

    @cached_property
    def _all_scripts(self) -> Mapping[str, Script]:
        from ...scenarios.cases import scripts  # noqa: PLC0415 - likewise

        return scripts()

    def __getitem__(self, name: str) -> Script:
        return self._all_scripts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all_scripts)

    def __len__(self) -> int:
        return len(self._all_scripts)


def started(mode: Mode, upstream: str, option: str, options: dict[str, Any]) -> StrictServer:
    """Returns the server. `option` names the option that has the URL of the upstream."""
    if upstream and not re.match(r"https?://[^/]", upstream):
        raise click.BadParameter(f"{upstream!r} is not an http or https URL", param_hint=option)
    try:
        return StrictServer(CaseScripts(), mode=mode, upstream=upstream, **options)
    except ScriptError as error:
        raise click.UsageError(str(error)) from error
    except ValueError as error:
        raise click.UsageError(
            f"{error}. For example: --mode proxy --upstream https://api.openai.com"
        ) from error


def write(seen: list[Entry], mode: str, folder: Path) -> None:
    """Writes the report of the requests to the folder and prints it."""
    from ...report import report_folder  # noqa: PLC0415 - a report takes longer to import than the server
    from ...report.formats.terminal import console, print_report  # noqa: PLC0415 - likewise
    from ._serve_report import observed  # noqa: PLC0415 - likewise

    source: Literal["server", "observe", "proxy"] = "server" if mode == "reject" else cast("Any", mode)
    found = observed(seen, source)
    if not found.rows:
        click.echo("No request reached a chat endpoint, so there is nothing to report.")
        return
    print_report(found, console(sys.stdout), folder, details=True)
    for line in versions_used(seen):
        click.echo(line)
    for path in report_folder.write(found, folder):
        click.echo(f"wrote {path}")


def versions_used(seen: list[Entry]) -> Iterator[str]:
    """Yields a line for each API version and set of betas that requests named, with the number of requests."""
    from ...report.formats.terminal_escaping import printable  # noqa: PLC0415 - only a report needs it

    told = Counter(
        (entry.request.wire, api_version(entry.request), *sorted(named_betas(entry.request)))
        for entry in seen
        if entry.request.wire
    )
    for (wire, version, *betas), count in sorted(told.items()):
        if version or betas:
            what = f"version {version}" if version else "no version"
            also = f" with {', '.join(betas)}" if betas else ""
            yield printable(f"{wire}: {count:,} requests named {what}{also}.")


def log(entry: Entry) -> None:
    """Prints one line: the request's target, its answer, and its violations."""
    request, answer = entry.request, entry.answer
    left = " client left" if entry.left is not None else ""
    broken = [f"{violation.rule.id} {violation.pointer}" for violation in entry.violations]
    sort = f"{request.wire or '?'}{' stream' if request.stream else ''}"
    where = f"{entry.case}/{entry.nonce}" if entry.nonce else entry.case
    line = f"{answer.status if answer else '---'}{left}  {where}  {sort}  {request.model or '-'}  {', '.join(broken)}".rstrip()
    sys.stdout.write(
        f"{line if line.isprintable() else ascii(line)}\n"
    )  # click.echo() takes four times as long
    sys.stdout.flush()
