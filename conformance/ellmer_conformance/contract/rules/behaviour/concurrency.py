"""Cancelled, asynchronous and simultaneous conversations."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ....scenarios.messages import Text
from ...observed.run import Run
from ...rule import Finding
from ._rulebook import LOSS, MUST, SHOULD, book, found


@book.rule("ASY-002", MUST, LOSS, source="https://github.com/bman654/clodex/issues/170")
def cancelled_requests_are_closed(run: Run) -> Iterator[Finding]:
    """When the caller cancels a request, its connection is closed within a second.

    Why: as long as the connection is open, the provider goes on with an answer that nobody reads, and bills it. Fix:
    close the response in a `finally` block, or use `async with` for the stream.
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

    Why: otherwise one interrupted answer ends the whole conversation. Fix: on cancellation, take the unfinished turn
    out of the history, or answer its open calls.
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

    Why: while one call blocks the loop, no other conversation goes on. Fix: use the provider's async client, or run the
    blocking one in a thread.
    """
    if run.blocking is not None:
        yield found(not run.blocking, "/blocking", f"{', '.join(run.blocking)} blocks")


@book.rule("HIS-004", MUST, LOSS, source="https://github.com/Chainlit/chainlit/issues/733")
def conversations_do_not_mix(run: Run) -> Iterator[Finding]:
    """Several conversations of one adapter do not share messages or answers.

    Why: one client object may serve many users, who must not see each other's messages. Fix: keep messages in the
    conversation, and not in the client or in a mutable default argument.
    """
    if len(run.case.speakers) < 2:
        return
    told = {
        who: {p.text for a in run.case.steps if a.who == who for p in a.parts if isinstance(p, Text)}
        for who in run.case.speakers
    }
    for index, items in enumerate(run.sent_items):
        texts = {item.text for item in items if item.role == "user"}
        of_one = any(texts <= own for own in told.values())
        yield found(of_one, f"/exchanges/{index}/request", "it says what was said in another conversation")


@book.rule("ASY-005", SHOULD, LOSS, source="https://github.com/anthropics/claude-code/issues/79241")
def replies_go_to_their_callers(run: Run) -> Iterator[Finding]:
    """Each of several simultaneous conversations gets the answers to its own questions.

    Why: an answer in another conversation is wrong there, and may be private. Fix: keep the state of a request in local
    variables, and not on the shared client.
    """
    if len(run.case.speakers) < 2 or "async" not in run.mode:
        return
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        yield found(
            reply.text == wanted.text,
            f"/replies/{index}",
            f"{reply.text!r} is the answer to another conversation",
        )
