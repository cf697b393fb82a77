"""Limits how much a conversation may use. It does no I/O: the usage is read from the turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Literal

from ..contents.turns import AssistantTurn, Turn
from ..errors import UsageError, UsageLimitError
from ..values import Value

__all__ = ["UsageLimits"]


@dataclass(frozen=True, eq=False, repr=False)
class UsageLimits(Value):
    """The most that a call of `chat()` may use, all its tool rounds included. `None` (default) means no limit.

    No request is sent and no tool is called once a limit is reached. `UsageLimitError` names the limit, and the history
    keeps what was answered. One answer may exceed `tokens` and `cost`, because they are known only at its end.

    Args:
        requests: Number of answered requests.
        tool_calls: Number of tool calls.
        tokens: Number of tokens, input and output together.
        cost: Cost in US dollars.
        per: `"call"` (default) counts one call; `"chat"` counts all that the history contains.

    Examples:
        >>> chat = chat_openai(usage_limits=UsageLimits(requests=10, cost=0.50))
        >>> chat.usage_limits.requests
        10
    """

    requests: int | None = None
    tool_calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    per: Literal["call", "chat"] = "call"

    def __post_init__(self) -> None:
        if self.per not in {"call", "chat"}:
            raise UsageError(f'per= must be "call" or "chat", not {self.per!r}.')
        for name in (field.name for field in fields(self) if field.name != "per"):
            limit = getattr(self, name)
            kinds = int | float if name == "cost" else int
            if limit is not None and (isinstance(limit, bool) or not isinstance(limit, kinds) or limit < 0):
                raise UsageError(f"{name}= must be a number, 0 or more, or None, not {limit!r}.")

    def check_request(self, turns: Sequence[Turn]) -> None:
        """Raises `UsageLimitError` if the next request would exceed a limit.

        Args:
            turns: The turns that count.
        """
        answers = _answers(turns)
        _check("requests", len(answers), self.requests)
        _check("tokens", sum((a.tokens.input or 0) + (a.tokens.output or 0) for a in answers), self.tokens)
        if self.cost is not None:
            if any(answer.cost is None for answer in answers):
                raise UsageLimitError(
                    "The cost of this model is not known, so UsageLimits(cost=…) cannot be enforced."
                )
            _check("cost", sum(answer.cost or 0.0 for answer in answers), self.cost)

    def check_calls(self, turns: Sequence[Turn]) -> None:
        """Raises `UsageLimitError` if the calls of the last turn would exceed a limit.

        Args:
            turns: The turns that count.
        """
        calls = sum(len(answer.tool_requests) for answer in _answers(turns))
        if self.tool_calls is not None and calls > self.tool_calls:
            raise UsageLimitError(
                f"The model asked for {calls} tool calls, and the limit is tool_calls={self.tool_calls}. The last "
                "calls were not run. The next chat() tells the model so."
            )


def _answers(turns: Sequence[Turn]) -> list[AssistantTurn]:
    return [turn for turn in turns if isinstance(turn, AssistantTurn) and not turn.lost]


def _check(name: str, used: float, limit: float | None) -> None:
    if limit is not None and used >= limit:
        raise UsageLimitError(
            f"The conversation has used {used:g} of {name}={limit:g}; the request was not sent."
        )
