"""Bugs of clients from trackers, and bugs that somebody planted who had not read the rules: each is active, ends, and fails as MUST
by the right rule, over five wire formats, and the last two lists over all eight.

By default each bug is played once, with the wire format and the mode taking turns. `ALL_MINED_BUGS=1` plays each of them with
every wire format and mode.
"""

import os
import re

import pytest
from broken_on_purpose.listed import (
    clients,
    forms,
    kinds,
    later,
    mixed,
    outsiders,
    places,
    reported,
    strangers,
    threads,
    trackers,
    turns,
    unlisted,
    values,
)
from broken_on_purpose.listed.mined import CHANGES, MINED, REPLIES, MinedAdapter

from ellmer_conformance.contract.readers import MODULES
from ellmer_conformance.runner.against_server import play_direct
from ellmer_conformance.runner.judgement import judge
from ellmer_conformance.scenarios.cases import all_cases, scripts
from ellmer_conformance.scenarios.combinations import case_named
from ellmer_conformance.server import StrictServer

pytestmark = pytest.mark.slow

CASES = all_cases()
BUGS = [
    *MINED.values(),
    *reported.REPORTED.values(),
    *strangers.STRANGERS.values(),
    *threads.THREADS.values(),
    *unlisted.UNLISTED.values(),
    *outsiders.OUTSIDERS.values(),
    *trackers.TRACKERS.values(),
    *clients.CLIENTS.values(),
    *later.LATER.values(),
    *places.PLACES.values(),
    *turns.TURNS.values(),
    *values.VALUES.values(),
    *kinds.KINDS.values(),
    *forms.FORMS.values(),
    *mixed.MIXED.values(),
]
#: Only a SHOULD says it: the part of the stream that is lost comes back in the whole text, or the format does not allow what it fails at.
GENTLE = {"pieces_lost", "null_deltas_fail", "null_events_fail"}


def case_of(bug):
    return case_named(bug.case) or CASES[bug.case]


def provider_of(bug, wire):
    return bug.provider or MODULES[wire].PROVIDER


def plays_of(bug):
    """Returns every play of a bug."""
    case = case_of(bug)
    return [
        (bug, wire, mode)
        for wire in bug.wires
        for mode in bug.modes
        if not case.why_not(wire, provider_of(bug, wire)) and (case.area == "combined" or mode in case.modes)
    ]


def chosen():
    """Returns all plays, or one for each bug."""
    plays = [plays_of(bug) for bug in BUGS]
    if os.environ.get("ALL_MINED_BUGS"):
        return [play for each in plays for play in each]
    return [each[number % len(each)] for number, each in enumerate(plays)]


@pytest.fixture(scope="module")
def server():
    with StrictServer(scripts()) as started:
        yield started


@pytest.mark.parametrize(
    ("bug", "wire", "mode"),
    [pytest.param(*play, id=f"{play[0].name}-{play[1]}-{play[2]}") for play in chosen()],
)
def test_a_bug_fails_by_the_right_rule(bug, wire, mode, server):
    adapter = MinedAdapter(bug, mode)

    run = play_direct(adapter, wire, provider_of(bug, wire), case_of(bug), mode, server=server)
    failed = {v.rule.id for v in judge(run) if v.outcome == "fail" and v.rule.level == "MUST"}

    assert adapter.changed
    assert failed & {*bug.rules} or bug.name in GENTLE, failed
    assert len(run.replies) == len(run.case.steps)


def test_every_listed_bug_is_there_and_has_a_form_of_its_own():
    assert len(MINED) >= 120
    assert {*MINED} == {*CHANGES} | {*REPLIES}
    assert {*strangers.STRANGERS} == {*strangers.CHANGES} | {*strangers.REPLIES} | {*strangers.ANSWERS}
    assert {*threads.THREADS} == {*threads.CHANGES} | {*threads.REPLIES} | {*threads.ANSWERS}
    assert {*unlisted.UNLISTED} == {*unlisted.CHANGES} | {*unlisted.REPLIES} | {*unlisted.ANSWERS}
    assert {*outsiders.OUTSIDERS} == {*outsiders.CHANGES} | {*outsiders.REPLIES} | {*outsiders.ANSWERS}
    assert {*trackers.TRACKERS} == {
        *trackers.CHANGES,
        *trackers.REPLIES,
        *trackers.ANSWERS,
        *trackers.CHUNKS,
    }
    assert {*clients.CLIENTS} == {*clients.CHANGES, *clients.REPLIES, *clients.ANSWERS, *clients.CHUNKS}
    assert {*later.LATER} == {*later.CHANGES, *later.REPLIES, *later.ANSWERS}
    assert {*places.PLACES} == {*places.CHANGES, *places.ANSWERS, *places.CHUNKS}
    assert {*forms.FORMS} == {
        *forms.CHANGES,
        *forms.REPLIES,
        *forms.ANSWERS,
        *forms.CHUNKS,
        *forms.HEADERS,
    }
    assert {*mixed.MIXED} == {
        *mixed.CHANGES,
        *mixed.REPLIES,
        *mixed.ANSWERS,
        *mixed.CHUNKS,
        *mixed.HEADERS,
    }
    assert {*turns.TURNS} == {*turns.CHANGES, *turns.REPLIES, *turns.ANSWERS}
    assert {*values.VALUES} == {*values.CHANGES, *values.REPLIES, *values.ANSWERS, *values.CHUNKS}
    assert {*reported.REPORTED} == {
        *reported.CHANGES,
        *reported.REPLIES,
        *reported.ANSWERS,
        *reported.CHUNKS,
    }
    assert len({bug.name for bug in BUGS}) == len(BUGS)


def test_threads_are_threads():
    for bug in BUGS:
        assert not bug.thread or re.fullmatch(r"[\w.-]+/[\w.-]+/(issues|pull)/\d+", bug.thread), bug.name

    from_trackers = [
        *MINED.values(),
        *reported.REPORTED.values(),
        *threads.THREADS.values(),
        *trackers.TRACKERS.values(),
        *clients.CLIENTS.values(),
        *places.PLACES.values(),
        *turns.TURNS.values(),
        *values.VALUES.values(),
    ]
    assert all(bug.thread for bug in from_trackers)
    linked = [bug.thread for bug in BUGS if bug.thread]
    assert len(linked) == len({*linked}) >= 300
