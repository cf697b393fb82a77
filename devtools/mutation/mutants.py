"""Changes lines of code, one at a time, and runs the tests that reach them: `nox -s mutants-of-code`.

A seeded sample of lines in all three packages is taken. It hardly changes when the code changes, because each line is drawn
by a hash of its text. A mutant lives in a copy of the tree. It is *killed* when a test fails, or when the tests take too
long; else it *survives*. Survivors are listed in `survivors.toml` with a reason. The run fails if fewer than 90 % of the
mutants are killed (those listed as equivalent do not count), or if a survivor is not listed. One that only the
tests of another session reach is listed and counts as a survivor.
"""

# ruff: noqa: S603, T201 - it runs pytest, and prints
from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from ..test_selection import chosen_tests
from ..test_selection.changed import git, in_turns, still_there
from ..test_selection.lines import function_at, tests_of
from ..test_selection.reach import PACKAGES, ROOT, Reach, then
from .mutations import Mutation, mutations

SURVIVORS = Path(__file__).with_name("survivors.toml")
FOLDER = ROOT / "build" / "mutants"
#: Why a survivor is left: nobody could notice it, it does not matter, or only another session runs its line.
KINDS = ("equivalent", "cosmetic", "other session")
LEAST = 0.9
#: How many times its usual seconds a test run may take before it counts as one that does not end.
PATIENCE = 5
#: A line that few tests reach may be run by others too, because its result was kept from one test to the next.
FEW = 20


@dataclass(frozen=True)
class Trial:
    """A mutation of a source, the tests that run with their usual seconds, and the number of those that reach its
    line.
    """

    mutation: Mutation
    source: str
    tests: list[str]
    reached: int
    seconds: float


@dataclass(frozen=True)
class Verdict:
    """What the tests say to a mutant: `killer` is the test that failed, "timeout", or nothing if it survives."""

    mutation: Mutation
    was: str
    killer: str
    ran: int
    reached: int

    @property
    def survives(self) -> bool:
        return not self.killer

    @property
    def key(self) -> tuple[str, str, str]:
        """Returns what stays the same when the code moves."""
        return self.mutation.where, self.was, self.mutation.after


def main(arguments: list[str]) -> int:
    """Runs the sample and returns 1 if too many mutants survive, or one that is not listed."""
    options = parser().parse_args(arguments)
    reach = Reach()
    sample = list(sampled(options))
    print(f"{len(sample)} mutants, seed {options.seed}, {options.workers} workers", flush=True)
    verdicts = run(sample, reach, options)
    return report(checked(verdicts, options), listed(SURVIVORS), options.least)


def parser() -> argparse.ArgumentParser:
    """Returns the command line."""
    found = argparse.ArgumentParser(prog="nox -s mutants-of-code --", description=__doc__)
    found.add_argument("--sample", type=int, default=150, help="how many lines (default: 150)")
    found.add_argument("--seed", default="1", help="which sample (default: 1)")
    found.add_argument("--only", default="", help="only files whose path has this in it")
    found.add_argument("--workers", type=int, default=2, help="how many mutants at once (default: 2)")
    found.add_argument(
        "--seconds", type=float, default=60, help="the most test time of a mutant (default: 60)"
    )
    found.add_argument(
        "--timeout",
        type=float,
        default=300,
        help="the least seconds before a mutant is ended, and is killed (default: 300)",
    )
    found.add_argument(
        "--least", type=float, default=LEAST, help="the part that must be killed (default: 0.9)"
    )
    return found


# The sample ------------------------------------------------------------------------------------------------


def sampled(options: argparse.Namespace) -> Iterator[Mutation]:
    """Yields one mutation of each drawn line; each package has an equal part of the sample."""
    packages = [(name, lines_of(name, options.only)) for name in PACKAGES]
    packages = [(name, lines) for name, lines in packages if lines]
    for number, (_, lines) in enumerate(packages):
        count = options.sample // len(packages) + (number < options.sample % len(packages))
        ranked = sorted(lines, key=lambda key: lot(options.seed, *key))
        for key in ranked[:count]:
            yield min(
                lines[key],
                key=lambda one: lot(options.seed, *key, one.after, str(one.start - lines[key][0].start)),
            )


def lines_of(package: str, only: str) -> dict[tuple[str, ...], list[Mutation]]:
    """Returns the mutations of each line of a package, by the line's function and text."""
    found: dict[tuple[str, ...], list[Mutation]] = defaultdict(list)
    for file in sorted((ROOT / package).rglob("*.py")):
        path, source = file.relative_to(ROOT).as_posix(), file.read_text("utf-8")
        if only in path:
            texts = source.splitlines()
            for mutation in mutations(path, source):
                found[package, mutation.where, texts[mutation.line - 1].strip()].append(mutation)
    return found


def lot(*words: str) -> bytes:
    """Returns a number that is drawn by words."""
    return hashlib.sha256("\0".join(words).encode()).digest()


# The run ---------------------------------------------------------------------------------------------------


def run(sample: list[Mutation], reach: Reach, options: argparse.Namespace) -> list[Verdict]:
    """Judges each mutant in one of the copies, and prints each verdict."""
    copies: SimpleQueue[Path] = SimpleQueue()
    for number in range(options.workers):
        copies.put(copied(FOLDER / f"copy-{number}"))

    def judge(trial: Trial) -> Verdict:
        copy = copies.get()
        try:
            return judged(copy, trial, max(options.timeout, PATIENCE * trial.seconds))
        finally:
            copies.put(copy)

    trials = [trial(mutation, reach, options.seconds) for mutation in sample]  # SQLite stays in this thread
    verdicts = []
    with ThreadPoolExecutor(options.workers) as pool:
        for verdict in pool.map(judge, trials):
            verdicts.append(verdict)
            print(f"{len(verdicts):>4}/{len(sample)} {line_of(verdict)}", flush=True)
    return verdicts


def trial(mutation: Mutation, reach: Reach, seconds: float) -> Trial:
    """Returns a mutation with the tests that are to notice it: those that reach the line, and if these are few, those
    that reach its file. What an import makes is seen without reaching a line, so the tests of its folder run, too.
    """
    source = (ROOT / mutation.path).read_text("utf-8")
    lines = then(reach.source(mutation.path) or "", source, [mutation.line])
    direct = still_there(reach, tests_of(reach, mutation.path, lines))
    of_file = still_there(reach, reach.tests_of_file(mutation.path))
    near = in_turns(direct & of_file, reach.seconds) + in_turns(direct - of_file, reach.seconds)
    tests = first(near, reach.seconds, seconds)
    if 0 < len(direct) < FEW:
        tests += first(in_turns(of_file - direct, reach.seconds), reach.seconds, seconds)
    if not in_body(source, mutation.line):
        beside = still_there(reach, mirrored(mutation.path, reach.seconds)) - set(tests)
        tests += first(in_turns(beside, reach.seconds), reach.seconds, seconds)
    return Trial(mutation, source, tests, len(direct), sum(reach.seconds.get(test, 0.1) for test in tests))


def in_body(source: str, line: int) -> bool:
    """Tells whether a line is in the body of a function."""
    function = function_at(source, line)
    return function is not None and line >= function.body[0].lineno


def mirrored(path: str, tests: Iterable[str]) -> set[str]:
    """Returns the tests in the folder that has most names of folders in common with a module."""
    names = set(Path(path).parts[:-1])
    shared = {test: len(names & set(test.partition("::")[0].split("/")[:-1])) for test in tests}
    most = max(shared.values(), default=0)
    return {test for test, count in shared.items() if count == most}


def first(tests: Iterable[str], seconds: Mapping[str, float], most: float) -> list[str]:
    """Returns the first tests that take no more than some seconds together."""
    found: list[str] = []
    spent = 0.0
    for test in tests:
        spent += seconds.get(test, 0.1)
        if found and spent > most:
            break
        found.append(test)
    return found


def copied(folder: Path) -> Path:
    """Returns a copy of the tree: the files that git knows, and the new ones."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in {*git("ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0")} - {""}:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    modules = [Path(package).name for package in PACKAGES]
    code = f"import {', '.join(modules)}; print({', '.join(f'{module}.__file__' for module in modules)})"
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=folder.parent, env=environment(folder), capture_output=True, text=True, check=True
    )
    if done.stdout.count(str(folder)) != len(modules):
        raise SystemExit(f"the copy {folder} is not what Python imports, but {done.stdout.strip()}")
    return folder


def environment(copy: Path) -> dict[str, str]:
    """Returns the environment in which Python imports the packages of a copy."""
    folders = {str((copy / package).parent) for package in PACKAGES}
    return os.environ | {"PYTHONPATH": os.pathsep.join(sorted(folders)), "COVERAGE_PROCESS_START": ""}


def judged(copy: Path, trial: Trial, timeout: float) -> Verdict:
    """Runs the tests of a mutant in a copy, which is as before afterwards."""
    was = trial.mutation.before(trial.source)
    if not trial.tests:
        return Verdict(trial.mutation, was, "", 0, 0)
    file = copy / trial.mutation.path
    write(file, trial.mutation.applied(trial.source))
    try:
        return Verdict(
            trial.mutation, was, killer(copy, trial.tests, timeout), len(trial.tests), trial.reached
        )
    finally:
        write(file, trial.source)


def write(file: Path, source: str) -> None:
    """Writes a module and removes what was compiled of it, which may be from the same second."""
    file.write_text(source, "utf-8")
    for compiled in file.parent.glob(f"__pycache__/{file.stem}.*.pyc"):
        compiled.unlink()


def killer(copy: Path, tests: Iterable[str], timeout: float) -> str:
    """Returns the first test that fails, "timeout" if they do not end, or nothing."""
    (copy / "build").mkdir(exist_ok=True)
    chosen, more = chosen_tests.command(list(tests), copy / "build" / "mutant-tests")
    quiet = ("-q", "-x", "-rfE", "--tb=no", "--no-header", "-p", "no:cacheprovider")
    command = [sys.executable, "-m", "pytest", *quiet, *chosen]
    output = copy / "build" / "mutant-output"
    with (
        output.open("wb") as out,
        subprocess.Popen(
            command,
            cwd=copy,
            env=environment(copy) | more,
            stdout=out,
            stderr=out,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        ) as process,
    ):
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return "timeout"
    failed = re.search(
        r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", output.read_text("utf-8", "replace"), re.MULTILINE
    )
    return "" if code in {0, 5} else failed[1] if failed else f"pytest ended with {code}"


def checked(verdicts: list[Verdict], options: argparse.Namespace) -> list[Verdict]:
    """Returns the verdicts without those whose killer fails without the mutant too, which says nothing."""
    killers = sorted({verdict.killer for verdict in verdicts if "::" in verdict.killer})
    sound = set(killers)
    while sound and (failing := killer(FOLDER / "copy-0", sorted(sound), options.timeout)):
        if failing not in sound:
            raise SystemExit(f"the tests do not run without a mutant: {failing}")
        print(f"left out, because it fails without a mutant too: {failing}")
        sound.discard(failing)
    return [one for one in verdicts if "::" not in one.killer or one.killer in sound]


# The report ------------------------------------------------------------------------------------------------


def listed(path: Path) -> dict[tuple[str, str, str], dict[str, str]]:
    """Returns the listed survivors. Raises SystemExit for one without a kind and a reason."""
    found = {}
    for entry in tomllib.loads(path.read_text("utf-8")).get("survivor", []):
        if entry.get("kind") not in KINDS or not entry.get("reason"):
            kinds = ", ".join(KINDS)
            raise SystemExit(f"{path.name}: a survivor needs a kind ({kinds}) and a reason: {entry}")
        found[entry["where"], entry["was"], entry["becomes"]] = entry
    return found


def report(
    verdicts: list[Verdict], known: Mapping[tuple[str, str, str], Mapping[str, str]], least: float
) -> int:
    """Prints the outcome by package and the new survivors, and returns the exit code."""
    survivors = [one for one in verdicts if one.survives]
    equivalent = [one for one in survivors if known.get(one.key, {}).get("kind") == "equivalent"]
    unlisted = [one for one in survivors if one.key not in known]
    for package in PACKAGES:
        ours = [one for one in verdicts if one.mutation.path.startswith(package)]
        if ours:
            print(f"{package}: {sum(not one.survives for one in ours)} of {len(ours)} killed")
    counted = len(verdicts) - len(equivalent)
    rate = (len(verdicts) - len(survivors)) / counted if counted else 1.0
    print(
        f"{len(verdicts) - len(survivors)} of {counted} killed: {rate:.0%}; {len(equivalent)} more are equivalent"
    )
    for one in verdicts:
        if one.key in known and not one.survives:
            print(f"listed in {SURVIVORS.name}, but killed: {line_of(one)}")
    if unlisted:
        print(f"\nNot in {SURVIVORS.name}. Write a test for each, or list it with a kind and a reason:\n")
        print("\n\n".join(map(entry_of, unlisted)))
    return int(rate < least or bool(unlisted))


def line_of(verdict: Verdict) -> str:
    """Returns a verdict as one line."""
    place = f"{verdict.mutation.path}:{verdict.mutation.line}"
    killed = (
        f"killed by {verdict.killer}"
        if verdict.killer
        else f"SURVIVES {verdict.ran} tests ({verdict.reached} reach it)"
    )
    return f"{place} {verdict.was[:60]} → {verdict.mutation.after[:60]}  {killed}"


def entry_of(verdict: Verdict) -> str:
    """Returns a survivor as an entry of the list. JSON's strings are TOML's."""
    lines = {"where": verdict.mutation.where, "was": verdict.was, "becomes": verdict.mutation.after}
    body = "\n".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in lines.items())
    return f'# {verdict.mutation.path}:{verdict.mutation.line}\n[[survivor]]\n{body}\nkind = ""\nreason = ""'


if __name__ == "__main__":
    began = time.monotonic()
    status = main(sys.argv[1:])
    print(f"{time.monotonic() - began:.0f} s")
    sys.exit(status)
