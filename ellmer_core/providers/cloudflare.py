"""Cloudflare Workers AI, https://developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility/."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..contents.content import ToolDef
from ..contents.turns import Turn
from ..schemas.type_functions import Type
from ..wire.base import StructuredMode
from ..wire.interfaces import Request
from ._chat_completions import ChatCompletions
from ._construction import Options, construct, setting

_API = "https://api.cloudflare.com/client/v4/accounts"


@dataclass(frozen=True, eq=False, repr=False)
class Cloudflare(ChatCompletions):
    """Open models. Structured output is an object, not the text of one."""

    provider: ClassVar[str] = "Cloudflare"
    models_path: ClassVar[str] = ""
    default_model: ClassVar[str] = "@cf/meta/llama-3.3-70b-instruct-fp8-fast"
    key_vars: ClassVar[tuple[str, ...]] = ("CLOUDFLARE_API_TOKEN", "CLOUDFLARE_API_KEY")
    example_url: ClassVar[str] = "https://api.cloudflare.com/client/v4/accounts/example/ai/v1"

    text_separator: ClassVar[str | None] = "\n\n"  # some text models refuse lists of parts (OmniRoute#12002)

    base_url: str = ""

    def asking(
        self,
        turns: Sequence[Turn],
        tools: Sequence[ToolDef] = (),
        *,
        stream: bool = False,
        type: Type | None = None,
        mode: StructuredMode | None = None,
    ) -> Request:
        """Asks in words for structured output in a stream (`JSON Schema mode is not supported with stream mode`)."""
        if stream and type is not None and self.structured_mode(type, tools, mode) == "native":
            mode = "prompt"
        return super().asking(turns, tools, stream=stream, type=type, mode=mode)


def chat_cloudflare(
    system_prompt: str | None = None, *, account: str | None = None, **options: Unpack[Options]
) -> Chat:
    """Makes a chat with a model on Cloudflare Workers AI.

    Key: `CLOUDFLARE_API_TOKEN` or `CLOUDFLARE_API_KEY`. Account id: `CLOUDFLARE_ACCOUNT_ID`. Default model:
    `@cf/meta/llama-3.3-70b-instruct-fp8-fast`. Its answer to a request for structured output is an object, not the text
    of one. API: https://developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility/.

    Args:
        system_prompt: The system prompt. Default: none.
        account: The account's id. Default: `CLOUDFLARE_ACCOUNT_ID`.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: The key or the account is missing, or an option is wrong.

    Examples:
        >>> chat_cloudflare(account="my-account", api_key="any-key").get_model()
        '@cf/meta/llama-3.3-70b-instruct-fp8-fast'
    """
    if not options.get("base_url"):
        options["base_url"] = f"{_API}/{setting('account', account, 'CLOUDFLARE_ACCOUNT_ID')}/ai/v1"
    return construct(Cloudflare, system_prompt, options)
