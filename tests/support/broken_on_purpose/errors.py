"""Adapters that handle a provider's errors wrongly."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, ClassVar

import httpx

from ellmer_conformance.adapters.ellmer_core import Options, Session
from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.scenarios.messages import Part, Reply

from .base import BrokenAdapter


class ComesBackEarly(BrokenAdapter):
    """Retries earlier than the provider's `retry-after` header allows."""

    case, caught_by, on, from_cassette = "rate_limited", ("ERR-001",), ("anthropic",), True

    def exchange(self, transport: httpx.BaseTransport, request: httpx.Request) -> httpx.Response:
        response = transport.handle_request(request)
        response.headers.pop("retry-after", None)
        return response

    def without_waiting(self, note: Any) -> AbstractContextManager[object]:
        return super().without_waiting(lambda seconds: note(seconds / 4))


class RetriesAgainstTheHeader(BrokenAdapter):
    """Retries a failure whose answer says that a retry does not help."""

    case, caught_by, also = "told_not_to_retry", ("ERR-014",), ("STR-010",)
    on = ("anthropic",)

    def exchange(self, transport: httpx.BaseTransport, request: httpx.Request) -> httpx.Response:
        response = transport.handle_request(request)
        response.headers.pop("x-should-retry", None)
        return response


class ChangesRetries(BrokenAdapter):
    """Adds the number of the attempt to each retried request."""

    case, caught_by, also = "rate_limited", ("ERR-004",), ("OPT-006",)
    on = ("openai-chat", "anthropic")
    tries = 0

    def body(self, body: Json) -> Json:
        self.tries += 1
        tried = f"try-{self.tries}"
        return body | (
            {"user": tried} if self.endpoint.wire == "openai-chat" else {"metadata": {"user_id": tried}}
        )


class HidesErrors(BrokenAdapter):
    """Replaces each error by "Something went wrong"."""

    case, caught_by = "overloaded_for_good", ("ERR-005",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, error=RuntimeError("Something went wrong")) if reply.error else reply


class AsksForEver(BrokenAdapter):
    """Asks again until it gets another answer, and has no limit."""

    case, caught_by = "plain_text", ("RUN-002",)

    def exchange(self, transport: httpx.BaseTransport, request: httpx.Request) -> httpx.Response:
        while (response := transport.handle_request(request)).status_code == 200:
            response.read()
        return response


class CrashesOnPages(BrokenAdapter):
    """Parses every answer as JSON, also an HTML error page."""

    case, caught_by = "not_an_answer", ("ERR-006",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, error=ValueError("Expecting value: line 1 column 1")) if reply.error else reply


class BelievesTheStatus(BrokenAdapter):
    """Takes an error with the status 200 for an empty answer."""

    case, caught_by = "not_an_answer", ("ERR-007",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, error=None, complete=True)


class NeverRecovers(BrokenAdapter):
    """Raises an error for every request after the first error."""

    case, caught_by = "overloaded_for_good", ("ERR-009",)
    failed = False

    def reply(self, reply: Reply) -> Reply:
        self.failed = self.failed or reply.error is not None
        return replace(reply, error=reply.error or RuntimeError("closed")) if self.failed else reply


class TakesTheKeyAlong(BrokenAdapter):
    """Follows redirects to another host and sends the key there."""

    case, caught_by, from_cassette = "not_an_answer", ("AUT-004",), True

    def exchange(self, transport: httpx.BaseTransport, request: httpx.Request) -> httpx.Response:
        response = transport.handle_request(request)
        if response.status_code != 307:
            return response
        response.close()
        there = httpx.Request(
            request.method, response.headers["location"], headers=request.headers, content=request.content
        )
        return transport.handle_request(there)


class ChokesOnNothing(BrokenAdapter):
    """Raises an `IndexError` for an empty answer."""

    case, caught_by = "empty_answer", ("EMP-003",)

    def reply(self, reply: Reply) -> Reply:
        return reply if reply.text else replace(reply, error=IndexError("list index out of range"))


class MixesConversations(BrokenAdapter):
    """Keeps one history for all conversations."""

    case, caught_by = "several_conversations", ("HIS-004",)
    only: Session | None = None

    def session(self, *args: Any, **options: Any) -> Session:
        if self.only is None:
            self.only = super().session(*args, **options)
        return self.only


class HandsOverNothing(BrokenAdapter):
    """Checks the structured value, but does not return it."""

    case, caught_by = "structured_answer", ("STO-002",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, value=None)


class HandsOverAnything(BrokenAdapter):
    """Returns a structured value that does not fit its schema."""

    case, caught_by = "structured_misfit", ("STO-003",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, value={"name": "Ada", "age": "unknown"}, error=None)


class BlamesTheJson(BrokenAdapter):
    """Reports a cut structured value as a JSON error."""

    case, caught_by = "structured_too_short", ("STO-004",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, error=ValueError("Unterminated string starting at: line 1 column 10 (char 9)"))


class TakesNewReasonsForStop(BrokenAdapter):
    """Reports an unknown finish reason as `stop`."""

    case, caught_by = "reasons_and_counts", ("STP-002",)
    on: ClassVar[tuple[str, ...]] = ("openai-chat", "anthropic", "gemini")

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, stop="stop", error=None)


class TakesPausesForStop(TakesNewReasonsForStop):
    """Reports Anthropic's `pause_turn` as `stop`."""

    caught_by, on = ("STP-003",), ("anthropic",)


class CountsNoParts(BrokenAdapter):
    """Does not report cached and reasoning tokens."""

    case, caught_by = "counted_in_parts", ("USG-004",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, usage={**reply.usage, "cached": 0, "reasoning": 0})


class ForgetsWhatWasSaved(BrokenAdapter):
    """Saves only the last turn."""

    case, caught_by, also, from_cassette = "saved_and_reloaded", ("HIS-003",), ("CAS-01",), True

    def session(self, *args: Any, **options: Any) -> Session:
        session = super().session(*args, **options)
        session.reloaded = session.another  # type: ignore[method-assign] # what is wrong with it
        return session


class ReadsToTheEnd(BrokenAdapter):
    """Reads a cancelled answer to its end."""

    case, caught_by, mode = "cancelled_in_the_middle", ("ASY-002",), "async"
    on = ("anthropic",)  # each takes a second
    also = ("UNI-001",)

    def session(self, *args: Any, **options: Any) -> Session:
        session = super().session(*args, **options)
        return _Unhurried(session.chat, session.another)


class _Unhurried(Session):
    kept: ClassVar[set[asyncio.Future[Reply]]] = set()

    async def asend(self, parts: Sequence[Part], *, stream: bool = False, options: Options = None) -> Reply:
        sending = asyncio.ensure_future(super().asend(parts, stream=stream, options=options))
        self.kept.add(sending)
        return await asyncio.shield(sending)


class StaysCancelled(BrokenAdapter):
    """Raises an error for every request after a cancelled one."""

    case, caught_by, mode = "cancelled_in_the_middle", ("ASY-003",), "async"
    also = ("UNI-001",)

    def session(self, *args: Any, **options: Any) -> Session:
        session = super().session(*args, **options)
        return _Cancelled(session.chat, session.another)


class _Cancelled(Session):
    cancelled = False

    async def asend(self, parts: Sequence[Part], *, stream: bool = False, options: Options = None) -> Reply:
        if self.cancelled:
            raise RuntimeError("this chat was cancelled")
        self.cancelled = True
        return await super().asend(parts, stream=stream, options=options)


class DropsRedacted(BrokenAdapter):
    """Leaves out redacted thinking when it sends an answer back."""

    case, caught_by, on = "redacted_thoughts", ("THK-002",), ("anthropic",)

    def body(self, body: Json) -> Json:
        for message in body["messages"]:
            if isinstance(message["content"], list):
                message["content"] = [b for b in message["content"] if b.get("type") != "redacted_thinking"]
        return body
