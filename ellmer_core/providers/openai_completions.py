"""OpenAI over its older API, https://developers.openai.com/api/reference/resources/chat."""

from __future__ import annotations

from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..wire.batches_and_files import Batches, Uploads
from ..wire.interfaces import Supports
from ..wire.openai_chat.to_wire import OpenAIChat
from ..wire.openai_responses.batches_and_files import OpenAIBatches, OpenAIUploads
from ._construction import Options, construct


class OpenAICompletions(OpenAIChat):
    """The Chat Completions API. It refuses images in tool results. Since GPT-5.2, it accepts them, but the model does
    not see them.
    """

    provider: ClassVar[str] = "OpenAI"
    default_model: ClassVar[str] = "gpt-5.6-terra"
    batches: ClassVar[Batches | None] = OpenAIBatches("/v1/chat/completions")
    uploads: ClassVar[Uploads | None] = OpenAIUploads()
    key_vars: ClassVar[tuple[str, ...]] = ("OPENAI_API_KEY",)
    base_url_var: ClassVar[str] = "OPENAI_BASE_URL"
    supports: ClassVar[Supports] = Supports(native_tool_media=False, thinking=False)


def chat_openai_completions(system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
    """Makes a chat with OpenAI, over Chat Completions.

    Key: `OPENAI_API_KEY`. Default model: `gpt-5.6-terra`. This API refuses images in tool results, so they follow in a user
    message. API: https://developers.openai.com/api/reference/resources/chat.

    Args:
        system_prompt: The system prompt. Default: none.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: There is no key, or an option is wrong.

    Examples:
        >>> chat_openai_completions(api_key="any-key").get_model()
        'gpt-5.6-terra'
    """
    return construct(OpenAICompletions, system_prompt, options)
