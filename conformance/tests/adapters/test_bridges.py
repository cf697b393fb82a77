"""The peers' pages agree with the results, and each failing cell has its evidence."""

import importlib
import json
import re
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from ellmer_conformance.scenarios.messages import Text, Tool

PEERS = Path(__file__).parents[2] / "peers"
RESULTS = sorted((PEERS / "results").glob("*.json"))


@pytest.fixture
def page(monkeypatch):
    """The script that makes the pages."""
    monkeypatch.syspath_prepend(PEERS)
    return importlib.import_module("page")


@pytest.fixture
def failures(page):
    """The module of cells and causes."""
    return sys.modules["failures"]


def test_the_peers_pages_are_those_of_the_results(page):
    (overview, text), *details = page.pages()

    assert (page.DOCS / overview).read_text("utf-8") == text, "run conformance/peers/page.py"
    written = {path for path, _ in details}
    assert {f"peers/{path.stem}.md" for path in RESULTS} <= written
    linked = set(re.findall(r"\]\((peers/[\w-]+\.md)", text))
    assert linked <= written
    assert text.startswith(f"# Conformance of {len(RESULTS)} libraries, as of 20")


def test_every_score_has_a_badge(page):
    written = dict(list(page.pages())[1:])
    for path, text in written.items():
        for badge in re.findall(r"\]\((badges/\S+\.svg)\)", text):
            assert "<title>" in written[f"peers/{badge}"], path
    assert "· 2026-" in written["peers/badges/chatlas-anthropic.svg"]


def pinned(peer):
    """The versions with which a library is tested: those of its environment, or of its example's lock file."""
    lock = PEERS.parents[1] / "examples" / f"driver-{peer}" / "package-lock.json"
    if not lock.is_file():
        return (PEERS / "pins" / f"{peer}.txt").read_text("utf-8").splitlines()
    packages = json.loads(lock.read_text("utf-8"))["packages"]
    return [f"{name.removeprefix('node_modules/')}=={each.get('version')}" for name, each in packages.items()]


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_every_failing_cell_has_its_evidence_and_a_short_script(path):
    result = json.loads(path.read_text("utf-8"))

    assert all(f"{name}=={number}" in pinned(result["peer"]) for name, number in result["versions"].items())
    for cell in result["cells"]:
        compile(cell["script"], "repro.py", "exec")
        assert cell["script"].count("\n") <= 30
        assert cell["shown"]["pointer"]
        assert cell["exchange"] or cell["kind"] == "loss"
        assert result["verdicts"][cell["wire"]][cell["rule"]] == "fail"


@pytest.mark.parametrize("path", sorted((PEERS / "pins").glob("*.txt")), ids=lambda path: path.stem)
def test_every_environment_has_what_the_suite_needs(path):
    project = tomllib.loads((PEERS.parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["harness"], *extras["conformance"]]
    names = {Requirement(each).name for each in wanted} - {project["name"]}

    assert names <= {line.partition("==")[0].lower() for line in pinned(path.stem)}


def test_causes_speak_of_cells_that_there_are(failures):
    results = {path.stem: json.loads(path.read_text("utf-8")) for path in RESULTS}
    whys = {cell["why"] for result in results.values() for cell in failures.placed(result, results).values()}

    assert {entry["why"] for entry in failures.causes()} <= whys


@pytest.mark.parametrize(
    ("plays", "pointer", "expected"),
    [
        (["tool_error[sync]"], "/exchanges/1", "follows"),
        (["tool_error[sync]", "tool_error[stream]"], "/exchanges/1", "loss"),
        (["tool_error[sync]"], "/varied/comments", "loss"),
    ],
)
def test_what_is_missing_after_an_error_is_no_loss_of_its_own(failures, plays, pointer, expected):
    lost = {"cause": "loss", "plays": plays, "shown": {"pointer": pointer}}
    raised = {"cause": "error", "plays": ["tool_error[sync]"]}

    assert (lost | failures.after_error(lost, raised))["cause"] == expected
    assert failures.after_error(lost, raised | {"cause": "caller"}) == {}


def test_every_cause_of_the_libraries_that_were_read_has_its_line(page):
    """And each line is of a cause that there is."""
    findings = sys.modules["findings"]
    entries = findings.findings()
    for peer in {entry["peer"] for entry in entries}:
        result = json.loads((PEERS / "results" / f"{peer}.json").read_text("utf-8"))
        pairs = findings.read(result, entries)

        assert [cause for cause, entry in pairs if entry is None] == []
        assert len(pairs) == sum(entry["peer"] == peer for entry in entries), peer
    assert {entry["state"] for entry in entries} <= set(findings.STATES)


def test_the_page_of_a_library_has_the_lines_of_its_causes(page):
    written = dict(page.pages())
    entries = sys.modules["findings"].findings()
    assert [each for each in entries if f"`{each['line']}`" not in written[f"peers/{each['peer']}.md"]] == []
    assert len(written["peers.md"]) < 40_000


def test_the_loop_for_sdks_runs_the_calls_of_an_answer_that_says_stop(monkeypatch):
    monkeypatch.syspath_prepend(PEERS)
    conversation = importlib.import_module("ellmer_peers.sdk_conversation")
    answers = [
        conversation.ModelAnswer("", ["called"], "stop", [("a", "get_weather", "{}")]),
        conversation.ModelAnswer("Rain.", ["answered"], "stop"),
    ]
    fakes = {"user": lambda _, results, parts: [r.value for r in results], "assistant": None, "aask": None}
    scripted = type(
        "Scripted", (conversation.SDKSession,), {**fakes, "ask": lambda _, stream: answers.pop(0)}
    )
    weather = Tool("get_weather", "The weather.", run=lambda: "9C")

    session = scripted(None, None, [weather], [])

    assert session.send([Text("Well?")]).stop == "stop"
    assert session.messages == ["called", "9C", "answered"]
