"""DeepSeek, https://api-docs.deepseek.com: Chat Completions for text and images, with readable reasoning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..contents.turns import AssistantTurn
from ..wire.interfaces import Json, Supports
from ..wire.openai_chat.from_wire import ENDINGS
from ..wire.shared.endings_and_errors import Endings
from ._chat_completions import JsonMode
from ._construction import Options, construct


@dataclass(frozen=True, eq=False, repr=False)
class DeepSeek(JsonMode):
    """Reasoning of a tool call must be sent back, at least as an empty string (`The reasoning_content in the thinking mode
    must be passed back to the API.`). Flash takes images since V4.1, in messages of the user.
    """

    provider: ClassVar[str] = "DeepSeek"
    default_model: ClassVar[str] = "deepseek-flash"
    key_vars: ClassVar[tuple[str, ...]] = ("DEEPSEEK_API_KEY",)
    supports: ClassVar[Supports] = Supports(pdfs=False, native_tool_media=False, structured=False)
    endings: ClassVar[Endings] = ENDINGS.also(
        "https://api-docs.deepseek.com/api/create-chat-completion",
        cut={"insufficient_system_resource": "insufficient_system_resource"},
    )

    longest_id: ClassVar[int] = 46  # recorded

    base_url: str = "https://api.deepseek.com"

    def assistant(self, turn: AssistantTurn) -> list[Json]:
        messages = super().assistant(turn)
        return [{"reasoning_content": "", **m} if "tool_calls" in m else m for m in messages]


def chat_deepseek(system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
    """Makes a chat with DeepSeek.

    Key: `DEEPSEEK_API_KEY`. Default model: `deepseek-flash`, which takes images. The reasoning of a turn with tool
    calls is sent back, because the API requires it. API: https://api-docs.deepseek.com.

    Args:
        system_prompt: The system prompt. Default: none.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: There is no key, or an option is wrong.

    Examples:
        >>> chat_deepseek(api_key="any-key").get_model()
        'deepseek-flash'
    """
    return construct(DeepSeek, system_prompt, options)
