"""OpenAI, https://developers.openai.com/api/reference/resources/responses."""

from __future__ import annotations

from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..wire.batches_and_files import Batches, Uploads
from ..wire.openai_responses.batches_and_files import OpenAIBatches, OpenAIUploads
from ..wire.openai_responses.to_wire import OpenAIResponses
from ._construction import Options, construct


class OpenAI(OpenAIResponses):
    """The Responses API."""

    default_model: ClassVar[str] = "gpt-5.6-terra"
    batches: ClassVar[Batches | None] = OpenAIBatches("/v1/responses")
    uploads: ClassVar[Uploads | None] = OpenAIUploads()
    key_vars: ClassVar[tuple[str, ...]] = ("OPENAI_API_KEY",)
    base_url_var: ClassVar[str] = "OPENAI_BASE_URL"


def chat_openai(system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
    """Makes a chat with OpenAI, over the Responses API.

    Key: `OPENAI_API_KEY`. Default model: `gpt-5.6-terra`. For the older API, use `chat_openai_completions()`. API:
    https://developers.openai.com/api/reference/resources/responses.

    Args:
        system_prompt: The system prompt. Default: none.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: There is no key, or an option is wrong.

    Examples:
        >>> chat_openai(api_key="any-key").get_model()
        'gpt-5.6-terra'
    """
    return construct(OpenAI, system_prompt, options)
