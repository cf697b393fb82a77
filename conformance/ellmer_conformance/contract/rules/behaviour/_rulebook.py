"""The book of the behaviour rules, and helpers that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ....scenarios.case import Ask
from ....scenarios.messages import PDF, Audio, Image, Reply, Upload
from ....scenarios.script import Answer, AnswerByMedia, answers_of
from ...observed.exchange import Exchange, Item, Json
from ...observed.run import Run, Varied, unusual_media_of
from ...readers.json_access import read_once
from ...rule import Finding, Kind, Level, broken, met
from ...rulebook import RuleBook

book = RuleBook("*")
MUST, SHOULD, LOSS = Level.MUST, Level.SHOULD, Kind.LOSS


def found(fine: object, pointer: str, problem: str, **facts: Any) -> Finding:
    """Returns a finding at `pointer`; `problem` describes the error unless `fine`. Two findings of a run with the same `seen` show one
    event: the caller or a tool got a value that is sent back in place of the model's words.
    """
    return met(pointer) if fine else broken(pointer, problem, **facts)


def declined(run: Run, ask: Ask) -> bool:
    """Tells whether a step needs a feature that the adapter declares as unsupported."""
    asks_for = {
        "tools": bool(run.case.tools),  # they are registered for the whole conversation
        "image_in_user": any(isinstance(part, Image) for part in ask.parts),
        "pdf_in_user": any(isinstance(part, PDF) for part in ask.parts),
        "audio_in_user": any(isinstance(part, Audio) for part in ask.parts),
        "changed_prompt": bool(ask.instructed),
        "compaction": ask.compacted,
        "approval": run.case.approve is not None,
        "citations": run.case.searching,
        "uploads": any(isinstance(part, Upload) for part in ask.parts),
        "structured_with_tools": ask.schema is not None,
    }
    return any(asks_for.get(name, bool(ask.options)) for name in run.refused)


def at(exchange: int, item: Item) -> str:
    """Returns the place of an item in the run."""
    return f"/exchanges/{exchange}/request{item.pointer}"


def varied_at(varied: Varied) -> str:
    """Returns the place of a variation in the run."""
    return f"/varied/{varied.variation.name}"


def under_variations(run: Run, rule: str, check: Callable[[Run], Iterator[Finding]]) -> Iterator[Finding]:
    """Yields what a check finds in the runs under the variations of a rule, at the places of these variations. A problem that the plain
    run has, too, is none of a variation.
    """
    varied_runs = [varied for varied in run.varied if varied.variation.rule == rule]
    plain = {finding.problem for finding in check(run) if finding.problem} if varied_runs else set()
    for varied in varied_runs:
        for finding in check(varied.run):
            if finding.problem not in plain:
                yield finding._replace(pointer=varied_at(varied))


def results_after(run: Run, exchange: int) -> list[Item]:
    """Returns the results that the next request adds, or nothing if the conversation ended there."""
    return new(run, exchange + 1, "result") if exchange + 1 < len(run.sent_items) else []


def stopped_by(run: Run, reply: Reply, reason: str) -> bool:
    """Tells whether a reply has a given stop reason: the neutral one, or one of the provider's own."""
    if reply.stop is None or reply.stop in {"stop", "tool"}:
        return False
    own = f'"{reply.stop}"'.encode()
    return reply.stop == reason or any(own in e.response.body for e in run.exchanges if e.response)


def share_ids(run: Run) -> bool:
    """Tells whether calls of one answer have the same id."""
    ids = [[call.id for call in calls if call.id] for _, calls in run.calls()]
    return any(len(set(each)) < len(each) for each in ids)


def answer_refused(run: Run) -> bool:
    """Tells whether an ambiguous answer was refused with an error, which counts as correct."""
    return share_ids(run) and any(reply.error is not None for reply in run.replies)


def crashes(run: Run, index: int) -> bool:
    """Tells whether a reply is an error although the provider accepted every request and gave every answer whole.

    Empty answers are left to EMP-003, and those that a limit or a filter ended to the rules about endings.
    """
    if run.replies[index].error is None or answer_refused(run) or run.way in {"command", "recordings"}:
        return False
    whole = all(isinstance(step, Answer | AnswerByMedia) for step in run.case.script)
    answers = [answer for step in run.case.script for answer in answers_of(step)]
    ended = {answer.reason for answer in answers} & {"length", "filter"} or not all(a.parts for a in answers)
    accepted = all(each.response is None or each.response.status < 400 for each in run.exchanges)
    return whole and not ended and accepted and bool(run.exchanges)


def refuses_media(run: Run, index: int) -> bool:
    """Tells whether a reply is an error that names the type of a tool's unusual media: the library refuses them in the open, as
    TRM-010 allows.
    """
    types = {media.type for each in run.tool_runs for media in unusual_media_of(each.value)} - {""}
    return any(each in words for words in texts_of(run.replies[index].error) for each in types)


def is_out_of_step(run: Run, index: int) -> bool:
    """Tells whether media were refused in this turn or before, or an earlier turn ended at a transient failure that a retry would
    have passed: the model then says what the script had for an earlier turn.
    """
    answered = (each for each in range(index) if run.case.steps[each].outcome == "answered")
    return any(refuses_media(run, each) for each in range(index + 1)) or any(
        gave_up(run, each) for each in answered
    )


def gave_up(run: Run, step: int) -> bool:
    """Tells whether the client stopped at a transient failure. The number of retries is a policy."""
    failed = step < len(run.replies) and run.replies[step].error is not None
    if not (failed and run.case.max_retries and run.exchanges):
        return False
    own = [exchange for index, exchange in enumerate(run.exchanges) if run.step_of(index) == step]
    last = (own or run.exchanges)[-1].response
    return last is not None and (last.status == 429 or last.status >= 500)


def texts_of(error: BaseException | None) -> list[str]:
    """Returns the text of an error, and of those that it was raised from."""
    return [str(error), *texts_of(error.__cause__)] if error is not None else []


def taken(run: Run) -> list[tuple[int, list[Item]]]:
    """Returns the content of each request that no rule of the provider refused, with its index.

    The rule that a refused request breaks is the finding; what else is wrong with the request follows from it.
    """
    return [each for each in enumerate(run.sent_items) if not _is_refused(run.exchanges[each[0]])]


def _is_refused(exchange: Exchange) -> bool:
    """Tells whether the provider refused a request for a reason that a rule names, if the verdicts are known."""
    return exchange.refused and (
        not exchange.verdicts or any(verdict.outcome == "fail" for verdict in exchange.verdicts)
    )


def last(run: Run) -> str:
    """Returns the place of the last request."""
    return f"/exchanges/{len(run.sent_items) - 1}/request"


def new(run: Run, exchange: int, kind: str) -> list[Item]:
    """Returns the items of a kind that the request has in addition to the previous request (by count, because history
    is repeated).
    """
    before = sum(item.kind == kind for item in run.sent_items[exchange - 1]) if exchange else 0
    return [item for item in run.sent_items[exchange] if item.kind == kind][before:]


def squeezed(text: str) -> str:
    """Returns a text without its white space, which libraries may put between the parts of a message."""
    return "".join(text.split())


@read_once
def objects(value: Any) -> Iterator[Json]:
    """Yields every object in a body, an outer one before those in it, from first to last."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield value
            waiting += [each for each in reversed(value.values()) if isinstance(each, dict | list)]
        elif isinstance(value, list):
            waiting += [each for each in reversed(value) if isinstance(each, dict | list)]
