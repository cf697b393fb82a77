"""Groq, https://console.groq.com/docs/api-reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..contents.content import Content
from ..wire.batches_and_files import Batches
from ..wire.interfaces import Json, Supports
from ..wire.openai_responses.batches_and_files import OpenAIBatches
from ._chat_completions import SchemaOrTools
from ._construction import Options, construct


@dataclass(frozen=True, eq=False, repr=False)
class Groq(SchemaOrTools):
    """Groq refuses unknown fields: `property 'reasoning' is unsupported, did you mean 'role'?` (https://github.com/karthink/gptel/issues/774).
    Reasoning is therefore not sent back (that gpt-oss accepts it now is UNVERIFIED). Tool results are text: `value
    must be a string`. `json mode cannot be combined with tool/function calling` (https://github.com/vercel/ai/issues/16540).
    """

    provider: ClassVar[str] = "Groq"
    default_model: ClassVar[str] = "openai/gpt-oss-120b"
    batches: ClassVar[Batches | None] = OpenAIBatches("/v1/chat/completions")
    key_vars: ClassVar[tuple[str, ...]] = ("GROQ_API_KEY",)
    supports: ClassVar[Supports] = Supports(pdfs=False, native_tool_media=False)

    base_url: str = "https://api.groq.com/openai/v1"

    def fields(self, content: Content) -> Json:  # noqa: ARG002 - whatever it is
        return {}


def chat_groq(system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
    """Makes a chat with an open model on Groq.

    Key: `GROQ_API_KEY`. Default model: `openai/gpt-oss-120b`. Groq refuses fields that it does not know, so reasoning
    is not sent back (https://github.com/karthink/gptel/issues/774). API: https://console.groq.com/docs/api-reference.

    Args:
        system_prompt: The system prompt. Default: none.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: There is no key, or an option is wrong.

    Examples:
        >>> chat_groq(api_key="any-key").get_model()
        'openai/gpt-oss-120b'
    """
    return construct(Groq, system_prompt, options)
