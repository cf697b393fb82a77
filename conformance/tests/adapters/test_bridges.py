"""The raw SDKs in the bridges' loop are the control: what they break, they break by themselves. And the peers' pages."""

import importlib
import json
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from ellmer_conformance.adapters import Adapter, anthropic, google_genai, openai
from ellmer_conformance.runner.against_server import play_direct
from ellmer_conformance.runner.judgement import judge
from ellmer_conformance.scenarios.cases import all_cases, scripts
from ellmer_conformance.server import StrictServer

PEERS = Path(__file__).parents[2] / "peers"
RESULTS = sorted((PEERS / "results").glob("*.json"))
CASES = all_cases()
ADAPTERS = {each.name: each for each in (openai.adapter(), anthropic.adapter(), google_genai.adapter())}
PLACES = [(name, wire, vendors[0]) for name, each in ADAPTERS.items() for wire, vendors in each.wires.items()]
PLAYS = [
    ("tool_returns_mixed_list", "sync"),
    ("two_parallel_tools", "async"),
    ("result_then_text", "stream"),
    ("dangling_call", "async-stream"),
    ("length_inside_text", "stream"),
    ("tool_error", "sync"),
    ("structured_answer", "sync"),
    ("structured_misfit", "async"),
]


@pytest.fixture(scope="module")
def server():
    with StrictServer(scripts()) as started:
        yield started


@pytest.mark.parametrize(("case", "mode"), PLAYS)
@pytest.mark.parametrize("place", PLACES, ids="/".join)
def test_the_bridge_to_a_raw_sdk_leaves_nothing_to_be_desired(server, place, case, mode):
    name, wire, vendor = place
    run = play_direct(ADAPTERS[name], wire, vendor, CASES[case], mode, server=server)

    assert [v.violations[0].message for v in judge(run) if v.outcome == "fail"] == []
    assert isinstance(ADAPTERS[name], Adapter)


@pytest.mark.parametrize("place", [p for p in PLACES if p[1] != "openai-responses"], ids="/".join)
def test_the_raw_sdks_take_a_cut_stream_for_whole(server, place):
    name, wire, vendor = place
    run = play_direct(ADAPTERS[name], wire, vendor, CASES["cut_before_the_end"], "stream", server=server)

    assert "STR-007" in {v.rule.id for v in judge(run) if v.outcome == "fail"}


@pytest.mark.parametrize(
    ("name", "wire", "named"),
    [
        ("openai", "openai-chat", True),
        ("openai", "openai-responses", False),
        ("anthropic", "anthropic", False),
        ("google-genai", "gemini", True),
    ],
)
def test_what_the_raw_sdks_say_of_a_value_that_the_limit_cut(server, name, wire, named):
    vendor = ADAPTERS[name].wires[wire][0]
    run = play_direct(ADAPTERS[name], wire, vendor, CASES["structured_too_short"], "sync", server=server)

    assert run.replies[0].error
    assert ("STO-004" not in {v.rule.id for v in judge(run) if v.outcome == "fail"}) == named


@pytest.fixture
def page(monkeypatch):
    """The script that makes the pages."""
    monkeypatch.syspath_prepend(PEERS)
    return importlib.import_module("page")


@pytest.fixture
def failures(page):
    """Its room of cells and causes."""
    return sys.modules["failures"]


def test_the_peers_pages_are_those_of_the_results(page):
    (overview, text), *details = page.pages()

    assert (page.DOCS / overview).read_text("utf-8") == text, "run conformance/peers/page.py"
    assert {path for path, _ in details} == {f"peers/{path.stem}.md" for path in RESULTS}


def pinned(peer):
    """The versions that a library is played with: its environment's, or its example's lock file's."""
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
