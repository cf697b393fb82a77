"""Variations change only their own part."""

import json
from pathlib import Path

import pytest

from ellmer_conformance.adapters.endpoints import PROVIDER_ADDRESSES
from ellmer_conformance.runner.replay_under_variations import Replays
from ellmer_conformance.runner.selection import find_adapter
from ellmer_conformance.scenarios.cases import all_cases, scripts
from ellmer_conformance.scenarios.script import Delivery
from ellmer_conformance.scenarios.variations import VARIATIONS, VariedAnswer, named, possible, variation
from ellmer_conformance.scenarios.variations.event_rewriting import sizes

CASSETTES = Path(__file__).parents[3] / "cassettes"
HOMES = sorted({wire: (wire, provider) for wire, provider in reversed(PROVIDER_ADDRESSES)}.values())
VARIED = [case for case in all_cases().values() if case.variations]
CHUNKED = [name for name, one in VARIATIONS.items() if one.rule in {"STR-001", "STR-002"}]


def answers(case, wire, provider, mode):
    """Returns the answers of a recording as they were sent, with each event as a write."""
    with Replays(find_adapter("ellmer-core"), wire, provider, case, mode, cassettes=CASSETTES) as replays:
        responses = [exchange.response for exchange in replays.play().exchanges]
    whole = [VariedAnswer(wire, one.status, one.headers, (one.body,)) for one in responses]
    return [answer.cut(*sizes(answer)) for answer in whole]


def changes(one, found):
    return any(one.change(answer) != answer for answer in found)


def test_each_says_in_words_what_is_unusual():
    every = [*VARIATIONS.values(), *named(["split:1", "random:1", "cut:1", "reset:1", "stall:1"])]

    assert [one.name for one in every if not one.description or set("()") & set(one.description)] == []
    assert variation("cr").told == "cr (lines end in CR alone)"


@pytest.mark.parametrize("mode", ["sync", "stream"])
@pytest.mark.parametrize(("wire", "provider"), HOMES)
def test_each_changes_an_answer_of_its_case(wire, provider, mode):
    idle = []
    for case in VARIED:
        named_so = named(name.replace("*", "1") for name in case.variations)
        ways = [one for one in named_so if one.befalls(wire, streamed=mode == "stream")]
        found = answers(case, wire, provider, mode) if ways and wire not in case.inexpressible else []
        idle += [(case.name, one.name) for one in ways if found and not changes(one, found)]

    assert not idle


@pytest.mark.parametrize("name", CHUNKED)
def test_chunks_are_of_the_same_bytes(name):
    body = "data: {}\n\n" * 60 + "data: 👩‍👩‍👧\n\n"
    before = VariedAnswer("openai-chat", 200, {"content-type": "text/event-stream"}, (body.encode(),))

    after = variation(name).change(before)

    assert after.body == before.body
    assert name == "whole" or len(after.writes) > 1


def test_every_variation_is_played():
    played = {one.name for case in VARIED for one in possible(case.variations)}

    assert {*VARIATIONS} <= played


def test_a_variation_that_is_none_is_refused_with_those_there_are():
    with pytest.raises(LookupError, match="there is no variation 'sideways'; there are every-byte, "):
        variation("sideways")


def test_the_server_knows_each_case_under_each_of_its_variations():
    known = scripts()

    for case in VARIED:
        for one in possible(case.variations):
            steps = known[f"{case.name}~{one.name}"].steps
            varied = [step for step in steps if isinstance(step, Delivery) and step.variation == one.name]
            assert len(varied) == (1 if one.first else len(steps))


def calling(index, **function):
    delta = {"tool_calls": [{"index": index, "function": function}]}
    return f"data: {json.dumps({'choices': [{'index': 0, 'delta': delta}]})}\n\n"


def test_arguments_that_arrive_crosswise_take_turns():
    events = [
        calling(0, name="a"),
        calling(0, arguments="1"),
        calling(1, name="b"),
        calling(1, arguments="2"),
    ]
    stream = "".join(events).encode()

    after = variation("crosswise").change(
        VariedAnswer("openai-chat", 200, {"content-type": "text/event-stream"}, (stream,))
    )

    places = [after.body.index(word) for word in (b'"a"', b'"b"', b'"1"', b'"2"')]
    assert places == sorted(places)
