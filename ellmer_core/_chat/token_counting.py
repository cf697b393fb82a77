"""Counts the tokens of an input with the provider's own API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ..contents.turns import UserTurn
from ..conversation.history import sendable
from ..conversation.io_operations import Loop
from ..errors import UsageError
from ..transport.single_requests import arun, counted, run
from .base import ChatBase, Input

__all__ = ["TokenCounting"]


class TokenCounting(ChatBase):
    """The part of `Chat` that counts tokens."""

    def token_count(
        self, *inputs: Input, include: Literal["new", "complete"] = "new", type: Any = None
    ) -> int:
        """Returns how many tokens an input has, as the provider counts it; the model does not answer.

        Args:
            *inputs: As in `chat()`.
            include: `"new"` (default) counts the inputs alone; `"complete"` counts the whole request with system prompt, tools
                and history.
            type: The `type` of `chat_structured()`; `None` (default) for `chat()`.

        Returns:
            The number of tokens.

        Raises:
            UsageError: The provider does not count tokens. OpenAI (over Responses), Anthropic and Google do.
        """
        return run(self._counted(inputs, include, type), self._connection)

    async def token_count_async(
        self, *inputs: Input, include: Literal["new", "complete"] = "new", type: Any = None
    ) -> int:
        """Works as `token_count()`, for async code.

        Args:
            *inputs: As in `chat()`.
            include: As in `token_count()`. Default: `"new"`.
            type: As in `token_count()`.

        Returns:
            The number of tokens.
        """
        return await arun(self._counted(inputs, include, type), self._connection)

    def _counted(self, inputs: Sequence[Input], include: str, type: Any) -> Loop[int]:
        from .structured_output.validated_answer import Structured  # noqa: PLC0415 - few chats count tokens beforehand

        contents, wanted = self._contents(inputs), None if type is None else Structured(type).sent
        if include == "complete":
            said = list(self._history.turns)
            new = [self._history.reply(contents)] if contents or self._history.open_requests else []
            return counted(self.wire, sendable([*said, *new]), [*self._tools.values()], wanted)
        if include == "new":
            return counted(self.wire, [UserTurn(contents)], [], wanted)
        raise UsageError(f'include must be "new" or "complete", not {include!r}.')
