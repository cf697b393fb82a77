"""LM Studio, https://lmstudio.ai/docs/developer/openai-compat: open models on one's own machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ._chat_completions import Alternating
from ._construction import Options, construct

__all__ = ["LMStudio", "chat_lmstudio"]


@dataclass(frozen=True)
class LMStudio(Alternating):
    """The templates of some models want the roles to take turns."""

    vendor: ClassVar[str] = "LM Studio"
    key_vars: ClassVar[tuple[str, ...]] = ("LMSTUDIO_API_KEY",)
    key_optional: ClassVar[bool] = True
    base_url_var: ClassVar[str] = "LMSTUDIO_BASE_URL"

    base_url: str = "http://localhost:1234/v1"


def chat_lmstudio(system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
    """A chat with a model in LM Studio; `model` is required. Options as in `Options`."""
    return construct(LMStudio, system_prompt, options)
