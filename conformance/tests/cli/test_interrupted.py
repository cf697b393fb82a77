"""A command that reads many files and is interrupted says how it goes on."""

from pathlib import Path

import click
import pytest

from ellmer_conformance.cli._shared import Effort
from ellmer_harness.bulk.engines import EngineLost


@pytest.mark.parametrize(
    ("resume", "told"),
    [
        (None, "Interrupted after 1,234 files. With --resume FILE, it could go on."),
        (
            Path("done.db"),
            "Interrupted after 1,234 files. Run the same command again, and it goes on from there.",
        ),
    ],
)
def test_an_interrupted_command_says_how_it_goes_on(resume, told, capsys):
    with pytest.raises(SystemExit) as ended, Effort(1, "processes", resume, 0).explained(lambda: 1234):
        raise KeyboardInterrupt

    assert ended.value.code == 130
    assert capsys.readouterr().err == f"{told}\n"


def test_a_command_whose_workers_are_lost_says_how_it_goes_on():
    lost = "A worker is gone."
    with (
        pytest.raises(click.UsageError, match=r"gone\. Run the same command again"),
        Effort(1, "dask", Path("done.db"), 0).explained(lambda: 0),
    ):
        raise EngineLost(lost)
