"""What the caller gets: text, token counts, the printed transcript."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from ...rule import Finding, broken, met
from ...run import Run
from ...script import Answer, answers_of
from ._book import LOSS, MUST, SHOULD, book, found


@book.rule("TXT-001", MUST, LOSS, source="one normative printer over the neutral turns")
def transcripts_agree(run: Run) -> Iterator[Finding]:
    """The same conversation prints the same for every format, streamed or not, after ids are neutral."""
    if run.snapshot_diff is not None:
        yield found(not run.snapshot_diff, "/transcript", f"it differs:\n{run.snapshot_diff}")


@book.rule("TXT-002", MUST, LOSS, source="tidyverse/ellmer print methods")
def transcripts_pair_requests_and_results(run: Run) -> Iterator[Finding]:
    """In the transcript every tool request has its own id, and every result the id of its request."""
    asked = re.findall(r"\[tool request \(([^)\n]*)\)\]", run.transcript)
    answered = re.findall(r"\[tool result  \(([^)\n]*)\)\]", run.transcript)
    if asked or answered:
        fine = Counter(asked) == Counter(answered) and len(set(asked)) == len(asked)
        problem = f"requests {asked} and results {answered} do not pair"
        yield found(fine, "/transcript", problem)


@book.rule("TXT-004", SHOULD, LOSS, source="transcripts are committed and shown")
def transcripts_are_clean(run: Run) -> Iterator[Finding]:
    """The transcript holds no key, no terminal escapes and no absolute path."""
    if run.transcript:
        bad = re.search(r"\x1b\[|\bsk-[A-Za-z0-9]{8}|conformance-key|/home/|/Users/", run.transcript)
        yield found(not bad, "/transcript", f"it holds {bad and bad.group()!r}")


@book.rule("TXT-005", MUST, LOSS, source="the answer is what the model said")
def answers_are_handed_over_whole(run: Run) -> Iterator[Finding]:
    """The caller gets the model's text, whole and in order."""
    early = {s.text for s in run.case.script if isinstance(s, Answer) and s.stop in {"filter", "length"}}
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        place = f"/replies/{index}"
        if wanted.outcome != "answered" or wanted.schema or run.refused:
            continue
        if reply.error is not None and (_gave_up(run) or wanted.text in early):  # ERR-003, STP-001 have them
            continue
        if reply.error is not None:
            yield broken(place, f"{type(reply.error).__name__}: {reply.error}")
        elif reply.text != wanted.text:
            yield broken(place, f"the text is {reply.text!r}, the model said {wanted.text!r}")
        else:
            yield met(place)


@book.rule("USG-001", MUST, LOSS, source="every provider's usage object")
def usage_is_the_providers(run: Run) -> Iterator[Finding]:
    """The token counts handed to the caller are the provider's, streamed or not."""
    counted = {a.text: a.usage for _, step in run.answered() for a in answers_of(step)}
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        usage = counted.get(reply.text) if wanted.outcome == "answered" else None
        if usage and reply.usage:
            want = {"input": usage.input, "output": usage.output}
            got = {key: reply.usage.get(key) for key in want}
            problem = f"the provider counted {want}, the caller got {got}"
            yield found(got == want, f"/replies/{index}", problem)


@book.rule("STR-017", SHOULD, LOSS, source="what was shown is what was said")
def pieces_add_up(run: Run) -> Iterator[Finding]:
    """The pieces that a stream hands over add up to the answer."""
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        if wanted.outcome == "answered" and reply.error is None and reply.pieces and not run.refused:
            pieces = "".join(reply.pieces)
            yield found(pieces.endswith(wanted.text), f"/replies/{index}", f"the pieces add up to {pieces!r}")


@book.rule(
    "USG-004",
    MUST,
    LOSS,
    source="every provider's usage object; ellmer and others disagree on what input includes",
)
def parts_of_counts_are_kept(run: Run) -> Iterator[Finding]:
    """Tokens read from a cache and spent on reasoning are reported, as parts of input and output."""
    counted = {a.text: a.usage for _, step in run.answered() for a in answers_of(step)}
    for index, reply in enumerate(run.replies):
        usage = counted.get(reply.text)
        for name in ("cached", "reasoning") if usage and reply.error is None else ():
            want, got = getattr(usage, name), reply.usage.get(name)
            said = _said(run, name)
            if want and got is not None and said:
                yield found(got == want, f"/replies/{index}", f"{name} is {got}, the provider counted {want}")
            elif want and said and name in reply.usage:
                yield broken(f"/replies/{index}", f"{name} is not reported; the provider counted {want}")


def _gave_up(run: Run) -> bool:
    """Whether it was left at a failure that passes: how often to try again is a policy."""
    last = run.exchanges[-1].response if run.exchanges else None
    return bool(run.case.max_retries and last and (last.status == 429 or last.status >= 500))


def _said(run: Run, name: str) -> bool:
    """Whether the provider's answer counts them at all: not every format does."""
    key = {"cached": rb"cache", "reasoning": rb"reasoning_tokens|thinking_tokens|thoughtsTokenCount"}[name]
    bodies = [e.response.body for e in run.exchanges if e.response]
    return any(re.search(key, body, re.IGNORECASE) for body in bodies)
