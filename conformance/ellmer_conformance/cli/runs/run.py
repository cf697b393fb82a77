"""`conformance run`: runs the cases with an adapter and prints the matrix."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import click

# --- The command -----------------------------------------------------------------------------------------


F = TypeVar("F", bound=Callable[..., object])

_REPEATED = {
    "adapter": "The adapter: an installed one, or package.module:name. Repeatable. Default: ellmer-core.",
    "wire": "Run only this wire format, at its own provider. This option and the next three are repeatable, accept `*` and `?`, and are all by default.",
    "provider": "Run only this provider; with --wire, `*` means every provider of the format.",
    "case": "Run only this case.",
    "mode": "Run only this mode: sync, async, stream, async-stream.",
}


def filters(function: F) -> F:
    """Returns the options that select cases."""
    for name, text in reversed(_REPEATED.items()):
        function = click.option(f"--{name}", multiple=True, help=text)(function)
    return function


def details_option(function: F) -> F:
    """Adds `--details` to a command that prints a report."""
    text = "Print all that is declared, not judged and not run, with the reasons."
    return click.option("--details", is_flag=True, help=text)(function)


cassettes_option = click.option(
    "--cassettes",
    type=click.Path(path_type=Path),
    default=Path("cassettes"),
    show_default=True,
    help="Folder of the cassettes.",
)


@click.command("run")
@filters
@cassettes_option
@click.option(
    "--report",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for report.json, JUnit, SARIF, Markdown, the HTML page and badges. Default: none is written.",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File of expected failures. Default: conformance-baseline.toml, if it exists.",
)
@click.option(
    "--against",
    type=click.Choice(["cassettes", "server", "recordings"]),
    default="cassettes",
    show_default=True,
    help="Who answers the requests: the recordings in `cassettes`; the strict `server`, which works with any "
    "HTTP client and records nothing; or the real APIs' answers in the `recordings` under PATHS.",
)
@click.option(
    "--command",
    "driver",
    help="Test a program in any language, started once per case and mode; needs --wire. See docs/conformance/adapter-authors.md.",
)
@click.option(
    "--rule",
    "ruled",
    multiple=True,
    help="Keep only verdicts of this rule or group (`ORD`, `STR-0*`). Repeatable.",
)
@click.option(
    "--spec-version",
    metavar="ID",
    help="The requirement set that the score counts against. Default: the latest.",
)
@click.option(
    "--combinations",
    type=click.Choice(["none", "usual", "all"]),
    default="usual",
    show_default=True,
    help="Run generated cases beside the hand-written ones. `usual` adds six for each wire format. "
    "`all` covers each pair of values, and needs covertable.",
)
@click.option(
    "--every-mode",
    is_flag=True,
    help="Run each case in every mode at every provider. Without it, a provider that "
    "is not the format's own and is not named by --provider gets two modes: one whole, one streamed.",
)
@click.option(
    "-n",
    "--workers",
    type=int,
    default=0,
    help="The number of processes. More than one needs pytest-xdist. Default: one.",
)
@click.option(
    "--case-timeout",
    "--play-timeout",
    "case_timeout",
    type=float,
    metavar="SECONDS",
    help="A run of a case fails after this many seconds. Default: 60.",
)
@click.option(
    "--shard", metavar="I/N", help="Run only every N-th test, from the I-th on. `merge` joins the reports."
)
@details_option
@click.argument("pytest_args", nargs=-1, type=click.UNPROCESSED, metavar="[PATHS | PYTEST_ARGS]...")
def command(
    *,
    cassettes: Path,
    report: Path | None,
    baseline: Path | None,
    against: str,
    driver: str | None,
    ruled: tuple[str, ...],
    spec_version: str | None,
    workers: int,
    shard: str | None,
    case_timeout: float | None,
    combinations: str,
    every_mode: bool,
    details: bool,
    pytest_args: tuple[str, ...],
    **wanted: tuple[str, ...],
) -> None:
    """Run every case offline, from the cassettes or against the strict server, and print the matrix.

    With `--against recordings PATH…` the cases are recorded conversations, of any recorder that `conformance lint`
    reads. Without a PATH they are those of the fetched corpus and of the folders in CONFORMANCE_TRAFFIC.

    Exit code 0: every rule is kept; 1: some are not; 2: the suite could not run, or a case has no verdict.
    Arguments after `--` go to pytest (`-x`, `-k two_parallel`, `-v`).
    """
    if against == "recordings":
        _check_recordings(driver, cassettes, ruled, workers, shard)
        sys.exit(against_recordings(pytest_args, wanted, report, baseline, details=details))
    if driver is not None:
        _check_command(wanted)
        wanted, against = wanted | {"adapter": (f"command:{driver}",)}, "server"
    if against == "cassettes":
        _check_cassettes(cassettes)
    more = ["--tb=no", f"--against={against}", *([f"--baseline={baseline}"] if baseline else [])]
    more += _shares(workers, shard)
    more += [f"--rule={each}" for each in ruled]
    more += [f"--case-timeout={case_timeout}"] if case_timeout else []
    more += [f"--combinations={combinations}", *(["--details"] if details else [])]
    more += ["--every-mode"] if every_mode else []
    more += [f"--spec-version={spec_version}"] if spec_version else []
    sys.exit(run(cassettes, report, wanted, [*more, *pytest_args], seconds=case_timeout))


def _check_recordings(
    driver: str | None, cassettes: Path, ruled: tuple[str, ...], workers: int, shard: str | None
) -> None:
    """Raises a usage error if an option does not work with recordings."""
    if driver or cassettes != Path("cassettes") or ruled or workers or shard:
        raise click.UsageError(
            "--against recordings can be combined only with --adapter, --wire, --provider, --case, --mode, --report and --baseline."
        )


def _check_command(wanted: dict[str, tuple[str, ...]]) -> None:
    """Raises a usage error if the format is missing, or if there is also an adapter."""
    if not wanted["wire"] or wanted["adapter"]:
        raise click.UsageError(
            "--command needs --wire, the format that the program speaks, and excludes --adapter."
        )


def _check_cassettes(cassettes: Path) -> None:
    """Raises a usage error if the folder does not exist, or has only other files than cassettes of this suite."""
    from ...contract.rules import WIRES  # noqa: PLC0415 - `conformance --help` should not wait for it

    problem = f"There is no folder {cassettes}"
    if cassettes.is_dir():
        names = {path.name for path in cassettes.iterdir()}
        if not names or names & {*WIRES}:
            return
        problem = (
            f"{cassettes} has no cassettes of this suite, which are in folders such as {cassettes / WIRES[0]}"
        )
    raise click.UsageError(
        f"{problem}. Run without cassettes: --against server. Or run the command in the folder above your cassettes, name "
        "their folder with --cassettes, or record cassettes with `conformance record`."
    )


def _shares(workers: int, shard: str | None) -> list[str]:
    """Returns pytest's arguments that divide the work among processes and machines."""
    if workers and not find_spec("xdist"):
        raise click.UsageError("-n needs pytest-xdist, which is not installed: pip install pytest-xdist")
    divided = ["-n", str(workers)] if workers else []
    return [*divided, *([f"--shard={shard}", "--snapshot-warn-unused"] if shard else [])]


def run(
    cassettes: Path,
    report: Path | None,
    wanted: dict[str, tuple[str, ...]],
    more: list[str],
    *,
    seconds: float | None = None,
) -> int:
    """Runs pytest, and converts its exit code to ours. A command has `seconds` for its declaration."""
    sys.path.insert(0, str(Path.cwd()))  # where package.module:name is looked for
    _check(wanted, more, seconds)
    os.environ.setdefault("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # what else is installed takes no part
    arguments = ["--pyargs", "ellmer_conformance.pytest.suite"]
    arguments += [part for plugin in _plugins() for part in ("-p", plugin)]
    arguments += ["-q", "-rN", "--no-header", f"--cassettes={cassettes}"]
    for unused in ("logging", "tmpdir", "unraisableexception", "threadexception"):
        arguments += ["-p", f"no:{unused}"]  # verdicts tell what went wrong, and each costs time
    # The settings and the conftest.py of the project at hand are for its own tests.
    arguments += ["--noconftest", "-o", "addopts=", "-W", "ignore"]
    narrowed = [f"--{name}={value}" for name, values in wanted.items() for value in values]
    arguments += [*narrowed, *(["--snapshot-warn-unused"] if narrowed else [])]
    if report:
        arguments += [f"--report={report}"]
    return _going_on([*arguments, *more])


def _going_on(arguments: list[str]) -> int:
    """Runs pytest, in a child if possible. If that ends within a run that nothing could interrupt, pytest runs again with a
    worker: xdist goes on in another one whenever a worker ends.
    """
    import pytest  # noqa: PLC0415 - `conformance --help` should not wait for it

    from ...runner.watchdog import STACKS, last_stack  # noqa: PLC0415 - likewise

    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv(STACKS, folder)
        code = _code_of_child() if _may_fork(arguments) else None
        if code is not None and last_stack(Path(folder)):
            click.echo(
                "A case could not be interrupted and ended its process. All cases are run again, in a worker."
            )
            arguments, code = [*arguments, "-n", "1"], None
        code = int(pytest.main(arguments)) if code is None else code
    return code if code in {0, 1} else 2


def _may_fork(arguments: list[str]) -> bool:
    """Tells whether pytest can run in a child: it writes to this process's own console, and xdist is there to go on."""
    own = sys.stdout is sys.__stdout__ and hasattr(os, "fork")
    return own and "-n" not in arguments and find_spec("xdist") is not None


def _code_of_child() -> int | None:
    """Forks. Returns the exit code of the child, and `None` in the child, which runs the case."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        return None
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the child gets it, too
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    finally:
        signal.signal(signal.SIGINT, before)


def _check(wanted: dict[str, tuple[str, ...]], more: list[str], seconds: float | None) -> None:
    """Raises a usage error if a name matches nothing."""
    from ...runner.selection import FILTERS, UnknownChoice, select  # noqa: PLC0415 - likewise

    narrowed = {name: wanted[name] for name in FILTERS}
    try:
        select(
            wanted["adapter"],
            narrowed,
            record="--record" in more,
            live="--live" in more,
            seconds=seconds,
        )
    except UnknownChoice as error:
        raise click.UsageError(str(error)) from error


def _plugins() -> list[str]:
    """Returns the pytest plugins of a run: xdist for `--workers`, if it is installed."""
    found = ["xdist.plugin"] if find_spec("xdist") else []
    return [
        "syrupy",
        *found,
        *(f"ellmer_conformance.pytest.{name}" for name in ("plugin", "shard", "own_process")),
    ]


# --- Recorded answers of real APIs: --against recordings -------------------------------------------------


def against_recordings(
    paths: Sequence[str],
    wanted: Mapping[str, Sequence[str]],
    folder: Path | None,
    baseline: Path | None,
    *,
    details: bool = False,
) -> int:
    """Replays the recordings to each adapter, prints the results, and returns the exit code."""
    from ...recordings.conversation_replay.conversation_player import play_recordings  # noqa: PLC0415 - likewise
    from ...report import Report, finished, report_folder  # noqa: PLC0415 - likewise
    from ...report.baseline import BaselineError, load  # noqa: PLC0415 - `conformance --help` should not wait for it
    from ...report.formats.terminal import console, print_findings  # noqa: PLC0415 - likewise
    from ...runner.selection import OURS, UnknownChoice, find_adapter  # noqa: PLC0415 - likewise
    from .._shared import progress, traffic  # noqa: PLC0415 - likewise

    sys.path.insert(0, str(Path.cwd()))  # where package.module:name is looked for
    try:
        expected = load(baseline) if baseline else None
        adapters = {name: find_adapter(name) for name in wanted["adapter"] or [OURS]}
    except (BaselineError, UnknownChoice) as error:
        raise click.UsageError(str(error)) from error
    found, reports, to = traffic(map(Path, paths)), list[Report](), console(sys.stdout)
    for name, adapter in adapters.items():
        with progress(found) as advance:
            summary, report = play_recordings(
                adapter, name, found, wanted, baseline=expected, on_file=advance
            )
        summary.print(to)
        reports.append(report)
        if folder:
            to.print(f"wrote {summary.write(folder / name if len(adapters) > 1 else folder)}", soft_wrap=True)
    report = finished(Report.joined(reports))
    print_findings(report, to, folder, details=details)
    for path in report_folder.write(report, folder, cassettes="cassettes") if folder else ():
        to.print(f"wrote {path}", soft_wrap=True)
    if not report.plays:
        to.print("No case was run, which counts as a failure.")
    return report.exit_code if report.plays else 2
