"""The verdict of each run, and the counts of verdicts."""

from dataclasses import replace

import pytest
from broken_runs.report import CASES, Ours, played, row

from ellmer_conformance.adapters import Capabilities, Difference
from ellmer_conformance.contract.observed.exchange import Exchange, Request, Response
from ellmer_conformance.contract.observed.run import Run, ToolRun, Trouble
from ellmer_conformance.contract.rule import Violation
from ellmer_conformance.report import (
    Report,
    Row,
    finished,
    judged,
)
from ellmer_conformance.report.causes import causes, consequences, headline, without_consequences
from ellmer_conformance.report.formats.terminal import declared_differences
from ellmer_conformance.report.report_json import score
from ellmer_conformance.report.requirements import requirements
from ellmer_conformance.report.rows import fingerprint
from ellmer_conformance.runner.against_server import play_direct
from ellmer_conformance.runner.judgement import judge
from ellmer_conformance.runner.selection import find_adapter
from ellmer_conformance.scenarios.case import Case, ask
from ellmer_conformance.scenarios.cases import all_cases, scripts
from ellmer_conformance.scenarios.messages import Image, Reply
from ellmer_conformance.scenarios.script import Answer, Say
from ellmer_conformance.server import StrictServer

CASE = Case(script=[Answer((Say("Hi"),))], steps=[ask("Hello", text="Hi")], name="hello")


def test_our_faults_are_not_the_adapters():
    run = Run(CASE, "anthropic", "anthropic", "sync", trouble=Trouble("the cassette is torn", ours=True))
    found = finished(judged("theirs", run, judge(run)))

    assert [(r.rule, r.verdict, r.message) for r in found.rows] == [
        ("RUN-001", "harness-error", "the cassette is torn")
    ]
    assert found.score == {}
    assert found.exit_code == 2


def test_an_adapter_that_cannot_be_tested_fails():
    def session(*_, **__):
        raise RuntimeError("no such model")

    found = finished(played(Ours(session=session), "plain_text"))

    assert [(r.rule, r.verdict) for r in found.rows] == [("RUN-001", "not-testable")]
    assert "session() raised RuntimeError: no such model" in found.rows[0].message
    assert found.score["ellmer-core openai-chat"]["must_passed"] == 0
    assert found.exit_code == 1


def test_a_declared_refusal_has_a_verdict_of_its_own():
    found = played(Ours(), "pdf_from_user", provider="deepseek")

    assert row(found, "TRM-010", "pdf_from_user").verdict == "refused-as-declared"


def test_a_declared_refusal_that_does_not_happen_is_not_testable(report):
    trm = [v for v in judge(Run(CASE, "anthropic", "anthropic", "sync")) if v.rule.id == "TRM-010"]
    run = Run(CASE, "anthropic", "anthropic", "sync", refused=["image_in_user"])
    found = judged("theirs", run, trm).rows[0]

    assert found.verdict == "not-testable"
    assert "image_in_user is declared as refused, and nothing refused it" in found.message


def test_media_that_no_tool_returned_need_no_refusal():
    """A client that loses the call of a tool that draws does not run it: PAR-005 says so, and there is nothing to refuse."""
    trm = [v for v in judge(Run(CASE, "gemini", "google", "sync")) if v.rule.id == "TRM-010"]
    run = Run(CASE, "gemini", "google", "sync", refused=["image_in_tool_result"])
    drawn = replace(run, tool_runs=[ToolRun("draw", {}, Image(b"i", "image/png"))])

    assert [judged("theirs", each, trm).rows for each in (run,)] == [[]]
    assert judged("theirs", drawn, trm).rows[0].verdict == "not-testable"


def test_a_capability_nobody_knows_is_not_testable():
    class Able:
        image_in_user = "maybe"

        def refused(self, needs):
            return []

    found = played(Ours(capabilities=lambda *_: Able()), "image_from_user").rows

    assert [r.verdict for r in found] == ["not-testable"]
    assert "'maybe'" in found[0].message


def test_the_score_counts_rules_not_rows(report):
    counts, required = report.score["ellmer-core openai-chat"], requirements()
    judged_rules = {r.rule for r in report.rows if r.verdict in {"pass", "fail"} and not r.preview}
    must = {rule for rule in judged_rules if required.level("openai-chat", "openai", rule) == "MUST"}
    failed = {r.rule for r in report.rows if r.verdict == "fail"}

    assert (counts["must_applicable"], counts["must_passed"]) == (len(must), len(must - failed))
    assert report.exit_code == 1


def test_the_score_has_the_order_of_the_rows(report):
    wires = [
        "openai-chat",
        "anthropic",
        "gemini",
        "bedrock",
        "cohere",
        "ollama",
        "mistral",
        "openai-responses",
    ]
    rows = [replace(report.rows[0], wire=wire) for wire in wires]

    assert [*score(rows, requirements())] == [f"{rows[0].adapter} {wire}" for wire in wires]


def test_rules_newer_than_the_set_are_previews_in_the_score(report):
    newer = [replace(r, rule="NEW-999") for r in report.rows if r.rule == "ORD-003"]
    with_newer = finished(Report.joined([report, Report(rows=newer)]))
    before, after = (r.score["ellmer-core openai-chat"] for r in (report, with_newer))

    assert after["preview_applicable"] == before["preview_applicable"] + 1
    assert after["must_applicable"] == before["must_applicable"]


def failed(rule, kind, pointer, case="one_tool", message=""):
    place = ("theirs", "openai-chat", "openai", case, "sync")
    return Row(*place, rule, "MUST", kind, "fail", 1, pointer, message=message)


def test_what_follows_from_a_failure_is_no_failure_of_its_own():
    refused = failed("PAIR-001", "reject", "/exchanges/0/request/messages/1")
    lost = failed("PAR-001", "loss", "/exchanges/0/request")
    unanswered = failed("TXT-005", "loss", "/replies/0")
    differs = failed("CAS-001", "loss", "/transcript")
    alone = [replace(row, case="plain_text") for row in (unanswered, differs)]
    found = Report([differs, unanswered, lost, refused, *alone])

    assert without_consequences(found) == [refused, alone[0]]
    assert consequences(found) == {
        **dict.fromkeys((differs.id, unanswered.id, lost.id), refused.id),
        alone[1].id: alone[0].id,
    }
    assert headline(found) == "2 causes, 2 runs"


def test_one_line_of_a_library_is_one_cause_in_all_its_plays():
    rows = [
        failed("HIS-006", "loss", f"/exchanges/{n}/request", f"case_{n}", f"the text {n!r} is missing")
        for n in range(101)
    ]

    assert headline(Report(rows)) == "1 cause, 101 runs"


def test_ids_of_any_form_do_not_make_causes():
    """An adapter that sends empty ids had 40 causes: one for each id that the server had given."""
    ids = [
        "call_stIA3z0ictyoSS3GX",
        "call_YGiFwtiUAjYVlhmEnjoP, toolu_01XyZ9",
        "chatcmpl-tool-8f1ce2aa90b14dd1, D681PevKs",
    ]
    rows = [
        failed(
            "PAIR-014", "reject", "/exchanges/1/request/messages/2", f"case_{n}", f"'' is not the id ({each})"
        )
        for n, each in enumerate(ids)
    ]
    other = failed(
        "PAIR-014", "reject", "/exchanges/1/request/messages/2", "other", "'' is not the name (call_abc123)"
    )

    assert headline(Report(rows)) == "1 cause, 3 runs"
    assert headline(Report([*rows, other])) == "2 causes, 4 runs"


@pytest.mark.parametrize(("refused", "expected"), [(["image_in_tool_result"], "pass"), ([], "fail")])
def test_calls_after_a_declared_refusal_do_not_have_to_run(refused, expected):
    with StrictServer(scripts(), mode="observe") as server:
        case = "parallel_tools_first_returns_image"
        run = play_direct(
            find_adapter("ellmer-core"), "openai-chat", "openai", CASES[case], "sync", server=server
        )
    ended = [Reply(error=TypeError("a picture"))]
    run = replace(run, refused=refused, tool_runs=run.tool_runs[:1], replies=ended)

    assert [v.outcome for v in judge(run) if v.rule.id == "PAR-005"] == [expected]


@pytest.mark.parametrize(
    ("place", "rule", "count"),
    [
        ("properties/until/type", "SCH-004", 1),
        ("additionalProperties", "SCH-004", 1),
        ("required", "SCH-003", 2),
    ],
)
def test_the_places_in_a_schema_do_not_make_causes(place, rule, count):
    """LangChain.js and dspy send every schema in the same wrong place, whatever its tool has."""
    at = "/exchanges/0/request/tools/0/functionDeclarations/0/parameters"
    one = failed("SCH-004", "reject", f"{at}/properties/none/type", "odd_arguments", "no such field here")
    other = failed(rule, "reject", f"{at}/{place}", "bounded_schema", "no such field here")

    assert len(causes(Report([one, other]))) == count


def test_a_loss_is_one_cause_wherever_a_wire_format_holds_it():
    places = ("messages/4", "messages/2/content/0", "contents/2/parts/0")
    lost = [
        failed("TRM-010", "loss", f"/exchanges/1/request/{place}", f"case_{n}", "the media were dropped")
        for n, place in enumerate(places)
    ]
    refused = [replace(row, kind="reject", rule="IMG-010", case=f"{row.case}_more") for row in lost]

    assert headline(Report(lost)) == "1 cause, 3 runs"
    assert headline(Report([*lost, *refused])) == "4 causes, 6 runs"


def test_a_cut_answer_is_one_event_under_all_its_variations():
    cut = failed("STR-007", "loss", "/varied/cut:1", "broken_anywhere", "cut (cut:1), taken for complete")
    ran = failed("STR-008", "loss", "/varied/cut:4", "broken_anywhere", "get_weather was run")

    assert headline(Report([cut, ran])) == "1 cause, 1 run"


def test_a_failure_that_is_rarely_seen_with_another_one_is_a_cause_of_its_own():
    """An adapter that adds its own system text everywhere hides no other failure."""
    everywhere = [failed("SYS-010", "loss", "/exchanges/0/request", f"case_{n}", "added") for n in range(9)]
    lost = failed("HIS-006", "loss", "/exchanges/1/request", "case_3", "the text is missing")
    found = causes(Report([*everywhere, lost]))

    assert [(cause.rows[0].rule, len(cause.rows)) for cause in found] == [("SYS-010", 9), ("HIS-006", 1)]
    assert headline(Report([*everywhere, lost])) == "2 causes, 9 runs"


def test_a_crash_is_the_cause_of_all_that_is_missing_then():
    where = "  the adapter at mine/adapter.py:12: return parsed(answer)"
    rows = [
        failed("RUN-003", "loss", "/replies/0", case, f"the call raised KeyError: {case!r}\n{where}")
        for case in ("plain_text", "one_tool")
    ]
    missing = [
        failed("USG-001", "loss", "/replies/0", "one_tool", "no usage"),
        failed("PAR-005", "loss", "/tool_runs", "one_tool"),
    ]
    [cause] = causes(Report([*missing, *rows]))

    assert cause.rows == rows[::-1]
    assert cause.follows == missing[::-1] or cause.follows == missing


def test_a_crash_is_known_by_its_exception_and_the_line_that_raised_it():
    def crash(case, adapter, raised, kind="KeyError"):
        where = f"  the adapter at mine/adapter.py:{adapter}: talk()\n  raised at lib/parse.py:{raised} in parse()"
        return failed("RUN-003", "loss", "/replies/0", case, f"the call raised {kind}: {case}\n{where}")

    whole_and_streamed = [crash("plain_text", 12, 40), crash("one_tool", 30, 40)]
    others = [crash("unknown_tool", 12, 41), crash("tool_error", 12, 40, "TypeError")]

    assert headline(Report([*whole_and_streamed, *others])) == "3 causes, 4 runs"


NODE = "file:///home/it/x/dist/index.mjs:{line}\n   throw new Error(it)\n         ^\nError: {it}\n    at file:///a.mjs:1:46\n\nNode.js v20"
PYTHON = 'Traceback:\n  File "/run.py", line 7, in <module>\n  File "/home/it/x/dist/lib.py", line {line}, in f\nKeyError: {it}'


@pytest.mark.parametrize("printed", [NODE, PYTHON])
def test_a_process_that_dies_at_one_line_is_one_cause_under_a_variation_too(printed):
    def died(rule, case, line, under=""):
        told = f"{under}the command exited with 1:\n{printed.format(line=line, it=case)}"
        return failed(rule, "loss", "/varied/cr" if under else "/trouble", case, told)

    one = [died("RUN-001", "plain_text", 731), died("STR-003", "one_tool", 731, "under cr, ")]
    other = died("RUN-001", "tool_error", 732)

    assert [len(cause.rows) for cause in causes(Report([*one, other]))] == [2, 1]
    here, there = (fingerprint("RUN-001", "/trouble", each.message) for each in (one[0], other))
    assert here == fingerprint("RUN-001", "/trouble", one[0].message.replace("/home", "/of/a/clone"))
    assert here != there


OWN = Difference("SYS-010", "You are an agent.", "it tells the model its name", "2026-11-26")


@pytest.mark.parametrize(
    ("added", "expected"),
    [("You are an agent.", "differs-as-declared"), ("You are a pirate.", "fail")],
)
def test_what_a_library_does_on_purpose_is_listed_and_is_no_failure(added, expected):
    """Only the declared text is allowed. Another one of the same rule stays a failure."""
    system = {"role": "system", "content": added}
    body = {"model": "gpt-4.1", "messages": [system, {"role": "user", "content": "Hello"}]}
    exchange = Exchange(Request("openai-chat", "openai", body), Response(200, {}, b"{}"))
    run = Run(CASE, "openai-chat", "openai", "sync", [exchange], [Reply("Hi", "stop")])
    found = finished(judged("theirs", run, [v for v in judge(run) if v.rule.id == "SYS-010"], [OWN]))

    assert [row.verdict for row in found.rows] == [expected]
    assert found.score["theirs openai-chat"]["must_passed"] == 0
    assert list(declared_differences(found)) == (
        ["theirs differs on purpose (SYS-010, 1 run): it tells the model its name (declared on 2026-11-26)"]
        if expected == "differs-as-declared"
        else []
    )


def open_calls(error):
    """Returns the verdicts about calls without results that went to the API, where a library does not repair them."""
    case = all_cases()["dangling_call"]
    call = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    messages = [{"role": "assistant", "tool_calls": [call]}, {"role": "user", "content": "Forget it."}]
    body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hello"}, *messages]}
    exchange = Exchange(Request("openai-chat", "openai", body), Response(400, {}, b"{}"))
    run = Run(
        case,
        "openai-chat",
        "openai",
        "sync",
        [exchange],
        [Reply(error=error)],
        transcript="[tool request (call_1)]: get_weather(city='Rome')",
        refused=["dangling_call"],
    )
    rows = judged("theirs", run, judge(run)).rows
    return {row.verdict for row in rows if row.rule in {"PAIR-001", "PAIR-003", "TXT-002"}}


def test_a_library_may_leave_open_calls_to_the_providers_error():
    assert open_calls(RuntimeError("tool_call_ids did not have response messages")) == {"refused-as-declared"}
    assert open_calls(None) == {"fail"}


def test_a_library_that_repairs_open_calls_without_saying_so_is_right():
    found = played(Ours(capabilities=lambda *_: Capabilities()), "dangling_call")

    assert not [row for row in found.rows if row.verdict in {"fail", "not-testable"}]


def test_what_differs_only_in_media_variations_and_the_models_words_is_one_cause():
    def lost(rule, case, pointer, message):
        return failed(rule, "loss", pointer, case, message)

    media = [
        lost("TRM-001", f"case_{n}", "/exchanges/1/request", f"{type} did not reach the provider")
        for n, type in enumerate(["image/png 57316e9a", "application/pdf a0c2766a"])
    ]
    cut = [
        lost("STR-007", "cut_before_the_end", "/replies/0", "the answer was taken for complete"),
        lost("STR-007", "broken_anywhere", "/varied/cut:1", "cut (cut:1), the answer was taken for complete"),
    ]
    order = [
        lost(
            "HIS-006",
            f"calls_{n}",
            "/exchanges/1/request",
            f"its calls are in another order: the model said {n}()",
        )
        for n in "ab"
    ]

    assert headline(Report([*media, *cut, *order])) == "3 causes, 6 runs"


def test_rules_that_show_one_event_in_one_request_are_one_cause():
    """The plays of a cause are too many for a statistic to find the few that show both."""
    many = [
        failed("HIS-006", "loss", "/exchanges/1/request", f"case_{n}", "calls are lost") for n in range(9)
    ]
    both = failed("HIS-012", "loss", "/exchanges/1/request", "case_3", "the model did not call both() here")
    elsewhere = failed(
        "HIS-012", "loss", "/exchanges/2/request", "case_4", "the model did not call it() here"
    )

    assert headline(Report([*many, both])) == "1 cause, 9 runs"
    assert headline(Report([*many, elsewhere])) == "2 causes, 9 runs"


def test_one_missing_piece_is_one_cause_whatever_its_symptom():
    """Each symptom is in the cause, so that nothing is hidden."""
    page = [
        failed("ERR-006", "loss", "/varied/page-200", "not_an_answer", "under page-200, no error was raised"),
        failed(
            "ERR-006", "loss", "/varied/page-200", "other", "under page-200, it raises a bare KeyError: 1"
        ),
        failed("ERR-007", "loss", "/varied/error-200", "third", "under error-200, no error was raised"),
    ]
    [cause] = causes(Report(page))

    assert cause.symptoms == page[:2]
    assert headline(Report([*page, failed("STR-012", "loss", "/varied/crosswise", "fourth")])).startswith(
        "2 "
    )


def test_what_tools_lose_where_their_schemas_are_converted_is_one_cause():
    null = failed("SCH-026", "loss", "/exchanges/0/request", "two", "book.until can no longer be null")
    more = replace(null, case="odd", message="keep.none can no longer be null; keep.deep accepts string")
    bound = replace(null, rule="SCH-028", case="three", message="book.until lost its format of 'date'")

    assert headline(Report([null, more, bound])) == "1 cause, 3 runs"
    assert headline(Report([null, replace(bound, adapter="other")])) == "2 causes, 2 runs"


def test_what_a_format_loses_of_answers_is_one_cause_refused_or_not():
    refused = failed("PAR-003", "reject", "/exchanges/1/request/contents/2", "two", "2 responses to 1 call")
    lost = failed(
        "HIS-006", "loss", "/exchanges/1/request", "five", "calls are lost or merged: the model said x"
    )
    text = replace(lost, case="four", message="its text is lost: the model said x")
    unanswered = replace(refused, case="three", message="1 response to 2 calls")

    assert headline(Report([refused, lost, text])) == "1 cause, 3 runs"
    assert headline(Report([refused, lost, unanswered])) == "2 causes, 3 runs"
    assert headline(Report([lost, replace(text, wire="gemini")])) == "2 causes, 2 runs"


def test_that_nothing_was_seen_follows_from_what_was_lost():
    """The plays of the cause are too many for a statistic to find the few with media."""
    lost = [
        failed("HIS-006", "loss", "/exchanges/1/request", f"case_{n}", "calls are lost") for n in range(9)
    ]
    blind = failed("TXT-005", "loss", "/replies/0", "case_3", "the text is 'no image received', the model")
    other = replace(blind, case="case_4", message="the text is 'It rains', the model said 'It snows'")

    assert headline(Report([*lost, blind])) == "1 cause, 9 runs"
    assert headline(Report([*lost, other])) == "2 causes, 9 runs"


def test_an_image_of_an_unknown_format_is_one_cause_by_its_type_and_by_its_bytes():
    by_bytes = failed("IMG-010", "reject", "/exchanges/1/request/input/2", "svg", "the bytes are no image")
    by_type = replace(by_bytes, rule="IMG-006", wire="anthropic", message="image/svg+xml is not taken")

    assert headline(Report([by_bytes, by_type])) == "1 cause, 2 runs"
    assert headline(Report([by_bytes, replace(by_type, case="other")])) == "2 causes, 2 runs"


def test_a_format_that_loses_all_media_of_results_loses_those_that_it_does_not_have():
    lost = failed("TRM-001", "loss", "/exchanges/2/request", "image", "image/png did not reach the provider")
    remote = failed("TRM-010", "loss", "/exchanges/1/request", "remote", "the media were dropped silently")

    assert headline(Report([lost, remote])) == "1 cause, 2 runs"
    assert headline(Report([lost, replace(remote, wire="gemini")])) == "2 causes, 2 runs"


def test_texts_that_are_missing_after_a_declared_error_are_declared():
    run = Run(CASE, "openai-chat", "openai", "sync", replies=[Reply(error=ValueError("NO_JSON: no object"))])
    [raised] = [v for v in judge(run) if v.rule.id == "RUN-003"]
    verdicts = [
        replace(
            raised,
            violations=[Violation(raised.rule, "/replies/0", "the call raised ValueError: NO_JSON", {})],
        ),
        *(v for v in judge(run) if v.rule.id == "TXT-005"),
    ]
    own = Difference("RUN-003", "NO_JSON", "it ends the turn with an error", "2026-11-27", "openai-chat")
    elsewhere = replace(own, wire="gemini")

    assert {r.verdict for r in judged("theirs", run, verdicts, [own]).rows} == {"differs-as-declared"}
    assert {r.verdict for r in judged("theirs", run, verdicts, [elsewhere]).rows} == {"fail"}


def test_a_lost_call_is_not_run_and_has_no_result():
    """The plays of the cause are too many for a statistic to find the few whose calls are lost."""
    many = [failed("HIS-006", "loss", "/exchanges/1/request", f"c{n}", "its text is lost") for n in range(9)]
    lost = failed("HIS-006", "loss", "/exchanges/1/request", "two", "calls are lost or merged")
    after = [
        failed("PAR-005", "loss", "/tool_runs", "two", "draw({}) was called once and run not at all"),
        failed("PAR-001", "loss", "/exchanges/1/request", "two", "it has no result"),
    ]
    alone = [
        replace(
            after[0], case=f"case_{name}", message=f'{name}({{"a": 1}}) was called once and run not at all'
        )
        for name in ("draw", "look_up")
    ]

    assert headline(Report([*many, lost, *after])) == "1 cause, 10 runs"
    assert headline(Report([*many, lost, *alone])) == "2 causes, 12 runs"


def test_a_rule_that_a_case_breaks_in_several_formats_is_one_cause():
    """Each provider refuses it in its own words and at its own place."""
    chat = failed(
        "PAIR-001", "reject", "/exchanges/1/request/messages/1/tool_calls", "dangling", "no result for a"
    )
    messages = replace(
        chat, wire="anthropic", pointer="/exchanges/1/request/messages/1/content/0", message="none"
    )
    elsewhere = replace(messages, case="two_parallel_tools")

    assert headline(Report([chat, messages])) == "1 cause, 2 runs"
    assert headline(Report([chat, elsewhere])) == "2 causes, 2 runs"


def test_fields_of_one_object_are_one_cause():
    type = failed("REQ-009", "reject", "/exchanges/1/request/messages/2/content/0/type", "image", "no type")
    missing = replace(type, rule="REQ-010", case="file", pointer="/exchanges/1/request/messages/4/content/1")

    assert headline(Report([type, missing])) == "1 cause, 2 runs"
    assert (
        headline(Report([type, replace(missing, pointer="/exchanges/1/request/tools/0")]))
        == "2 causes, 2 runs"
    )


def test_what_is_wrong_with_the_result_of_a_cut_call_follows_from_its_run():
    """Most plays of the cause have no such result, because the cut was in a variation."""
    varied = [failed("STR-008", "loss", f"/varied/cut:{n}", f"cut_{n}", "it was run") for n in range(9)]
    ran = failed("STR-008", "loss", "/tool_runs", "length_inside_arguments", "it was run")
    result = failed("PAIR-034", "loss", "/exchanges/1/request/messages/2", "length_inside_arguments", "words")

    assert headline(Report([*varied, ran, result])) == "1 cause, 10 runs"
    assert headline(Report([*varied, ran, replace(result, case="tool_error")])) == "2 causes, 11 runs"


def test_a_cut_call_runs_before_its_result_is_sent():
    ran = failed("STR-008", "loss", "/tool_runs", "cut", "get_weather was run")
    marked = failed("PAIR-010", "loss", "/exchanges/1/request/messages/2", "cut", "the failure is not marked")
    [cause] = causes(Report([marked, ran]))

    assert cause.rows == [ran]


_AT, _LATER = "/exchanges/1/request", "/exchanges/1/request/messages/1"
_CHANGED = "its text is changed: the model said 'tick tock', and what goes back is 'tick'"
_MISREAD = "1"  # what the caller got is what goes back
_SHOULD_BE_FIRST = [
    (("TXT-005", "/replies/0", "the text is 'tick', the model said 'tick tock'"), ("HIS-006", _AT, _CHANGED)),
    (
        ("PAR-005", "/tool_runs", "f({}) was called"),
        ("HIS-006", _AT, "its calls are changed: the model said f()"),
    ),
    (
        ("PAR-005", "/tool_runs", "run not at all"),
        ("PAR-001", _AT, "1 call was made, and 0 results were sent"),
    ),
    (
        ("RUN-003", "/replies/0", "the call raised TypeError: no JSON"),
        ("UNI-001", "/exchanges", "'Thanks!' is in no request"),
    ),
    (("SYS-001", _LATER, "not in its place"), ("UNI-001", "/exchanges", "'Be brief.' is in no request")),
    (
        ("TRM-001", "/exchanges/2/request", "an image did not reach the provider"),
        ("TRM-016", _LATER, "no content"),
    ),
    (("THK-001", f"{_LATER}/content/0", "not signed"), ("REQ-010", f"{_LATER}/content/0", "it is missing")),
]


@pytest.mark.parametrize(
    ("first", "second"), _SHOULD_BE_FIRST, ids=[first[0] for first, _ in _SHOULD_BE_FIRST]
)
def test_of_two_views_of_one_event_the_one_nearer_to_its_cause_is_named(first, second):
    nearer, echo = (
        replace(
            failed(rule, "reject" if rule[:3] in {"REQ", "THK"} else "loss", pointer, message=message),
            seen=_MISREAD,
        )
        for rule, pointer, message in (first, second)
    )
    assert causes(Report([echo, nearer]))[0].rows == [nearer]


def test_a_text_that_only_goes_back_changed_was_read_rightly():
    changed = replace(failed("HIS-006", "loss", _AT, message=_CHANGED), seen=_MISREAD)
    other = failed("TXT-005", "loss", "/replies/1", message="the text is 'no', the model said 'yes'")
    other = replace(other, seen="2")
    assert causes(Report([other, changed]))[0].rows == [changed]


def test_an_answer_that_was_read_wrongly_is_known_by_what_the_caller_got():
    case = Case([Answer((Say("tick tock"),)), Answer((Say("Yes."),))], [ask("Hi"), ask("So?", text="Yes.")])
    said = [{"role": "user", "content": "Hi"}]
    later = [*said, {"role": "assistant", "content": "tick"}, {"role": "user", "content": "So?"}]
    exchanges = [
        Exchange(Request("openai-chat", "openai", {"messages": messages}), Response(200, {}, b"{}"))
        for messages in (said, later)
    ]
    run = Run(
        case, "openai-chat", "openai", "sync", exchanges, [Reply("tick", "stop"), Reply("Yes.", "stop")]
    )
    found = judged("theirs", run, [v for v in judge(run) if v.rule.id in {"TXT-005", "HIS-006"}])

    [cause] = causes(found)
    assert [row.rule for row in (*cause.rows, *cause.follows)] == ["TXT-005", "HIS-006"]
