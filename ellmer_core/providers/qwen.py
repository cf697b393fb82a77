"""Qwen on Alibaba's Model Studio, https://www.alibabacloud.com/help/en/model-studio/qwen-api-reference."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..wire.interfaces import Json, Request, Supports
from ._chat_completions import JsonMode
from ._construction import Options, construct

_STREAMS_THOUGHTS = re.compile(r"qwen3-\S*b$")


@dataclass(frozen=True, eq=False, repr=False)
class Qwen(JsonMode):
    """The international endpoint. `DASHSCOPE_BASE_URL` is for other regions. Qwen enforces JSON, but no schema."""

    provider: ClassVar[str] = "Alibaba/Qwen"
    default_model: ClassVar[str] = "qwen3.8-max"
    key_vars: ClassVar[tuple[str, ...]] = ("DASHSCOPE_API_KEY",)
    base_url_var: ClassVar[str] = "DASHSCOPE_BASE_URL"
    supports: ClassVar[Supports] = Supports(pdfs=False, native_tool_media=False, structured=False)

    base_url: str = "https://dashscope-intl.aliyuncs.com/compatible-mode/v1"

    def post(self, url: str, body: Json, *, stream: bool) -> Request:
        """Returns the finished request. `parameter.enable_thinking must be set to false for non-streaming calls`, says the API of the
        open models: https://github.com/vanna-ai/vanna/issues/918.
        """
        if not stream and _STREAMS_THOUGHTS.match(self.model):
            body = {**body, "enable_thinking": False}
        return super().post(url, body, stream=stream)


def chat_qwen(system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
    """Makes a chat with Alibaba's Qwen.

    Key: `DASHSCOPE_API_KEY`. Default model: `qwen3.8-max`. The default endpoint is the international one;
    `DASHSCOPE_BASE_URL` is for other regions. API:
    https://www.alibabacloud.com/help/en/model-studio/qwen-api-reference.

    Args:
        system_prompt: The system prompt. Default: none.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: There is no key, or an option is wrong.

    Examples:
        >>> chat_qwen(api_key="any-key").get_model()
        'qwen3.8-max'
    """
    return construct(Qwen, system_prompt, options)
