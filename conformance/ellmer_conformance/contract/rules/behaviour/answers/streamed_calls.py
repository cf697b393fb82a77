"""Tool calls in a stream: each has its own id, name and arguments."""

from __future__ import annotations

from collections.abc import Iterator

from ....observed.run import Run
from ....rule import Finding
from .._rulebook import LOSS, MUST, SHOULD, book, found, under_variations, varied_at
from ..requests.reasoning import signed_calls_go_back_signed
from .streams import same_as_plain


@book.rule("STR-012", MUST, LOSS, source="https://platform.claude.com/docs/en/build-with-claude/streaming")
def crosswise_arguments_find_their_call(run: Run) -> Iterator[Finding]:
    """Interleaved arguments of parallel calls are joined by index or id, not appended to the latest call.

    Why: if arguments are joined to another call, that call is run with wrong values. Fix: keep a call for each index or
    id, and add each piece to the call that it names.
    """
    yield from same_as_plain(run, "STR-012")


@book.rule(
    "STR-013",
    MUST,
    LOSS,
    source=[
        "https://github.com/ollama/ollama/issues/15457",
        "https://github.com/BerriAI/litellm/issues/33678",
        "https://github.com/spring-projects/spring-ai/issues/5974 (the same id again)",
        "https://github.com/spring-projects/spring-ai/issues/6374 (an empty id)",
        "https://github.com/zed-industries/zed/pull/53605 (the text null, at Mistral)",
        "https://github.com/SamSaffron/term-llm/pull/314 (no index)",
    ],
)
def ids_tell_calls_apart(run: Run) -> Iterator[Finding]:
    """Calls with the same index but different ids are different calls. A piece with the same id again, an empty one or `"null"` goes on
    with its call, and so does one without an index.

    Why: some servers send every call with the index 0, and a client that relies on it loses all calls but one. Others
    send an id with each piece, and a client that takes each id for a new call loses the arguments. Fix: begin a new
    call where a piece has an index that is known and an id that is not.
    """
    yield from same_as_plain(run, "STR-013")
    for varied in run.varied:
        if varied.variation.rule == "STR-013":
            sent = [item.id for items in varied.run.sent_items for item in items if item.kind in _WITH_ID]
            problem = f"under {varied.variation.told}, a call goes back without its id"
            yield found("null" not in sent, varied_at(varied), problem)


#: What has the id of a call.
_WITH_ID = {"call", "result"}


@book.rule(
    "STR-014", MUST, LOSS, source="https://github.com/deepset-ai/haystack-core-integrations/issues/1947"
)
def no_arguments_are_an_empty_object(run: Run) -> Iterator[Finding]:
    """A call without arguments has the arguments `{}`, whether they arrive as `""`, `"{}"`, null or not at all.

    Why: an empty string is not JSON, so a client that parses it fails on every tool without parameters. Fix: take
    arguments that are empty, null or missing for `{}`.
    """
    yield from same_as_plain(run, "STR-014")


@book.rule(
    "STR-027",
    MUST,
    LOSS,
    source=[
        "https://developers.openai.com/api/reference/resources/responses/streaming-events (output_index)",
        "https://github.com/earendil-works/pi/issues/6009",
    ],
)
def late_reasoning_is_kept(run: Run) -> Iterator[Finding]:
    """Reasoning that is complete only after the item that follows it has begun goes back, too (Responses).

    Why: OpenRouter completes items out of order. A client that knows one item at a time loses the encrypted reasoning, and the model
    thinks again. Fix: find the item of an event by its `output_index`.
    """
    yield from same_as_plain(run, "STR-027")
    yield from under_variations(run, "STR-027", signed_calls_go_back_signed)


@book.rule("STR-020", SHOULD, LOSS, source="https://github.com/vercel/ai/pull/14737")
def late_names_are_merged(run: Run) -> Iterator[Finding]:
    """A tool call whose name arrives after its id is one call.

    Why: some compatible servers send the name in a later chunk than the id. Fix: collect the pieces of a call by its
    index, and take the name from whichever chunk has it.
    """
    yield from same_as_plain(run, "STR-020")
