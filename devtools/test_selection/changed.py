"""Runs the tests that reach what has changed: `nox -s tests -- --changed [REV]` (default: HEAD).

The map of the tests (`devtools.test_selection.reach`) says which they are. Without a map, or if a quarter of the files has changed since
it was made, all tests run, and this run makes the map again. If the chosen tests take longer than some ten seconds, one of
each function runs first, and the rest is left out until `--all`. A change that no test reaches is an error.

pytest-testmon (2.2.0) was tried: it runs no test, and succeeds, when a function changes that only a process of a test runs,
or a file that a test reads.
"""

# ruff: noqa: S603, T201 - it runs git and pytest, and prints
from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from pathlib import Path, PurePosixPath

from . import chosen_tests
from . import reach as reach_module
from .lines import first_line, function_at, tests_of
from .reach import MAP, PACKAGES, ROOT, TESTS, Reach, then

SECONDS = 5.0  # and the start of pytest
IMPORT = 0.2  # seconds for another file of tests
STALE = 0.25  # of the files
#: More tests than these seconds are worth a second worker.
WORKERS_FROM = 20.0


def main(arguments: list[str]) -> int:
    """Runs the tests and returns the exit code of pytest, or 1 if a change is reached by no test."""
    options = parser().parse_args(arguments)
    try:
        reach = Reach()
    except FileNotFoundError:
        return everything("There is no map of the tests yet.", options.pytest)
    if reason := stale(reach):
        return everything(reason, options.pytest)
    changes = changed_files(options.rev)
    if not changes:
        print(f"Nothing differs from {options.rev}.")
        return 0
    return judged(reach, changes, options)


def parser() -> argparse.ArgumentParser:
    """Returns the command line."""
    found = argparse.ArgumentParser(prog="nox -s tests -- --changed", description=__doc__)
    found.add_argument(
        "rev", nargs="?", default="HEAD", help="what the files are compared with (default: HEAD)"
    )
    found.add_argument("--all", action="store_true", help="run all tests that reach the change")
    found.add_argument("--list", action="store_true", help="print the tests instead of running them")
    found.add_argument("--pytest", nargs=argparse.REMAINDER, default=[], help="the rest goes to pytest")
    return found


def everything(reason: str, arguments: Iterable[str]) -> int:
    """Runs all tests, which makes the map."""
    print(f"{reason} All tests run now, which makes the map: some five minutes.", flush=True)
    return reach_module.main(["-n", "2", "--dist", "worksteal", *arguments])


def stale(reach: Reach) -> str:
    """Returns why the map is not used, or nothing."""
    then_, now = reach.sources(), dict(reach_module.sources())
    differ = [path for path in then_.keys() | now.keys() if then_.get(path) != now.get(path)]
    if len(differ) > STALE * len(then_):
        return f"The map of the tests is stale: {len(differ)} of {len(then_)} files have changed since."
    if differ:
        print(f"{len(differ)} of {len(then_)} files have changed since {MAP} was made. It is still used.")
    return ""


def judged(reach: Reach, changes: Mapping[str, str | None], options: argparse.Namespace) -> int:
    """Runs the tests of all changes."""
    tests: set[str] = set()
    unreached = []
    for path, base in changes.items():
        found = tests_of_change(reach, path, base)
        print(f"{path}: {len(found)} tests")
        tests |= found
        if not found and matters(path, base):
            unreached.append(path)
    seconds = sum(reach.seconds.get(test, 0.1) for test in tests)
    chosen = sorted(tests) if options.all else within(tests, reach.seconds, SECONDS)
    if options.list:
        print(*chosen, sep="\n")
        return 0
    code = run(chosen, reach.seconds, options.pytest) if chosen else 0
    if len(chosen) < len(tests):
        print(
            f"{len(chosen)} of {len(tests)} tests that reach the change ran. All take {seconds:.0f} s: --all"
        )
    if unreached:
        print(f"NO TEST reaches the change of {', '.join(unreached)}: write one, or run all tests.")
    if not tests and not unreached:
        print("The change is nothing that a test could reach. No test ran.")
    return code or int(bool(unreached))


# What has changed ------------------------------------------------------------------------------------------


def changed_files(rev: str) -> dict[str, str | None]:
    """Returns the files that differ from a revision, with their text there (None for a new file)."""
    names = git("diff", "--name-only", "--no-renames", rev).splitlines()
    new = git("ls-files", "--others", "--exclude-standard").splitlines()
    return dict.fromkeys(new) | {name: text_at(rev, name) for name in names}


def git(*arguments: str) -> str:
    """Returns the output of git. Raises SystemExit with its message."""
    command = [shutil.which("git") or "git", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr.decode().strip())
    return done.stdout.decode("utf-8", "replace")


def text_at(rev: str, path: str) -> str | None:
    """Returns a file of a revision, or None."""
    command = [shutil.which("git") or "git", "show", f"{rev}:{path}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    return None if done.returncode else done.stdout.decode("utf-8", "replace")


def changed_lines(base: str, now: str) -> tuple[set[int], set[int]]:
    """Returns the numbers of the lines of `base` that are gone, and of the lines of `now` that are new."""
    gone: set[int] = set()
    new: set[int] = set()
    matcher = SequenceMatcher(a=base.splitlines(), b=now.splitlines(), autojunk=False)
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag != "equal":
            gone |= set(range(start + 1, end + 1))
            new |= set(range(new_start + 1, new_end + 1))
    return gone, new


def matters(path: str, base: str | None) -> bool:
    """Tells whether a test should reach the change: of code that is more than comments, and of what a package reads."""
    if not path.startswith(PACKAGES) or path.endswith(".md"):
        return False
    file = ROOT / path
    if not path.endswith(".py") or base is None or not file.is_file():
        return True
    return code_of(base) != code_of(file.read_text("utf-8"))


def code_of(source: str) -> str:
    """Returns what a file does: its tree without docstrings, comments and layout."""
    found = ast.parse(source)
    for node in ast.walk(found):
        if isinstance(
            node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        ) and ast.get_docstring(node):
            node.body[0] = ast.Pass()
    return ast.dump(found)


# Its tests -------------------------------------------------------------------------------------------------


def tests_of_change(reach: Reach, path: str, base: str | None) -> set[str]:
    """Returns the tests that reach the change of one file: node IDs, or files of tests."""
    file = ROOT / path
    now = file.read_text("utf-8", "replace") if file.is_file() else None
    if path.startswith(PACKAGES) and path.endswith(".py"):
        found = tests_of_code(reach, path, base, now)
    elif path.startswith(tuple(f"{folder}/" for folder in TESTS)) and path.endswith(".py"):
        return tests_of_test_file(path, base, now)
    else:
        found = reach.tests_that_read(path)
    return still_there(reach, found) or (nearest(path) if matters(path, base) else set())


def tests_of_code(reach: Reach, path: str, base: str | None, now: str | None) -> set[str]:
    """Returns the tests of the changed lines; of the whole file if it is gone."""
    source = reach.source(path)
    if source is None:
        return set()
    if now is None:
        return reach.tests_of_file(path)
    gone, new = changed_lines(base or "", now)
    return tests_of(reach, path, then(source, base or "", gone) | then(source, now, new))


def tests_of_test_file(path: str, base: str | None, now: str | None) -> set[str]:
    """Returns the changed tests of a file; all of them if something between them has changed. For a helper, it is the
    files that import it.
    """
    name = PurePosixPath(path).name
    if now is None:
        return set()
    if name == "conftest.py":
        return {str(PurePosixPath(path).parent)}
    if not name.startswith("test_"):
        pattern = re.compile(rf"^\s*(from|import) {PurePosixPath(path).stem}\b", re.MULTILINE)
        return {test for test, text in test_files() if pattern.search(text)}
    gone, new = changed_lines(base or "", now)
    functions = [function_at(now, line) for line in new] + [function_at(base or "", line) for line in gone]
    top = {node for node in ast.parse(now).body if isinstance(node, ast.FunctionDef)}
    if all(one and one.name.startswith("test_") and one in _same(top, one) for one in functions):
        return {f"{path}::{one.name}" for one in functions if one}
    return {path}


def _same(top: Iterable[ast.FunctionDef], one: ast.AST) -> list[ast.AST]:
    """Returns a function as a list, if it is one of those at the top of a file."""
    return [one for other in top if isinstance(one, ast.FunctionDef) and first_line(other) == first_line(one)]


def test_files() -> Iterable[tuple[str, str]]:
    """Yields the files of tests with their text."""
    for path, text in reach_module.sources():
        if path.startswith(TESTS) and PurePosixPath(path).name.startswith("test_"):
            yield path, text


def still_there(reach: Reach, tests: Iterable[str]) -> set[str]:
    """Returns the tests that exist. Those of a file that has changed since the map are named without parameters."""
    texts = dict(test_files())
    found = set()
    for test in tests:
        path, _, name = test.partition("::")
        function = name.partition("[")[0]
        if texts.get(path) == reach.source(path):
            found.add(test)
        elif path in texts and re.search(rf"\bdef {re.escape(function.rpartition('::')[2])}\b", texts[path]):
            found.add(f"{path}::{function}")
    return found


def nearest(path: str) -> set[str]:
    """Returns the files of tests whose name or folder is that of a file that the map does not know."""
    stem, folder = PurePosixPath(path).stem, PurePosixPath(path).parent.name
    tests = [test for test, _ in test_files()]
    named = {test for test in tests if stem in PurePosixPath(test).stem}
    return named or {test for test in tests if PurePosixPath(test).parent.name == folder}


# The run ---------------------------------------------------------------------------------------------------


def within(tests: Iterable[str], seconds: Mapping[str, float], most: float) -> list[str]:
    """Returns tests that take no more than some seconds together: one of each function first, the quick ones first."""
    chosen: list[str] = []
    files: set[str] = set()
    spent = 0.0
    for test in in_turns(tests, seconds):
        file = test.partition("::")[0]
        spent += seconds.get(test, 0.1) + (0 if file in files else IMPORT)
        files.add(file)
        if chosen and spent > most:
            break
        chosen.append(test)
    return sorted(chosen)


def in_turns(tests: Iterable[str], seconds: Mapping[str, float]) -> list[str]:
    """Returns the quickest test of each function, then the second of each, and so on."""
    rank: dict[str, int] = {}
    ranked = []
    for test in sorted(tests, key=lambda test: (seconds.get(test, 0.1), test)):
        function = test.partition("[")[0]
        rank[function] = rank.get(function, -1) + 1
        ranked.append((rank[function], seconds.get(test, 0.1), test))
    return [test for *_, test in sorted(ranked)]


def run(tests: list[str], seconds: Mapping[str, float], arguments: Iterable[str]) -> int:
    """Runs tests with pytest and returns its exit code."""
    workers = ["-n", "2"] if sum(seconds.get(test, 0.1) for test in tests) > WORKERS_FROM else []
    with tempfile.TemporaryDirectory() as folder:
        chosen, more = chosen_tests.command(tests, Path(folder, "tests"))
        command = [sys.executable, "-m", "pytest", "-q", *workers, *chosen, *arguments]
        return subprocess.run(
            command, cwd=ROOT, env=os.environ | {"ALL_TESTS": "1"} | more, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
