"""Cases by combination: pairs are covered, names lead back to cases, and a failing one is reduced."""

from dataclasses import replace
from itertools import combinations as of_size
from types import SimpleNamespace

import pytest
from broken_on_purpose import BROKEN

from ellmer_conformance.runner.against_server import play_direct
from ellmer_conformance.runner.judgement import judge
from ellmer_conformance.runner.selection import Play, select
from ellmer_conformance.runner.smallest_part import reduced
from ellmer_conformance.scenarios.combinations import (
    DEFAULT,
    FACTORS,
    case_named,
    combined,
    covering,
    is_possible,
    name_of,
    possible_values,
    row_of,
    simpler,
    usual,
)
from ellmer_conformance.server import StrictServer

PLAIN = {name: values[0] for name, values in FACTORS.items()}
SMALL = {**FACTORS, "tools": ("none", "one"), "result": ("text", "error"), "mode": ("sync", "stream")}


def pairs(rows):
    return {pair for row in rows for pair in of_size(sorted(row.items()), 2)}


def test_every_possible_pair_of_values_occurs():
    rows = covering({**SMALL, "event": ("none", "cut")})
    values = {**SMALL, "event": ("none", "cut")}
    possible = pairs(
        [
            {**PLAIN, one: a, other: b}
            for one, other in of_size(values, 2)
            for a in values[one]
            for b in values[other]
            if is_possible({**PLAIN, one: a, other: b})
        ]
    )

    assert possible <= pairs(rows)
    assert all(is_possible(row) for row in rows)


def test_an_array_is_the_same_every_time_and_another_for_another_seed():
    small = {**FACTORS, "tools": ("none", "one"), "event": ("none", "cut")}

    assert covering(small) == covering(small)
    assert covering(small, "another") != covering(small)


@pytest.mark.parametrize("name", DEFAULT)
def test_a_name_leads_back_to_its_case(name):
    case = case_named(name)

    assert case.name == name == name_of(row_of(case))


@pytest.mark.parametrize("name", ["combined_", "combined_zzzzzzzzzzz", "one_tool", "combined_aabaaaaaaaa"])
def test_other_names_are_no_combinations(name):
    assert case_named(name) is None


def test_the_usual_ones_fit_a_library_that_has_little():
    values = possible_values("cohere", ["sync"], lambda need: True)
    rows = usual(values)

    assert rows
    assert all(row[name] in values[name] for row in rows for name in row)
    assert all(not combined(row).needs for row in rows)


def test_parts_of_a_combination_have_fewer_values():
    row = {**PLAIN, "tools": "nested", "event": "cut", "system": "one", "before": "a turn"}
    parts = list(simpler(row))

    assert parts[0] == PLAIN
    assert {**PLAIN, "tools": "nested", "event": "cut"} in parts
    assert row not in parts


def test_a_failing_combination_is_reduced_to_its_smallest_part():
    adapter = BROKEN.limits_tokens_with_tools()
    case = case_named("combined_bbbeabacdba")
    play = Play(adapter, "openai-chat", "openai", case, "sync", frozen=False, asked="x")

    with StrictServer() as server:

        def play_it(one):
            return play_direct(one.adapter, one.wire, one.provider, one.case, one.mode, server=server)

        run = play_it(play)
        smallest = reduced(play_it, play, run, broken_by(run), broken_by)

    assert row_of(smallest.case) == {**PLAIN, "tools": "one"}
    assert broken_by(smallest) == {"OPT-006"}


def broken_by(run):
    return {verdict.rule.id for verdict in judge(run) if verdict.outcome == "fail"}


def test_a_part_that_breaks_only_some_of_the_rules_does_not_stand_for_the_whole():
    row = {**PLAIN, "tools": "nested", "event": "cut"}
    play = Play(None, "openai-chat", "openai", combined(row), "sync", frozen=False, asked="x")
    shown = {"nested": "SCH-026", "cut": "STR-007"}

    def play_it(one):
        return SimpleNamespace(case=one.case, trouble=None)

    def broken_by(run):
        return {rule for value, rule in shown.items() if value in row_of(run.case).values()}

    run = play_it(play)

    assert reduced(play_it, play, run, {"SCH-026", "STR-007"}, broken_by) is run
    assert row_of(reduced(play_it, play, run, {"STR-007"}, broken_by).case) == {**PLAIN, "event": "cut"}


def test_a_combination_that_passes_is_left_alone():
    case = combined(PLAIN)
    [play] = select([], {"wire": ["openai-chat"], "case": [case.name], "mode": ["sync"]})

    with StrictServer() as server:
        run = play_direct(play.adapter, play.wire, play.provider, play.case, play.mode, server=server)

    assert reduced(lambda _: pytest.fail("it is played again"), play, run, broken_by(run), broken_by) is run
    assert replace(play, case=case).id.endswith("[sync]")


def test_none_of_them_can_be_asked_for():
    names = {p.case.area for p in select([], {"wire": ["openai-chat"]}, combinations="none")}

    assert "combined" not in names
