"""Every creature of the zoo is caught by the rule that it breaks, and ours by none."""

import pytest

from ellmer_conformance.adapters.ellmer_core import EllmerCore
from ellmer_conformance.adapters.zoo import ZOO
from ellmer_conformance.cases import all_cases, scripts
from ellmer_conformance.direct import play_direct
from ellmer_conformance.rules import behaviour
from ellmer_conformance.runner import judge
from ellmer_conformance.server import StrictServer

CASES = all_cases()
CREATURES = list(vars(ZOO).values())
CAGES = [(creature, wire) for creature in CREATURES for wire in creature.on]

#: Rules that need a recording or a frozen transcript: `test_suite.py` breaks them.
ELSEWHERE = {"CAS-01", "CAS-02", "TXT-001"}


@pytest.fixture(scope="module")
def server():
    with StrictServer(scripts()) as started:
        yield started


def failures(adapter, wire, case, mode, server):
    run = play_direct(adapter, wire, adapter.wires[wire][0], CASES[case], mode, server=server)
    return {v.rule.id: v.violations[0] for v in judge(run) if v.outcome == "fail"}


@pytest.mark.parametrize(("creature", "wire"), CAGES, ids=[f"{c.name}-{w}" for c, w in CAGES])
def test_every_creature_is_caught_by_the_rule_it_breaks(creature, wire, server):
    found = failures(creature(), wire, creature.case, creature.mode, server)

    assert set(creature.caught_by) <= set(found), found
    assert all(violation.message for violation in found.values())


@pytest.mark.parametrize(
    ("case", "wire", "mode"), sorted({(c.case, wire, c.mode) for c in CREATURES for wire in c.on})
)
def test_ours_is_caught_by_none(case, wire, mode, server):
    assert not failures(EllmerCore(), wire, case, mode, server)


def test_every_behaviour_rule_that_must_hold_has_its_creature():
    must = {rule.id for rule in behaviour.book.rules.values() if rule.level == "MUST"}

    assert must - ELSEWHERE <= {id for creature in CREATURES for id in creature.caught_by}
