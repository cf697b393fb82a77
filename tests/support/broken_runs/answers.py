"""Rules about answers: a run that keeps each, and changes that break it."""

from dataclasses import replace

from broken_runs.coherent import (
    ASKED,
    PARIS,
    QUESTION,
    TooLong,
    broken_off,
    calling,
    cut,
    exchange,
    failed,
    given,
    keyed,
    otherwise,
    result,
    short,
    short_call,
    two_tools,
    under,
    user,
)

from ellmer_conformance.contract.observed.exchange import Exchange, Request, Response
from ellmer_conformance.contract.observed.run import ToolRun
from ellmer_conformance.scenarios.case import Case, ask
from ellmer_conformance.scenarios.messages import Reply
from ellmer_conformance.scenarios.script import REDACTED, Answer, Call, Say, Think, Usage


def stopping(stop):
    return [Reply("21C and 9C.", stop=stop, usage={"input": 95, "output": 11})]


def valued(outcome="answered", reply=None, **answer):
    """Returns a run with a requested value and schema."""
    value = {"name": "Ada"}
    step = ask(QUESTION, outcome=outcome, schema={"type": "object"}, value=value)
    case = Case(script=[Answer((Say('{"name": "Ada"}'),), **answer)], steps=[step])
    return replace(keyed(cut()), case=case, replies=[reply or Reply(value=value, stop="stop")])


def shaped(name):
    """Returns a run with a requested value, whose schema is sent."""
    run = valued()
    step = replace(run.case.steps[0], schema={"type": "object", "properties": {"name": {}}})
    body = {"messages": [ASKED], "response_format": {"properties": {name: {}}}}
    asked = Exchange(Request("openai-chat", "openai", body), Response(200))
    return replace(run, case=replace(run.case, steps=[step]), exchanges=[asked])


def signed(signature):
    """Returns a run with reasoning, whose signature is sent back."""
    run = two_tools()
    case = replace(
        run.case, script=[Answer((Think("Hm."), Call("get_weather", PARIS[2]))), run.case.script[1]]
    )
    first = exchange(ASKED, answer='{"signature": "Ab"} {"signature": "cD"} "id": "c1"')
    second = exchange(ASKED, calling(PARIS) | {"signature": signature}, result("c1", "21C, sunny"))
    return replace(run, case=case, exchanges=[first, second])


def instructed_anew(**thinking):
    """Returns a run with a changed system prompt, and a bound thought that is sent back."""
    run = signed("AbcD")
    beta = {"anthropic-beta": "thinking-binding-controls-2026-08-01"}
    said = [
        Exchange(
            replace(each.request, model="claude-opus-5-5", headers=beta, body=each.request.body | more),
            each.response,
        )
        for each, more in zip(run.exchanges, ({}, {"system": "Be brief.", "thinking": thinking}), strict=True)
    ]
    return replace(
        run, exchanges=[replace(said[0], response=Response(200, body=b'{"signature": "AbcD"}')), said[1]]
    )


def commented(text):
    """Returns a run whose answer has two messages, over Responses."""
    run = given("Hi.", body={"input": [user("Hi.")]})
    case = replace(
        run.case,
        script=[Answer((Say("I look."), Say("It rains.")))],
        steps=[ask("Hi.", text="I look.It rains.")],
    )
    return replace(run, case=case, wire="openai-responses", replies=[Reply(text, stop="stop")])


def silent(**reply):
    """Returns a run with an empty answer."""
    run = given("Hi.", body={"messages": [user("Hi.")]})
    case = replace(run.case, script=[Answer(())], steps=[ask("Hi.")])
    return replace(run, case=case, replies=[Reply(**reply)])


def parted(**usage):
    """Returns a run with cached tokens."""
    run = given("Hi.", body={"messages": [user("Hi.")]})
    case = replace(run.case, script=[Answer((Say("I see."),), usage=Usage(100, 5, cached=64))])
    said = replace(run.exchanges[0], response=Response(200, body=b'{"cached_tokens": 64}'))
    usage = {"input": 100, "output": 5} | usage
    return replace(run, case=case, exchanges=[said], replies=[Reply("I see.", stop="stop", usage=usage)])


def streamed(**body):
    run = given("Hi.", body={"messages": [user("Hi.")]} | body)
    return replace(
        run, exchanges=[replace(e, request=replace(e.request, stream=True)) for e in run.exchanges]
    )


def redacted(*blocks):
    """Returns a run with redacted thinking, which is sent back with the call."""
    run = under("redacted")
    request = Request("anthropic", "anthropic", {"messages": [{"role": "assistant", "content": [*blocks]}]})
    return otherwise(run, exchanges=[run.exchanges[0], Exchange(request, Response(200))])


OPAQUE = {"type": "redacted_thinking", "data": REDACTED}
CALLED = {"type": "tool_use", "id": "c1", "name": "get_weather", "input": {}}


WRONG = [Reply("21C and", stop="stop", usage={"input": 95, "output": 11})]
RAN = [ToolRun("get_weather", {"city": "Pa"}, "?")]


def failed_with_words():
    """Returns a streamed run whose error event has words, which the error repeats."""
    error = 'data: {"error":{"message":"The \\"engine\\" is overloaded","type":"server_error"}}\n\n'
    raised = [Reply("One", error=RuntimeError('status 503: The "engine" is overloaded'), complete=False)]
    return replace(failed(), mode="stream", exchanges=[exchange(ASKED, answer=error)], replies=raised)


def told_not_to_retry(requests):
    """Returns a run whose request is answered once or more with an error that says not to retry it."""
    refused = replace(exchange(ASKED), response=Response(429, headers={"x-should-retry": "false"}))
    return replace(failed(), exchanges=[refused] * requests)


#: rule id: (a run that keeps it, how to break it)
ANSWERS = {
    "STR-007": (cut, lambda r: replace(r, replies=[Reply("Let me", stop=None)])),
    "STR-008": (cut, lambda r: replace(r, tool_runs=RAN)),
    "STR-009": (cut, lambda r: replace(r, replies=[Reply("Let me", stop="stop")])),
    "STR-010": (failed, lambda r: replace(r, replies=[Reply("One", stop="stop")])),
    "STR-022": (
        failed_with_words,
        lambda r: replace(r, replies=[replace(r.replies[0], error=RuntimeError("the stream failed"))]),
    ),
    "STP-001": (short, lambda r: replace(r, replies=[Reply("Once upon", stop="stop")])),
    "STP-004": (short_call, lambda r: replace(r, tool_runs=RAN)),
    "STP-006": (
        two_tools,
        lambda r: replace(r, replies=[replace(each, stop="length") for each in r.replies]),
    ),
    "ERR-014": (lambda: told_not_to_retry(1), lambda _: told_not_to_retry(2)),
    "TXT-001": (two_tools, lambda r: replace(r, snapshot_diff="- a\n+ b")),
    "TXT-002": (two_tools, lambda r: replace(r, transcript=r.transcript.replace("(c2)", "(c1)"))),
    "TXT-004": (two_tools, lambda r: replace(r, transcript=f"{r.transcript}canary-key-0000")),
    "TXT-005": (two_tools, lambda r: replace(r, replies=[Reply("21C and")])),
    "TXT-006": (lambda: commented("I look.\n\nIt rains."), lambda _: commented("I look.It rains.")),
    "USG-001": (two_tools, lambda r: replace(r, replies=[replace(r.replies[0], usage={"input": 1})])),
    "THK-002": (lambda: redacted(OPAQUE, CALLED), lambda _: redacted(CALLED)),
    "EMP-003": (silent, lambda _: silent(error=IndexError("no choices"))),
    **{
        rule: (lambda name=name: under(name), lambda r: otherwise(r, replies=WRONG))
        for rule, name in {
            "STR-001": "every-byte",
            "STR-002": "inside-characters",
            "STR-003": "crlf",
            "STR-004": "comments",
            "STR-005": "bom",
            "STR-006": "unknown-events",
            "STR-012": "crosswise",
            "STR-013": "same-index",
            "STR-014": "arguments-null",
            "STR-015": "empty-choices",
            "STR-019": "after-the-end",
            "STR-020": "late-names",
            "STR-023": "stop-beside-text",
            "STR-025": "text-in-parts",
            "STR-026": "no-item-ids",
            "STR-028": "silences",
            "STR-029": "long-line",
            "STR-030": "null-deltas",
            "STR-027": "reasoning-late",
            "USG-002": "counted-at-the-start",
            "USG-008": "null-parts",
        }.items()
    },
    "STR-011": (lambda: broken_off("reset:2"), lambda r: otherwise(r, replies=[Reply("21C ")])),
    "STR-024": (
        lambda: replace(two_tools(), replies=[replace(two_tools().replies[0], pieces=["21C ", "and 9C."])]),
        lambda r: replace(r, replies=[replace(r.replies[0], pieces=["and 9C.", "21C "])]),
    ),
    "STR-017": (two_tools, lambda r: replace(r, replies=[replace(r.replies[0], pieces=["21C ", "and"])])),
    "STP-002": (
        lambda: otherwise(under("unknown-stop"), replies=stopping("brand_new")),
        lambda r: otherwise(r, replies=stopping("stop")),
    ),
    "STP-003": (
        lambda: otherwise(under("stop:pause_turn"), replies=stopping("pause_turn")),
        lambda r: otherwise(r, replies=stopping("stop")),
    ),
    "USG-003": (
        lambda: streamed(stream_options={"include_usage": True}),
        lambda _: streamed(),
    ),
    "USG-004": (lambda: parted(cached=64), lambda _: parted(cached=0)),
    "USG-005": (
        lambda: otherwise(under("uncounted"), replies=[Reply("21C and 9C.", usage={"input": None})]),
        lambda r: otherwise(r, replies=[Reply("21C and 9C.", usage={"input": 0})]),
    ),
    "STO-011": (lambda: shaped("name"), lambda _: shaped("title")),
    "STO-002": (valued, lambda _: valued(reply=Reply(value={"name": "ada"}))),
    "STO-003": (
        lambda: valued("incomplete", Reply(error=TooLong("no fit"))),
        lambda _: valued("incomplete", Reply(value={"name": 1})),
    ),
    "STO-004": (
        lambda: valued("incomplete", Reply(error=TooLong("cut at max_tokens")), stop="length"),
        lambda _: valued("incomplete", Reply(error=ValueError("Expecting value")), stop="length"),
    ),
    "THK-006": (lambda: signed("AbcD"), lambda _: signed("AbcE")),
    "THK-025": (
        lambda: instructed_anew(block_binding={"prefix_mismatch_behavior": "drop_block"}),
        lambda _: instructed_anew(type="adaptive"),
    ),
    "THK-008": (lambda: signed("AbcD"), lambda r: replace(r, replies=[Reply("Hm. 21C and 9C.")])),
}
