"""When the next request of parallel prompts may go out: at the caller's rate, as the provider's headers allow, and within
one budget.

`RateLimits` is what the headers say, without a clock. `Pace` is shared by all prompts of a provider, `Budget` by all
prompts. Each prompt has a `PromptConnection`, which asks both before it hands out the client.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .._chat.chat import Chat
from ..contents.turns import AssistantTurn, Turn
from ..conversation.retries import PATIENCE
from ..conversation.settings import UsageLimits
from ..errors import UsageLimitError
from ..models.prices.price_lookup import log_usage
from ..transport.http_clients import Connection
from ..wire.base import Wire
from ..wire.shared.endings_and_errors import header_wait

# --- What the headers say --------------------------------------------------------------------------------

#: `anthropic-ratelimit-input-tokens-remaining`, `x-ratelimit-remaining-tokens` (OpenAI, Groq, Azure and others),
#: `x-ratelimit-remaining` (OpenRouter).
_HEADER = re.compile(
    r"anthropic-ratelimit-(?P<of>[a-z-]+)-(?P<what>limit|remaining|reset)"
    r"|x-ratelimit-(?P<x_what>limit|remaining|reset)(?:-(?P<x_of>[a-z-]+))?"
)
_DURATION = re.compile(r"(?:[\d.]{1,15}(?:ms|[dhms]))+")
_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
#: Statuses that say that there are too many requests at once.
BUSY = {429, 503, 529}
PAUSE = 1.0  # seconds, after such a status without a header that says how long


@dataclass
class Bucket:
    """An allowance of requests or tokens that fills up evenly. It is full `fills` seconds after it was `read`. It is
    not believed for longer than two minutes.

    Anthropic and OpenAI describe theirs so: https://platform.claude.com/docs/en/api/rate-limits,
    https://developers.openai.com/api/docs/guides/rate-limits.
    """

    limit: float
    remaining: float
    fills: float
    read: float

    def wait(self, needed: float, now: float) -> float:
        """Returns the seconds until so much of it is there; no more than all of it is waited for."""
        lacking = min(needed, self.limit) - self.remaining
        if lacking <= 0:
            return 0.0
        fills = min(self.fills * lacking / (self.limit - self.remaining), PATIENCE)
        return max(self.read + fills - now, 0.0)


class RateLimits:
    """The allowances of a provider as its last answers told them, and how many requests may be open at once.

    That number is halved when the provider has too much to do, and grows by one with each round of answers.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.at_once = float(most)
        self.paused = 0.0  # until when
        self.tokens = 0.0  # of an answer, as far as was seen
        self.buckets: dict[str, Bucket] = {}

    def read(self, status: int, headers: Mapping[str, str], now: float, wall: float) -> None:
        """Reads the headers (lower case) of an answer. `now` is any clock, `wall` the seconds since 1970."""
        self.buckets |= buckets(headers, now, wall)
        if status not in BUSY:
            self.at_once = min(self.at_once + 1 / self.at_once, self.most)
            return
        if now >= self.paused:  # the requests that were sent together are refused together
            self.at_once = max(self.at_once / 2, 1.0)
        asked = header_wait(headers)
        self.paused = max(self.paused, now + min(PAUSE if asked is None else asked, PATIENCE))

    def wait(self, now: float, unanswered: int) -> float:
        """Returns the seconds until another request may go out; infinity if an answer has to arrive first."""
        if self.paused > now:
            return self.paused - now
        if unanswered >= int(self.at_once):
            return float("inf")
        waits = [
            bucket.wait((unanswered + 1) * (self.tokens if "tokens" in of else 1.0), now)
            for of, bucket in self.buckets.items()
        ]
        return max(waits, default=0.0)


def buckets(headers: Mapping[str, str], now: float, wall: float) -> dict[str, Bucket]:
    """Returns the allowances in the headers, by what they are of. What makes no sense is left out: Azure sends -1."""
    found: dict[str, dict[str, str]] = {}
    for name, value in headers.items():
        if "ratelimit-" in name and (match := _HEADER.fullmatch(name)):
            what, of = match["what"] or match["x_what"], match["of"] or match["x_of"] or "requests"
            found.setdefault(of, {})[what] = value
    read: dict[str, Bucket] = {}
    for of, values in found.items():
        limit, remaining = _number(values.get("limit")), _number(values.get("remaining"))
        fills = seconds_until(values.get("reset", ""), wall)
        if limit and remaining is not None and fills is not None and remaining <= limit:
            read[of] = Bucket(limit, remaining, fills, now)
    return read


def seconds_until(reset: str, wall: float) -> float | None:
    """Returns seconds from `6m0s`, `120ms`, `2.5`, a time since 1970 in seconds or milliseconds, or a date."""
    if (number := _number(reset)) is not None:
        number = number / 1000 if number > 1e11 else number
        return max(number - wall, 0.0) if number > 1e9 else number
    if _DURATION.fullmatch(reset):
        with suppress(ValueError):
            return sum(
                float(n) * _UNITS[unit] for n, unit in re.findall(r"(?<![\d.])([\d.]+)(ms|[dhms])", reset)
            )
    with suppress(ValueError, OverflowError):
        return max(datetime.fromisoformat(reset).timestamp() - wall, 0.0)
    return None


def _number(text: str | None) -> float | None:
    return float(text) if text and re.fullmatch(r"\d{1,15}(\.\d{1,9})?", text, re.ASCII) else None


# --- The pace --------------------------------------------------------------------------------------------


class Pace:
    """The pace of requests to one provider: `rpm` requests per minute, of which the first `burst` do not wait, and what
    its headers allow.
    """

    def __init__(
        self,
        rpm: float,
        burst: int = 1,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.clock, self.sleep = clock, sleep
        self.interval = 60 / rpm
        self.ahead = self.interval * (burst - 1)
        self.next = -float("inf")
        self.limits = RateLimits(burst)
        self.unanswered = 0
        self.changed = asyncio.Event()

    async def admit(self) -> None:
        """Returns when a request may go out. `rpm` is kept by the generic cell rate algorithm (ITU-T I.371)."""
        now = self.clock()
        wait = max(self.next - self.ahead - now, 0.0)
        self.next = max(self.next, now) + self.interval
        if wait:
            await self.sleep(wait)
        while wait := self.limits.wait(self.clock(), self.unanswered):
            await self._news(wait)
        self.unanswered += 1

    def answered(self, status: int = 0, headers: Mapping[str, str] | None = None) -> None:
        """Counts a request as answered, and reads the limits in the headers of its answer, if there was one."""
        self.unanswered -= 1
        if status:
            self.limits.read(status, headers or {}, self.clock(), time.time())
        self.changed.set()

    async def _news(self, seconds: float) -> None:
        """Waits for so long, or until an answer arrives."""
        self.changed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(None if seconds == float("inf") else seconds):
                await self.changed.wait()


# --- The budget ------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Use:
    """What an answer, or a prompt, has used. `open` says that the prompt has begun, and not ended."""

    requests: int = 0
    tokens: int = 0
    cost: float = 0.0
    open: bool = False

    def add(self, other: Use) -> None:
        """Adds what another answer has used."""
        self.requests += other.requests
        self.tokens += other.tokens
        self.cost += other.cost

    def raise_to(self, other: Use) -> None:
        """Raises each number to that of another use, if that is larger."""
        self.requests = max(self.requests, other.requests)
        self.tokens = max(self.tokens, other.tokens)
        self.cost = max(self.cost, other.cost)


@dataclass
class Budget:
    """What all prompts have used, and, with `per="chat"`, their limits together.

    What a request costs is known at its end. So that requests at the same time do not exceed a limit, each open one is
    expected to cost as much as the dearest answer so far. A prompt may take several requests. So that each prompt that
    was begun can be finished, it is expected to use as much as the dearest prompt so far, and the first is waited for.
    """

    limits: UsageLimits
    answers: int = 0
    tool_calls: int = 0
    tokens: int = 0
    cost: float | None = 0.0
    largest: Use = field(default_factory=Use)  # of the answers
    dearest: Use = field(default_factory=Use)  # of the prompts that have ended
    prompts: list[Use] = field(default_factory=list)  # that are open
    unanswered: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, turns: Sequence[Turn]) -> Use:
        """Counts the answers among the turns, and returns what they have used together."""
        prompt = Use()
        for turn in turns:
            if isinstance(turn, AssistantTurn) and not turn.lost:
                self.count(turn, prompt)
        return prompt

    def count(self, turn: AssistantTurn, prompt: Use) -> None:
        """Counts an answer to a prompt."""
        answer = Use(1, (turn.tokens.input or 0) + (turn.tokens.output or 0), turn.cost or 0.0)
        self.answers += 1
        self.tool_calls += len(turn.tool_requests)
        self.tokens += answer.tokens
        self.cost = None if self.cost is None or turn.cost is None else round(self.cost + turn.cost, 12)
        self.largest.raise_to(answer)
        prompt.add(answer)

    async def admit(self, prompt: Use) -> None:
        """Returns when another request of a prompt fits into the limits. Raises `UsageLimitError` if one is reached."""
        while not self.has_room(prompt):
            self.changed.clear()
            await self.changed.wait()
        if not prompt.open:
            prompt.open = True
            self.prompts.append(prompt)
        self.unanswered += 1

    def has_room(self, prompt: Use) -> bool:
        """Tells whether another request of a prompt fits beside what is open."""
        limits = self._limits()
        for name, used, limit in limits:
            if used >= limit:
                raise UsageLimitError(
                    f"All prompts together have used {used:g} of {name}={limit:g}; the request was not sent."
                )
        if not (self.unanswered if prompt.open else self.prompts):
            return True
        return all(used + self._expected(name, prompt) <= limit for name, used, limit in limits)

    def _expected(self, name: str, prompt: Use) -> float:
        """Returns what the open prompts will still use, with another request of this one."""
        if not (prompt.open or self.dearest.requests):
            return float("inf")  # what a whole prompt uses, the first one tells
        dearest: float = getattr(self.dearest, name)
        requests: float = (self.unanswered + 1) * getattr(self.largest, name)
        prompts = self.prompts if prompt.open else [*self.prompts, prompt]
        left: float = sum(max(dearest - getattr(each, name), 0.0) for each in prompts)
        return max(requests, left)

    def check_calls(self) -> None:
        """Raises `UsageLimitError` if the tool calls of the last answer are too many."""
        limit = self.limits.tool_calls
        if self.limits.per == "chat" and limit is not None and self.tool_calls > limit:
            raise UsageLimitError(
                f"All prompts together asked for {self.tool_calls} tool calls, and the limit is "
                f"tool_calls={limit}. The last calls were not run."
            )

    def release(self) -> None:
        """Counts a request as no longer open."""
        self.unanswered -= 1
        self.changed.set()

    def end(self, prompt: Use) -> None:
        """Counts a prompt as no longer open."""
        self.prompts = [each for each in self.prompts if each is not prompt]
        self.dearest.raise_to(prompt)
        self.changed.set()

    def _limits(self) -> list[tuple[str, float, float]]:
        """Returns the name, the use and the limit of each limit that holds for all prompts together."""
        if self.limits.per != "chat":
            return []
        if self.limits.cost is not None and self.cost is None:
            raise UsageLimitError(
                "The cost of this model is not known, so UsageLimits(cost=…) cannot be enforced. Limit requests= or tokens= instead."
            )
        used = {"requests": self.answers, "tokens": self.tokens, "cost": self.cost or 0.0}
        limits = ((name, value, getattr(self.limits, name)) for name, value in used.items())
        return [(name, value, limit) for name, value, limit in limits if limit is not None]


class PromptLimits(UsageLimits):
    """The limits of one prompt whose chat has a budget for all prompts, which is asked before each request."""

    def __init__(self, budget: Budget) -> None:
        limits = budget.limits
        super().__init__(
            tool_calls=limits.tool_calls, per="chat", same_calls=limits.same_calls, at_limit=limits.at_limit
        )
        object.__setattr__(self, "budget", budget)  # as frozen dataclasses do

    def check_calls(self, turns: Sequence[Turn]) -> None:
        """Raises `UsageLimitError` if all prompts together ask for too many tool calls, or this one repeats its own."""
        self.budget.check_calls()  # type: ignore[attr-defined]  # set above
        super().check_calls(turns)


# --- One prompt ------------------------------------------------------------------------------------------


class PromptConnection(Connection):
    """The connections of one prompt. A request waits until the pace and the budget allow it."""

    def __init__(self, inner: Connection, pace: Pace, budget: Budget, prompt: Use) -> None:
        super().__init__(inner.client, inner.timeouts, inner.limits)
        self.inner, self.pace, self.budget, self.prompt = inner, pace, budget, prompt
        self.on_answer = self.answered
        self.reserved = self.unanswered = False

    async def concurrent(self) -> Any:
        """Returns the client when a request is allowed."""
        self.release()
        await self.budget.admit(self.prompt)
        self.reserved = True
        await self.pace.admit()
        self.unanswered = True
        return await self.inner.concurrent()

    def answered(self, status: int, headers: Mapping[str, str]) -> None:
        """Passes the status and the headers of the first answer to the pace."""
        if self.unanswered:
            self.unanswered = False
            self.pace.answered(status, headers)

    def release(self) -> None:
        """Ends the request that may be open: it was answered, or it failed."""
        if self.unanswered:
            self.unanswered = False
            self.pace.answered()
        if self.reserved:
            self.reserved = False
            self.budget.release()


@contextmanager
def paced(fork: Chat, paces: Sequence[Pace], budget: Budget) -> Iterator[None]:
    """Lets the requests of a fork, to its provider and its fallbacks, wait for their pace and the budget while the block
    runs.
    """
    own = fork._connection, fork.fallbacks, fork.usage_limits, fork._count  # noqa: SLF001 - of this package
    prompt = Use()
    connections = [
        PromptConnection(inner, pace, budget, prompt)
        for inner, pace in zip((own[0], *(inner for _, inner in own[1])), paces, strict=True)
    ]

    def count(wire: Wire, turn: AssistantTurn) -> None:
        log_usage(wire, turn)
        budget.count(turn, prompt)
        for connection in connections:
            connection.pace.limits.tokens = budget.largest.tokens
            connection.release()

    fork._connection, fork._count = connections[0], count  # noqa: SLF001 - a fork is of this library's own class
    fork.fallbacks = [
        (each, connection) for (each, _), connection in zip(own[1], connections[1:], strict=True)
    ]
    if fork.usage_limits.per == "chat":
        fork.usage_limits = PromptLimits(budget)
    try:
        yield
    finally:
        for connection in connections:
            connection.release()
        budget.end(prompt)
        fork._connection, fork.fallbacks, fork.usage_limits, fork._count = own  # noqa: SLF001 - a fork is of this library's own class
