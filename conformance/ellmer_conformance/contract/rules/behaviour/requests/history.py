"""History: complete, unchanged, in order, and sent once, after a reload or from another provider."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Sequence
from itertools import zip_longest

from .....scenarios.messages import Text, ToolCall
from .....scenarios.script import Answer, AnswerByMedia
from ....counts import counted
from ....observed.exchange import Item, Json
from ....observed.run import Run
from ....readers.json_access import items_of, object_of
from ....rule import Finding, Refusal
from .._rulebook import LOSS, MUST, SHOULD, book, found, last, taken


@book.rule("HIS-001", MUST, LOSS, source="https://github.com/567-labs/instructor/issues/2417")
def callers_values_are_unchanged(run: Run) -> Iterator[Finding]:
    """The history, tools and schemas that the caller passed in are not modified.

    Why: the caller uses these objects again, and what a library adds to them is sent again. Fix: copy what the caller
    passed in before you change it.
    """
    if run.altered is not None:
        yield found(not run.altered, "/altered", f"changed: {', '.join(run.altered)}")


@book.rule(
    "HIS-002", MUST, LOSS, source="https://platform.claude.com/docs/en/build-with-claude/prompt-caching"
)
def requests_extend_their_predecessor(run: Run) -> Iterator[Finding]:
    """After a complete answer, the next request begins with the content of the request before it, unchanged.

    Why: a lost or rewritten turn changes what the model knows, and invalidates the provider's prompt cache. A turn that
    ended in an error for the caller may be left out. Fix: add to the history and do not rewrite it, so that a later
    request only has more.
    """
    steps = zip(run.case.steps, run.replies, strict=False)
    raised = any(reply.error is not None and wanted.outcome == "answered" for wanted, reply in steps)
    shortened = any(ask.compacted for ask in run.case.steps)
    if len(run.case.speakers) > 1 or raised or shortened:  # several speak in turns
        return
    whole = [index for index, step in run.answered() if isinstance(step, Answer | AnswerByMedia)]
    for index in whole:
        later = index + 1
        if later >= len(run.sent_items) or _was_given_up(run, index):
            continue
        before, after = (
            _beside_new_prompt(run, items) for items in (run.sent_items[index], run.sent_items[later])
        )
        pairs = zip_longest(before, after[: len(before)])
        item = next((old for old, new in pairs if new is None or _key(old) != _key(new)), None)
        problem = f"it lost or changed the {item.kind} {item.text[:60]!r}" if item else ""
        yield found(item is None, f"/exchanges/{later}/request", problem)


def _was_given_up(run: Run, exchange: int) -> bool:
    """Tells whether a turn ended at an exchange, with an error for the caller."""
    step = run.step_of(exchange)
    ended = step is not None and step != run.step_of(exchange + 1) and step < len(run.replies)
    return ended and step is not None and run.replies[step].error is not None


@book.rule("HIS-003", MUST, LOSS, source="https://github.com/chatwoot/ai-agents/issues/38")
def saved_conversations_go_on(run: Run) -> Iterator[Finding]:
    """A saved and reloaded conversation continues with the same request as one that never stopped.

    Why: what is lost in saving is missing from every later request. Fix: save every field of a message, also ids,
    signatures and the provider's own parts.
    """
    if run.reloaded and len(run.sent_items) > 1:  # a turn that was refused before it was sent has no request
        before, after = [[_key(i) for i in _beside_new_prompt(run, items)] for items in run.sent_items[-2:]]
        problem = f"what was said before is not in the request: {run.misses[0] if run.misses else ''}"
        yield found(after[: len(before)] == before and not run.misses, last(run), problem)


@book.rule("HIS-005", SHOULD, LOSS, source="https://github.com/huggingface/tau/issues/385")
def foreign_histories_are_sent(run: Run) -> Iterator[Finding]:
    """A history from another provider is sent with all its calls and results, paired.

    Why: a user may continue a conversation with another provider, which has other rules for ids. Fix: convert calls and
    results together, and map an id that this provider refuses in both places.
    """
    calls = [p for turn in run.case.history for p in turn.parts if isinstance(p, ToolCall)]
    if not calls or not run.sent_items:
        return
    sent = [item for item in run.sent_items[0] if item.kind == "call"]
    names = [item.name for item in sent]
    problem = f"the history has {counted(len(calls), 'call')}, and the request has {len(sent)}"
    yield found(not sent or names == [c.name for c in calls], "/exchanges/0/request", problem)
    texts = " ".join(item.text for item in run.sent_items[0])
    for turn in run.case.history:
        for part in turn.parts:
            if isinstance(part, Text):
                yield found(part.text in texts, "/exchanges/0/request", f"{part.text!r} is gone")


@book.rule(
    "HIS-015",
    MUST,
    LOSS,
    source=[
        "https://developers.openai.com/api/docs/guides/conversation-state",
        "https://github.com/bigduu/Bamboo-agent/issues/64",
        "https://github.com/maximhq/bifrost/issues/2441",
        "https://github.com/vercel/ai/issues/9119",
    ],
    formerly=[Refusal("Previous response with id '{id}' not found.")],
)
def named_answers_are_stored(run: Run) -> Iterator[Finding]:
    """A request that names an earlier answer (`previous_response_id`) or a part of one (`item_reference`) names one of this
    conversation, which the provider stored.

    Why: the provider keeps no answer to a request with `store: false`, and refuses its name. The name stands for all
    that was said up to this answer, so the name of an older one loses what came after it. Fix: name an earlier answer
    only if it was made with `store: true`, and send the history otherwise.
    """
    for index, _ in taken(run) if run.way != "recordings" else ():
        for name in _named(run.exchanges[index].request.body):
            made = [
                e for e in run.exchanges[:index] if e.response and f'"{name}"'.encode() in e.response.body
            ]
            stored = made and made[0].request.body.get("store") is not False
            problem = f"{name[:14]}… is of the answer to a request with `store: false`" if made else ""
            problem = problem or f"{name[:14]}… is of no answer of this conversation"
            yield found(stored, f"/exchanges/{index}/request", problem)


def _named(body: Json) -> Iterator[str]:
    """Yields the ids of the answers and items that a request names in place of what they say."""
    references = (
        item.get("id")
        for item in map(object_of, items_of(body.get("input")))
        if item.get("type") == "item_reference"
    )
    yield from (id for id in (body.get("previous_response_id"), *references) if isinstance(id, str))


def _beside_new_prompt(run: Run, items: Sequence[Item]) -> list[Item]:
    """Returns the items. The system prompt is left out if the case replaces it."""
    replaced = any(ask.instructed for ask in run.case.steps)
    return [item for item in items if not (replaced and "system" in (item.kind, item.role))]


def _key(item: Item) -> Hashable:
    """Returns an item without its place."""
    media = item.media.sha256 if item.media else ""
    values = item.arguments
    arguments = "" if values is None else json.dumps(values, sort_keys=True, default=str)
    return (item.kind, item.role, item.text, media, item.id, item.name, arguments, item.error)
