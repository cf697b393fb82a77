"""The values that the caller gets: the text, its pieces, and the printed transcript."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from .....scenarios.messages import Reply, ToolCall
from .....scenarios.script import Answer, AnswerByMedia, Say, answers_of
from ....observed.run import Run
from ....rule import Finding, broken, met
from .._rulebook import (
    LOSS,
    MUST,
    SHOULD,
    answer_refused,
    book,
    crashes,
    found,
    gave_up,
    is_out_of_step,
    stopped_by,
)

_UNCLEAN = ("\x1b[", "sk-", "canary-key", "/home/", "/Users/")


_UNCLEAN_TEXT = re.compile(r"\x1b\[|\bsk-[A-Za-z0-9]{8}|canary-key|/home/|/Users/")


@book.rule("TXT-001", MUST, LOSS, source="This project decided it.")
def transcripts_agree(run: Run) -> Iterator[Finding]:
    """A conversation prints the same for every wire format, streamed or not, apart from ids.

    Why: transcripts of two providers can be compared only if they have one form. Fix: print from your own types, and
    not from the provider's objects.
    """
    if run.snapshot_diff is not None:
        yield found(not run.snapshot_diff, "/transcript", f"it differs:\n{run.snapshot_diff}")


@book.rule("TXT-002", MUST, LOSS, source="This project decided it.")
def transcripts_pair_requests_and_results(run: Run) -> Iterator[Finding]:
    """In the transcript, every tool request has its own id and every result has the id of its request.

    Why: a reader matches results and requests by their ids. A library that declares that it takes no tools is not
    judged. Fix: keep the provider's id in the request and in its result, and make one where the provider sent none.
    """
    if "tools" in run.refused:
        return
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

    Why: transcripts are committed, shared and shown in terminals. Fix: print neither headers nor client objects, and
    escape control characters.
    """
    if run.transcript:
        suspect = any(part in run.transcript for part in _UNCLEAN)  # faster than `re`, and most are clean
        bad = _UNCLEAN_TEXT.search(run.transcript) if suspect else None
        yield found(not bad, "/transcript", f"it holds {bad and bad.group()!r}")


@book.rule("TXT-005", MUST, LOSS, source="https://github.com/HolmesGPT/holmesgpt/issues/2185")
def answers_are_handed_over_whole(run: Run) -> Iterator[Finding]:
    """The caller gets the model's whole text in order, with or without the text before tool calls.

    Why: the text before a tool call may be the answer, and the text after it may be empty. Fix: join the texts of all
    blocks and pieces of an answer, in order, and hand them over.
    """
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        place = f"/replies/{index}"
        if wanted.outcome != "answered" or wanted.schema or run.refused:
            continue
        answers = answers_to(run, wanted.text)
        if _ended_early(run, reply, answers) or _saw_another_order(run, reply):
            continue
        if crashes(run, index) or is_out_of_step(run, index):
            continue
        if reply.error is not None:
            yield broken(place, f"{type(reply.error).__name__}: {reply.error}")
        elif not is_whole(run, reply.text, wanted.text, answers):
            problem = f"the text is {reply.text!r}, {_instead(run, wanted.text)}"
            yield broken(place, problem, seen=reply.text)
        else:
            yield met(place)


@book.rule("STR-017", SHOULD, LOSS, source="https://github.com/codelibs/fess/pull/3096")
def pieces_add_up(run: Run) -> Iterator[Finding]:
    """The pieces of a stream add up to the whole answer.

    Why: the history must have the text that the user saw arrive. Fix: build the answer from the pieces that you hand
    over, and leave none out.
    """
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        judged = wanted.outcome == "answered" and not run.refused and not is_out_of_step(run, index)
        if judged and reply.error is None and reply.pieces:
            pieces = _without_breaks(run, "".join(reply.pieces), answers_to(run, wanted.text))
            yield found(pieces.endswith(wanted.text), f"/replies/{index}", f"the pieces add up to {pieces!r}")


@book.rule(
    "STR-024",
    MUST,
    LOSS,
    source=[
        "https://github.com/microsoft/agent-framework/issues/3979",
        "https://github.com/openclaw/openclaw/pull/1284",
    ],
)
def pieces_were_said(run: Run) -> Iterator[Finding]:
    """Each piece of a stream is the model's own words, in order and once. If a client leaves pieces out, it breaks STR-017.

    Why: the user reads the pieces while they arrive, and nobody corrects what was shown twice or in another order. Fix:
    hand over each delta once, and nothing of the event that repeats the whole text.
    """
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        answers = answers_to(run, wanted.text)
        judged = wanted.outcome == "answered" and not run.refused and not is_out_of_step(run, index)
        if (
            judged
            and reply.error is None
            and len(reply.pieces) > 1
            and is_whole(run, reply.text, wanted.text, answers)
        ):
            shown = "".join(_without_breaks(run, "".join(reply.pieces), answers).split())
            told = "".join("".join(answer.text for answer in answers).split())
            fine = _is_within(shown, told)
            yield found(fine, f"/replies/{index}", f"the pieces add up to {''.join(reply.pieces)!r}")


def _is_within(part: str, whole: str) -> bool:
    """Tells whether the characters of a text are in another one, in the same order."""
    rest = iter(whole)
    return all(character in rest for character in part)


@book.rule(
    "TXT-006",
    SHOULD,
    LOSS,
    source=[
        "https://github.com/microsoft/vscode/pull/312173",
        "https://github.com/langchain4j/langchain4j/issues/6399",
    ],
)
def messages_are_told_apart(run: Run) -> Iterator[Finding]:
    """The texts of two messages in one answer are separated.

    Why: OpenAI's Responses has a comment and the final answer as two messages. Without a break, the last word of one
    runs into the first word of the other. Fix: join the texts of separate messages with a blank line.
    """
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        messages = _messages(run, answers_to(run, wanted.text)[-1:])
        if len(messages) > 1 and wanted.outcome == "answered" and reply.error is None and not run.refused:
            glued = "".join(messages) in reply.text
            yield found(
                not glued, f"/replies/{index}", f"the text {reply.text!r} has {len(messages)} messages"
            )


@book.rule(
    "EMP-003",
    MUST,
    LOSS,
    source="https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons",
)
def empty_answers_are_answers(run: Run) -> Iterator[Finding]:
    """An empty answer gives a defined result, and the next request is valid.

    Why: a model may answer with nothing, for example after a tool's result, and providers refuse empty messages. An
    answer that a filter emptied may be an error. Fix: return an empty text, and leave an empty message out of the next
    request.
    """
    empty = {
        index: step.stop for index, step in run.answered() if isinstance(step, Answer) and not step.parts
    }
    for index, stop in empty.items():
        reply = run.replies[index] if index < len(run.replies) else None
        if reply is not None:
            fine = reply.error is None or stop == "filter"
            yield found(fine, f"/replies/{index}", f"it raises {reply.error!r}")
        if index + 1 < len(run.exchanges):
            after = run.exchanges[index + 1].response
            legal = after is None or after.status < 400
            yield found(legal, f"/exchanges/{index + 1}/request", "the next request is refused")
        elif index + 1 < len(run.case.steps):
            yield broken(f"/exchanges/{index}", "no further request was sent")


def _instead(run: Run, text: str) -> str:
    """Returns what the caller should have got, and whether it was asked for at all."""
    said = (
        at for at, step in enumerate(run.case.script) if any(each.text == text for each in answers_of(step))
    )
    asked = len(run.exchanges) > next(said, -1)
    return f"the model said {text!r}" if asked else f"and no request asked for the model's answer {text!r}"


def answers_to(run: Run, text: str) -> list[Answer]:
    """Returns the model's texts for a question: the answer with this text, after the answers whose calls led to it."""
    found: list[Answer] = []
    for step in run.case.script:
        told = answers_of(step)
        last = next((answer for answer in told if answer.text == text and not answer.calls), None)
        if last:
            return [*found, last]
        found = [*found, *told[:1]] if not told or told[0].calls else []
    return []


def is_whole(run: Run, text: str, wanted: str, answers: Sequence[Answer]) -> bool:
    """Tells whether a text is the answer: alone, or after the model's earlier texts with calls."""
    text = _without_breaks(run, text, answers)
    before = "".join(answer.text for answer in answers[:-1])
    return text.endswith(wanted) and text.removesuffix(wanted).strip() in {"", before.strip()}


def _messages(run: Run, answers: Sequence[Answer]) -> list[str]:
    """Returns the texts of the messages of answers. Only the answers of Responses have several."""
    if run.wire != "openai-responses":
        return ["".join(answer.text for answer in answers)]
    return [part.text for answer in answers for part in answer.parts if isinstance(part, Say) and part.text]


def _without_breaks(run: Run, text: str, answers: Sequence[Answer]) -> str:
    """Returns a text without the blank lines that a client puts between the messages of an answer."""
    for answer in answers:
        text = text.replace("\n\n".join(_messages(run, [answer])), answer.text)
    return text


def _saw_another_order(run: Run, reply: Reply) -> bool:
    """Tells whether the model got all required media in another order. IMG-002 and TRM-007 report that."""
    seen = [
        step
        for step in run.case.script
        if isinstance(step, AnswerByMedia) and reply.text == step.otherwise.text
    ]
    sent = {item.media.sha256 for items in run.sent_items for item in items if item.media}
    return any(len(step.media) > 1 and set(step.media) <= sent for step in seen)


def _ended_early(run: Run, reply: Reply, answers: Sequence[Answer]) -> bool:
    """Tells whether there is a reason for another answer. Other rules (ERR-003, STP-001, …) report it."""
    ended = {answer.reason for answer in answers} & {"length", "filter"}
    if reply.error is not None:
        step = next(index for index, each in enumerate(run.replies) if each is reply)
        return gave_up(run, step) or answer_refused(run) or bool(ended)
    cut = any(answer.reason == "length" for answer in answers[:-1])
    return cut and (not reply.complete or stopped_by(run, reply, "length"))
