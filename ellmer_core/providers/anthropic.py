"""Anthropic, https://docs.claude.com/en/api/messages."""

from __future__ import annotations

from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..wire.anthropic.batches_and_files import AnthropicBatches, AnthropicUploads
from ..wire.anthropic.to_wire import AnthropicMessages
from ..wire.batches_and_files import Batches, Uploads
from ..wire.shared.content_parts import Cache
from ._construction import Options, construct


class Anthropic(AnthropicMessages):
    """The Messages API."""

    default_model: ClassVar[str] = "claude-sonnet-5"
    batches: ClassVar[Batches | None] = AnthropicBatches()
    uploads: ClassVar[Uploads | None] = AnthropicUploads()
    key_vars: ClassVar[tuple[str, ...]] = ("ANTHROPIC_API_KEY",)
    base_url_var: ClassVar[str] = "ANTHROPIC_BASE_URL"
    base_url_end: ClassVar[str] = "/v1"


def chat_anthropic(
    system_prompt: str | None = None,
    *,
    cache: Cache = "none",
    api_version: str = Anthropic.api_version,
    **options: Unpack[Options],
) -> Chat:
    """Makes a chat with Anthropic's Claude, over the Messages API.

    Key: `ANTHROPIC_API_KEY`. Default model: `claude-sonnet-5`. With caching, earlier turns cost a tenth and new ones a
    quarter more with `"5m"` (https://docs.claude.com/en/docs/build-with-claude/prompt-caching). API:
    https://docs.claude.com/en/api/messages.

    Args:
        system_prompt: The system prompt. Default: none.
        cache: How long Anthropic keeps the prompt: `"5m"` (minutes), `"1h"` (hour) or `"none"`, the default.
        api_version: The version of the API (https://platform.claude.com/docs/en/api/versioning). Default: `"2026-10-21"`, which
            has no `temperature`, `top_p` and `top_k`. With `"2023-06-01"`, models up to Claude 4.6 accept them.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: There is no key, or an option is wrong.

    Examples:
        >>> chat_anthropic(api_key="any-key").get_model()
        'claude-sonnet-5'
    """
    return construct(Anthropic, system_prompt, options, cache=cache, api_version=api_version)
