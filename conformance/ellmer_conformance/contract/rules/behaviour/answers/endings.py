"""The end of an answer: truncated, failed, stopped by the token limit, or stopped for a reason that is new."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from .....scenarios.messages import Reply
from .....scenarios.script import Answer, Call, Cut, Failure
from ....counts import listed
from ....observed.run import Run
from ....rule import Finding, broken
from .._rulebook import LOSS, MUST, book, found, stopped_by, texts_of, varied_at
from .streams import cuts, same_as_plain

_EARLY = {"length", "filter"}
_SENTENCE = re.compile(rb'"(?:message|error)"\s*:\s*"((?:[^"\\]|\\.)+)"')


@book.rule("STR-007", MUST, LOSS, source="https://github.com/griffinwork40/agent-afk/pull/635")
def cut_answers_are_not_complete(run: Run) -> Iterator[Finding]:
    """An answer that ends without its terminal marker is reported as an error or as incomplete, never as complete.

    Why: otherwise the caller acts on a dropped connection as if it were a short answer. Fix: remember whether
    the marker came (finish_reason, message_stop, response.completed, finishReason), and raise an error at the
    end of the stream if it did not.
    """
    yield from _incomplete(run, Cut, "the answer was taken for complete")
    for varied in cuts(run):
        for reply in varied.run.replies[:1]:
            problem = f"under {varied.variation.told}, the answer was taken for complete"
            fine = reply.error is not None or not reply.complete
            yield found(fine, varied_at(varied), problem)


@book.rule("STR-008", MUST, LOSS, source="https://github.com/langchain-ai/langchain/issues/39275")
def cut_calls_are_not_run(run: Run) -> Iterator[Finding]:
    """A tool call that was cut off is never run. A call whose arguments are not JSON is not run without arguments.

    Why: a tool that is run with truncated arguments, or without its arguments, does something that the model did not
    ask for. Fix: look at the stop reason, and whether the arguments are whole JSON, before a tool is run; do not
    complete them.
    """
    for call in run.cut_calls():
        runs = [r for r in run.tool_runs if r.name == call.name]
        given = listed([json.dumps(dict(r.arguments), ensure_ascii=False, default=repr) for r in runs])
        yield found(
            not runs, "/tool_runs", f"the call of {call.name} was cut, and the tool was run with {given}"
        )
    for name in _malformed(run):
        emptied = [r for r in run.tool_runs if r.name == name and not r.arguments]
        yield found(
            not emptied, "/tool_runs", f"{name} was run without arguments: those of the call are no JSON"
        )
    for varied in cuts(run):
        ran = listed([run.name for run in varied.run.tool_runs])
        yield found(
            not varied.run.tool_runs, varied_at(varied), f"under {varied.variation.told}, {ran} was run"
        )


def _malformed(run: Run) -> set[str]:
    """Returns the names of tools whose calls have arguments that are no JSON. A format with objects cannot say them."""
    if run.wire not in _ARGUMENTS_AS_TEXT:
        return set()
    answers = [step for step in run.case.script if isinstance(step, Answer)]
    return {
        part.name
        for answer in answers
        for part in answer.parts
        if isinstance(part, Call) and part.text and not _is_json(part.text)
    }


#: Formats whose arguments are JSON text, streamed or not.
_ARGUMENTS_AS_TEXT = {"openai-chat", "openai-responses", "mistral"}


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


@book.rule("STR-009", MUST, LOSS, source="https://github.com/NousResearch/hermes-agent/pull/6847")
def stop_reasons_are_not_invented(run: Run) -> Iterator[Finding]:
    """The reported stop reason is the provider's. If the provider sent none, none is reported.

    Why: an invented `stop` says that the answer is complete, so the caller does not ask for the rest. Fix: report the
    provider's reason, and None where it sent none.
    """
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        if wanted.outcome == "incomplete" and any(isinstance(s, Cut) for s in run.case.script):
            problem = f"the answer was cut, and stop reason {reply.stop!r} is reported"
            yield found(not reply.stop, f"/replies/{index}", problem)
    for varied in cuts(run):
        stops = [reply.stop for reply in varied.run.replies[:1] if reply.stop]
        yield found(
            not stops,
            varied_at(varied),
            f"the answer was cut, and stop reason {stops[0]!r} is reported" if stops else "",
        )


@book.rule(
    "STR-010",
    MUST,
    LOSS,
    source=[
        "https://platform.claude.com/docs/en/build-with-claude/streaming",
        "https://github.com/vercel/ai/pull/10653",
    ],
)
def errors_inside_answers_are_raised(run: Run) -> Iterator[Finding]:
    """An error event in a stream raises a typed error with the status that the event stands for, not 200.

    Why: the caller decides by the status whether to try again, and the response began with 200. Fix: map the type of
    the error in the event to its status, as `overloaded_error` to 529.
    """
    if not _came_whole(run):
        yield from _incomplete(run, Failure, "the provider's error inside the answer was not raised")
    inside = run.streamed and any(isinstance(step, Failure) and step.after for step in run.case.script)
    for index, reply in enumerate(run.replies if inside else ()):  # no other error came under a status of 200
        status = getattr(reply.error, "status", getattr(reply.error, "status_code", None))
        if status == 200:
            yield broken(f"/replies/{index}", "the error is reported with status 200")


@book.rule(
    "STR-022",
    MUST,
    LOSS,
    source=[
        "https://github.com/openai/openai-python/pull/3934",
        "https://github.com/use-agent-os/agent-os/pull/2608",
    ],
)
def errors_inside_answers_have_words(run: Run) -> Iterator[Finding]:
    """If a stream has an error event, the raised error has the provider's words.

    Why: the words say whether to wait, to pay or to change the request. ERR-005 says the same of an error with a
    status. The words may be in the cause of the error (`raise … from error`). Fix: put the `message` of the event into
    the error that is raised.
    """
    inside = run.streamed and any(isinstance(step, Failure) and step.after for step in run.case.script)
    first = run.exchanges[0].response if inside and run.exchanges else None
    words = _words(first.body) if first is not None and first.status == 200 else []
    raised = run.replies[0].error if run.replies and run.case.steps[0].outcome == "incomplete" else None
    if words and raised is not None:
        problem = f"{str(raised)!r} does not say {words[-1]!r}"
        yield found(any(words[-1] in told for told in texts_of(raised)), "/replies/0", problem)


def _words(body: bytes) -> list[str]:
    """Returns the sentences of the errors in a stream, of any form: `message`, or `error` as a text."""
    return [str(json.loads(b'"%s"' % told)) for told in _SENTENCE.findall(body)]


@book.rule("STP-004", MUST, LOSS, source="https://github.com/langchain-ai/langchainjs/issues/11469")
def length_stops_run_nothing(run: Run) -> Iterator[Finding]:
    """A tool call that the token limit truncated is not run; it is dropped or answered with an error.

    Why: a tool that is run with truncated arguments does something that the model did not ask for. Fix: read the stop
    reason before you run calls, and drop the last call or answer it with an error.
    """
    stopped = [s for s in run.case.script if isinstance(s, Answer) and s.stop == "length"]
    cut = {part.name for answer in stopped for part in answer.parts if isinstance(part, Call)}
    if cut:
        ran = [r.name for r in run.tool_runs if r.name in cut]
        yield found(not ran, "/tool_runs", f"{ran} was run")


@book.rule(
    "STP-001",
    MUST,
    LOSS,
    source=[
        "https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons",
        "https://ai.google.dev/api/generate-content#FinishReason",
    ],
)
def early_stops_are_reported(run: Run) -> Iterator[Finding]:
    """An answer that the token limit or a content filter ended has the stop reason `length` or `filter`, also if it has no words.

    Why: without the reason, a caller mistakes a truncated or filtered answer for the whole one. Fix: read the stop
    reason where the provider sends it, in the last chunk or event, also if no text comes with it.
    """
    ended = {s.text: s.stop for s in run.case.script if isinstance(s, Answer) and s.stop and s.stop in _EARLY}
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        if wanted.text and wanted.text in ended:
            fine = stopped_by(run, reply, ended[wanted.text]) or reply.error is not None
            problem = f"the caller got {_stop_of(reply)}, and that of the model was {ended[wanted.text]!r}"
            yield found(fine, f"/replies/{index}", problem)
        elif reason := _ended_without_words(run, index):
            fine = stopped_by(run, reply, reason) or reply.error is not None or not reply.complete
            problem = f"the caller got {_stop_of(reply)}, and that of the model was {reason!r}"
            yield found(fine, f"/replies/{index}", problem)


def _ended_without_words(run: Run, step: int) -> str:
    """Returns why the model said nothing to a step; empty if it said something, or if it is not known which answer is the step's."""
    indices = {index for index in range(len(run.exchanges)) if run.step_of(index) == step}
    given = [each for index, each in run.answered() if index in indices]
    silent = [each.stop for each in given[-1:] if isinstance(each, Answer) and not each.parts]
    return next((stop for stop in silent if stop in _EARLY), "") or ""


@book.rule(
    "STP-007",
    MUST,
    LOSS,
    source=[
        "https://github.com/openclaw/openclaw/issues/102321",
        "https://github.com/langchain4j/langchain4j/pull/6114",
        "https://github.com/NousResearch/hermes-agent/pull/83886",
        "https://github.com/BerriAI/litellm/issues/39203 (the words of a streamed refusal)",
    ],
)
def refusals_are_told(run: Run) -> Iterator[Finding]:
    """A refusal reaches the caller with its words, and an answer without a call because the model failed to write it is not returned as
    a complete answer without words.

    Why: an empty answer says nothing, and the caller believes that the task is done. The caller gets the whole words of the refusal, as
    the text or in an error (or its cause). Gemini reports a call that was not written as `MALFORMED_FUNCTION_CALL`. A client may ask again for
    this call: then the caller gets the words of the next answer. Fix: read `refusal` beside `content`, whole and in pieces, and
    report an unknown finish reason as it is.
    """
    failed = [s for s in run.case.script if isinstance(s, Answer) and (s.refusal or _is_unwritten(s))]
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        if failed and wanted.outcome == "incomplete":
            told = reply.error is not None or bool(reply.text and (wanted.text or "") in reply.text)
            did = "refused" if any(step.refusal for step in failed) else "failed to write its call"
            problem = f"the model {did}, and the caller got the text {reply.text!r} as a complete answer"
            fine = told or reply.stop not in {None, "", "stop"}
            yield found(fine, f"/replies/{index}", problem)
            if fine and any(answer.refusal for answer in failed):
                got = [reply.text, *texts_of(reply.error)]
                problem = f"the refusal is {wanted.text!r}, and the caller gets {got[-1]!r}"
                yield found(any(wanted.text in text for text in got), f"/replies/{index}", problem)


def _stop_of(reply: Reply) -> str:
    return f"the stop reason {reply.stop!r}" if reply.stop else "no stop reason"


def _is_unwritten(answer: Answer) -> bool:
    """Tells whether the only call of an answer is not JSON although no limit cut it."""
    return answer.stop is None and any(call.text and not _is_json(call.text) for call in answer.calls)


@book.rule("STP-006", MUST, LOSS, source="https://github.com/earendil-works/pi/pull/7817")
def whole_answers_are_not_called_cut(run: Run) -> Iterator[Finding]:
    """An answer that ended by itself is not reported as ended by the token limit, by a filter or by a tool call.

    Why: a caller asks again for the rest, or waits for a call, and there is none. Fix: map each of the provider's
    reasons by itself; do not derive the reason from the content.
    """
    whole = {s.text for s in run.case.script if isinstance(s, Answer) and s.stop in {None, "stop"}}
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        if wanted.text and wanted.text == reply.text and wanted.text in whole and reply.error is None:
            fine = reply.stop not in {*_EARLY, "tool"} or (reply.stop == "filter" and _is_refusal(run))
            yield found(
                fine,
                f"/replies/{index}",
                f"the stop reason is {reply.stop!r}, and the answer ended by itself",
            )


def _is_refusal(run: Run) -> bool:
    """Tells whether the model refused in a field for it, which a library may report as filtered."""
    return any(_REFUSAL.search(each.response.body) for each in run.exchanges if each.response)


_REFUSAL = re.compile(rb'"refusal":\s*"[^"]|"type":\s*"(?:response\.)?refusal')


@book.rule(
    "STP-002",
    MUST,
    LOSS,
    source=[
        "https://github.com/earendil-works/pi/pull/1509",
        "https://github.com/strands-agents/harness-sdk/pull/2353",
    ],
)
def new_reasons_are_not_stop(run: Run) -> Iterator[Finding]:
    """An unknown stop reason is not an error and is not reported as `stop`. Neither is a filter's, whose answer has no token counts
    (Gemini).

    Why: providers add stop reasons, and an answer that ended for a new one may be incomplete. A client that computes
    with counts that are missing fails, and the caller does not learn that a filter ended the answer. Fix: map the
    reasons that you know, and hand any other one over as it came.
    """
    yield from _reasons(run, "STP-002")


@book.rule(
    "STP-003",
    MUST,
    LOSS,
    source=[
        "https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons",
        "https://docs.cohere.com/reference/chat (finish_reason)",
        "https://github.com/ankit373/hydra/issues/976",
        "https://ai.google.dev/api/generate-content#FinishReason",
        "https://github.com/NousResearch/hermes-agent/pull/53610 (Gemini)",
        "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseResponse.html",
        "https://github.com/agentjido/req_llm/pull/1033 (Bedrock)",
        "https://docs.mistral.ai/api/endpoint/chat (finish_reason)",
    ],
)
def pauses_are_not_stops(run: Run) -> Iterator[Finding]:
    """A stop reason that the API documents beside the usual ones is handled or reported, but not as `stop`: `pause_turn`,
    `model_context_window_exceeded`, `ERROR` and `TIMEOUT` (Cohere), the filters and `OTHER` of Gemini, malformed output of Bedrock,
    `model_length` (Mistral).

    Why: the answer is not complete, and the caller can continue it. An error that the library raises of itself and that
    names the reason reports it. Fix: map each documented reason, and continue the turn or hand the reason over.
    """
    yield from _reasons(run, "STP-003")


@book.rule(
    "STP-008",
    MUST,
    LOSS,
    source=[
        "https://github.com/anomalyco/opencode/issues/14972",
        "https://github.com/vercel/workflow/issues/1387",
    ],
)
def calls_are_made_whatever_the_reason(run: Run) -> Iterator[Finding]:
    """The calls of an answer are run, although its stop reason is `stop` (Chat Completions, Mistral).

    Why: compatible servers give an answer with calls this stop reason. A client that looks at the reason alone takes the text
    before the calls for the whole answer. Fix: run the calls that an answer has.
    """
    yield from same_as_plain(run, "STP-008")


def _came_whole(run: Run) -> bool:
    """Tells whether failures that break streams arrived as a status, to a client that may retry: ERR-003."""
    failures = [step for step in run.case.script if isinstance(step, Failure)]
    return bool(run.case.max_retries and not run.streamed and all(step.after for step in failures))


def _incomplete(run: Run, fault: type, problem: str) -> Iterator[Finding]:
    if not any(isinstance(step, fault) for step in run.case.script):
        return
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        if wanted.outcome == "incomplete":
            fine = reply.error is not None or not reply.complete
            yield found(fine, f"/replies/{index}", problem)


def _reasons(run: Run, rule: str) -> Iterator[Finding]:
    for varied in run.varied:
        if varied.variation.rule == rule:
            stops = [reply.stop for reply in varied.run.replies]
            yield found(
                "stop" not in stops,
                varied_at(varied),
                f"under {varied.variation.told}, the caller got the stop reason 'stop'",
            )
            reason = varied.variation.name.partition(":")[2]
            crashed = [reply.error for reply in varied.run.replies if _crashed(reply.error, reason)]
            yield found(
                not crashed,
                varied_at(varied),
                f"under {varied.variation.told}, it raises {listed([repr(error) for error in crashed])}",
            )


def _crashed(error: BaseException | None, reason: str) -> bool:
    """Tells whether an error is one of the language's, raised by a line that did not expect the reason. `RuntimeError` and
    `Exception` are raised on purpose if they name it, and a `KeyError` that names it is not.
    """
    on_purpose = type(error) in {RuntimeError, Exception} and bool(reason) and reason in str(error)
    return error is not None and type(error).__module__ == "builtins" and not on_purpose
