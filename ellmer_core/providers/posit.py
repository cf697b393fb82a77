"""Posit AI, https://posit.ai: a gateway that has Claude over the Messages API, and all other models over Chat Completions.

https://posit-dev.github.io/chatlas/reference/ChatPosit.html; it does not offer files and batches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..wire.anthropic.to_wire import AnthropicMessages
from ..wire.base import Wire
from ..wire.openai_chat.to_wire import OpenAIChat
from ..wire.shared.content_parts import Cache
from ._construction import Options, construct

GATEWAY = "https://gateway.posit.ai"


class _Posit:
    """The part of the gateway that all models share."""

    provider: ClassVar[str] = "Posit"
    key_vars: ClassVar[tuple[str, ...]] = ("POSIT_AI_TOKEN",)
    models_path: ClassVar[str] = ""


@dataclass(frozen=True, eq=False, repr=False)
class PositClaude(_Posit, AnthropicMessages):
    """Claude. The token is a bearer token, not an `x-api-key` as at Anthropic."""

    default_model: ClassVar[str] = "claude-sonnet-5"

    base_url: str = f"{GATEWAY}/anthropic/v1"
    api_version: str = "2023-06-01"  # the gateway documents no newer one

    def headers(self) -> dict[str, str]:
        key = {name: value for name, value in super().headers().items() if name != "x-api-key"}
        return {**key, **Wire.headers(self)}


@dataclass(frozen=True, eq=False, repr=False)
class PositOpenAI(_Posit, OpenAIChat):
    """All models but Claude, through the gateway's Chat Completions."""

    base_url: str = f"{GATEWAY}/openai/v1"


def chat_posit(
    system_prompt: str | None = None, *, cache: Cache = "none", **options: Unpack[Options]
) -> Chat:
    """Makes a chat through the gateway of Posit AI.

    Key: `POSIT_AI_TOKEN`, or `credentials=`, a function that returns a token and renews it. This library does not log
    in. Default model: `claude-sonnet-5`. Claude is served over the Messages API, other models over Chat Completions.
    API: https://posit-dev.github.io/chatlas/reference/ChatPosit.html.

    Args:
        system_prompt: The system prompt. Default: none.
        cache: For Claude, as in `chat_anthropic()`. Default: `"none"`.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: There is no key, or an option is wrong.

    Examples:
        >>> chat_posit(api_key="any-key").get_model()
        'claude-sonnet-5'
    """
    if str(options.get("model") or PositClaude.default_model).startswith("claude"):
        return construct(PositClaude, system_prompt, options, cache=cache)
    return construct(PositOpenAI, system_prompt, options)
