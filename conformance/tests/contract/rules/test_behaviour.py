"""Every behaviour rule gets a run that keeps it and a run that breaks it."""

import re

import pytest
from broken_answers import ANSWERS
from broken_on_purpose import BROKEN, every_play, features, invented, lost_or_added_content
from broken_requests import REQUESTS
from broken_sessions import SESSIONS
from coherent_runs import failed, failing, short, short_call, two_tools

from ellmer_conformance.contract.rule import verdict
from ellmer_conformance.contract.rules.behaviour import book

#: rule id: (a run that keeps it, how to break it)
BREAKS = {**REQUESTS, **ANSWERS, **SESSIONS}


#: Values as Python prints them, and plurals of one thing.
FOR_PROGRAMS = re.compile(
    r"(?<!\w)\('|',\)|Counter\(|frozenset|dict_|mappingproxy|\b1 (times|calls|results|requests|answers)\b"
)


def test_every_behaviour_rule_has_its_counterexample():
    new = (every_play.__name__, features.__name__, lost_or_added_content.__name__, invented.__name__)
    by_adapters = {id for c in vars(BROKEN).values() if c.__module__.startswith(new) for id in c.caught_by}

    assert set(BREAKS) | by_adapters == set(book.rules)


@pytest.mark.parametrize("id", BREAKS)
def test_a_run_that_keeps_the_rule_passes(id):
    keeping, _ = BREAKS[id]

    found = verdict(book.rules[id], keeping())

    assert found.outcome == "pass", [v.message for v in found.violations]


@pytest.mark.parametrize("id", BREAKS)
def test_a_run_that_breaks_the_rule_is_caught(id):
    keeping, breaking = BREAKS[id]

    found = verdict(book.rules[id], breaking(keeping()))

    assert found.violations
    assert all(v.pointer.startswith("/") and v.message for v in found.violations)
    assert not [v.message for v in found.violations if FOR_PROGRAMS.search(v.message)]


@pytest.mark.parametrize("coherent", [two_tools, failing, failed, short, short_call])
def test_a_good_run_breaks_nothing(coherent):
    run = coherent()

    broken = [v.rule.id for v in (verdict(rule, run) for rule in book.rules.values()) if v.violations]

    assert not broken
