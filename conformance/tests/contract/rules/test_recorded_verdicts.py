"""The rules against reality: recorded requests, and the real answers of the APIs."""

import json
import re

import pytest
from traffic.recorded import FOLDERS, absent, errors

from ellmer_conformance.contract import readers, rules
from ellmer_conformance.contract.error_texts.error_bodies import ApiError, read_error
from ellmer_conformance.contract.rule import Kind, verdict
from ellmer_conformance.recordings.calibrate import as_json, calibrate
from ellmer_conformance.recordings.lint import lint
from ellmer_conformance.recordings.recorded_requests import Skip, read, request_of, status_of
from ellmer_conformance.recordings.refusal_causes import UNKNOWN, VISIBLE, cause_of
from ellmer_harness.recordings import find

pytestmark = absent


@pytest.fixture(scope="module")
def calibration():
    return calibrate(FOLDERS)


def test_no_request_that_an_api_accepted_is_refused(calibration):
    flagged = [
        f"{case.file} {case.place} {case.rule} {case.pointer}: {case.said}"
        for case in calibration.of("flagged")
    ]
    assert not flagged, "\n".join(flagged)
    assert sum(tally.accepted for tally in calibration.wires.values()) > 200, "there was nothing to judge"


def test_every_refusal_that_a_request_shows_is_caught(calibration):
    missed = [
        f"{case.file} {case.place} [{case.wire}, {case.provider}] {case.said}"
        for case in calibration.of("missed")
    ]
    assert not missed, "\n".join(missed)
    assert sum(tally.caught for tally in calibration.wires.values()) > 10, "there was nothing to catch"


def test_refusals_are_worded_as_the_api_words_them(calibration):
    for wire, tally in calibration.wires.items():
        assert tally.text_equal == tally.caught, f"{wire}: {tally.caught - tally.text_equal} worded otherwise"


def test_the_table_of_causes_knows_every_recorded_refusal(calibration):
    assert not list(calibration.of(UNKNOWN))


def test_the_figures_add_up(calibration):
    found = as_json(calibration)
    for tally in found["wires"].values():
        assert tally["rejected_modelled"] == tally["caught"] + tally["missed"]
    assert not found["unreadable"]
    assert found["rules"]["PAIR-001"]["accepted"] > 0


def test_lint_finds_nothing_wrong_in_what_was_accepted():
    result = lint(FOLDERS)
    wrong = [
        f"{file.path} {c.place} {c.rule} {c.pointer}"
        for file, c in result.complaints
        if c.outcome == "violation" and (c.answered or 0) < 300
    ]
    assert not wrong, "\n".join(wrong)
    told = sum(file.judged + sum(file.skipped.values()) for file in result.files)
    assert told >= len(result.files), "a file was skipped in silence"


def requests():
    for path in find(FOLDERS):
        for recording in read(path) or ():
            request = request_of(recording)
            if not isinstance(request, Skip) and (status_of(recording) or 0) < 300:
                yield path, request


def test_every_accepted_request_can_be_read_and_its_media_decoded():
    media = 0
    for path, request in requests():
        for item in readers.read(request):
            if item.media is not None:
                media += 1
                linked = re.match(r"(https?|gs|s3)://|file[-_]|s3:|files/", item.media.url)
                assert item.media.data or linked, f"{path} {item.pointer} {item.media}"
    assert media > 20


REFUSALS = (
    [
        e
        for e in errors()
        if e["where"] == "http-status" and 400 <= e["status"] < 500 and e["operation"] == "chat"
    ]
    if FOLDERS
    else []
)
WIRES = {
    "openai-chat": "openai-chat",
    "openai-responses": "openai-responses",
    "anthropic-messages": "anthropic",
    "gemini": "gemini",
    "bedrock-converse": "bedrock",
    "cohere-v2": "cohere",
    "ollama": "ollama",
}

# Recorded refusals that no rule words: what is refused there is not known to be refused always.
NOT_MODELLED = [
    "azure-openai error: ",  # a gateway's own front
    'Unknown name "mediaResolution"',
    '"string_type", "loc": ["body", "messages"',
]


def error_of(recorded):
    body = recorded.get("body")
    text = json.dumps(body) if body is not None else recorded.get("text") or ""
    return read_error(recorded["status"], text.encode())


def test_the_table_of_causes_knows_every_error_body():
    unknown = [
        error_of(recorded).message[:200] for recorded in REFUSALS if cause_of(error_of(recorded)) == UNKNOWN
    ]
    assert not unknown, "\n".join(unknown)


def book_of(recorded):
    provider = readers.provider_of(recorded["provider"])
    wire = "mistral" if provider == "mistral" else WIRES[recorded["protocol"]]
    return rules.book(wire, provider)


def test_every_recorded_refusal_is_one_a_rule_can_give():
    unworded = [
        f"{recorded['provider']}: {error.status} {error.type} {error.message}"
        for recorded, error in ((each, error_of(each)) for each in REFUSALS if each["protocol"] in WIRES)
        if cause_of(error) in VISIBLE and not can_be_given(recorded, error)
    ]
    assert not unworded, "\n".join(unworded)


def can_be_given(recorded, error):
    book = book_of(recorded)
    return any(text in error.message for text in NOT_MODELLED) or any(
        rule.kind is Kind.REJECT and says(book, rule, error) for rule in book.rules.values()
    )


def says(book, rule, error):
    """Tells whether a rule's refusal with other facts is this error: same status, type and stable text."""
    for refusal in (rule.refusal, *rule.formerly):
        same = refusal.status == error.status and error.type in {refusal.type, str(refusal.code), ""}
        if same and pattern(refusal.message).fullmatch(error.message.strip()):
            return True
    return any(ours == comparable(error) for ours in refusals(book, rule))


def comparable(error):
    return (error.status, error.type, error.stable)


def refusals(book, rule):
    for body in rule.counterexamples:
        for violation in verdict(rule, book.request(body)).violations:
            for refusal in (rule.refusal, *rule.formerly):
                status, _, answer = book.refuse(violation, refusal)
                yield comparable(read_error(status, answer))


def pattern(template):
    """Returns a template as a pattern. A template of little more than facts matches nothing."""
    pieces = re.split(r"\{\w+\}", template.replace("{{", "\0").replace("}}", "\1"))
    if sum(len(piece.strip()) for piece in pieces) < 12:
        return re.compile(r"(?!)")
    texts = [re.escape(piece.replace("\0", "{").replace("\1", "}")) for piece in pieces]
    return re.compile(".+?".join(texts).rstrip("\\\n"), re.DOTALL)


def test_an_error_is_compared_without_what_changes():
    one = ApiError(400, "", "messages.22: no result for toolu_01Gho1LhNQt7 in req_011")
    two = ApiError(400, "", "messages.4: no result for toolu_99 in req_7")
    assert one.stable == two.stable
    assert one.stable != ApiError(400, "", "messages.4: no call for toolu_99 in req_7").stable
    guess = ApiError(400, "", "property 'store' is unsupported, did you mean 'stop'?")
    assert guess.stable == ApiError(400, "", "property 'store' is unsupported").stable
