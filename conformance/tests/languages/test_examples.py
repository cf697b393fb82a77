"""The examples in other languages keep the rules. `nox -s node` runs them and skips missing tools."""

import shutil
import subprocess
from pathlib import Path

import pytest
from example_plays import PLAYS

from ellmer_conformance.runner.command import Driver
from ellmer_conformance.runner.judgement import judge
from ellmer_conformance.scenarios.cases import all_cases, scripts
from ellmer_conformance.server import StrictServer

CASES = all_cases()
EXAMPLES = Path(__file__).parents[3] / "examples"

DECLARING = [
    ("two_parallel_tools", "stream"),
    ("half_a_character", "sync"),
    ("refused_answer", "sync"),
    ("refused_answer", "stream"),
    ("tool_returns_image", "sync"),
]


#: Each example's language: what builds it into a folder, and what runs it from there.
LANGUAGES = {
    "ruby": ([], f"ruby {EXAMPLES / 'driver-ruby' / 'driver.rb'}"),
    "node": ([], f"node {EXAMPLES / 'driver-fetch' / 'driver.mjs'}"),
    "go": (["build", "-o", "{folder}/driver", *map(str, EXAMPLES.glob("driver-go/*.go"))], "{folder}/driver"),
    "javac": (["-d", "{folder}", *map(str, EXAMPLES.glob("driver-java/*.java"))], "java -cp {folder} Driver"),
}


@pytest.fixture(scope="module")
def server():
    with StrictServer(scripts()) as started:
        yield started


@pytest.fixture
def judged(server):
    """Returns the run of a command, and its verdicts by the rules' ids."""

    def play(command, case, mode, wire="openai-chat"):
        run = Driver(command).play(wire, wire.partition("-")[0], CASES[case], mode, server=server)
        return run, {v.rule.id: v for v in judge(run)}

    return play


def broken(verdicts):
    return {id: v.violations[0].message for id, v in verdicts.items() if v.outcome == "fail"}


@pytest.mark.parametrize(("case", "mode"), PLAYS)
def test_the_node_example_keeps_every_rule(judged, case, mode):
    node, folder = shutil.which("node"), EXAMPLES / "driver-node"
    if not node or not (folder / "node_modules").is_dir():
        pytest.skip(f"the Node example is not installed: run `npm install` in {folder.name} with Node.js 20")
    assert subprocess.run([node, "--version"], check=True, capture_output=True).stdout

    _, verdicts = judged(f"{node} {folder / 'driver.mjs'}", case, mode, wire="anthropic")

    assert not broken(verdicts)


@pytest.fixture(scope="module", params=LANGUAGES)
def example(request, tmp_path_factory):
    """Returns the command of an example, which is built once."""
    build, command = LANGUAGES[request.param]
    if not shutil.which(request.param):
        pytest.skip(f"there is no {request.param} here")
    folder = tmp_path_factory.mktemp(request.param)
    if build:
        arguments = [each.format(folder=folder) for each in build]
        subprocess.run([request.param, *arguments], check=True, capture_output=True, timeout=120)
    return command.format(folder=folder)


@pytest.mark.parametrize(("case", "mode"), DECLARING)
def test_an_example_with_its_standard_library_keeps_what_it_declares(judged, example, case, mode):
    run, verdicts = judged(example, case, mode)

    assert not broken(verdicts)
    assert bool(run.refused) == (case == "tool_returns_image")
