"""What an MCP server asks while a call of its tool runs: the user (elicitation), or the model (sampling).

`Asking` bounds the time of a call, without that of its questions, and their number.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from .._chat.chat import Chat
from ..base.budget import MCP_CALL
from ..contents import content as ours
from ..contents.json_serialization import contents_record
from ..contents.turns import AssistantTurn, Turn
from ..errors import ConnectError, UsageError
from ..tools.definition import AskLater, ToolContext

if TYPE_CHECKING:
    from anyio import CancelScope


@dataclass(eq=False)
class Asking:
    """A call that runs, and what came of the questions of its server."""

    context: ToolContext[Any]
    later: BaseException | None = None
    _scope: CancelScope | None = None
    _questions: int = 0
    _open: int = 0  # questions without an answer yet
    _left: float = math.inf  # seconds of the server

    @contextmanager
    def limited(self, seconds: float | None) -> Iterator[None]:
        """Ends the block after so many seconds without those of questions, or after too many questions."""
        from anyio import CancelScope, current_time  # noqa: PLC0415 - imported when first needed

        with CancelScope(deadline=math.inf if seconds is None else current_time() + seconds) as self._scope:
            yield
        if self._scope.cancelled_caught:
            raise self.later or TimeoutError(
                f"The MCP server did not answer the call within {seconds:g} seconds (`timeout`)."
            )

    def admitted(self) -> bool:
        """Counts a question. One too many ends the call."""
        assert self._scope is not None, "a server asks while a call runs"
        self._questions += 1
        if self._questions > MCP_CALL.events:
            self.later = ConnectError(
                f"The MCP server asked the user or the model more than {MCP_CALL.events} times during one call."
            )
            self._scope.cancel()
        return self._questions <= MCP_CALL.events

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Lets the time of the server stand still during a question."""
        from anyio import current_time  # noqa: PLC0415 - imported when first needed

        assert self._scope is not None, "as above"
        if not self._open:
            self._left = self._scope.deadline - current_time()
            self._scope.deadline = math.inf
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1
            if not self._open:
                self._scope.deadline = current_time() + self._left

    def ask(self, message: str, schema: Mapping[str, Any] | None, url: str) -> dict[str, Any] | None:
        """Asks the user. An answer that comes later, or a question that cannot be asked, ends the call."""
        if self.later is not None:
            return None
        try:
            return self.context.ask(message, schema, url=url)
        except (AskLater, UsageError) as later:
            self.later = later
            return None

    def check(self) -> None:
        """Raises the error that ended the call, if there was one."""
        if self.later is not None:
            raise self.later


def all_that_is_asked(system_prompt: str | None, turns: Sequence[Turn]) -> str:
    """Returns the question whether a server may ask the model. It has all that the model would get: who approves sees it, and a
    decision that comes later is for this question only.
    """
    words, said = "May the server ask the model this?", [(turn.role, _in_full(turn)) for turn in turns]
    if len(said) == 1 and not system_prompt:
        return f"{words} {said[0][1]}"
    told = [("system", system_prompt)] if system_prompt else []
    return "\n".join([words, *(f"{role}: {text}" for role, text in (*told, *said))])


def _in_full(turn: Turn) -> str:
    """Returns the text of a turn. Another content, such as an image, has the digest of its bytes."""
    return "\n".join(
        content.text
        if isinstance(content, ours.ContentText)
        else f"[{type(content).__name__} {_digest(content)}]"
        for content in turn.contents
    )


def _digest(content: ours.Content) -> str:
    return f"sha256:{sha256(json.dumps(contents_record(content)).encode()).hexdigest()}"


async def answer(chat: Chat, turns: Sequence[Turn], params: Any) -> AssistantTurn:
    """Returns the answer of the chat's model to a server's messages, without the chat's history and tools."""
    asked = chat.fork()
    asked.set_tools([])
    asked.set_turns(turns[:-1])
    asked.set_system_prompt(params.system_prompt)
    options = {
        "max_tokens": params.max_tokens,
        "temperature": params.temperature,
        "stop_sequences": params.stop_sequences,
    }
    wanted = {name: value for name, value in options.items() if value is not None}
    await asked.chat_async(*turns[-1].contents, params=wanted, echo="none")
    turn = asked.last_turn("assistant")
    assert turn is not None
    return turn
