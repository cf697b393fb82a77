"""Images and PDFs that tools return: bytes, order, attribution, and the printed transcript."""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise

from ....counts import times
from ....observed.exchange import Media
from ....observed.run import Run, all_media_of, media_of, unusual_media_of
from ....request import Item
from ....rule import Finding, met
from .._rulebook import LOSS, MUST, SHOULD, at, book, found, last, new, refuses_media


@book.rule("TRM-001", MUST, LOSS, source="https://github.com/vercel/ai/issues/6073")
def media_arrive_whole(run: Run) -> Iterator[Finding]:
    """An image or PDF that a tool returned reaches the provider with the same bytes.

    Why: the model describes something else if an image is lost or re-encoded, and the status is still 200.
    Fix: send the image inside the result if the format allows it, otherwise directly after all results.
    """
    if run.refused or not run.sent_items:
        return
    sent = {item.media.sha256 for item in run.sent_items[-1] if item.media}
    for media in run.tool_media():
        problem = f"{media.type} {media.sha256[:8]} did not reach the provider"
        yield found(media.sha256 in sent, last(run), problem)


@book.rule("TRM-007", MUST, LOSS, source="https://github.com/tidyverse/ellmer/pull/735")
def media_keep_their_order(run: Run) -> Iterator[Finding]:
    """Media from several results arrive in the order of the calls and, inside a list, in the order of its items.

    Why: the model describes the wrong image if the order changes. Media inside of results are told apart by the ids of
    the calls, so that results may come in any order. The order holds even if the API does not accept media between
    texts. TRM-006 judges the texts between them. If an API takes each kind of media in its own list
    (`interleaved_parts` is refused), each kind keeps its order. Fix: add media in the order of the calls, and not in
    the order in which the tools end.
    """
    wanted = [m.sha256 for m in run.tool_media()]
    if run.refused or len(wanted) < 2 or not run.sent_items:
        return
    sent = [i.media for i in _by_call(run.sent_items[-1], wanted) if i.media]
    digests = [m.sha256 for m in (_by_kind(sent) if run.apart else sent)]
    asked = [m.sha256 for m in _by_kind(run.tool_media())] if run.apart else wanted
    yield found(digests == asked, last(run), "the media are out of order or missing")


def _by_call(items: Sequence[Item], wanted: Collection[str]) -> list[Item]:
    """Returns the items with wanted media. Those that are all inside of results are in the order of the calls."""
    calls = [each.id for each in items if each.kind == "call"]
    found = [each for each in items if each.media and each.media.sha256 in wanted]
    within = [each.within for each in found if each.within in calls]
    return (
        sorted(found, key=lambda each: calls.index(each.within or "")) if len(within) == len(found) else found
    )


def _by_kind(media: Iterable[Media]) -> list[Media]:
    return sorted(media, key=lambda each: each.type.startswith("image/"))


@book.rule("TRM-006", SHOULD, LOSS, source="https://github.com/tidyverse/ellmer/pull/735")
def hoisted_media_are_attributed(run: Run) -> Iterator[Finding]:
    """Media that were moved out of a tool result are preceded by a text with the id of the call.

    Why: with two image tools, the model cannot know which call returned which image. Fix: write a text with the call's
    id before the moved media.
    """
    wanted = {m.sha256 for m in run.tool_media()}
    for index, items in enumerate(run.sent_items):
        ids = {i.id for i in items if i.kind == "call"} - {""}
        for before, item in pairwise(items):
            if item.media and item.within is None and item.media.sha256 in wanted and ids:
                named = any(id in before.text for id in ids)
                problem = "nothing ties this to the call that returned it"
                yield found(named, at(index, item), problem)


_NOTE = re.compile(r"image|picture|pdf|document|media|attachment|omitted|(un|not )supported", re.IGNORECASE)


@book.rule(
    "TRM-010",
    MUST,
    LOSS,
    source=[
        "https://github.com/vercel/ai/issues/21174",
        "https://github.com/github/copilot-cli/issues/4536",
    ],
)
def refused_media_leave_a_note(run: Run) -> Iterator[Finding]:
    """Media that the model does not accept raise a typed error or leave a text that says so (`[tool output
    omitted]` does); they are never dropped silently.

    Why: a model that did not get an image describes one anyway, and the caller does not notice. Media that are text
    (SVG) may be sent as text. Fix: raise an error before the request, or write in the result that a file was left out.
    """
    for index, reply in enumerate(run.replies):
        if refuses_media(run, index) or (run.refused and reply.error is not None):
            yield met(f"/replies/{index}")
    which = all_media_of if run.refused else unusual_media_of
    with_media = {r.name for r in run.tool_runs if which(r.value)}
    media = [media for r in run.tool_runs for media in which(r.value)]
    digests, readable = {each.sha256 for each in media}, {*filter(None, map(_as_text, media))}
    for index in range(1, len(run.sent_items)):
        names = {item.id: item.name for item in run.sent_items[index] if item.kind == "call"}
        for item in new(run, index, "result"):
            if (item.name or names.get(item.id)) in with_media:
                sent = {other.media.sha256 for other in run.sent_items[index] if other.media}
                told = any(text in other.text for other in run.sent_items[index] for text in readable)
                noted = _NOTE.search(item.text) or digests & sent or told
                yield found(noted, at(index, item), "the media were dropped silently")


def _as_text(media: Media) -> str:
    try:
        return media.data.decode("utf-8")
    except UnicodeDecodeError:
        return ""


@book.rule("TRM-011", MUST, LOSS, source="https://github.com/sandialabs/atlas-ui-3/issues/907")
def media_are_replayed_once(run: Run) -> Iterator[Finding]:
    """The next turn's request contains the media exactly once, and does not wrap them again.

    Why: a model that no longer gets an image answers questions about it as if it saw it. Fix: convert a result while
    the request is built, and leave the history as it was.
    """
    wanted = Counter(m.sha256 for m in run.tool_media())
    if run.refused or len(run.case.steps) < 2 or not run.sent_items:
        return
    sent = Counter(i.media.sha256 for i in run.sent_items[-1] if i.media)
    reached = {i.media.sha256 for items in run.sent_items for i in items if i.media}
    for digest, count in wanted.items():
        problem = f"media {digest[:8]} was returned {times(count)} and is sent {times(sent[digest])}"
        if digest in reached:  # TRM-001 reports media that never arrive
            yield found(sent[digest] == count, last(run), problem)


@book.rule("TRM-012", SHOULD, LOSS, source="https://github.com/tidyverse/ellmer/pull/735")
def nesting_errors_name_the_place(run: Run) -> Iterator[Finding]:
    """Media deep inside a result are sent, or an error names the tool and the path.

    Why: the author of the tool must learn which value to change. Fix: search lists and objects for media, and name the
    path of one that you cannot send.
    """
    sent = {item.media.sha256 for items in run.sent_items for item in items if item.media}
    for r in run.tool_runs:
        inner = [v for v in r.value if isinstance(v, list)] if isinstance(r.value, list) else []
        if not (deep := {media.sha256 for v in inner for media in media_of(v)}):
            continue
        told = [i.text for items in run.sent_items for i in items if i.kind == "result"]
        told += [str(reply.error) for reply in run.replies if reply.error]
        named = any((r.name in text and re.search(r"\[\d+\]", text)) or _NOTE.search(text) for text in told)
        yield found(named or deep <= sent, "/tool_runs", "no message names the tool and the path")


@book.rule("TRM-014", MUST, LOSS, source="https://github.com/tidyverse/ellmer/pull/735")
def transcripts_hold_no_base64(run: Run) -> Iterator[Finding]:
    """The printed transcript shows a placeholder for media, never base64.

    Why: the base64 of one image fills pages that nobody can read. Fix: print the type and the size of the media
    instead.
    """
    media = [m for a in run.case.steps for m in media_of(list(a.parts))] + run.tool_media()
    for item in media if run.transcript else ():
        shown = base64.b64encode(item.data)[:60].decode()
        dumped = bool(shown) and shown in run.transcript
        yield found(not dumped, "/transcript", "base64 of media is printed")
