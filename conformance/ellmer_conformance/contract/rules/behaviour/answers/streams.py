"""Streams with other chunks, other line ends, unknown events, truncation or errors.

Most rules compare the plain conversation with the same conversation under the variations that test it
(`scenarios/variations/`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from .....scenarios.messages import Reply
from .....scenarios.script import Say
from ....counts import listed
from ....observed.run import Run, Varied
from ....observed.transcripts import normalised
from ....rule import Finding
from .._rulebook import LOSS, MUST, SHOULD, book, found, varied_at

_WORDS = 160  # characters of an error that a message shows
#: The end marker of a complete answer.
_ENDS = {
    "anthropic": rb'"stop_reason": ?"',
    "bedrock": rb"messageStop",
    "cohere": rb'"finish_reason": ?"',
    "gemini": rb'"finishReason": ?"',
    "mistral": rb'"finish_reason": ?"',
    "ollama": rb'"done": ?true',
    "openai-chat": rb'"finish_reason": ?"',
    "openai-responses": rb"response\.(completed|incomplete|failed)",
}


@book.rule("STR-001", MUST, LOSS, source="https://github.com/spiceai/spiceai/issues/12588")
def chunks_do_not_matter(run: Run) -> Iterator[Finding]:
    """The result of a stream does not depend on how the network splits it into chunks, down to single bytes.

    Why: a network may end a chunk anywhere, and a parser that reads each chunk alone loses the event that was
    split. Fix: keep the parser's state between reads, including the unfinished line and the unfinished
    character.
    """
    yield from same_as_plain(run, "STR-001")


@book.rule("STR-002", MUST, LOSS, source="https://github.com/ollama/ollama-js/issues/255")
def characters_are_whole(run: Run) -> Iterator[Finding]:
    """A character whose bytes are split over chunks arrives unchanged.

    Why: a chunk may end inside a character, and a decoder that reads each chunk alone replaces it by U+FFFD.
    Fix: decode incrementally, or split into lines first and decode whole lines.
    """
    yield from same_as_plain(run, "STR-002")


@book.rule("STR-003", MUST, LOSS, source="https://html.spec.whatwg.org/multipage/server-sent-events.html")
def line_ends_are_equal(run: Run) -> Iterator[Finding]:
    """LF, CRLF and CR each end a line of an event stream, even if a chunk ends between CR and LF.

    Why: servers and proxies end lines differently, and the stream means the same. Fix: use a parser of event streams,
    and feed it chunks as they come.
    """
    yield from same_as_plain(run, "STR-003")


@book.rule("STR-004", MUST, LOSS, source="https://html.spec.whatwg.org/multipage/server-sent-events.html")
def every_line_of_the_format_is_read(run: Run) -> Iterator[Finding]:
    """Comments, keep-alives, `id:` and `retry:` lines, a colon without a space, and data on several lines are
    read as the event stream format defines them.

    Why: OpenRouter and every proxy send comments while the model thinks. Fix: use a parser of event streams in place of
    a search for `data: `.
    """
    yield from same_as_plain(run, "STR-004")


@book.rule(
    "STR-005",
    SHOULD,
    LOSS,
    source=[
        "https://html.spec.whatwg.org/multipage/server-sent-events.html",
        "https://github.com/openai/openai-python/pull/3819",
    ],
)
def a_bom_is_skipped(run: Run) -> Iterator[Finding]:
    """A byte order mark before the first event is skipped.

    Why: the event stream format allows the mark, and a parser that keeps it loses the first event. Fix: decode the
    stream as `utf-8-sig`, or drop the mark from the first chunk.
    """
    yield from same_as_plain(run, "STR-005")


@book.rule(
    "STR-006",
    MUST,
    LOSS,
    source=[
        "https://platform.claude.com/docs/en/build-with-claude/streaming",
        "https://github.com/openai/openai-java/issues/767",
    ],
)
def news_are_ignored(run: Run) -> Iterator[Finding]:
    """Unknown events, deltas and fields are ignored.

    Why: providers add events and fields, and a new one must not end the answer. Fix: skip what has an unknown type, and
    read on.
    """
    yield from same_as_plain(run, "STR-006")


@book.rule("STR-011", MUST, LOSS, source="https://github.com/wazuh/wazuh-dashboard/issues/1530")
def resets_are_raised(run: Run) -> Iterator[Finding]:
    """A connection reset during a stream raises an error, and text that has already arrived is not taken back.

    Why: without the error, the caller takes the part that arrived for the whole answer. Fix: raise the
    transport's exception as one of your own errors, and pass text on as it arrives.
    """
    for varied in run.varied:
        if varied.variation.rule == "STR-011" and not _whole(varied):
            yield found(_notices(varied), varied_at(varied), "the reset was not noticed")
            yield from _keeps(varied)


@book.rule(
    "STR-015",
    MUST,
    LOSS,
    source=[
        "https://github.com/pydantic/pydantic-ai/issues/164",
        "https://github.com/spring-projects/spring-ai/issues/6441",
        "https://github.com/Effect-TS/effect/pull/7269 (null for a list of calls)",
        "https://github.com/qualcomm/GenieX/issues/1243 (empty stop reasons)",
    ],
)
def chunks_without_choices_are_safe(run: Run) -> Iterator[Finding]:
    """A chunk with empty `choices` is not an error, and its other fields are read. So is the text beside an empty list of calls, and beside
    null for a field that is not there. An empty stop reason is none.

    Why: Azure sends the results of its content filter, and OpenAI the token counts, in such chunks. vLLM sends
    `"tool_calls": []` with each piece of text, and other servers null. Fix: read each field of a chunk that is there, whatever
    else is missing, empty or null.
    """
    yield from same_as_plain(run, "STR-015")


@book.rule(
    "STR-030",
    SHOULD,
    LOSS,
    source=[
        "https://github.com/microsoft/agent-framework/pull/5734",
        "https://github.com/QwenLM/qwen-code/pull/1448",
        "https://github.com/bagofwords1/bagofwords/pull/742",
        "https://github.com/NousResearch/hermes-agent/pull/80822 (an event)",
    ],
)
def deltas_may_be_null(run: Run) -> Iterator[Finding]:
    """A delta that is null or missing says nothing, and the stop reason beside it is read. An event that is null says nothing.

    Why: Azure and compatible servers send such deltas beside the results of a filter and at the end of an answer, and such events to keep
    a connection. OpenAI's description of the format does not allow it, so that a client may rely on them. Fix: skip an event or a
    delta that is not there, and look at the stop reason first.
    """
    yield from same_as_plain(run, "STR-030")


@book.rule("STR-019", SHOULD, LOSS, source="https://github.com/vllm-project/router/pull/224")
def what_follows_the_end_is_ignored(run: Run) -> Iterator[Finding]:
    """Data after the terminal marker is not part of the answer.

    Why: the marker ends the answer, and the connection may stay open after it. Fix: stop reading at the terminal
    marker, and close the stream.
    """
    yield from same_as_plain(run, "STR-019")


@book.rule(
    "STR-023",
    MUST,
    LOSS,
    source=[
        "https://github.com/maximhq/bifrost/issues/4963",
        "https://github.com/vllm-project/vllm/pull/36944",
        "https://github.com/0xPlaygrounds/rig/issues/1308",
        "https://github.com/0xPlaygrounds/rig/pull/2328 (an early reason of Gemini)",
    ],
)
def stops_beside_text_are_read(run: Run) -> Iterator[Finding]:
    """A stop reason that arrives with the last piece of an answer is read, and so is the piece. At Ollama, that can be the calls. What
    follows a chunk with a stop reason is read (Gemini).

    Why: OpenAI sends the stop reason in a chunk without text, but compatible servers send both in one chunk. Gemini and gateways
    before it give several chunks a reason. Fix: read to the end of the stream.
    """
    yield from same_as_plain(run, "STR-023")


@book.rule(
    "STR-026",
    MUST,
    LOSS,
    source="https://github.com/anomalyco/opencode/pull/45081",
)
def calls_need_no_item_id(run: Run) -> Iterator[Finding]:
    """A call whose item has no id is made (Responses). Its `call_id` names it.

    Why: the id of an item is optional, and compatible servers leave it out. A client that looks for it finds no call,
    and the turn ends. Fix: find the call by its `output_index` or `call_id`.
    """
    yield from same_as_plain(run, "STR-026")


@book.rule(
    "STR-028",
    MUST,
    LOSS,
    source=[
        "https://github.com/earendil-works/pi/issues/9674",
        "https://github.com/Gitlawb/openclaude/pull/48",
        "https://github.com/BerriAI/litellm/pull/33315",
    ],
)
def pieces_without_text_say_nothing(run: Run) -> Iterator[Finding]:
    """A piece of a stream that has no text changes nothing.

    Why: servers send such pieces while they wait for the rest of a character, between two thoughts, and beside calls. A client that
    begins a block with each of them sends back blocks that the API refuses, and one that takes them for the end loses the rest.
    Fix: skip a piece whose text is empty.
    """
    yield from same_as_plain(run, "STR-028")


@book.rule(
    "STR-029",
    MUST,
    LOSS,
    source=[
        "https://github.com/openai/openai-go/issues/368",
        "https://github.com/ferro-labs/ai-gateway/issues/129",
        "https://github.com/SamSaffron/term-llm/pull/347 (more than a megabyte)",
    ],
)
def lines_have_any_length(run: Run) -> Iterator[Finding]:
    """A line of a stream may be as long as an answer: it is read, even if it is longer than a megabyte.

    Why: an event of Responses has the whole answer, and an event of Gemini has whole arguments or an image. Readers of lines have
    room for 64 KiB by default, and fail in the middle of the answer. Fix: let the buffer grow with the line.
    """
    yield from same_as_plain(run, "STR-029")


@book.rule(
    "STR-025",
    MUST,
    LOSS,
    source=[
        "https://github.com/NousResearch/hermes-agent/issues/11243",
        "https://github.com/mistralai/client-ts/pull/246",
        "https://github.com/aaif-goose/goose/pull/7204 (Gemini)",
    ],
)
def text_in_parts_is_read(run: Run) -> Iterator[Finding]:
    """Text that arrives as a list of parts is read as the same text, streamed or not (Mistral). A piece with a signature is text, too
    (Gemini).

    Why: the content of an answer is a string or a list of parts, in which thoughts and references stand beside the
    text. A client that expects a string takes the answer for an empty one, and one that takes signed texts for thoughts
    hides them. Fix: read `content` as a string or as a list, and take the text of each text part.
    """
    yield from same_as_plain(run, "STR-025")


@book.rule("STR-021", SHOULD, LOSS, source="https://github.com/yagil/tokmon/issues/4")
def streams_are_handed_over_as_they_come(run: Run) -> Iterator[Finding]:
    """A caller who streams gets a long answer in pieces while it arrives, not all at the end.

    Why: the caller streams in order to show the answer early. A library that does not request a stream is not judged.
    Fix: yield each piece as soon as its event was read; do not collect the body first.
    """
    if "stream" not in run.mode or not run.streamed:
        return
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        if (
            wanted.outcome == "answered"
            and reply.error is None
            and reply.pieces
            and len(wanted.text.split()) > 5
        ):
            fine = sum(bool(piece) for piece in reply.pieces) > 1
            yield found(fine, f"/replies/{index}", f"{len(wanted.text)} characters came in one piece")


def cuts(run: Run) -> list[Varied]:
    """Returns the runs in which the first answer was cut before its end."""
    return [varied for varied in run.varied if varied.variation.rule == "STR-007" and not _whole(varied)]


def difference(plain: Run, other: Run) -> str:
    """Returns the difference between the streams; `""` if there is none. The end of a command's process is a difference, too."""
    if other.trouble and not plain.trouble:
        return other.trouble.text
    if other.misses:
        return f"another request was sent: {other.misses[0]}"
    ran = _ran(plain)
    as_ran = partial(_place_in, ran)  # calls of one answer may run in several threads, in any order
    for name, before, after in (
        ("replies", _replies(plain), _replies(other)),
        ("tool runs", sorted(ran, key=as_ran), sorted(_ran(other), key=as_ran)),
        ("transcript", normalised(plain.transcript), normalised(other.transcript)),
    ):
        if before != after:
            return f"the {name} were {_written(before)} and are {_written(after)}"
    return ""


def _place_in(runs: Sequence[str], one: str) -> tuple[int, str]:
    """Returns a key that sorts tool runs as the given ones; others come behind them."""
    return (runs.index(one) if one in runs else len(runs), one)


def same_as_plain(run: Run, rule: str) -> Iterator[Finding]:
    """Yields a finding for each variation that tests the rule: it gives what the plain conversation gives."""
    for varied in run.varied:
        if varied.variation.rule == rule:
            differs = difference(run, varied.run)
            yield found(
                not differs,
                varied_at(varied),
                f"under {varied.variation.told}, {differs}{_words_of_error(varied.run, differs)}",
            )


def _words_of_error(run: Run, differs: str) -> str:
    """Returns the first line of the error that makes the difference, or `""`."""
    error = next((reply.error for reply in run.replies if reply.error is not None), None)
    words = next(iter(str(error).splitlines()), "")
    raised = error is not None and type(error).__name__ in differs
    return f"; it raised: {words[:_WORDS]}" if raised and words else ""


def _notices(varied: Varied) -> bool:
    return any(reply.error is not None or not reply.complete for reply in varied.run.replies)


def _keeps(varied: Varied) -> Iterator[Finding]:
    """Tells whether the received text reached the caller. It is not judged if the caller of a failed stream gets
    nothing.
    """
    response = varied.run.exchanges[0].response
    got = "".join("".join(reply.pieces) or reply.text for reply in varied.run.replies)
    if response is None or not got:
        return
    step = varied.run.case.script[0]
    parts = [part for part in getattr(step, "parts", ()) if isinstance(part, Say)]
    text = "".join(part.text for part in parts)
    yield found(text.startswith(got), varied_at(varied), f"the caller got {got!r} of {text!r}")


def _whole(varied: Varied) -> bool:
    """Tells whether the first answer was complete."""
    answers = (e.response.body for e in varied.run.exchanges if e.response and e.response.status == 200)
    return bool(re.search(_ENDS[varied.run.wire], next(answers, b"")))


def _replies(run: Run) -> list[str]:
    return [_reply(reply) for reply in run.replies]


def _reply(reply: Reply) -> str:
    """Returns a reply as it is compared and told: its text, its end, and its token counts or the class of its error."""
    counts = [(name.replace("_", " "), count) for name, count in sorted(reply.usage.items())]
    usage = "".join(f", {count} {name}" for name, count in counts if count is not None)
    stop = f"stopped by {reply.stop}" if reply.stop else "no stop reason"
    error = f", {type(reply.error).__name__}" if reply.error else ""
    return f"{reply.text!r} ({stop}{'' if reply.complete else ', incomplete'}{usage}{error})"


def _written(values: object) -> str:
    return listed(values) if isinstance(values, list) else repr(values)


def _ran(run: Run) -> list[str]:
    return [f"{each.name}({_sorted(each.arguments)})" for each in run.tool_runs]


def _sorted(arguments: Mapping[str, object]) -> str:
    return json.dumps(dict(arguments), sort_keys=True, ensure_ascii=False, default=repr)
