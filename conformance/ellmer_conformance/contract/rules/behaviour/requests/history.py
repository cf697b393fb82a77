"""History, the caller's own values, unchanged text, and requests that are sent once."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise, zip_longest

from .....scenarios.messages import Text
from .....scenarios.script import Answer, Sees
from ....exchange import Item
from ....observed_run import Run
from ....rule import Finding, met
from .._rulebook import LOSS, MUST, SHOULD, book, declined, found, last

_FINAL = {400, 401, 403, 404, 413, 422}


@book.rule("HIS-001", MUST, LOSS, source="https://github.com/567-labs/instructor/issues/2417")
def callers_values_are_unchanged(run: Run) -> Iterator[Finding]:
    """The history, tools and schemas that the caller passed in are not modified.

    Why: the caller uses these objects again, and what a library adds to them is sent again.
    """
    if run.altered is not None:
        yield found(not run.altered, "/altered", f"changed: {', '.join(run.altered)}")


@book.rule(
    "HIS-002", MUST, LOSS, source="https://platform.claude.com/docs/en/build-with-claude/prompt-caching"
)
def requests_extend_their_predecessor(run: Run) -> Iterator[Finding]:
    """After a complete answer, the next request begins with the content of the request before it, unchanged.

    Why: a lost or rewritten turn changes what the model knows, and invalidates the provider's prompt cache. A
    turn that ended in an error for the caller may be left out.
    """
    steps = zip(run.case.steps, run.replies, strict=False)
    raised = any(reply.error is not None and wanted.outcome == "answered" for wanted, reply in steps)
    shortened = any(ask.compacted for ask in run.case.steps)
    if len(run.case.speakers) > 1 or raised or shortened:  # several speak in turns
        return
    whole = [index for index, step in run.answered() if isinstance(step, Answer | Sees)]
    for index in whole:
        later = index + 1
        if later >= len(run.said):
            continue
        before, after = (_beside_new_prompt(run, items) for items in (run.said[index], run.said[later]))
        pairs = zip_longest(before, after[: len(before)])
        item = next((old for old, new in pairs if new is None or _key(old) != _key(new)), None)
        problem = f"it lost or changed the {item.kind} {item.text[:60]!r}" if item else ""
        yield found(item is None, f"/exchanges/{later}/request", problem)


@book.rule("HIS-003", MUST, LOSS, source="https://github.com/chatwoot/ai-agents/issues/38")
def saved_conversations_go_on(run: Run) -> Iterator[Finding]:
    """A saved and reloaded conversation continues with the same request as one that never stopped.

    Why: what is lost in saving is missing from every later request.
    """
    if run.reloaded:
        before, after = [[_key(item) for item in items] for items in run.said[-2:]]
        problem = f"what was said before is not in the request: {run.misses[0] if run.misses else ''}"
        yield found(after[: len(before)] == before and not run.misses, last(run), problem)


@book.rule("ASY-002", MUST, LOSS, source="https://github.com/bman654/clodex/issues/170")
def cancelled_requests_are_closed(run: Run) -> Iterator[Finding]:
    """When the caller cancels a request, its connection is closed within a second.

    Why: as long as the connection is open, the provider goes on with an answer that nobody reads, and bills
    it.
    """
    for index, seen in enumerate(run.left or ()):
        yield found(seen, f"/exchanges/{index}", "the server went on sending to a client that had given up")


@book.rule(
    "ASY-003",
    MUST,
    LOSS,
    source=[
        "https://github.com/tidyverse/ellmer/issues/643",
        "https://github.com/anthropics/claude-code/issues/2261",
    ],
)
def chats_go_on_after_cancelling(run: Run) -> Iterator[Finding]:
    """After a cancelled request, the next request is valid and is answered.

    Why: otherwise one interrupted answer ends the whole conversation.
    """
    steps = list(zip(run.case.steps, run.replies, strict=False))
    for index, ((before, _), (_, reply)) in enumerate(pairwise(steps)):
        if before.cancelled:
            yield found(
                reply.error is None, f"/replies/{index + 1}", f"the chat did not go on: {reply.error!r}"
            )


@book.rule("ASY-004", SHOULD, LOSS, source="https://github.com/home-assistant/core/issues/138780")
def event_loops_are_not_blocked(run: Run) -> Iterator[Finding]:
    """An async call does not open a connection in a way that blocks the event loop.

    Why: while one call blocks the loop, no other conversation goes on.
    """
    if run.blocking is not None:
        yield found(not run.blocking, "/blocking", f"{', '.join(run.blocking)} blocks")


@book.rule(
    "UNI-001",
    MUST,
    LOSS,
    source=[
        "https://www.unicode.org/reports/tr15/",
        "https://github.com/sindresorhus/filenamify/issues/40",
    ],
)
def text_is_sent_as_written(run: Run) -> Iterator[Finding]:
    """The text of the user and of the system prompt reaches the provider character for character.

    Why: a name, a password or code in another normal form is another text, though it looks the same. Fix: do
    not normalise or strip text, and do not encode it with `errors="replace"`.
    """
    sent = ["\n".join(item.text for item in items) for items in run.said]
    asked = [ask for ask in run.case.steps[: len(run.replies)] if not declined(run, ask)]
    written = [ask.instructed for ask in asked if ask.instructed]
    written += [part.text for ask in asked for part in ask.parts if isinstance(part, Text)]
    written = [text for text in written if text.isprintable() or "\ud83d" not in text]
    for text in [*([run.case.system] if run.case.system else []), *written] if sent else ():
        problem = f"{text[:60]!r} is in no request"
        yield found(any(text in request for request in sent), "/exchanges", problem)


@book.rule("ERR-002", MUST, LOSS, source="https://github.com/BerriAI/litellm/issues/19216")
def refusals_are_not_retried(run: Run) -> Iterator[Finding]:
    """A refused request (400, 401, 403, 404, 413, 422) is not retried.

    Why: the same request is refused again, and the caller waits for nothing.
    """
    for index, (one, next_one) in enumerate(pairwise(run.exchanges)):
        status = one.response.status if one.response else 0
        if status in _FINAL:
            problem = f"the request that was answered with {status} was sent again"
            again = one.request.body == next_one.request.body
            yield found(not again, f"/exchanges/{index + 1}/request", problem)
    final = run.exchanges[-1].response if run.exchanges else None
    if final and final.status in _FINAL:
        yield met(f"/exchanges/{len(run.exchanges) - 1}/request")


def _beside_new_prompt(run: Run, items: Sequence[Item]) -> list[Item]:
    """Returns the items. The system prompt is left out if the case replaces it."""
    replaced = any(ask.instructed for ask in run.case.steps)
    return [item for item in items if not (replaced and "system" in (item.kind, item.role))]


def _key(item: Item) -> Hashable:
    """Returns an item without its place."""
    media = item.media.sha256 if item.media else ""
    given = item.arguments
    arguments = "" if given is None else json.dumps(given, sort_keys=True, default=str)
    return (item.kind, item.role, item.text, media, item.id, item.name, arguments, item.error)
