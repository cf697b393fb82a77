"""The raw SDKs in the bridges' loop are the control: their violations are their own."""

import pytest
from ellmer_peers import anthropic, google_genai, openai

from ellmer_conformance.adapters import Adapter
from ellmer_conformance.report import judged
from ellmer_conformance.runner.against_server import play_direct
from ellmer_conformance.runner.judgement import judge
from ellmer_conformance.runner.reproduction import play_again
from ellmer_conformance.scenarios.cases import all_cases, scripts
from ellmer_conformance.server import StrictServer

CASES = all_cases()
CALLED = ("openai-chat", "openai")
ADAPTERS = {each.name: each for each in (openai.adapter(), anthropic.adapter(), google_genai.adapter())}
PLACES = [
    (name, wire, providers[0]) for name, each in ADAPTERS.items() for wire, providers in each.wires.items()
]
PLAYS = [
    ("tool_returns_mixed_list", "sync"),
    ("two_parallel_tools", "async"),
    ("result_then_text", "stream"),
    ("dangling_call", "async-stream"),
    ("length_inside_text", "stream"),
    ("tool_error", "sync"),
    ("structured_answer", "sync"),
    ("structured_misfit", "async"),
    ("calls_with_one_id", "sync"),
    ("calls_with_one_id", "async-stream"),
    ("foreign_history", "sync"),
]


@pytest.fixture(scope="module")
def server():
    with StrictServer(scripts()) as started:
        yield started


@pytest.mark.parametrize(("case", "mode"), PLAYS)
@pytest.mark.parametrize("place", PLACES, ids="/".join)
def test_the_bridge_to_a_raw_sdk_leaves_nothing_to_be_desired(server, place, case, mode):
    name, wire, provider = place
    run = play_direct(ADAPTERS[name], wire, provider, CASES[case], mode, server=server)

    assert [v.violations[0].message for v in judge(run) if v.outcome == "fail"] == []
    assert isinstance(ADAPTERS[name], Adapter)


@pytest.mark.parametrize("place", [p for p in PLACES if p[1] != "openai-responses"], ids="/".join)
def test_the_raw_sdks_take_a_cut_stream_for_whole(server, place):
    name, wire, provider = place
    run = play_direct(ADAPTERS[name], wire, provider, CASES["cut_before_the_end"], "stream", server=server)

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
    provider = ADAPTERS[name].wires[wire][0]
    run = play_direct(ADAPTERS[name], wire, provider, CASES["structured_too_short"], "sync", server=server)

    assert run.replies[0].error
    assert ("STO-004" not in {v.rule.id for v in judge(run) if v.outcome == "fail"}) == named


def test_what_is_shown_of_a_variation_is_what_was_answered_under_it(capsys):
    with StrictServer(scripts()) as server:
        run = play_direct(openai.adapter(), *CALLED, CASES["not_an_answer"], "sync", server=server)
    found = judged("openai", run, judge(run))
    failed = next(row for row in found.rows if row.rule == "ERR-007")

    assert (failed.verdict, failed.pointer) == ("fail", "/varied/error-200")
    assert "Something went wrong upstream" in found.exchanges[failed.exchange]["answer"]
    assert play_again("openai", *CALLED, "not_an_answer", "sync", rule="ERR-007") == 0
    assert "Something went wrong upstream" in capsys.readouterr().out
