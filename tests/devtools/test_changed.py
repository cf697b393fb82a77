"""`nox -s tests -- --changed`: the tests that reach a change run, and a change that no test reaches is an error."""

import pytest


def listed(project, *more):
    done = project.run("test_selection.changed", *more, "--list")
    assert done.returncode == 0, done.stdout + done.stderr
    return {line for line in done.stdout.splitlines() if "::" in line}


SIGNS = {f"tests/test_toy.py::test_sign[{number}]" for number in (2, 3, 4, -1)}


@pytest.mark.parametrize(
    ("old", "new", "tests"),
    [
        ("return -1", "return -2", {"tests/test_toy.py::test_sign[-1]"}),
        ("zero=0", "zero=5", SIGNS),  # a default takes effect where the function runs
        ("LIMIT = 3", "LIMIT = 0", {"tests/test_toy.py::test_within"}),  # a constant where it is mentioned
        ('"shown"', '"hidden"', {"tests/test_toy.py::test_printed"}),  # in a process of its own
        ("    if number < 0:", "    number += 0\n    if number < 0:", SIGNS),  # a new line between two others
        ("    if number < 0:\n        return -1\n", "", SIGNS),  # lines that are gone
    ],
    ids=["body", "default", "constant", "process", "new line", "deleted"],
)
def test_the_tests_of_a_changed_line_are_found(project, old, new, tests):
    project.edit("ellmer_core/__init__.py", old, new)
    assert listed(project) == tests


def test_the_tests_run_and_their_verdict_is_that_of_the_command(project):
    project.edit("ellmer_core/__init__.py", "return -1", "return -2")
    done = project.run("test_selection.changed")
    assert done.returncode == 1
    assert "1 failed" in done.stdout
    project.edit("ellmer_core/__init__.py", "return -2", "return 0 - 1")
    assert project.run("test_selection.changed").returncode == 0


def test_a_change_that_no_test_reaches_is_an_error(project):
    project.edit("ellmer_core/__init__.py", "return 1 + 1", "return 2")
    done = project.run("test_selection.changed")
    assert done.returncode == 1
    assert "NO TEST reaches the change of ellmer_core/__init__.py" in done.stdout


def test_a_comment_needs_no_test(project):
    project.edit("ellmer_core/__init__.py", '"""Returns the sign."""', '"""Returns a sign."""  # of a number')
    done = project.run("test_selection.changed")
    assert done.returncode == 0
    assert "nothing that a test could reach" in done.stdout


def test_a_file_that_a_test_reads_is_changed(project):
    project.edit("tests/data.txt", "data", "other")
    assert listed(project) == {"tests/test_toy.py::test_data"}


def test_a_changed_test_runs(project):
    project.edit("tests/test_toy.py", "within(1)", "within(2)")
    done = project.run("test_selection.changed", "--list")
    assert "tests/test_toy.py::test_within" in done.stdout.splitlines()
    assert "test_sign" not in done.stdout


def test_a_test_that_has_changed_since_the_map_is_named_without_its_parameters(project):
    project.edit("tests/test_toy.py", "[2, 3, 4, -1]", "[2, 5, -1]")
    project.edit("ellmer_core/__init__.py", "return -1", "return -2")
    assert (
        "tests/test_toy.py::test_sign" in project.run("test_selection.changed", "--list").stdout.splitlines()
    )
    assert "2 passed" in project.run("test_selection.changed").stdout.replace("1 failed, ", "")


def test_nothing_has_changed(project):
    done = project.run("test_selection.changed")
    assert (done.returncode, done.stdout.strip()) == (0, "Nothing differs from HEAD.")


def test_an_unknown_revision_is_told(project):
    done = project.run("test_selection.changed", "no-such-revision")
    assert done.returncode == 1
    assert "no-such-revision" in done.stderr


@pytest.mark.parametrize("state", ["missing", "stale"])
def test_without_a_good_map_all_tests_run_and_make_it(project, state):
    if state == "missing":
        (project.folder / "build" / "reach.sqlite").unlink()
    else:
        for number in range(4):
            (project.folder / "ellmer_core" / f"new_{number}.py").write_text("x = 1\n")
    done = project.run("test_selection.changed")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {"missing": "There is no map", "stale": "4 of 14 files have changed"}[state] in done.stdout
    assert "7 passed" in done.stdout
    assert "build/reach.sqlite has 7 tests" in done.stdout
