"""Every broken adapter is caught by the rule that it breaks. `nox -s conformance` and `nox -s ways` show that no rule
catches ours.
"""

from pathlib import Path

import pytest
from broken_on_purpose import BROKEN, impostors
from broken_on_purpose.smallest_violations import must

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.rules import behaviour
from ellmer_conformance.runner.against_server import play_direct
from ellmer_conformance.runner.from_cassettes import play
from ellmer_conformance.runner.judgement import judge
from ellmer_conformance.scenarios.cases import all_cases, scripts
from ellmer_conformance.server import StrictServer

pytestmark = pytest.mark.slow

CASES = all_cases()
CASSETTES = Path(__file__).parents[3] / "cassettes"
ADAPTERS = list(vars(BROKEN).values())
PLAYS = [(broken, wire) for broken in ADAPTERS for wire in broken.on]

#: Rules that need a recording or a frozen transcript: `test_recorded_and_replayed.py` breaks them.
ELSEWHERE = {"CAS-01", "CAS-02", "TXT-001"}


#: What follows from a broken request, whatever it broke: refused, it has no answer, and its results are not printed.
CONSEQUENCES = {"TXT-002", "TXT-005"}
#: What follows from a body that belongs to another conversation: nobody said there what it says.
OF_ANOTHER_CONVERSATION = {
    "HIS-011",
    "HIS-012",
    "HIS-013",
    "HIS-014",
    "OPT-006",
    "OPT-007",
    "SCH-026",
    "THK-006",
    "THK-028",
}

IMPOSTORS = list(impostors())


@pytest.fixture(scope="module")
def server():
    with StrictServer(scripts()) as started:
        yield started


def failures(adapter, wire, case, mode, server, *, from_cassette=False, outcomes=("fail",)):
    place = (adapter, wire, adapter.wires[wire][0], CASES[case], mode)
    run = play(*place, cassettes=CASSETTES) if from_cassette else play_direct(*place, server=server)
    assert not (run.trouble and run.trouble.ours), run.trouble
    verdicts = [
        v for v in judge(run) if v.outcome in outcomes and not v.rule.preview
    ]  # a preview fails nobody
    return {v.rule.id: v.violations[0] for v in verdicts}


@pytest.mark.parametrize(("broken", "wire"), PLAYS, ids=[f"{c.name}-{w}" for c, w in PLAYS])
def test_every_broken_adapter_is_caught_by_the_rule_it_breaks(broken, wire, server):
    found = failures(
        *(broken(), wire, broken.case, broken.mode, server),
        from_cassette=broken.from_cassette,
        outcomes=("fail", "warn") if broken.gently else ("fail",),
    )

    assert set(broken.caught_by) <= set(found), found
    assert all(violation.message for violation in found.values())
    assert not strangers(broken, broken.caught_by, found)


@pytest.mark.parametrize("impostor", IMPOSTORS, ids=[f"{i.wire}-{i.rule.id}" for i in IMPOSTORS])
def test_every_rule_of_a_wire_format_catches_who_breaks_it(impostor, server):
    found = failures(impostor, impostor.wire, impostor.case, impostor.mode, server)

    assert impostor.rule.id in found, found
    assert not strangers(impostor, [impostor.rule.id], found) - OF_ANOTHER_CONVERSATION


def strangers(broken, caught_by, found):
    """Returns the broken rules of other groups, except expected ones."""
    groups = {id.partition("-")[0] for id in caught_by} | {"PAIR" if "PAR-" in id else "" for id in caught_by}
    groups |= {"PAR"} if "PAIR" in groups else set()
    return {id for id in found if id.partition("-")[0] not in groups} - {*broken.also} - CONSEQUENCES


def test_every_behaviour_rule_that_must_hold_has_its_broken_adapter():
    must = {rule.id for rule in behaviour.book.rules.values() if rule.level == "MUST"}

    assert must - ELSEWHERE <= {id for broken in ADAPTERS for id in broken.caught_by}


@pytest.mark.parametrize("wire", rules.WIRES)
def test_every_rule_of_a_wire_format_that_must_hold_has_its_broken_adapter(wire):
    wanted = {rule.id for rule in rules.book(wire).rules.values() if must(rule)}
    broken = {i.rule.id for i in IMPOSTORS if i.wire == wire}
    broken |= {id for adapter in ADAPTERS if wire in adapter.on for id in adapter.caught_by}

    assert wanted <= broken
