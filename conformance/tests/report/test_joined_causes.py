"""One mistake of a library is one cause, from whatever side its failures show it."""

from dataclasses import replace
from itertools import permutations

import pytest

from ellmer_conformance.report import Report, Row
from ellmer_conformance.report.causes import causes
from ellmer_conformance.report.formats.terminal import verdict
from ellmer_conformance.report.rows import fingerprint


def failed(rule, pointer, message, wire="openai-chat", case="one_tool", *, mode="sync", kind="loss"):
    return Row("theirs", wire, "anywhere", case, mode, rule, "MUST", kind, "fail", 1, pointer, message)


def rules_of(*rows):
    return sorted("+".join(sorted({row.rule for row in cause.rows})) for cause in causes(Report([*rows])))


END = failed("STR-007", "/varied/cut:1", "cut (cut:1), the answer was taken for complete", mode="stream")
PAGE = failed(
    "ERR-006", "/varied/page-200", "under page-200, no error was raised", case="page", mode="stream"
)
MISFIT = failed("STO-003", "/replies/0", '\'{"age":"unknown"}\' was handed over', case="misfit")
TOO_SHORT = failed("STO-004", "/replies/0", '\'{"name": "Ada Lo\' was handed over', case="short")
AS_TEXT = failed(
    "TRM-002", "/exchanges/1/request/contents/2", "a file in base64", "gemini", "image", kind="reject"
)
DROPPED = failed("TRM-010", "/exchanges/1/request/contents/2", "the media were dropped", "gemini", "svg")
INVENTED = failed("SYS-010", "/exchanges/0/request", "the caller did not say '[empty string]'")
IN_A_TURN = failed(
    "HIS-011", "/exchanges/1/request", "the model did not say '[empty string]' here", case="empty"
)
WITH_QUOTES = (
    replace(INVENTED, message="""the caller did not say "I don't know." """),
    replace(IN_A_TURN, message="""the model did not say "I don't know." here"""),
)
MISREAD = replace(
    failed("TXT-005", "/replies/0", "the text is 'tick', the model said 'tick tick'"), seen="a1"
)
GOES_BACK = replace(
    failed("HIS-006", "/exchanges/1/request", "its text is changed: the model said 'tick tick'", case="back"),
    seen="a1",
)
RAISED = failed(
    "RUN-003",
    "/replies/0",
    "the call raised TypeError: Object of type KeyError is not JSON serializable\n"
    "  raised at json/encoder.py:180 in default()",
)
UNSENT = failed(
    "RUN-001",
    "/trouble",
    "no request reached the given base URL: the call raised TypeError: Object of type ToolError is not JSON serializable\n"
    "  raised at json/encoder.py:180 in default()",
    case="unsent",
)
ZERO = "the replies were 'Rain' (stopped by stop, 115 input, 28 output) and are 'Rain' (stopped by stop, 0 input, 0 output)"
UNKNOWN_EVENT = failed(
    "STR-006", "/varied/unknown-events", f"under unknown-events, {ZERO}", case="a", mode="stream"
)
NO_CHOICES = failed(
    "STR-015", "/varied/empty-choices", f"under empty-choices, {ZERO}", case="b", mode="stream"
)
BAD_ID = failed(
    "PAIR-007",
    "/exchanges/0/request/messages/1",
    "'a.b:0' has other characters",
    "anthropic",
    kind="reject",
)
UNSIGNED = failed(
    "THK-003",
    "/exchanges/0/request/contents/1",
    "the call is not signed",
    "gemini",
    "resumed",
    kind="reject",
)
TWICE = failed(
    "PAIR-005",
    "/exchanges/1/request/messages/1",
    "a second call 'call_1'",
    "anthropic",
    "ids",
    kind="reject",
)
TWO_RESULTS = failed(
    "PAIR-013",
    "/exchanges/1/request/messages/3",
    "there is a second result for 'call_1'",
    case="ids",
    kind="reject",
)
RESPONSES = "openai-responses"
NO_PHASE = failed(
    "HIS-017", "/exchanges/1/request", "the phase 'commentary' of the answer does not go back", RESPONSES
)
NO_ITEM = failed(
    "ORD-008",
    "/exchanges/2/request/input/4",
    "no item that the model made follows it",
    RESPONSES,
    "reasoning",
    kind="reject",
)
BEHIND = failed(
    "HIS-006",
    "/exchanges/1/request",
    "the answer had text, then call, and what goes back has call, then text",
    RESPONSES,
    "text_then_tool",
)
NO_CALL_ID = failed(
    "PAIR-018",
    "/exchanges/0/request/input/1/call_id",
    "the id is empty",
    RESPONSES,
    "resumed",
    kind="reject",
)
NO_ITEM_ID = failed(
    "STR-026", "/varied/no-item-ids", "under no-item-ids, the tool runs were a({}) and are nothing", RESPONSES
)
NO_REASON = failed(
    "STP-001", "/replies/0", "the caller got no stop reason, and that of the model was 'length'", "gemini"
)
NO_CALL = failed(
    "STP-007",
    "/replies/0",
    "the model failed to write its call, and the caller got the text '' as a complete answer",
    "gemini",
    "malformed_call",
)
FOR_SILENCE = failed(
    "HIS-006",
    "/exchanges/1/request",
    "its text is changed: the model said nothing, and what goes back is '[empty string]'",
    case="refused_answer",
)
NO_RESULT = failed(
    "PAR-001",
    "/exchanges/0/response",
    "the call of a has no result, and the caller got no error",
    case="malformed_arguments",
)
STILL_OPEN = failed(
    "PAIR-001",
    "/exchanges/1/request/messages/1",
    "there is no result for call_1",
    case="malformed_call_in_history",
    kind="reject",
)
NESTED = failed("PAR-005", "/tool_runs", 'keep({"say": "\\"hi\\" {x}", "deep": {"a": [{}]}}) was not run')
FLAT = failed("PAR-005", "/tool_runs", 'probe({"key": "none"}) was not run', case="probe")
NOT_CLOSED = failed(
    "SCH-003",
    "/exchanges/0/request/tools/0/parameters",
    "'additionalProperties' is required",
    kind="reject",
)
NOT_ALL = failed(
    "SCH-003",
    "/exchanges/0/request/tools/0/parameters/properties/a",
    "'required' lacks 'b'",
    case="b",
    kind="reject",
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(END, PAGE, id="nothing looks whether a stream ended"),
        pytest.param(MISFIT, TOO_SHORT, id="nothing compares a value with its schema"),
        pytest.param(AS_TEXT, DROPPED, id="media of a result, supported or not"),
        pytest.param(INVENTED, IN_A_TURN, id="a text of the library's own"),
        pytest.param(*WITH_QUOTES, id="a text of its own with an apostrophe"),
        pytest.param(MISREAD, GOES_BACK, id="a text that is changed where it is read"),
        pytest.param(RAISED, UNSENT, id="an object that is written as JSON"),
        pytest.param(UNKNOWN_EVENT, NO_CHOICES, id="the tokens of the last event"),
        pytest.param(BAD_ID, UNSIGNED, id="a history that the caller gave"),
        pytest.param(TWICE, TWO_RESULTS, id="ids that the model used twice"),
        pytest.param(TWICE, BAD_ID, id="ids as they came"),
        pytest.param(NO_PHASE, NO_ITEM, id="an answer that goes back as a new message"),
        pytest.param(NO_PHASE, BEHIND, id="an answer that goes back behind its calls"),
        pytest.param(NO_ITEM, BEHIND, id="an answer that goes back without its id behind its calls"),
        pytest.param(NO_CALL_ID, NO_ITEM_ID, id="the id of an item for that of a call"),
        pytest.param(NO_REASON, NO_CALL, id="no stop reason"),
        pytest.param(IN_A_TURN, FOR_SILENCE, id="a text of its own for an answer without words"),
        pytest.param(NO_RESULT, STILL_OPEN, id="a turn that leaves a malformed call open"),
        pytest.param(NESTED, FLAT, id="arguments of any depth"),
        pytest.param(NOT_CLOSED, NOT_ALL, id="what a strict schema needs"),
    ],
)
def test_two_sides_of_one_mistake_are_one_cause(one, other):
    joined = ["+".join(sorted({one.rule, other.rule}))]

    assert rules_of(one, other) == joined
    assert rules_of(other, one) == joined


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(
            END, replace(PAGE, message="it raises a bare KeyError"), id="another way to miss a page"
        ),
        pytest.param(END, replace(PAGE, mode="sync"), id="an answer that is no stream"),
        pytest.param(
            MISFIT, replace(TOO_SHORT, message="the error names the JSON"), id="an error without a limit"
        ),
        pytest.param(AS_TEXT, replace(DROPPED, wire="anthropic"), id="media in another format"),
        pytest.param(
            INVENTED, replace(IN_A_TURN, message="the model did not say 'Hi' here"), id="another text"
        ),
        pytest.param(MISREAD, replace(GOES_BACK, seen="b2"), id="another change"),
        pytest.param(RAISED, replace(UNSENT, message="the call raised TypeError: no"), id="another error"),
        pytest.param(
            UNKNOWN_EVENT, replace(NO_CHOICES, message="the replies were 'a' and are 'b'"), id="a text"
        ),
        pytest.param(
            replace(NO_PHASE, message="the search of the answer does not go back"), NO_ITEM, id="a search"
        ),
        pytest.param(
            NO_PHASE, replace(BEHIND, message="its text is lost: the model said 'a'"), id="a lost text"
        ),
        pytest.param(NO_PHASE, replace(BEHIND, wire="gemini"), id="the order of another format"),
        pytest.param(NO_REASON, replace(NO_CALL, mode="stream"), id="a call of another mode"),
        pytest.param(
            replace(NO_REASON, message="the caller got the stop reason 'stop'"), NO_CALL, id="a wrong reason"
        ),
        pytest.param(replace(NO_ITEM_ID, adapter="other"), NO_CALL_ID, id="the ids of another library"),
        pytest.param(
            IN_A_TURN,
            replace(
                FOR_SILENCE, message="its text is changed: the model said 'a', and what goes back is 'b'"
            ),
            id="a changed text",
        ),
        pytest.param(NO_RESULT, replace(STILL_OPEN, case="two_parallel_tools"), id="a result that is lost"),
        pytest.param(NO_RESULT, replace(STILL_OPEN, wire="anthropic"), id="an open call of another format"),
        pytest.param(
            BAD_ID, replace(UNSIGNED, pointer="/exchanges/1/request/contents/1"), id="what the model said"
        ),
    ],
)
def test_two_mistakes_stay_two_causes(one, other):
    assert len(rules_of(one, other)) == 2


def test_three_sides_of_one_mistake_are_one_cause():
    for rows in permutations([NO_PHASE, NO_ITEM, BEHIND]):
        assert rules_of(*rows) == ["HIS-006+HIS-017+ORD-008"]


def test_what_one_format_refuses_and_others_accept_is_one_cause():
    at = "/exchanges/0/request/messages/0/content/0"
    refused = failed("EMP-001", at, "the text is empty", "anthropic", "image_alone", kind="reject")
    beside = failed("IMG-003", at, "an empty text was sent", "anthropic", "image_alone")
    elsewhere = failed("IMG-003", at, "an empty text was sent", "openai-chat", "image_alone")
    unseen = failed("TXT-005", "/replies/0", "the text is ''", "openai-chat", "image_alone")

    assert rules_of(refused, beside, elsewhere) == ["EMP-001+IMG-003"]
    assert rules_of(refused, replace(beside, pointer="/replies/0"), elsewhere) == ["EMP-001", "IMG-003"]
    assert rules_of(refused, replace(unseen, wire="anthropic"), unseen) == ["EMP-001", "TXT-005"]


def test_media_of_a_result_that_one_format_refuses_and_another_has_as_text_are_one_cause():
    refused = failed(
        "REQ-009",
        "/exchanges/1/request/messages/2/content/0/type",
        "'image' is not a type",
        kind="reject",
        case="image",
    )
    lost = failed("TRM-001", "/exchanges/1/request", "image/png did not reach the provider", case="image")

    assert rules_of(refused, lost, AS_TEXT) == ["REQ-009+TRM-002"]
    assert rules_of(refused, AS_TEXT) == ["REQ-009", "TRM-002"]
    assert rules_of(refused, lost, replace(AS_TEXT, case="svg")) == ["REQ-009", "TRM-002"]


def test_what_follows_a_request_that_is_not_recorded_has_that_cause():
    unrecorded = failed("CAS-01", "/exchanges/1/request", "POST https://a is not in cassette a.json")
    unanswered = failed("PAR-005", "/tool_runs", "a({}) was called once and run not at all")
    wrong = failed("HIS-006", "/exchanges/1/request", "its text is lost: the model said 'a'")

    of_another_case = failed("CAS-01", "/exchanges/0/request", "POST https://a is not in b.json", case="b")

    assert rules_of(unanswered, unrecorded, of_another_case) == ["CAS-01"]
    assert rules_of(unanswered, unrecorded, wrong)[0] == "HIS-006"
    assert rules_of(unrecorded, replace(wrong, pointer="/exchanges/0/request")) == ["HIS-006"]


def test_what_passes_although_it_is_expected_to_fail_is_a_problem_of_the_baseline_and_no_cause():
    report = Report([replace(END, verdict="unexpected-pass")], problems=["entry 1 is stale"])

    assert causes(report) == []
    assert str(verdict(report)) == "✗ 1 problem of the baseline"


def test_what_follows_from_an_expected_failure_has_that_cause():
    refused = replace(
        failed("REQ-009", "/exchanges/1/request/messages/2", "an image here", kind="reject"),
        verdict="expected-fail",
    )
    told = failed("TXT-005", "/replies/0", "Error: 400 in other words than before")
    elsewhere = replace(refused, case="two_tools")

    assert causes(Report([refused, elsewhere])) == []
    [cause] = causes(Report([refused, told, elsewhere]))
    assert (cause.rows, cause.follows, cause.expected) == ([refused], [told], 1)


def test_an_expected_failure_in_a_new_run_is_a_cause_that_is_known():
    known = [replace(END, case=f"case_{n}", verdict="expected-fail") for n in range(2)]

    [cause] = causes(Report([*known, END]))
    assert (cause.rows, cause.expected) == ([END], 2)


def test_one_mistake_is_one_cause_in_whatever_words():
    reasons = [
        failed(rule, f"/varied/{name}", f"under {name}, the caller got the stop reason 'stop'", case=name)
        for rule, name in (("STP-002", "unknown-stop"), ("STP-003", "stop:pause_turn"))
    ]
    thoughts = [
        failed(
            "HIS-008",
            "/exchanges/1/request",
            f"the model thought, and what goes back has {parts}",
            case=parts,
        )
        for parts in ("no thought, but call", "no thought, but text, call, text, call")
    ]
    orders = [
        failed(
            "HIS-006", "/exchanges/1/request", f"the answer had {had}, and what goes back has text", case=had
        )
        for had in ("text, then call, then text", "text, then call, then thinking, then text")
    ]
    schemas = [
        failed("SCH-004", "/exchanges/0/request/tools/0", message, "gemini", message, kind="reject")
        for message in ("there is no field `type` here", "a value of `enum` is a number")
    ]

    assert rules_of(*reasons) == ["STP-002+STP-003"]
    assert [len(causes(Report(rows))) for rows in (thoughts, orders, schemas)] == [1, 1, 1]


def test_a_case_that_does_not_end_is_one_cause_wherever_it_was():
    late = [
        failed("RUN-002", "/trouble", f"it did not end within 60 seconds; the stack then was\n  {line}", wire)
        for wire, line in (("openai-chat", "a.py:1 stream: read()"), ("gemini", "b.py:2 write: send()"))
    ]
    counted = failed("RUN-002", "/trouble", "it sent 62 requests and did not give up", "anthropic")

    assert [len(cause.rows) for cause in causes(Report([*late, counted]))] == [3]
    assert len({fingerprint(row.rule, row.pointer, row.message) for row in [*late, counted]}) == 1
