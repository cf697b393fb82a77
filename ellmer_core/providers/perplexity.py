"""Perplexity, https://docs.perplexity.ai/api-reference/chat-completions-post: answers from the web, without tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..contents.content import ToolDef
from ..contents.turns import Turn
from ..errors import UsageError
from ..wire.interfaces import Json, Supports
from ._chat_completions import Alternating
from ._construction import Options, construct


@dataclass(frozen=True, eq=False, repr=False)
class Perplexity(Alternating):
    """`After the (optional) system message(s), user or tool message(s) should alternate with assistant message(s).`
    That Perplexity accepts no tools is UNVERIFIED: there are no recordings.
    """

    provider: ClassVar[str] = "Perplexity"
    models_path: ClassVar[str] = ""
    default_model: ClassVar[str] = "sonar"
    key_vars: ClassVar[tuple[str, ...]] = ("PERPLEXITY_API_KEY",)
    supports: ClassVar[Supports] = Supports(tools=False, pdfs=False, native_tool_media=False, thinking=False)

    base_url: str = "https://api.perplexity.ai"

    def messages(self, turns: Sequence[Turn]) -> list[Json]:
        """Returns the messages. The user begins: with a filler where the conversation begins with an answer."""
        messages = super().messages(turns)
        first = next((n for n, message in enumerate(messages) if message["role"] != "system"), None)
        if first is not None and messages[first]["role"] == "assistant":
            return [*messages[:first], {"role": "user", "content": "."}, *messages[first:]]
        return messages

    def tool(self, tool: ToolDef) -> Json:
        raise UsageError(
            f"{self.provider}'s models do not support tools: do not register {tool.name!r} here."
        )


def chat_perplexity(system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
    """Makes a chat with Perplexity, which answers from the web.

    Perplexity supported this API until 27 September 2026 (https://github.com/hex/llm-perplexity/pull/27 quotes its page). The Agent
    API, which replaces it, has the form of Responses and is not built in.

    Key: `PERPLEXITY_API_KEY`. Default model: `sonar`. User and assistant messages must alternate. API:
    https://docs.perplexity.ai/api-reference/chat-completions-post.

    Args:
        system_prompt: The system prompt. Default: none.
        options: The keyword arguments of `Options`.
    """
    return construct(Perplexity, system_prompt, options)
