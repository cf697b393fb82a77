"""`conformance run --against recordings`: adapters get the recorded answers of real APIs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from ._shared.paths import progress, traffic

__all__ = ["against_recordings"]


def against_recordings(
    paths: Sequence[str], wanted: Mapping[str, Sequence[str]], folder: Path | None, baseline: Path | None
) -> int:
    """Plays the recordings to each adapter, prints the results, and returns the exit code."""
    from ..baseline import BaselineError, load  # noqa: PLC0415 - `conformance --help` should not wait for it
    from ..recordings.conversation_replay.conversation_player import play_recordings  # noqa: PLC0415 - likewise
    from ..report import Report, finished, report_folder  # noqa: PLC0415 - likewise
    from ..report.formats.terminal import console, print_findings  # noqa: PLC0415 - likewise
    from ..runner.selection import OURS, UnknownChoice, find_adapter  # noqa: PLC0415 - likewise

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
    print_findings(report, to, folder)
    for path in report_folder.write(report, folder, cassettes="cassettes") if folder else ():
        to.print(f"wrote {path}", soft_wrap=True)
    if not report.plays:
        to.print("Nothing was played, which counts as a failure.")
    return report.exit_code if report.plays else 2
