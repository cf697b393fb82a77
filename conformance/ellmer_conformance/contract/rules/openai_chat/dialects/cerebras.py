"""Cerebras: OpenAI's fields, and no object around them; what its models do not take."""

from __future__ import annotations

from collections.abc import Mapping

from ....rule import Refusal
from ..._lacks import Lack, enter
from ..._openai import refused
from .._features import forced, streamed_format
from .._rulebook import ASK, TOOL, body
from . import compact, elsewhere

#: Recorded by others, in public.
_TESTS = (
    "https://github.com/maruel/genai/blob/ae451f7a582cc4e130cd2acf878f46fa8cc696cf/providers/"
    "cerebras/testdata/TestClient/Scoreboard/"
)


def _bare(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """Cerebras has OpenAI's fields, and no object around them (recorded)."""
    fields = {"message": refusal.message, "type": refusal.type, "param": refusal.param, "code": refusal.code}
    return compact(fields)


cerebras = elsewhere("cerebras", envelope=_bare)

_OSS, _QWEN = "gpt-oss-120b", "qwen-3-235b-a22b-thinking-2507"
_JSON = {"type": "json_object"}

enter(
    cerebras,
    [
        Lack(
            "REQ-055",
            "The model chooses itself whether it calls a tool.",
            ("gpt-oss*",),
            refused(
                "Unsupported tool_choice: required. Expected 'auto' or 'none'.",
                code="wrong_api_format",
                param="tool_choice",
            ),
            (
                "recorded refusal (gpt-oss-120b)",
                f"{_TESTS}gpt-oss-120b_thinking/GenStream-Tools-SquareRoot-1.yaml",
            ),
            forced,
            body(ASK, model=_OSS, tools=[TOOL], tool_choice="auto"),
            body(ASK, model=_OSS, tools=[TOOL], tool_choice="required"),
        ),
        Lack(
            "STO-016",
            "A model that reasons does not stream structured output.",
            ("qwen-3-*-thinking*",),
            refused(
                '"stream=true" with structured outputs is currently not supported for reasoning models.',
                code="wrong_api_format",
                param="json_mode",
            ),
            (
                "recorded refusal (qwen-3-235b-a22b-thinking-2507)",
                f"{_TESTS}qwen-3-235b-a22b-thinking-2507_thinking/GenStream-JSON.yaml",
            ),
            streamed_format,
            body(ASK, model=_QWEN, response_format=_JSON),
            body(ASK, model=_QWEN, response_format=_JSON, stream=True),
        ),
    ],
)
