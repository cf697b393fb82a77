"""Z.ai, https://docs.z.ai/api-reference/llm/chat-completion: GLM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..wire.interfaces import Supports
from ..wire.openai_chat.from_wire import ENDINGS
from ..wire.shared.endings_and_errors import Endings
from ._chat_completions import JsonMode
from ._construction import Options, construct


@dataclass(frozen=True, eq=False, repr=False)
class ZAI(JsonMode):
    """Z.ai enforces JSON, but no schema. `ZAI_BASE_URL` is for the endpoint of a coding plan."""

    provider: ClassVar[str] = "Z.ai"
    default_model: ClassVar[str] = "glm-4.7"
    key_vars: ClassVar[tuple[str, ...]] = ("ZAI_API_KEY",)
    base_url_var: ClassVar[str] = "ZAI_BASE_URL"
    supports: ClassVar[Supports] = Supports(pdfs=False, native_tool_media=False, structured=False)
    endings: ClassVar[Endings] = ENDINGS.also(
        "https://docs.z.ai/api-reference/llm/chat-completion",
        cut={
            "sensitive": "content_filter",
            "model_context_window_exceeded": "context_window",
            "network_error": "network_error",
        },
    )

    base_url: str = "https://api.z.ai/api/paas/v4"


def chat_zai(system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
    """Makes a chat with Z.ai's GLM.

    Key: `ZAI_API_KEY`. Default model: `glm-4.7`. `ZAI_BASE_URL` is for the endpoint of a coding plan. API:
    https://docs.z.ai/api-reference/llm/chat-completion.

    Args:
        system_prompt: The system prompt. Default: none.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: There is no key, or an option is wrong.

    Examples:
        >>> chat_zai(api_key="any-key").get_model()
        'glm-4.7'
    """
    return construct(ZAI, system_prompt, options)
