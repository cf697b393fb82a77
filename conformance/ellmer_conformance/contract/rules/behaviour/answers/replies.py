"""The values that the caller gets: text, token counts and the printed transcript."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from .....scenarios.messages import Reply, ToolCall
from .....scenarios.script import Answer, Sees, Usage, answers_of
from ....observed_run import Run
from ....rule import Finding, broken, met
from .._rulebook import LOSS, MUST, SHOULD, answer_refused, book, found, stopped_by

_UNCLEAN = ("\x1b[", "sk-", "conformance-key", "/home/", "/Users/")
_UNCLEAN_TEXT = re.compile(r"\x1b\[|\bsk-[A-Za-z0-9]{8}|conformance-key|/home/|/Users/")


@book.rule(
    "TXT-001",
    MUST,
    LOSS,
    source="This project decided it: transcripts of two providers can be compared only if they have one form.",
)
def transcripts_agree(run: Run) -> Iterator[Finding]:
    """A conversation prints the same for every wire format, streamed or not, apart from ids.

    Why: transcripts of two providers can be compared only if they have one form.
    """
    if run.snapshot_diff is not None:
        yield found(not run.snapshot_diff, "/transcript", f"it differs:\n{run.snapshot_diff}")


@book.rule(
    "TXT-002",
    MUST,
    LOSS,
    source="This project decided it: a reader of a transcript matches results and requests by their ids.",
)
def transcripts_pair_requests_and_results(run: Run) -> Iterator[Finding]:
    """In the transcript, every tool request has its own id and every result has the id of its request.

    Why: a reader matches results and requests by their ids.
    """
    ours = {call.name for _, calls in run.calls() for call in calls} | {tool.name for tool in run.case.tools}
    ours |= {part.name for turn in run.case.history for part in turn.parts if isinstance(part, ToolCall)}
    named = re.findall(r"\[tool request \(([^)\n]*)\)\](?:: (\w+))?", run.transcript)
    theirs = {id for id, name in named if name and name not in ours}  # which the provider runs itself
    asked = [id for id, _ in named if id not in theirs]
    results = re.findall(r"\[tool result  \(([^)\n]*)\)(?:, [^\n]*)?\]", run.transcript)
    answered = [id for id in results if id not in theirs]
    if asked or answered:
        fine = Counter(asked) == Counter(answered) and len(set(asked)) == len(asked)
        problem = f"requests {asked} and results {answered} do not pair"
        yield found(fine, "/transcript", problem)


@book.rule(
    "TXT-004",
    SHOULD,
    LOSS,
    source=[
        "https://cwe.mitre.org/data/definitions/532.html",
        "https://cwe.mitre.org/data/definitions/150.html",
    ],
)
def transcripts_are_clean(run: Run) -> Iterator[Finding]:
    """The transcript contains no API key, no terminal escape and no absolute path.

    Why: transcripts are committed, shared and shown in terminals.
    """
    if run.transcript:
        suspect = any(part in run.transcript for part in _UNCLEAN)  # faster than `re`, and most are clean
        bad = _UNCLEAN_TEXT.search(run.transcript) if suspect else None
        yield found(not bad, "/transcript", f"it holds {bad and bad.group()!r}")


@book.rule("TXT-005", MUST, LOSS, source="https://github.com/HolmesGPT/holmesgpt/issues/2185")
def answers_are_handed_over_whole(run: Run) -> Iterator[Finding]:
    """The caller gets the model's whole text in order, with or without the text before tool calls.

    Why: the text before a tool call may be the answer, and the text after it may be empty.
    """
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        place = f"/replies/{index}"
        if wanted.outcome != "answered" or wanted.schema or run.refused:
            continue
        answers = _answers(run, wanted.text)
        if _ended_early(run, reply, answers) or _saw_another_order(run, reply):
            continue
        if reply.error is not None:
            yield broken(place, f"{type(reply.error).__name__}: {reply.error}")
        elif not _is_whole(reply.text, wanted.text, answers):
            yield broken(place, f"the text is {reply.text!r}, the model said {wanted.text!r}")
        else:
            yield met(place)


@book.rule("USG-001", MUST, LOSS, source="https://github.com/tensorzero/tensorzero/issues/5481")
def usage_is_the_providers(run: Run) -> Iterator[Finding]:
    """The reported token counts are the provider's, streamed or not: those of the last answer, or their sum.

    Why: callers compute costs and limits from these counts. The counts may include cached and reasoning
    tokens or not: OpenAI includes both, Anthropic's `input_tokens` exclude cached tokens, and Gemini's
    `candidatesTokenCount` excludes thinking. The provider's own count is accepted, and so is the sum of its
    parts.
    """
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        answers = _answers(run, wanted.text) if wanted.outcome == "answered" else []
        usages = [answer.usage for answer in answers]
        if usages and reply.usage and _is_whole(reply.text, wanted.text, answers):
            want = _counts(usages[-1:])
            got = {key: reply.usage.get(key) for key in want}
            problem = f"the provider counted {want}, the caller got {got}"
            yield found(_is_counted(got, usages), f"/replies/{index}", problem)


@book.rule("STR-017", SHOULD, LOSS, source="https://github.com/codelibs/fess/pull/3096")
def pieces_add_up(run: Run) -> Iterator[Finding]:
    """The pieces of a stream add up to the whole answer.

    Why: what the user saw while it arrived must be what the history keeps.
    """
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        if wanted.outcome == "answered" and reply.error is None and reply.pieces and not run.refused:
            pieces = "".join(reply.pieces)
            yield found(pieces.endswith(wanted.text), f"/replies/{index}", f"the pieces add up to {pieces!r}")


@book.rule(
    "USG-004",
    MUST,
    LOSS,
    source="https://github.com/laravel/ai/pull/1021",
)
def parts_of_counts_are_kept(run: Run) -> Iterator[Finding]:
    """Cached tokens are reported as part of the input, and reasoning tokens as part of the output.

    Why: providers count differently, and costs are wrong if a count means something else for each of them.
    """
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        usage = next((a.usage for a in _answers(run, wanted.text)[-1:]), None)
        for name in ("cached", "reasoning") if usage and reply.error is None else ():
            want, got = getattr(usage, name), reply.usage.get(name)
            if not want or name not in reply.usage or not _said(run, name):
                continue
            if got is not None:
                yield found(got == want, f"/replies/{index}", f"{name} is {got}, the provider counted {want}")
            else:
                yield broken(f"/replies/{index}", f"{name} is not reported; the provider counted {want}")


def _answers(run: Run, text: str) -> list[Answer]:
    """Returns the model's texts for a question: the answer with this text, after the answers whose calls led to it."""
    found: list[Answer] = []
    for step in run.case.script:
        told = answers_of(step)
        last = next((answer for answer in told if answer.text == text and not answer.calls), None)
        if last:
            return [*found, last]
        found = [*found, *told[:1]] if not told or told[0].calls else []
    return []


def _is_whole(text: str, wanted: str, answers: Sequence[Answer]) -> bool:
    """Tells whether a text is the answer: alone, or after the model's earlier texts with calls."""
    before = "".join(answer.text for answer in answers[:-1])
    return text.endswith(wanted) and text.removesuffix(wanted).strip() in {"", before.strip()}


def _saw_another_order(run: Run, reply: Reply) -> bool:
    """Tells whether the model got all required media in another order. IMG-002 and TRM-007 report that."""
    seen = [step for step in run.case.script if isinstance(step, Sees) and reply.text == step.otherwise.text]
    sent = {item.media.sha256 for items in run.said for item in items if item.media}
    return any(len(step.media) > 1 and set(step.media) <= sent for step in seen)


def _ended_early(run: Run, reply: Reply, answers: Sequence[Answer]) -> bool:
    """Tells whether there is a reason for another answer. Other rules (ERR-003, STP-001, …) report it."""
    ended = {answer.reason for answer in answers} & {"length", "filter"}
    if reply.error is not None:
        return _gave_up(run) or answer_refused(run) or bool(ended)
    cut = any(answer.reason == "length" for answer in answers[:-1])
    return cut and (not reply.complete or stopped_by(run, reply, "length"))


def _counts(usages: Sequence[Usage]) -> dict[str, int]:
    """Returns the tokens of one answer, or of all answers to a question."""
    return {"input": sum(each.input for each in usages), "output": sum(each.output for each in usages)}


def _is_counted(got: Mapping[str, int | None], usages: Sequence[Usage]) -> bool:
    """Tells whether these are the counts of the last answer, or the sum over all answers, with their parts or
    without.
    """
    return any(
        got["input"] in (total["input"], total["input"] - sum(each.cached for each in some))
        and got["output"] in (total["output"], total["output"] - sum(each.reasoning for each in some))
        for some in (usages[-1:], usages)
        for total in [_counts(some)]
    )


def _gave_up(run: Run) -> bool:
    """Tells whether the client stopped at a transient failure. The number of retries is a policy."""
    last = run.exchanges[-1].response if run.exchanges else None
    return bool(run.case.max_retries and last and (last.status == 429 or last.status >= 500))


def _said(run: Run, name: str) -> bool:
    """Tells whether the provider's answer has counts. Not every format has them."""
    key = {"cached": rb"cache", "reasoning": rb"reasoning_tokens|thinking_tokens|thoughtsTokenCount"}[name]
    bodies = [e.response.body for e in run.exchanges if e.response]
    return any(re.search(key, body, re.IGNORECASE) for body in bodies)
