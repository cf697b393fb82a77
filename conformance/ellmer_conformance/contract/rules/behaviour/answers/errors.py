"""Errors from the provider: retries, the caller's information, and the conversation afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from .....scenarios.script import Failure
from ....error_bodies import own_message, read_error
from ....exchange import Exchange, Response
from ....observed_run import Run, Varied
from ....rule import Finding, broken
from .._rulebook import LOSS, MUST, SHOULD, book, declined, found

_STATUS_NAMES = ("status", "status_code", "http_status", "code")
#: Errors of the language, which say nothing to a caller.
_NAMELESS = {
    AssertionError,
    AttributeError,
    IndexError,
    KeyError,
    TypeError,
    UnicodeDecodeError,
    ValueError,
    json.JSONDecodeError,
}


@book.rule(
    "ERR-001",
    MUST,
    LOSS,
    source=[
        "https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3",
        "https://platform.claude.com/docs/en/api/rate-limits",
    ],
)
def retries_wait_as_told(run: Run) -> Iterator[Finding]:
    """A retry waits at least as long as the provider asked (`retry-after`, `retry-after-ms`).

    Why: the provider may limit a client for longer if it comes back too early.
    """
    waits = iter(run.waits or ())
    for index, (failed, _) in enumerate(_retried(run)):
        floor, waited = _floor(failed.response), next(waits, None)
        if floor is not None and run.waits is not None:
            problem = f"the next try came after {waited} s, the provider said {floor} s"
            yield found(waited is not None and waited >= floor, f"/waits/{index}", problem)


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

    Why: such a failure passes within seconds, and a user should not have to ask again.
    """
    if run.case.max_retries and _fails_at_once(run):
        tries = len(_retried(run))
        wanted = min(run.case.max_retries, sum(_is_whole_failure(run, step) for step in run.case.script))
        yield found(tries >= min(wanted, 1), "/exchanges", "a passing failure was not tried again")
        yield found(
            tries <= _most(run), "/exchanges", f"it was tried {tries} times more, {_most(run)} were allowed"
        )


@book.rule("ERR-004", MUST, LOSS, source="https://github.com/agno-agi/agno/issues/10366")
def retries_repeat_the_request(run: Run) -> Iterator[Finding]:
    """A retry sends the same request and runs no tool again.

    Why: a tool may charge a card or send an email, and a second run does it twice.
    """
    for index, (failed, again) in enumerate(_retried(run)):
        same = failed.request.body == again.request.body
        yield found(same, f"/exchanges/{index + 1}/request", "the second try is another request")


@book.rule("ERR-005", MUST, LOSS, source="https://github.com/comet-ml/opik/pull/7942")
def errors_say_what_the_provider_said(run: Run) -> Iterator[Finding]:
    """An error carries the provider's status (`status`, `status_code` or the like) and its message.

    Why: the caller learns from them whether to wait, to pay or to change the request. An error that was
    raised from another (`raise … from error`) carries what that one does.
    """
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        final = _refused(run, index)
        if wanted.outcome != "incomplete" or final is None or final.response is None or reply.error is None:
            continue
        if wanted.schema is not None:  # what was refused is a further try, which the case has no answer for
            continue
        place, response = f"/replies/{index}", final.response
        status, said = _status(reply.error), str(reply.error)
        yield found(status == response.status, place, f"the status is {status!r}, it was {response.status}")
        inner = read_error(response.status, response.body, response.headers).message
        missing = [told for told in _told(response) if told not in said and inner not in said]
        yield found(not missing, place, f"{said!r} does not say {next(iter(missing), '')!r}")


@book.rule("ERR-006", MUST, LOSS, source="https://github.com/Significant-Gravitas/AutoGPT/issues/944")
def odd_answers_are_errors(run: Run) -> Iterator[Finding]:
    """An error page, an empty body or an unexpected content type raises one of the library's own errors.

    Why: gateways answer with pages, and callers catch the library's errors, not those of its JSON parser.
    """
    yield from _typed(run, "ERR-006")


@book.rule("ERR-007", MUST, LOSS, source="https://github.com/UKGovernmentBEIS/inspect_ai/issues/1534")
def errors_under_200_are_errors(run: Run) -> Iterator[Finding]:
    """An error object with status 200 raises an error; it is not an empty answer.

    Why: OpenRouter and other proxies report errors under status 200, and an empty answer hides them.
    """
    yield from _typed(run, "ERR-007")


@book.rule("ERR-008", MUST, LOSS, source="https://github.com/microsoft/amplifier/issues/339")
def stalls_are_timeouts(run: Run) -> Iterator[Finding]:
    """A stalled stream raises an error within the client's own timeout.

    Why: a proxy may drop a connection without closing it, and the caller would wait forever.
    """
    yield from _typed(run, "ERR-008")


@book.rule("ERR-009", MUST, LOSS, source="https://github.com/RooCodeInc/Roo-Code/pull/9249")
def chats_go_on_after_errors(run: Run) -> Iterator[Finding]:
    """After an error the next question is answered, and the failed message is not sent twice.

    Why: a message that is sent twice changes the conversation, and some APIs refuse it.
    """
    steps = list(zip(run.case.steps, run.replies, strict=False))
    for index, ((before, _), (after, reply)) in enumerate(pairwise(steps)):
        if before.cancelled or before.outcome != "incomplete" or after.outcome != "answered":
            continue
        if declined(run, after):
            continue
        if reply.error is not None and _is_unfinished(run):  # who tries once meets the failure that was left
            continue
        yield found(reply.error is None, f"/replies/{index + 1}", f"the chat did not go on: {reply.error!r}")
        asked = [part.text for part in before.parts if hasattr(part, "text")]
        said = [item.text for item in run.said[-1] if item.kind == "text"] if run.said else []
        twice = [text for text in asked if said.count(text) > 1]
        yield found(not twice, "/exchanges", f"{twice} is said twice")


@book.rule("ERR-010", SHOULD, LOSS, source="https://github.com/HKUDS/nanobot/issues/4038")
def nothing_is_tried_again_after_output(run: Run) -> Iterator[Finding]:
    """A request is not retried silently after part of its stream reached the caller.

    Why: the new answer starts from the beginning, after text that the caller has already shown.
    """
    failing = [s for s in run.case.script if isinstance(s, Failure) and s.after]
    if run.case.max_retries and failing and run.streamed:
        tries = len(run.exchanges)
        problem = f"{tries} requests were sent for {len(run.case.steps)} questions"
        yield found(tries <= len(run.case.steps), "/exchanges", problem)


@book.rule("ERR-011", SHOULD, LOSS, source="https://github.com/crmne/ruby_llm/pull/642")
def errors_are_told_apart(run: Run) -> Iterator[Finding]:
    """A prompt that is too long and a rate limit raise errors of different types.

    Why: a caller shortens a prompt that is too long, and waits after a rate limit.
    """
    kinds = [s.kind for s in run.case.script if isinstance(s, Failure)]
    if {"context-length", "rate-limit"} <= set(kinds):
        types = [type(reply.error) for reply in run.replies if reply.error is not None]
        names = [kind.__name__ for kind in types]
        yield found(len(set(types)) == len(types) > 1, "/replies", f"both are {names}")


@book.rule(
    "AUT-004",
    MUST,
    LOSS,
    source=[
        "https://www.rfc-editor.org/rfc/rfc9110#section-15.4",
        "https://nvd.nist.gov/vuln/detail/CVE-2018-18074",
    ],
)
def keys_are_not_redirected(run: Run) -> Iterator[Finding]:
    """The API key is not sent along a redirect to another host.

    Why: the other host could use the key.
    """
    for one in run.varied:
        if one.variation.rule != "AUT-004":
            continue
        home = run.exchanges[0].request.url.split("/")[2]
        away = [e.request for e in one.run.exchanges if e.request.url.split("/")[2] != home]
        keyed = [
            r.url for r in away if {"authorization", "x-api-key", "x-goog-api-key", "api-key"} & {*r.headers}
        ]
        yield found(not keyed, _place(one), f"the key was sent to {keyed}")


def _typed(run: Run, rule: str) -> Iterator[Finding]:
    for one in run.varied:
        if one.variation.rule != rule:
            continue
        reply = next(iter(one.run.replies), None)
        name = one.variation.name
        if reply is None or reply.error is None:
            yield broken(_place(one), f"under {name}, no error was raised")
        else:
            problem = f"under {name}, it raises a bare {type(reply.error).__name__}: {reply.error}"
            named = type(reply.error) not in _NAMELESS and not getattr(reply.error, "nameless", False)
            yield found(named, _place(one), problem)


def _retried(run: Run) -> list[tuple[Exchange, Exchange]]:
    """Returns each failed request with its retry: the same content, or else the request after a transient status."""
    return [
        (one, other)
        for one, other in pairwise(run.exchanges)
        if one.response and _passes(one.response.status) and _same_conversation(one, other)
    ]


def _same_conversation(one: Exchange, other: Exchange) -> bool:
    messages = ("messages", "input", "contents")
    return all(one.request.body.get(key) == other.request.body.get(key) for key in messages)


def _passes(status: int) -> bool:
    return status in {408, 409, 429} or status >= 500


def _is_whole_failure(run: Run, step: object) -> bool:
    return isinstance(step, Failure) and (step.after is None or not run.streamed)


def _fails_at_once(run: Run) -> bool:
    return any(_is_whole_failure(run, step) for step in run.case.script)


def _most(run: Run) -> int:
    return run.case.max_retries * len(run.case.steps)


def _floor(response: Response | None) -> float | None:
    """Returns the seconds after which the provider wants a retry."""
    headers = response.headers if response else {}
    if "retry-after-ms" in headers:
        return float(headers["retry-after-ms"]) / 1000
    after = headers.get("retry-after", "")
    return float(after) if after.replace(".", "", 1).isdigit() else None


def _refused(run: Run, step: int) -> Exchange | None:
    """Returns the last exchange of a step that the provider ended with an error status, or `None` if it is not known."""
    failed = [e for e in run.exchanges if e.response and e.response.status >= 400]
    retried = {id(one) for one, _ in _retried(run)}
    finals = [e for e in failed if id(e) not in retried]
    errors = [i for i, reply in enumerate(run.replies) if reply.error is not None]
    return finals[errors.index(step)] if step in errors and len(finals) == len(errors) else None


def _is_unfinished(run: Run) -> bool:
    """Tells whether the last request met a transient failure, with answers left. The number of retries is a policy
    (ERR-003).
    """
    last = run.exchanges[-1].response if run.exchanges else None
    failed = last is not None and _passes(last.status)
    return failed and bool(run.case.max_retries) and len(run.exchanges) < len(run.case.script)


def _told(response: Response) -> list[str]:
    """Returns the provider's own sentences: one, or one for each field. There is none if the answer was a web page."""
    text = response.body.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except ValueError:
        return [] if "<html" in text[:1000].lower() else [text.strip()]
    details = value.get("detail") if isinstance(value, dict) else None
    if isinstance(details, list):
        return [
            each["msg"] for each in details if isinstance(each, dict) and isinstance(each.get("msg"), str)
        ]
    return [own_message(response.body)]


def _status(error: BaseException) -> Any:
    """Returns the status of an error, from the attributes that libraries use."""
    for holder in (error, getattr(error, "response", None), error.__cause__):
        for name in _STATUS_NAMES:
            if isinstance(getattr(holder, name, None), int):
                return getattr(holder, name)
    return None


def _place(one: Varied) -> str:
    return f"/varied/{one.variation.name}"
