"""A scenario shows a violation of every rule of the catalogue, or there is a stated reason."""

from click.testing import CliRunner

from ellmer_conformance.cli.rules.list import command
from ellmer_conformance.coverage import BEYOND, CATALOGUE, HELD_BY, reached
from ellmer_conformance.scenarios.cases import all_cases


def test_every_rule_of_the_catalogue_is_accounted_for_once():
    assert len(CATALOGUE) == 150
    assert len({id.partition("-")[0] for id in CATALOGUE}) == 19
    for id in CATALOGUE:
        ways = [id in reached(), id in HELD_BY, id in BEYOND]
        assert ways.count(True) == 1, f"{id}: reached, held by others, beyond reach: {ways}"


def test_who_holds_a_rule_for_another_is_reached():
    assert {rule for rules in HELD_BY.values() for rule in rules} <= {*reached()}


def test_every_scenario_can_show_something():
    assert {*all_cases()} == {case for cases in reached().values() for case in cases}


def test_the_table_is_printed():
    found = CliRunner().invoke(command, ["--cases"]).output

    assert "chunks_anywhere" in found
    assert "STR-018   SHOULD  not reached: " in found
    assert all(id in found for id in CATALOGUE)
