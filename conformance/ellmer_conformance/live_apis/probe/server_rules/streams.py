"""A stream: its framing, events, order, end, counts and content."""

from __future__ import annotations

from collections.abc import Iterator

from ....contract.rule import Finding, broken, met
from ..answer_fields import CHUNKS, misfits
from ..event_order import ended, out_of_order
from ..server_answer import Heard
from ._rulebook import HERE, LOSS, MUST, REFERENCE, SHOULD, book, found

_STREAMS = {"ollama": "application/x-ndjson", "bedrock": "application/vnd.amazon.aws_event_stream"}


@book.rule("SRV-010", MUST, LOSS, source=REFERENCE)
def streams_are_streams(heard: Heard) -> Iterator[Finding]:
    """A requested stream arrives as a stream, in the format's framing and content type.

    Why: clients read a stream by its framing.
    """
    if heard.kind == "question" and heard.question.stream and not heard.question.needs:
        wanted = _STREAMS.get(heard.wire, "text/event-stream")
        fine = heard.status == 200 and heard.content_type == wanted and heard.events
        problem = f"it came with {heard.status}, as {heard.content_type!r}, in {len(heard.events)} events"
        yield found(fine, HERE, problem)


@book.rule("SRV-011", MUST, LOSS, source=REFERENCE)
def events_have_their_fields(heard: Heard) -> Iterator[Finding]:
    """Every event is JSON and has the fields of its kind.

    Why: clients read these fields without a check.
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

    Why: clients build the answer from the events in their order.
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

    Why: without the marker, a client cannot tell a complete stream from a truncated one.
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

    Why: callers compute costs and limits from these counts.
    """
    if heard.streamed and heard.told:
        fine = heard.told.input is not None and heard.told.output is not None
        yield found(fine, HERE, f"the counts are {heard.told.input} and {heard.told.output}")


@book.rule("SRV-015", MUST, LOSS, source="https://github.com/vllm-project/vllm/issues/42210")
def streams_say_the_same(heard: Heard) -> Iterator[Finding]:
    """A stream has the same content as the whole answer: the same calls and the same stop reason, and text if there
    was text.

    Why: a program should not behave differently because it streams. The texts are compared if the server gives the
    same answer twice. Otherwise, one answer may reach the token limit and the other not.
    """
    told, plain = heard.told, heard.plain
    if not heard.streamed or told is None or plain is None:
        return
    alike = told.stop == plain.stop or (not heard.steady and {told.stop, plain.stop} == {"stop", "length"})
    yield found(alike, HERE, f"it stops for {told.stop!r}, and not streamed for {plain.stop!r}")
    yield found(
        bool(told.text) == bool(plain.text),
        HERE,
        f"it says {told.text[:60]!r}, not streamed {plain.text[:60]!r}",
    )
    names = [[call.name for call in one.calls] for one in (told, plain)]
    yield found(names[0] == names[1], HERE, f"it calls {names[0]}, and not streamed {names[1]}")
    if heard.steady:
        same = told.text == plain.text
        yield found(same, HERE, f"it says {told.text[:80]!r}, and not streamed {plain.text[:80]!r}")
