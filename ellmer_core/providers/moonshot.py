"""Moonshot AI, https://platform.moonshot.ai/docs/api/chat: Kimi."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..contents.turns import AssistantTurn
from ..wire.interfaces import Json, Supports
from ._chat_completions import JsonMode
from ._construction import Options, construct


@dataclass(frozen=True, eq=False, repr=False)
class Moonshot(JsonMode):
    """Reasoning of a tool call must be sent back: `thinking is enabled but reasoning_content is missing in assistant
    tool call message` (https://github.com/mastra-ai/mastra/issues/12592). Without reasoning, a dot is sent (that an empty string is enough is
    UNVERIFIED).
    """

    provider: ClassVar[str] = "Moonshot AI"
    default_model: ClassVar[str] = "kimi-k2.6"
    key_vars: ClassVar[tuple[str, ...]] = ("MOONSHOT_API_KEY",)
    base_url_var: ClassVar[str] = "MOONSHOT_BASE_URL"
    supports: ClassVar[Supports] = Supports(pdfs=False, native_tool_media=False, structured=False)

    base_url: str = "https://api.moonshot.ai/v1"

    def assistant(self, turn: AssistantTurn) -> list[Json]:
        messages = super().assistant(turn)
        return [{"reasoning_content": ".", **m} if "tool_calls" in m else m for m in messages]


def chat_moonshot(system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
    """Makes a chat with Moonshot's Kimi.

    Key: `MOONSHOT_API_KEY`. Default model: `kimi-k2.6`. The reasoning of a turn with tool calls is sent back, because
    the API requires it (https://github.com/mastra-ai/mastra/issues/12592). API: https://platform.moonshot.ai/docs/api/chat.

    Args:
        system_prompt: The system prompt. Default: none.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: There is no key, or an option is wrong.

    Examples:
        >>> chat_moonshot(api_key="any-key").get_model()
        'kimi-k2.6'
    """
    return construct(Moonshot, system_prompt, options)
