"""`conformance new-rule`, in a copy of the package: for each wire format the skeleton is a rule that lacks only evidence."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

import ellmer_conformance
from ellmer_conformance.cli import _group
from ellmer_conformance.cli.rules.list import all_rules
from ellmer_conformance.cli.rules.new_rule import file_of
from ellmer_conformance.contract.rules import WIRES, book, books

PACKAGE = Path(ellmer_conformance.__file__).parent
#: Writes a rule for each wire format that is named, and prints what the commands say.
WRITE = """
import sys
from click.testing import CliRunner
from ellmer_conformance.cli import _group
for wire in sys.argv[1:]:
    done = CliRunner().invoke(_group, ["new-rule", "--wire", wire, "--group", "req"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    print(done.output)
"""
#: Prints what the new rules say to their examples.
JUDGE = """
import json, sys
from ellmer_conformance.contract.rules import book
from ellmer_conformance.contract.rule import verdict
from ellmer_conformance.recordings.corpus.evidence import evidence_of
found = {}
for wire in sys.argv[2:]:
    of = book(wire)
    rule = of.rules[sys.argv[1]]
    outcomes = [[str(verdict(rule, of.request(body)).outcome) for body in bodies]
                for bodies in (rule.examples, rule.counterexamples)]
    found[wire] = {"outcomes": outcomes, "refuses": rule.refuses, "evidence": evidence_of(of, rule)}
print(json.dumps(found))
"""


def python(folder, code, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder / "conformance")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def following(group):
    """Returns the ID after those of a group."""
    numbers = [int(rule.id.partition("-")[2]) for rule, _ in all_rules() if rule.group == group]
    numbers += [
        int(id.partition("-")[2]) for each in books() for id in each.rules if id.startswith(f"{group}-")
    ]
    return f"{group}-{max(numbers) + 1:03}"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A copy of the package in which one wire format has a new rule, and the output of the command."""
    folder = tmp_path_factory.mktemp("checkout")
    compiled = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, folder / "conformance" / PACKAGE.name, ignore=compiled)
    shutil.copy(Path(__file__).parents[3] / "pyproject.toml", folder)
    return folder, python(folder, WRITE, WIRES[0])


def test_the_next_id_is_free(written):
    _, output = written
    assert output.startswith(f"{following('REQ')} is in conformance/ellmer_conformance/contract/rules/")
    assert "Fill in:" in output


@pytest.fixture(scope="module")
def every_wire(written):
    """The same copy, in which the other wire formats have the same new rule."""
    folder, _ = written
    python(folder, WRITE.replace('"--group", "req"', f'"--id", "{following("REQ")}"'), *WIRES[1:])
    return folder


def test_a_skeleton_catches_its_counterexample_and_lacks_evidence(every_wire):
    found = json.loads(python(every_wire, JUDGE, following("REQ"), *WIRES))
    wanted = {"outcomes": [["pass"], ["fail"]], "refuses": True, "evidence": []}
    assert found == dict.fromkeys(WIRES, wanted)


def test_the_evidence_has_an_empty_entry(every_wire):
    folder = every_wire / "conformance" / PACKAGE.name
    for wire in WIRES:
        (file,) = folder.rglob(f"{wire.replace('-', '_')}/evidence.toml")
        text = file.read_text("utf-8")
        assert tomllib.loads(text)[book(wire).provider][following("REQ")] == []
        (before,) = PACKAGE.rglob(f"{wire.replace('-', '_')}/evidence.toml")
        assert set(before.read_text("utf-8").splitlines()) <= set(text.splitlines())


@pytest.mark.skipif(not shutil.which("ruff"), reason="ruff is not installed")
def test_a_skeleton_has_the_style_of_the_others(every_wire):
    folder = next((every_wire / "conformance" / PACKAGE.name).rglob("rules"))
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            ["ruff", *command, "--no-cache", folder],
            cwd=every_wire,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ["--wire", "cohere", "--id", "REQ-004"],
            "cohere already has a rule REQ-004: The request has no field of version 1",
        ),
        (["--wire", "cohere", "--id", "req4"], "req4 is not an ID of a rule, such as ORD-002."),
        (["--wire", "cohere", "--id", "XYZ-001"], "There is no group XYZ. The groups are APR, "),
        (["--wire", "cohere", "--group", "xyz"], "There is no group XYZ. The groups are APR, "),
        (["--wire", "cohore"], "there are no rules for the wire format 'cohore'"),
        ([], "Missing option '--wire'"),
    ],
)
def test_what_cannot_be_written_is_told(arguments, problem):
    done = CliRunner().invoke(_group, ["new-rule", *arguments])
    assert done.exit_code == 2
    assert problem.lower() in " ".join(done.output.lower().split())


@pytest.mark.parametrize(
    ("group", "file"), [("STO", "body_structure.py"), ("ORD", "order.py"), ("MED", "body_structure.py")]
)
def test_a_rule_goes_to_its_group_in_this_format_or_in_the_others(group, file):
    assert file_of(book("cohere"), group).name == file
