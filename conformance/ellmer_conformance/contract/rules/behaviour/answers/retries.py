"""Retries: which failures are tried again, how often, when, and with which request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from email.utils import parsedate_to_datetime
from itertools import pairwise

from .....scenarios.script import Answer, Failure
from ....counts import counted, passive, times
from ....observed.exchange import Exchange, Response
from ....observed.run import Run
from ....rule import Finding, met
from .._rulebook import LOSS, MUST, SHOULD, book, found, under_variations

_FINAL = {400, 401, 403, 404, 413, 422}


@book.rule(
    "ERR-001",
    MUST,
    LOSS,
    source=[
        "https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3",
        "https://platform.claude.com/docs/en/api/rate-limits",
        "https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto (RetryInfo)",
        "https://github.com/dcdpr/jp/pull/1061 (Gemini)",
        "https://github.com/NousResearch/hermes-agent/pull/84762 (a date)",
    ],
)
def retries_wait_as_told(run: Run) -> Iterator[Finding]:
    """A retry waits at least as long as the provider asked: in `retry-after`, as seconds or as a date, in `retry-after-ms`, or in the
    `retryDelay` of Gemini's error, which may have fractions of seconds.

    Why: the provider may limit a client for longer if it comes back too early. Fix: read `retry-after-ms`,
    `retry-after` and `retryDelay`, and wait for the longest of them and your own backoff.
    """
    yield from _waits(run)
    yield from under_variations(run, "ERR-001", _waits)


def _waits(run: Run) -> Iterator[Finding]:
    waits = iter(run.waits or ())
    for index, (failed, _) in enumerate(retried(run)):
        floor, waited = _floor(failed.response), next(waits, None)
        if floor is not None and run.waits is not None:
            problem = f"the next try came after {waited} s, the provider said {floor} s"
            yield found(waited is not None and waited >= floor, f"/waits/{index}", problem)


@book.rule("ERR-002", MUST, LOSS, source="https://github.com/BerriAI/litellm/issues/19216")
def refusals_are_not_retried(run: Run) -> Iterator[Finding]:
    """A refused request (400, 401, 403, 404, 413, 422) is not retried.

    Why: the same request is refused again, and the caller waits for nothing. Fix: retry only 408, 409, 429 and 5xx, and
    raise every other error at once.
    """
    for index, (exchange, following) in enumerate(pairwise(run.exchanges)):
        status = exchange.response.status if exchange.response else 0
        if status in _FINAL:
            problem = f"the request that was answered with {status} was sent again"
            again = exchange.request.body == following.request.body
            yield found(not again, f"/exchanges/{index + 1}/request", problem)
    final = run.exchanges[-1].response if run.exchanges else None
    if final and final.status in _FINAL:
        yield met(f"/exchanges/{len(run.exchanges) - 1}/request")


@book.rule(
    "ERR-003",
    SHOULD,
    LOSS,
    source=[
        "https://platform.claude.com/docs/en/api/errors",
        "https://github.com/magnitudedev/browser-agent/issues/12",
    ],
)
def passing_failures_are_tried_again(run: Run) -> Iterator[Finding]:
    """A request with a transient failure (429, 5xx, 529) is retried, as often as the caller allows.

    Why: such a failure passes within seconds, and a user should not have to ask again. Fix: turn on the retries of the
    SDK or the HTTP client, and pass the caller's limit on to them.
    """
    if run.case.max_retries and _fails_at_once(run):
        tries = len(retried(run))
        wanted = min(run.case.max_retries, sum(_is_whole_failure(run, step) for step in run.case.script))
        yield found(tries >= min(wanted, 1), "/exchanges", "a passing failure was not tried again")
        yield found(
            tries <= _most(run),
            "/exchanges",
            f"it was retried {times(tries)}, and may be retried {times(_most(run))}",
        )


@book.rule("ERR-004", MUST, LOSS, source="https://github.com/agno-agi/agno/issues/10366")
def retries_repeat_the_request(run: Run) -> Iterator[Finding]:
    """A retry sends the same request and runs no tool again.

    Why: a tool may charge a card or send an email, and a second run does it twice. Fix: build the body once, retry only
    the HTTP call, and run tools outside of the retried code.
    """
    for index, (failed, again) in enumerate(retried(run)):
        same = failed.request.body == again.request.body
        yield found(same, f"/exchanges/{index + 1}/request", "the second try is another request")


@book.rule("ERR-010", SHOULD, LOSS, source="https://github.com/HKUDS/nanobot/issues/4038")
def nothing_is_tried_again_after_output(run: Run) -> Iterator[Finding]:
    """A request is not retried silently after part of its stream reached the caller.

    Why: the new answer starts from the beginning, after text that the caller has already shown. Fix: retry only until
    the first piece was handed over; after that, raise the error.
    """
    failing = [s for s in run.case.script if isinstance(s, Failure) and s.after]
    if run.case.max_retries and failing and run.streamed:
        tries = len(run.exchanges)
        problem = f"{passive(tries, 'request', 'sent')} for {counted(len(run.case.steps), 'question')}"
        yield found(tries <= len(run.case.steps), "/exchanges", problem)


@book.rule(
    "ERR-013",
    SHOULD,
    LOSS,
    source=[
        "https://github.com/cline/cline/pull/12858",
        "https://github.com/AstrBotDevs/AstrBot/pull/6735",
    ],
)
def whole_answers_are_not_asked_for_again(run: Run) -> Iterator[Finding]:
    """A request that was answered completely is not sent again within a turn, also if the answer is empty.

    Why: the caller pays for the second answer, and does not learn what the first one said. Some clients do it on purpose, so
    it is no MUST. Fix: return the answer, with the stop reason, and let the caller decide.
    """
    if len(run.case.speakers) > 1 or run.misses:
        return
    steps = {index for index, step in run.answered() if isinstance(step, Answer) and step.stop != "pause"}
    for index, (first, second) in enumerate(pairwise(run.exchanges)):
        answered = index in steps and first.response and first.response.status == 200 and first.response.ended
        if answered and _same_step(run, index):
            same = first.request.body == second.request.body
            yield found(not same, f"/exchanges/{index + 1}/request", "the same request had been answered")


@book.rule("ERR-012", MUST, LOSS, source="https://github.com/BerriAI/litellm/pull/7130")
def tries_stay_within_the_limit(run: Run) -> Iterator[Finding]:
    """A failed request is retried at most as often as the caller allows, and not at all if the caller allows none.

    Why: every attempt costs time and may cost money, and retries in two layers multiply. Fix: retry in one layer: set
    the retries of the SDK or of your own loop to 0.
    """
    failures = [step for step in run.case.script if isinstance(step, Failure)]
    if failures and not run.case.max_retries:
        asked = len(run.case.steps) + sum(ask.compacted for ask in run.case.steps)  # a separate request
        sent = len(run.exchanges)
        problem = f"{sent} requests were sent for {asked} questions, and no retry was allowed"
        yield found(sent <= asked or bool(run.case.tools), "/exchanges", problem)


def retried(run: Run) -> list[tuple[Exchange, Exchange]]:
    """Returns each request that failed for a while with its retry: the next request of the same content, or of the same step."""
    return [
        (first, second)
        for index, (first, second) in enumerate(pairwise(run.exchanges))
        if first.response
        and passes(first.response.status)
        and (_same_conversation(first, second) or _same_step(run, index))
    ]


def _same_step(run: Run, index: int) -> bool:
    """Tells whether the next request belongs to the same step of the user."""
    return run.step_of(index) is not None and run.step_of(index) == run.step_of(index + 1)


def _same_conversation(first: Exchange, second: Exchange) -> bool:
    messages = ("messages", "input", "contents")
    return all(first.request.body.get(key) == second.request.body.get(key) for key in messages)


def passes(status: int) -> bool:
    """Tells whether a failure with this status is transient."""
    return status in {408, 409, 429} or status >= 500


def _is_whole_failure(run: Run, step: object) -> bool:
    return isinstance(step, Failure) and (step.after is None or not run.streamed)


def _fails_at_once(run: Run) -> bool:
    return any(_is_whole_failure(run, step) for step in run.case.script)


def _most(run: Run) -> int:
    return run.case.max_retries * len(run.case.steps)


def _floor(response: Response | None) -> float | None:
    """Returns the seconds after which the provider wants a retry."""
    headers, body = (response.headers, response.body) if response else ({}, b"")
    if "retry-after-ms" in headers:
        return float(headers["retry-after-ms"]) / 1000
    after = headers.get("retry-after", "")
    if after.replace(".", "", 1).isdigit():
        return float(after)
    if after and headers.get("date"):
        return _seconds_between(headers["date"], after)
    told = _RETRY_DELAY.search(body)
    return float(told[1]) if told else None


def _seconds_between(now: str, then: str) -> float | None:
    """Returns the whole seconds between two dates of HTTP, less one: they have no fractions."""
    with suppress(ValueError):
        return (parsedate_to_datetime(then) - parsedate_to_datetime(now)).total_seconds() - 1
    return None


#: The wait in the details of Google's errors, a duration of Protocol Buffers.
_RETRY_DELAY = re.compile(rb'"retryDelay": ?"(\d+(?:\.\d{1,9})?)s"')
