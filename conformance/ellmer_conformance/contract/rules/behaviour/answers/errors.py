"""Errors from the provider: what the caller learns, and the conversation afterwards."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from .....scenarios.messages import Text
from .....scenarios.script import Failure
from ....counts import listed
from ....error_texts.error_bodies import own_message, read_error
from ....observed.exchange import Exchange, Response
from ....observed.run import Run
from ....rule import Finding, broken
from .._rulebook import LOSS, MUST, SHOULD, book, declined, found, varied_at
from .retries import passes, retried

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


@book.rule("ERR-005", MUST, LOSS, source="https://github.com/comet-ml/opik/pull/7942")
def errors_say_what_the_provider_said(run: Run) -> Iterator[Finding]:
    """An error has the provider's status (`status`, `status_code` or the like) and its message.

    Why: the caller learns from them whether to wait, to pay or to change the request, and not from an incomplete answer
    without an error. They may be in the cause of the error (`raise … from error`). Fix: raise an error with the status
    of the response and the `message` of its body, or leave that of the SDK as its cause.
    """
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        final = _refused(run, index)
        if wanted.outcome != "incomplete" or final is None or final.response is None:
            continue
        if wanted.schema is not None:  # what was refused is a further try, which the case has no answer for
            continue
        place, response = f"/replies/{index}", final.response
        if reply.error is None:
            problem = f"the provider answered with {response.status}, and no error says so"
            yield found(reply.complete, place, problem)  # an answer that is called whole is STR-010's finding
            continue
        status, message = _status(reply.error), _unquoted(str(reply.error))
        yield found(
            status == response.status,
            place,
            f"{_told(status)}, and the provider answered with {response.status}",
        )
        inner = read_error(response.status, response.body, response.headers).message
        missing = [
            told
            for told in _provider_sentences(response)
            if _unquoted(told) not in message and _unquoted(inner) not in message
        ]
        yield found(not missing, place, f"{message!r} does not say {next(iter(missing), '')!r}")


@book.rule("ERR-006", MUST, LOSS, source="https://github.com/Significant-Gravitas/AutoGPT/issues/944")
def odd_answers_are_errors(run: Run) -> Iterator[Finding]:
    """An error page, an empty body or an unexpected content type raises one of the library's own errors.

    Why: gateways answer with pages, and callers catch the library's errors, not those of its JSON parser. Fix: look at
    the form of the body before its fields are read, and raise an error of the library's own.
    """
    yield from _typed(run, "ERR-006")


@book.rule(
    "ERR-007",
    MUST,
    LOSS,
    source=[
        "https://github.com/UKGovernmentBEIS/inspect_ai/issues/1534",
        "https://developers.openai.com/api/reference/resources/responses (status: failed)",
        "https://github.com/experientiallabs/experiential/pull/46 (Responses)",
    ],
)
def errors_under_200_are_errors(run: Run) -> Iterator[Finding]:
    """An error object with status 200 raises an error; it is not an empty answer. So does an answer whose own `status` is `failed`
    (Responses).

    Why: OpenRouter and other proxies report errors under status 200, as OpenAI does of an answer that failed, and an
    empty answer hides them. Fix: look for an `error` in the body, and in Responses at its `status`, before the answer
    is read.
    """
    yield from _typed(run, "ERR-007")


@book.rule("ERR-008", MUST, LOSS, source="https://github.com/microsoft/amplifier/issues/339")
def stalls_are_timeouts(run: Run) -> Iterator[Finding]:
    """A stalled stream raises an error within the client's own timeout.

    Why: a proxy may drop a connection without closing it, and the caller would wait forever. Fix: set a read timeout
    for each chunk, and raise your own error when it ends.
    """
    yield from _typed(run, "ERR-008")


@book.rule("ERR-009", MUST, LOSS, source="https://github.com/RooCodeInc/Roo-Code/pull/9249")
def chats_go_on_after_errors(run: Run) -> Iterator[Finding]:
    """After an error the next question is answered, and the failed message is not sent twice.

    Why: a message that is sent twice changes the conversation, and some APIs refuse it. Fix: add the user's message to
    the history only when the turn has succeeded, or take it out again after an error.
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
        asked = [part.text for part in before.parts if isinstance(part, Text)]
        texts = [item.text for item in run.sent_items[-1] if item.kind == "text"] if run.sent_items else []
        twice = [text for text in asked if texts.count(text) > 1]
        yield found(not twice, "/exchanges", f"{twice} is said twice")


@book.rule("ERR-011", SHOULD, LOSS, source="https://github.com/crmne/ruby_llm/pull/642")
def errors_are_told_apart(run: Run) -> Iterator[Finding]:
    """A prompt that is too long and a rate limit raise errors of different types.

    Why: a caller shortens a prompt that is too long, and waits after a rate limit. Fix: map the status and the error's
    type to classes of your own, one for prompts that are too long and one for rate limits.
    """
    kinds = [s.kind for s in run.case.script if isinstance(s, Failure)]
    if {"context-length", "rate-limit"} <= set(kinds):
        types = [type(reply.error) for reply in run.replies if reply.error is not None]
        names = [kind.__name__ for kind in types]
        problem = f"both are {names[0]}" if len(names) > 1 else f"the only error is {listed(names)}"
        yield found(len(set(types)) == len(types) > 1, "/replies", problem)


def _told(status: int | None) -> str:
    return "the error has no status" if status is None else f"the error has status {status}"


def _typed(run: Run, rule: str) -> Iterator[Finding]:
    for varied in run.varied:
        if varied.variation.rule != rule:
            continue
        reply = next(iter(varied.run.replies), None)
        name = varied.variation.told
        if reply is None or reply.error is None:
            yield broken(varied_at(varied), f"under {name}, no error was raised")
        else:
            problem = (
                f"under {name}, it raises a bare {type(reply.error).__name__}: {reply.error}".removesuffix(
                    ": "
                )
            )
            named = type(reply.error) not in _NAMELESS and not getattr(reply.error, "nameless", False)
            yield found(named, varied_at(varied), problem)


def _refused(run: Run, step: int) -> Exchange | None:
    """Returns the last exchange of a step that the provider ended with an error status, or `None` if it is not known."""
    failed = [e for e in run.exchanges if e.response and e.response.status >= 400]
    again = {id(exchange) for exchange, _ in retried(run)}
    finals = [e for e in failed if id(e) not in again]
    errors = [i for i, reply in enumerate(run.replies) if reply.error is not None]
    if len(finals) != len(errors):  # an answer that is no error may be called incomplete
        errors = [i for i, reply in enumerate(run.replies) if reply.error is not None or not reply.complete]
    return finals[errors.index(step)] if step in errors and len(finals) == len(errors) else None


def _is_unfinished(run: Run) -> bool:
    """Tells whether the last request met a transient failure, with answers left. The number of retries is a policy
    (ERR-003).
    """
    last = run.exchanges[-1].response if run.exchanges else None
    failed = last is not None and passes(last.status)
    return failed and bool(run.case.max_retries) and len(run.exchanges) < len(run.case.script)


def _provider_sentences(response: Response) -> list[str]:
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


def _unquoted(text: str) -> str:
    """Returns the text without backslashes before quotes: an error in the arguments of another one is written as Python writes it."""
    return re.sub(r"(?<!\\)\\+(['\"])", r"\1", text)


def _status(error: BaseException) -> Any:
    """Returns the status of an error, from the attributes that libraries use, or that of the errors it was raised from."""
    for holder in (error, getattr(error, "response", None)):
        for name in _STATUS_NAMES:
            if isinstance(getattr(holder, name, None), int):
                return getattr(holder, name)
    return _status(error.__cause__) if error.__cause__ else None
