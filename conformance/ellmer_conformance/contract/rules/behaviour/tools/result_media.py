"""Images and PDFs that tools return: bytes, order, attribution, and what is printed of them."""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from ....observed_run import Run, media_of
from ....rule import Finding, met
from .._rulebook import LOSS, MUST, SHOULD, at, book, found, last, new


@book.rule("TRM-001", MUST, LOSS, source="the bytes are the message")
def media_arrive_whole(run: Run) -> Iterator[Finding]:
    """An image or PDF that a tool returned reaches the provider with the same bytes.

    Why: a lost or re-encoded image is answered with a description of something else, under status 200.
    How to fix: send it inside the result where the format can, else right after all results.
    """
    if run.refused or not run.said:
        return
    sent = {item.media.sha256 for item in run.said[-1] if item.media}
    for media in run.tool_media():
        problem = f"{media.type} {media.sha256[:8]} did not reach the provider"
        yield found(media.sha256 in sent, last(run), problem)


@book.rule("TRM-007", MUST, LOSS, source="tidyverse/ellmer#735")
def media_keep_their_order(run: Run) -> Iterator[Finding]:
    """Media of one batch of results arrive in call order and, inside a list, in item order.

    An API that cannot put media between texts can keep them in order: what stands between them is TRM-006's.
    """
    wanted = [m.sha256 for m in run.tool_media()]
    if run.refused or len(wanted) < 2 or not run.said:
        return
    sent = [i.media.sha256 for i in run.said[-1] if i.media and i.media.sha256 in wanted]
    yield found(sent == wanted, last(run), "the media are out of order or missing")


@book.rule("TRM-006", SHOULD, LOSS, source="tidyverse/ellmer#735")
def hoisted_media_are_attributed(run: Run) -> Iterator[Finding]:
    """Media moved out of a result are tied to it: the text before them names the call id.

    Why: with two image tools the model cannot know which picture is whose.
    """
    wanted = {m.sha256 for m in run.tool_media()}
    for index, items in enumerate(run.said):
        ids = {i.id for i in items if i.kind == "call"} - {""}
        for before, item in pairwise(items):
            if item.media and item.within is None and item.media.sha256 in wanted and ids:
                named = any(id in before.text for id in ids)
                problem = "nothing ties this to the call that returned it"
                yield found(named, at(index, item), problem)


@book.rule("TRM-010", MUST, LOSS, source="vercel/ai#21174; declared as refused")
def refused_media_leave_a_note(run: Run) -> Iterator[Finding]:
    """Media the model cannot take are never dropped in silence: a typed error, or a text that says so."""
    if not run.refused:
        return
    for index, reply in enumerate(run.replies):
        if reply.error is not None:
            yield met(f"/replies/{index}")
    with_media = {r.name for r in run.tool_runs if media_of(r.value)}
    for index in range(1, len(run.said)):
        names = {item.id: item.name for item in run.said[index] if item.kind == "call"}
        for item in new(run, index, "result"):
            if names.get(item.id) in with_media:
                noted = re.search(r"image|picture|pdf|document", item.text, re.IGNORECASE)
                yield found(noted, at(index, item), "the media were dropped silently")


@book.rule("TRM-011", MUST, LOSS, source="history is replayed, not rewritten")
def media_are_replayed_once(run: Run) -> Iterator[Finding]:
    """The next turn's request carries the media once: not lost, not twice, not wrapped again."""
    wanted = Counter(m.sha256 for m in run.tool_media())
    if run.refused or len(run.case.steps) < 2 or not run.said:
        return
    sent = Counter(i.media.sha256 for i in run.said[-1] if i.media)
    for digest, count in wanted.items():
        problem = f"media {digest[:8]} was returned {count} times and is sent {sent[digest]} times"
        yield found(sent[digest] == count, last(run), problem)


@book.rule("TRM-012", SHOULD, LOSS, source="tidyverse/ellmer#735, check_tool_result()")
def nesting_errors_name_the_place(run: Run) -> Iterator[Finding]:
    """Media nested deeper than supported fail with a message that names the tool and the path."""
    for r in run.tool_runs:
        if not isinstance(r.value, list) or not any(isinstance(v, list) and media_of(v) for v in r.value):
            continue
        told = [i.text for items in run.said for i in items if i.kind == "result"]
        told += [str(reply.error) for reply in run.replies if reply.error]
        good = any(r.name in text and re.search(r"\[\d+\]", text) for text in told)
        yield found(good, "/tool_runs", "no message names the tool and the path")


@book.rule("TRM-014", MUST, LOSS, source="tidyverse/ellmer#735")
def transcripts_hold_no_base64(run: Run) -> Iterator[Finding]:
    """The printed transcript shows a placeholder for media, never their base64."""
    media = [m for a in run.case.steps for m in media_of(list(a.parts))] + run.tool_media()
    for item in media if run.transcript else ():
        dumped = base64.b64encode(item.data)[:60].decode() in run.transcript
        yield found(not dumped, "/transcript", "base64 of media is printed")
