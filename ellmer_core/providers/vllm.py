"""vLLM, https://docs.vllm.ai/en/latest/serving/openai_compatible_server: open models on the user's own server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..wire.openai_chat.from_wire import ENDINGS
from ..wire.shared.endings_and_errors import Endings
from ._chat_completions import Alternating
from ._construction import Options, construct


@dataclass(frozen=True, eq=False, repr=False)
class VLLM(Alternating):
    """vLLM. Most models' templates raise: `Conversation roles must alternate user/assistant/user/assistant/...`."""

    provider: ClassVar[str] = "vLLM"
    key_vars: ClassVar[tuple[str, ...]] = ("VLLM_API_KEY",)
    key_optional: ClassVar[bool] = True
    base_url_var: ClassVar[str] = "VLLM_BASE_URL"
    endings: ClassVar[Endings] = ENDINGS.also(
        "https://github.com/vllm-project/vllm/blob/main/vllm/v1/engine/__init__.py (FinishReason)",
        cut={"abort": "abort"},
    )

    base_url: str = "http://localhost:8000/v1"


def chat_vllm(system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
    """Makes a chat with a model on a vLLM server.

    Key: `VLLM_API_KEY`, if the server wants one. Address: `base_url=` or `VLLM_BASE_URL`. There is no default model:
    `model` is required. The templates of most models require that user and assistant messages alternate. API:
    https://docs.vllm.ai/en/latest/serving/openai_compatible_server.

    Args:
        system_prompt: The system prompt. Default: none.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: `model` or the URL is missing, or an option is wrong.

    Examples:
        >>> chat_vllm(model="llama-4", base_url="http://127.0.0.1:8000/v1").get_model()
        'llama-4'
    """
    return construct(VLLM, system_prompt, options)
