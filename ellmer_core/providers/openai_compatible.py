"""Any server with OpenAI's Chat Completions: vLLM, llama.cpp, LM Studio, a gateway."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..contents.content import ToolDef
from ..schemas.type_functions import Type
from ..wire.interfaces import Json, Request, Supports
from ..wire.openai_chat.to_wire import OpenAIChat
from ..wire.shared.json_objects import without
from ..wire.shared.schemas import json_schema
from ._chat_completions import ChatCompletions
from ._construction import Options, construct


@dataclass(frozen=True, eq=False, repr=False)
class OpenAICompatible(ChatCompletions):
    """A server that gets only the fields that every such server knows. It gets a key only if one is given: variables
    of other providers are not read.
    """

    provider: ClassVar[str] = "OpenAI-compatible"
    supports: ClassVar[Supports] = Supports()
    example_url: ClassVar[str] = "http://localhost:8080/v1"

    base_url: str = ""
    strict: bool = False
    stream_usage: bool = True
    max_completion_tokens: bool = False

    def tool(self, tool: ToolDef) -> Json:
        return OpenAIChat.tool(self, tool) if self.strict else super().tool(tool)

    def response_format(self, type: Type) -> Json:
        if self.strict:
            return super().response_format(type)
        return {
            "type": "json_schema",
            "json_schema": {"name": "structured_data", "schema": json_schema(type)},
        }

    def post(self, url: str, body: Json, *, stream: bool) -> Request:
        return super().post(
            url, body if self.stream_usage else without(body, "stream_options"), stream=stream
        )

    def parameters(self) -> Json:
        body = super().parameters()
        if self.max_completion_tokens and "max_tokens" in body:
            return {**without(body, "max_tokens"), "max_completion_tokens": body["max_tokens"]}
        return body

    def call_id(self, id: str) -> str:
        """Returns the id unchanged: such servers send longer ids than OpenAI accepts, and accept them back (Baseten:
        46 characters)."""
        return id


def chat_openai_compatible(
    system_prompt: str | None = None,
    *,
    strict: bool = False,
    stream_usage: bool = True,
    max_completion_tokens: bool = False,
    **options: Unpack[Options],
) -> Chat:
    """Makes a chat with any server that has OpenAI's Chat Completions: vLLM, llama.cpp, LM Studio, a gateway.

    Key: only `api_key=` or `credentials=`; no environment variable is read. There is no default model: `base_url` and `model` are
    required. The request has only the fields that every server knows (llama.cpp's list:
    https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md).

    Args:
        system_prompt: The system prompt. Default: none.
        strict: Whether the server enforces the schemas of tools and structured output, as OpenAI does. Default: False.
        stream_usage: Whether a streamed request asks for token counts. False is for a server that refuses `stream_options`; the
            tokens of a stream are then not counted. Default: True.
        max_completion_tokens: Whether requests use the newer name of the parameter `max_tokens`. Default: False.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: `model` or `base_url` is missing, or an option is wrong.

    Examples:
        >>> chat_openai_compatible(model="llama-4", base_url="http://127.0.0.1:8000/v1").get_model()
        'llama-4'
    """
    return construct(
        OpenAICompatible,
        system_prompt,
        options,
        strict=strict,
        stream_usage=stream_usage,
        max_completion_tokens=max_completion_tokens,
    )
