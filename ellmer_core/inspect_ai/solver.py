"""A chat as a solver."""

from __future__ import annotations

from typing import Any

from inspect_ai.solver import solver

from .._chat.chat import Chat
from ..contents.turns import AssistantTurn, SystemTurn, UserTurn
from ..errors import UsageError
from .messages import messages_of, output_of, turns_of

__all__ = ["chat_solver"]


@solver  # type: ignore[untyped-decorator]  # inspect-ai is not where types are checked
def chat_solver(chat: Chat) -> Any:
    """Answers each sample with a fork of `chat`, with the chat's own system prompt and tools. Earlier messages of the
    sample are used, and a system message of the sample replaces the chat's.
    """

    async def solve(state: Any, _generate: Any) -> Any:
        *before, asked = turns_of(state.messages)
        if not isinstance(asked, UserTurn):
            raise UsageError(
                "There is nothing to answer, because the last message of the sample is from the model."
            )
        fork = chat.fork()
        fork.set_turns(
            [*fork.get_turns(include_system_prompt=True), *before] if not _system(before) else before
        )
        known = len(fork.get_turns())
        await fork.chat_async(*asked.contents)
        model = f"ellmer/{fork.wire.provider}/{fork.get_model()}"
        state.messages += messages_of(fork.get_turns()[known + 1 :], model)
        answer = fork.last_turn("assistant")
        assert isinstance(answer, AssistantTurn)
        state.output = output_of(answer, model)
        state.output.choices[0].message = state.messages[-1]
        return state

    return solve


def _system(turns: list[Any]) -> bool:
    return any(isinstance(turn, SystemTurn) for turn in turns)
