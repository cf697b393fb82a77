"""Anthropic, https://docs.claude.com/en/api/messages."""

from __future__ import annotations

from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..wire.anthropic.request import AnthropicMessages
from ..wire.services.base import Batches, Uploads
from ..wire.services.batches import AnthropicBatches
from ..wire.services.uploads import AnthropicUploads
from ..wire.shared.cache_marks import Cache
from ._construction import Options, construct

__all__ = ["Anthropic", "chat_anthropic"]


class Anthropic(AnthropicMessages):
    """The Messages API."""

    default_model: ClassVar[str] = "claude-sonnet-5"
    batches: ClassVar[Batches | None] = AnthropicBatches()
    uploads: ClassVar[Uploads | None] = AnthropicUploads()
    key_vars: ClassVar[tuple[str, ...]] = ("ANTHROPIC_API_KEY",)
    base_url_var: ClassVar[str] = "ANTHROPIC_BASE_URL"
    base_url_end: ClassVar[str] = "/v1"


def chat_anthropic(
    system_prompt: str | None = None, *, cache: Cache = "none", **options: Unpack[Options]
) -> Chat:
    """A chat with Anthropic's Claude. Options as in `Options`; key in `ANTHROPIC_API_KEY`. `cache="5m"` (or `"1h"`)
    lets Anthropic remember the prompt: what was sent before is cheap then, what is new costs a little more."""
    return construct(Anthropic, system_prompt, options, cache=cache)
