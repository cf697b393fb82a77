"""The rules for a server under test: its answers, errors, streams, tools and schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ...contract.rule import Finding, Kind, Level, broken, met
from ...contract.rulebook import RuleBook
from .answers import (
    ANSWERS,
    CHUNKS,
    ENDS,
    ERRORS,
    LIMITS,
    STOPS,
    Heard,
    complaint,
    ended,
    misfits,
    out_of_order,
)
from .questions import SCHEMA, TOOL

# --- The book --------------------------------------------------------------------------------------------


book = RuleBook("*", "server")
MUST, SHOULD, LOSS = Level.MUST, Level.SHOULD, Kind.LOSS
NOT_IMPLEMENTED = 501  # says that a feature is absent
BUSY = 429  # says nothing of the request

HERE = "/exchanges/0/response"
#: The references of the APIs, one for each wire format.
REFERENCE = (
    "https://developers.openai.com/api/reference/resources/chat",
    "https://developers.openai.com/api/reference/resources/responses",
    "https://platform.claude.com/docs/en/api/messages",
    "https://ai.google.dev/api/generate-content",
    "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html",
    "https://docs.ollama.com/api/chat",
    "https://docs.mistral.ai/api/endpoint/chat",
    "https://docs.cohere.com/reference/chat",
)


def found(fine: object, place: str, problem: str) -> Finding:
    """Returns a finding at `place`; `problem` describes the error unless `fine`."""
    return met(place) if fine else broken(place, problem)


# --- Answers ---------------------------------------------------------------------------------------------


@book.rule("SRV-001", MUST, LOSS, source=REFERENCE)
def questions_are_answered(heard: Heard) -> Iterator[Finding]:
    """A plain question is answered with status 200 and JSON.

    Why: a client cannot use a server that does not answer a plain question. Fix: answer at the format's own path, with
    `content-type: application/json`.
    """
    if heard.kind == "question" and not heard.question.needs and not heard.question.stream:
        fine = heard.status == 200 and heard.content_type == "application/json"
        yield found(
            fine,
            HERE,
            f"the answer is {heard.status} and {heard.content_type!r}: {heard.value!r:.200}",
        )


@book.rule("SRV-002", MUST, LOSS, source=REFERENCE)
def answers_have_their_fields(heard: Heard) -> Iterator[Finding]:
    """An answer has all required fields, each with the right type.

    Why: clients read these fields without a check. Fix: add the field that the finding names, also where it is null or
    empty.
    """
    if heard.answered and not heard.question.stream:
        wrong = list(misfits(heard.value, ANSWERS[heard.wire]))
        yield from (broken(f"{HERE}{place}", problem) for place, problem in wrong)
        if not wrong:
            yield met(HERE)


@book.rule(
    "SRV-003",
    SHOULD,
    LOSS,
    source=[
        "https://github.com/openai/openai-python",
        "https://github.com/anthropics/anthropic-sdk-python",
        "https://github.com/googleapis/python-genai",
    ],
)
def official_types_take_answers(heard: Heard) -> Iterator[Finding]:
    """The official SDK's type accepts an answer. This is judged if the SDK is installed beside the suite.

    Why: users of the official SDK read answers through these types. This is a SHOULD, because an SDK may be newer than
    the server. Fix: read an answer of yours with the SDK in your own tests.
    """
    if heard.answered and not heard.question.stream:
        told = complaint(heard.wire, heard.value)
        if told is not None:
            yield found(not told, HERE, told)


@book.rule("SRV-004", MUST, LOSS, source=REFERENCE)
def counts_add_up(heard: Heard) -> Iterator[Finding]:
    """Token counts are present, none is negative, and their total is their sum (thoughts may be counted besides the
    output).

    Why: callers compute costs and limits from these counts. Fix: count both sides, and compute the total from them.
    """
    told = heard.told
    if heard.answered and told and (told.text or told.calls) and not heard.question.stream:
        counts = {"input": told.input, "output": told.output}
        missing = [name for name, count in counts.items() if not isinstance(count, int | float)]
        yield found(not missing, f"{HERE}/usage", f"there is no count of the {' and the '.join(missing)}")
        if not missing and isinstance(told.total, int):
            least = int(told.input or 0) + int(told.output or 0)
            yield found(told.total >= least, f"{HERE}/usage", f"{counts} have the total {told.total}")


@book.rule("SRV-005", MUST, LOSS, source=REFERENCE)
def stops_are_known(heard: Heard) -> Iterator[Finding]:
    """The stop reason of an answer is one of the format's, and names a tool call if there is one.

    Why: clients decide by the reason whether to run a tool or to ask for the rest. Fix: map your own reasons to the
    format's, and set the reason of calls whenever the answer has one.
    """
    if heard.answered and heard.told:
        stop = heard.told.stop
        yield found(stop in STOPS[heard.wire], HERE, f"the stop reason is {stop!r}")
        if heard.told.calls and heard.wire in {"openai-chat", "mistral", "anthropic", "bedrock", "cohere"}:
            named = stop in {"tool_calls", "tool_use", "TOOL_CALL"}
            yield found(named, HERE, f"a tool is called, and the stop reason is {stop!r}")


# --- Streams ---------------------------------------------------------------------------------------------


_STREAMS = {"ollama": "application/x-ndjson", "bedrock": "application/vnd.amazon.eventstream"}


@book.rule(
    "SRV-006",
    SHOULD,
    LOSS,
    source=[
        "https://github.com/openai/codex/blob/main/codex-rs/codex-api/src/common.rs",
        "https://code.claude.com/docs/en/llm-gateway",
    ],
)
def well_known_clients_are_answered(heard: Heard) -> Iterator[Finding]:
    """The recorded request of a well-known client is answered with status 200.

    Why: a client sends its fields and tools with every request, and cannot leave them out for one server. A server
    without these features breaks no contract. It is not ready for the client. Fix: ignore fields that you do not know,
    instead of refusing them.
    """
    if heard.kind == "client":
        yield found(heard.status == 200, HERE, f"the answer is {heard.status}: {heard.value!r:.200}")


@book.rule("SRV-010", MUST, LOSS, source=REFERENCE)
def streams_are_streams(heard: Heard) -> Iterator[Finding]:
    """A requested stream arrives as a stream, in the format's framing and content type.

    Why: clients read a stream by its framing. Fix: answer `stream: true` with `text/event-stream`, a blank line after
    each event, and no compression that holds events back.
    """
    wanted_of_all = not heard.question.needs or heard.status == 200
    if heard.kind == "question" and heard.question.stream and wanted_of_all:
        wanted = _STREAMS.get(heard.wire, "text/event-stream")
        fine = heard.status == 200 and heard.content_type == wanted and heard.events
        problem = f"it came with {heard.status}, as {heard.content_type!r}, in {len(heard.events)} events"
        yield found(fine, HERE, problem)


@book.rule("SRV-011", MUST, LOSS, source=REFERENCE)
def events_have_their_fields(heard: Heard) -> Iterator[Finding]:
    """Every event is JSON and has the fields of its kind.

    Why: clients read these fields without a check. Fix: write every event with a JSON writer, and add the field that
    the finding names.
    """
    if not heard.streamed:
        return
    shapes = CHUNKS[heard.wire]
    for number, event in enumerate(heard.events):
        if not event.data:
            yield found(
                event.text.strip() == "[DONE]", f"{HERE}/{number}", f"{event.text[:80]!r} is not an event"
            )
            continue
        name = str(event.data.get("type") or event.name)
        wrong = [w for key in ("*", name) if key in shapes for w in misfits(event.data, shapes[key])]
        problem = f"{name or 'the event'}: {wrong[0][0]}: {wrong[0][1]}" if wrong else ""
        yield found(not wrong, f"{HERE}/{number}", problem)


@book.rule("SRV-012", MUST, LOSS, source=REFERENCE)
def events_are_in_order(heard: Heard) -> Iterator[Finding]:
    """The events of a stream come in the format's order.

    Why: clients build the answer from the events in their order. Fix: send the events that begin a message or a block
    before those of its content.
    """
    if heard.streamed and heard.events:
        wrong = out_of_order(heard.wire, heard.events)
        yield from (broken(HERE, problem) for problem in wrong)
        if not wrong:
            yield met(HERE)


@book.rule(
    "SRV-013",
    MUST,
    LOSS,
    source=[
        "https://platform.claude.com/docs/en/build-with-claude/streaming",
        "https://developers.openai.com/api/reference/resources/chat/subresources/completions/streaming-events",
    ],
)
def streams_end(heard: Heard) -> Iterator[Finding]:
    """The terminal marker of the format ends a stream.

    Why: without the marker, a client cannot tell a complete stream from a truncated one. Fix: send the marker last,
    also after an error within the stream.
    """
    if heard.streamed:
        problem = ended(heard.wire, heard.events)
        yield found(not problem, HERE, problem)


@book.rule(
    "SRV-014",
    SHOULD,
    LOSS,
    source="https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create",
)
def streams_are_counted(heard: Heard) -> Iterator[Finding]:
    """A stream has token counts if they were requested.

    Why: callers compute costs and limits from these counts. Fix: send the counts in the last chunk or event.
    """
    if heard.streamed and heard.told:
        fine = heard.told.input is not None and heard.told.output is not None
        yield found(fine, HERE, f"the counts are {heard.told.input} and {heard.told.output}")


@book.rule("SRV-015", MUST, LOSS, source="https://github.com/vllm-project/vllm/issues/42210")
def streams_say_the_same(heard: Heard) -> Iterator[Finding]:
    """A stream has the same content as the whole answer: the same calls and the same stop reason, and text if there
    was text.

    Why: a program should not behave differently because it streams. The texts are compared if the server gives the same
    answer twice. Otherwise, one answer may reach the token limit and the other not. Fix: build the whole answer and the
    stream from the same values.
    """
    told, plain = heard.told, heard.plain
    if not heard.streamed or told is None or plain is None:
        return
    alike = told.stop == plain.stop or (not heard.steady and {told.stop, plain.stop} <= LIMITS | ENDS)
    yield found(alike, HERE, f"it stops for {told.stop!r}, and not streamed for {plain.stop!r}")
    yield found(
        bool(told.text) == bool(plain.text),
        HERE,
        f"it says {told.text[:60]!r}, not streamed {plain.text[:60]!r}",
    )
    names = [[call.name for call in answer.calls] for answer in (told, plain)]
    yield found(names[0] == names[1], HERE, f"it calls {names[0]}, and not streamed {names[1]}")
    if heard.steady:
        same = told.text == plain.text
        yield found(same, HERE, f"it says {told.text[:80]!r}, and not streamed {plain.text[:80]!r}")


# --- Tools and schemas -----------------------------------------------------------------------------------


@book.rule("SRV-020", MUST, LOSS, source=REFERENCE)
def calls_are_whole(heard: Heard) -> Iterator[Finding]:
    """A forced tool is called: by its name, with an id, and with arguments that match its schema.

    Why: a client runs the tool with these arguments. An answer that the token limit ended is not judged. Fix: constrain
    the model's output to the tool's schema, and make an id for each call.
    """
    if not heard.answered or heard.question.name != "tool_call" or heard.told is None:
        return
    if heard.told.stop in LIMITS:
        return
    yield found(heard.told.calls or heard.wire == "ollama", HERE, "no tool is called")
    ids = [call.id for call in heard.told.calls]
    yield found(len(set(ids)) == len(ids), HERE, f"calls share an id: {ids}")
    for call in heard.told.calls:
        yield found(call.id or heard.wire in {"gemini", "ollama"}, HERE, "the call has no id")
        yield found(call.name == TOOL[0], HERE, f"{call.name!r} is called, and {TOOL[0]!r} was offered")
        named = set(SCHEMA["required"])
        fits = call.arguments is not None and named <= set(call.arguments)
        fits = fits and all(isinstance(value, str) for value in (call.arguments or {}).values())
        yield found(fits, HERE, f"the arguments {call.text or call.arguments!r} do not fit the schema")


@book.rule("SRV-021", MUST, LOSS, source=REFERENCE)
def results_are_taken(heard: Heard) -> Iterator[Finding]:
    """A call that is sent back with its result is answered.

    Why: a conversation with tools consists of such rounds. Fix: accept the assistant message with its calls, and each
    result by its id.
    """
    if heard.kind == "question" and heard.question.name == "tool_result" and heard.able.get("tools"):
        told = heard.told
        fine = heard.status == 200 and told is not None and (told.text or told.calls)
        yield found(fine, HERE, f"the answer is {heard.status}: {heard.value!r:.200}")


@book.rule("SRV-022", MUST, LOSS, source="https://developers.openai.com/api/docs/guides/structured-outputs")
def values_fit_their_schema(heard: Heard) -> Iterator[Finding]:
    """An answer to a question with a schema is JSON that matches it. An answer that the token limit ended is not
    judged.

    Why: a value that does not fit its schema fails later, far from its cause. Fix: constrain the model's output to the
    schema, and refuse a schema that you cannot enforce.
    """
    if (
        heard.answered
        and heard.question.schema
        and heard.told is not None
        and heard.told.stop not in LIMITS
        and heard.able.get("structured output")
    ):
        wrong = next((problem for _, problem in misfits(_json(heard.told.text), {"city": str})), "")
        yield found(not wrong, HERE, f"{heard.told.text[:80]!r}: {wrong}")


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


# --- Errors ----------------------------------------------------------------------------------------------


@book.rule("SRV-030", MUST, LOSS, source="https://www.rfc-editor.org/rfc/rfc9110#section-15.5")
def mistakes_are_refused(heard: Heard) -> Iterator[Finding]:
    """A request that every API refuses is refused with a status of 400 to 499, because it is the client's mistake.

    Why: a client repeats a request after a status of 500 or more, and accepts what came with 200. Fix: validate the
    body before you start the model, and answer 400.
    """
    if heard.kind == "malformed":
        fine = 400 <= heard.status < 500
        yield found(fine, HERE, f"{heard.question.name} is answered with {heard.status}")


@book.rule(
    "SRV-031",
    MUST,
    LOSS,
    source=[
        "https://developers.openai.com/api/docs/guides/error-codes",
        "https://platform.claude.com/docs/en/api/errors",
    ],
)
def errors_have_the_form(heard: Heard) -> Iterator[Finding]:
    """Every error has the form of the provider's errors.

    Why: clients read errors in the provider's form. Fix: catch every error in one place, and write it in the format's
    error object.
    """
    if heard.status >= 400 and heard.kind != "specification":
        forms = ERRORS[heard.wire]
        value = heard.value[0] if isinstance(heard.value, list) and heard.value else heard.value
        fine = any(not list(misfits(value, form)) for form in forms)
        body = heard.exchange.response.body[:160] if heard.exchange.response else b""
        yield found(fine, HERE, f"the error is {body.decode('utf-8', 'replace')!r}")


@book.rule("SRV-032", MUST, LOSS, source="https://www.rfc-editor.org/rfc/rfc9110#section-15.6")
def mistakes_break_nothing(heard: Heard) -> Iterator[Finding]:
    """No request makes the server fail with a status of 500 or more.

    Why: a status of 500 or more blames the server, and clients repeat the request. Fix: answer 400 to a body that you
    cannot read, with the place of the fault.
    """
    asked = heard.kind == "question" and not heard.question.needs  # SRV-001 judges these
    if heard.kind != "specification" and not asked and heard.status != NOT_IMPLEMENTED:
        fine = 0 < heard.status < 500
        yield found(
            fine, HERE, f"{heard.rule or heard.question.name} is answered with {heard.status or 'nothing'}"
        )


@book.rule("SRV-033", SHOULD, LOSS, source="This project decided it.")
def what_the_api_refuses_is_refused(heard: Heard) -> Iterator[Finding]:
    """The server refuses a request that the provider's API refuses.

    Why: a request that only this server takes fails when the user moves to the provider. Fix: check the request as the
    rule in the finding says, and answer 400.
    """
    if heard.kind == "rule" and heard.status != BUSY:
        fine = 400 <= heard.status < 500
        yield found(fine, HERE, f"{heard.rule}: the API refuses this, and here it gets {heard.status}")


@book.rule("SRV-034", SHOULD, LOSS, source="This project decided it.")
def what_the_api_takes_is_taken(heard: Heard) -> Iterator[Finding]:
    """The server accepts a request that the provider's API accepts.

    Why: clients that were written for the provider send such requests. Fix: accept the request that the finding shows;
    ignore an option that you do not have.
    """
    if heard.kind == "example" and heard.status != BUSY:
        problem = f"{heard.rule}: the API takes this, and here it gets {heard.status}: {heard.value!r:.160}"
        yield found(heard.status < 400, HERE, problem)
