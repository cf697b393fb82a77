"""`conformance hostile`: attacks a client with hostile answers, and judges what it does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ...adapters import Adapter
    from ...hostile.trials import Trial
    from ...runner.command import Driver

__all__ = ["command"]


@click.command("hostile")
@click.option("--adapter", "name", help="The client to attack. Default: ellmer-core.")
@click.option(
    "--command",
    "driver",
    help="Attack a program in any language, started once per attack; needs --wire. See docs/conformance/driver-protocol.md.",
)
@click.option(
    "--wire", "wires", multiple=True, help="Run only attacks on this wire format. Repeatable. Default: all."
)
@click.option("--attack", "attacks", multiple=True, help="Run only this attack. Repeatable. Default: all.")
@click.option("--seed", default=0, show_default=True, help="The seed of the attacks that choose at random.")
@click.option("--times", default=1, show_default=True, help="How often each attack is run.")
@click.option(
    "--json",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A file for the results. Default: they are only printed.",
)
@click.option("--list", "listed", is_flag=True, help="List the attacks and stop.")
def command(
    *,
    name: str | None,
    driver: str | None,
    wires: tuple[str, ...],
    attacks: tuple[str, ...],
    seed: int,
    times: int,
    target: Path | None,
    listed: bool,
) -> None:
    """Attack a client: answers that are cut, huge or slow, wrong types, data after the end, errors with the key, redirects.

    Each attack is run in a process of its own. The client gets a timeout of 3 seconds. It must end within 12 seconds; a program
    that --command starts has 8 more.
    It must not crash, need more than 256 MB, show its key, run a cut call, or lose a complete answer.

    Exit code 0: the client withstood every attack; 1: it did not; 2: there is no such client or attack.
    """
    from ...files import write_text  # noqa: PLC0415 - likewise
    from ...hostile.attacks import ATTACKS  # noqa: PLC0415 - `conformance --help` should not wait for it
    from ...hostile.trials import kinds, tried  # noqa: PLC0415 - likewise
    from ...runner.selection import did_you_mean  # noqa: PLC0415 - likewise

    if listed:
        click.echo("\n".join(f"{attack.name:24}{attack.does}" for attack in ATTACKS.values()))
        return
    if unknown := sorted({*attacks} - {*ATTACKS}):
        near = did_you_mean(unknown[0], ATTACKS)
        raise click.UsageError(f"There is no attack {unknown[0]!r}{near}; --list shows all attacks.")
    adapter = _client(name, driver, wires)
    trials, numbers = list["Trial"](), count(1)
    with served(seed) as origin:
        for wire in wires or adapter.wires:
            for attack, mode in kinds(adapter, wire, attacks):
                for _ in range(times):
                    nonce = f"{next(numbers)}-{wire}"
                    trials.append(tried(adapter, wire, attack, mode, origin=origin, nonce=nonce))
                    click.echo(_line(trials[-1]))
    if target:
        write_text(target, json.dumps([asdict(trial) for trial in trials], indent=1) + "\n")
    broken = sum(bool(trial.broken) for trial in trials)
    click.echo(f"{len(trials)} attacks, {broken} not withstood")
    if any(trial.broken and trial.attack == "nothing" for trial in trials):
        click.echo(
            "The client fails without an attack, too, so the other verdicts say nothing: try conformance run first."
        )
    sys.exit(1 if broken else 0)


def _client(name: str | None, driver: str | None, wires: tuple[str, ...]) -> Adapter | Driver:
    """Returns the adapter or the command. Raises a usage error if there is none, or one too many."""
    from ...hostile.trials import COMMAND  # noqa: PLC0415 - `conformance --help` should not wait for it
    from ...runner.command import Driver  # noqa: PLC0415 - likewise
    from ...runner.selection import UnknownChoice, find_adapter  # noqa: PLC0415 - likewise

    if driver and (name or not wires):
        raise click.UsageError(
            "--command needs --wire, the format that the program speaks, and excludes --adapter."
        )
    try:
        return Driver(driver, timeout=COMMAND) if driver else find_adapter(name or "ellmer-core")
    except UnknownChoice as error:
        raise click.UsageError(str(error)) from error


@contextmanager
def served(seed: int) -> Iterator[str]:
    """Starts the hostile provider in a process of its own, and yields its address."""
    begin = "from ellmer_conformance.cli import main; main()"
    words = [sys.executable, "-c", begin, "serve", "--port", "0"]
    server = subprocess.Popen([*words, "--hostile", str(seed)], stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own command
    try:
        assert server.stdout, "it is a pipe"
        yield server.stdout.readline().split()[-1]
    finally:
        server.terminate()
        server.communicate()


def _line(trial: Trial) -> str:
    verdict = "ok" if not trial.broken else f"BROKEN {', '.join(trial.broken)}"
    measured = f"{trial.seconds:5.1f} s {trial.memory // 1024**2:5} MB"
    line = f"{trial.wire:17}{trial.mode:13}{trial.attack:24}{measured}  {verdict}  {trial.said[:100]!r}"
    return line.rstrip()
