"""LM Studio, https://lmstudio.ai/docs/developer/openai-compat: open models on the user's machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ._chat_completions import Alternating
from ._construction import Options, construct


@dataclass(frozen=True, eq=False, repr=False)
class LMStudio(Alternating):
    """LM Studio. The templates of some models require that user and assistant alternate."""

    provider: ClassVar[str] = "LM Studio"
    key_vars: ClassVar[tuple[str, ...]] = ("LMSTUDIO_API_KEY",)
    key_optional: ClassVar[bool] = True
    base_url_var: ClassVar[str] = "LMSTUDIO_BASE_URL"

    base_url: str = "http://localhost:1234/v1"


def chat_lmstudio(system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
    """Makes a chat with a model in LM Studio, on your own machine.

    Key: `LMSTUDIO_API_KEY`, if the server wants one. There is no default model: `model` is required. The templates of
    some models require that user and assistant take turns. API: https://lmstudio.ai/docs/developer/openai-compat.

    Args:
        system_prompt: The system prompt. Default: none.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: `model` is missing, or an option is wrong.

    Examples:
        >>> chat_lmstudio(model="gpt-oss-20b").get_model()
        'gpt-oss-20b'
    """
    return construct(LMStudio, system_prompt, options)
