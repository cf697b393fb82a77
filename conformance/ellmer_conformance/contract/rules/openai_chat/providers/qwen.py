"""Qwen at DashScope: OpenAI's pairing rules with its own error texts, and no forced tool call with thinking."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from ....observed.exchange import Request
from ....rule import Finding, Refusal, broken, met
from ....rulebook import NO_IMAGES, UnsupportedFeature, add_feature_rules
from ..._openai.refusals import refused
from .._refusals_and_examples import ASK, IMAGE, MUST, REJECT, TOOL, body
from ..features import a_part
from ._chat_templates import the_user_asks
from ._elsewhere import elsewhere

#: Recorded by others, in public.
_TESTS = (
    "https://github.com/maruel/genai/blob/c55166a86034f7a36da5e7f8544023a1c365b667/providers/"
    "alibaba/testdata/TestClient/Intl/Scoreboard/"
)


def _dashscope(message: str) -> Refusal:
    return refused(f"<400> InternalError.Algo.InvalidParameter: {message}", code="invalid_parameter_error")


_ORPHAN = {
    "refusal": _dashscope(
        'messages with role "tool" must be a response to a preceeding message with "tool_calls".'
    ),
    "source": ("https://github.com/QwenLM/qwen-code/issues/2360",),
}
_DANGLING = {
    "refusal": _dashscope(
        'An assistant message with "tool_calls" must be followed by tool messages responding to each "tool_call_id". '
        "The following tool_call_ids did not have response messages: {ids}"
    ),
    "source": ("https://github.com/QwenLM/qwen-code/issues/315",),
}
qwen = elsewhere(
    "qwen",
    only=["PAIR-001", "PAIR-002", "ORD-002", "ORD-003", "SCH-008"],
    SCH_008={
        "preview": False,
        "refusal": refused("[] is too short - 'tools'"),
        "source": ("https://github.com/QwenLM/qwen-code/issues/643",),
    },
    PAIR_002=_ORPHAN,
    PAIR_001=_DANGLING,
    ORD_002=_DANGLING,
    ORD_003=_DANGLING,
)


#: The models that are recorded to think without being told to.
_THINKING = ("qwen3-235b-a22b", "qwen3-30b-a3b", "qwen3.5-*b-a*b")


@qwen.rule(
    "THK-011",
    MUST,
    REJECT,
    source=[
        "recorded refusals (qwen3.7-max, qwen3.8-max)",
        (
            "https://github.com/maruel/genai/blob/1fd4ded9888ca69ea16a290d7d2461ede3ff546e/providers/alibaba/testdata/"
            "TestClient/Intl/Scoreboard/qwen3.5-35b-a3b_thinking/GenSync-Tools-SquareRoot-1.yaml"
        ),
    ],
    refusal=_dashscope(
        "The tool_choice parameter does not support being set to required or object in thinking mode"
    ),
    examples=[body(ASK, tools=[TOOL], enable_thinking=True, model="qwen3-max")],
    counterexamples=[
        body(ASK, tools=[TOOL], tool_choice="required", enable_thinking=True, model="qwen3-max"),
        body(ASK, tools=[TOOL], tool_choice="required", model="qwen3.5-35b-a3b"),
    ],
)
def thinking_is_not_forced_to_call(request: Request) -> Iterator[Finding]:
    """With thinking enabled, `tool_choice` does not force a tool.

    The open models of Qwen 3 and 3.5 think unless a request says otherwise. Fix: send `auto`, or set `enable_thinking:
    false`.
    """
    by_default = any(fnmatchcase(request.model, pattern) for pattern in _THINKING)
    if request.body.get("enable_thinking", by_default) is True:
        choice = request.body.get("tool_choice")
        forced = choice == "required" or isinstance(choice, dict)
        yield broken("/tool_choice", "`tool_choice` forces a call") if forced else met("/enable_thinking")


qwen.rule(
    "REQ-149",
    MUST,
    REJECT,
    preview=True,  # both saw it at DashScope's own endpoint, or did not say at which one
    source=[
        "https://github.com/agentscope-ai/agentscope-java/issues/613 (qwen3-vl-plus)",
        "https://github.com/coze-dev/coze-studio/pull/2557",
    ],
    refusal=_dashscope("The input messages do not contain elements with the role of user"),
    examples=[body(ASK)],
    counterexamples=[body({"role": "system", "content": "Be brief."})],
)(the_user_asks)


def _unstreamed_thoughts(request: Request) -> str | None:
    """Finds thinking, which these models do by default, in a request that is not streamed."""
    thinks = request.body.get("enable_thinking", True) is True
    return "/stream" if thinks and request.body.get("stream") is not True else None


_MAX = "qwen3.7-max"

add_feature_rules(
    qwen,
    [
        UnsupportedFeature(
            "REQ-180",
            "The open models of Qwen 3 think only in a stream, and think unless a request says otherwise.",
            ("qwen3-*b",),
            refused(
                "parameter.enable_thinking must be set to false for non-streaming calls",
                code="invalid_parameter_error",
            ),
            (
                "https://github.com/vanna-ai/vanna/issues/918",
                "https://github.com/cloudwego/eino-ext/issues/375 (qwen3-8b)",
                "https://github.com/coze-dev/coze-studio/issues/324 (qwen3-32b)",
            ),
            _unstreamed_thoughts,
            body(ASK, model="qwen3-8b", enable_thinking=False),
            body(ASK, model="qwen3-8b"),
            fix="set `enable_thinking: false` in a request that is not streamed.",
        ),
        UnsupportedFeature(
            "REQ-050",
            "Images are sent only to models that accept them.",
            ("qwen3.7-max*", "qwen-max*"),  # qwen3-max is recorded as taking them
            _dashscope(
                "The provided messages input is invalid. The error info is [Unexpected item type in content.]."
            ),
            (
                "recorded refusal (qwen3.7-max)",
                "https://github.com/can1357/oh-my-pi/pull/1861",
                "https://github.com/can1357/oh-my-pi/issues/8305 (every `-max` before 3.8)",
                f"{_TESTS}qwen3.7-max_thinking/GenStreamMultiModal-Image-jpg-Inline.yaml",
            ),
            a_part("image_url"),
            body(ASK, model=_MAX),
            body({"role": "user", "content": [IMAGE]}, model=_MAX),
            fix=NO_IMAGES,
        ),
    ],
)
