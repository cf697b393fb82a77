"""Cerebras: error bodies with OpenAI's fields at the top level, and features that its models refuse."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from ....observed.exchange import Request
from ....rule import Refusal
from ....rulebook import UnsupportedFeature, add_feature_rules
from ....shapes import Fault
from ..._openai.refusals import refused
from ..._pydantic import choice, mistyped, untagged
from ..._shape_faults import UNRECORDED, FaultKind, Wording, problem, types_of
from ..._shape_faults import enter as enter_shape
from .._refusals_and_examples import ASK, TOOL, body, call, result
from ..features import forced, streamed_format
from ._elsewhere import compact, elsewhere, refuses_images

#: Recorded by others, in public.
_TESTS = (
    "https://github.com/maruel/genai/blob/ae451f7a582cc4e130cd2acf878f46fa8cc696cf/providers/"
    "cerebras/testdata/TestClient/Scoreboard/"
)


def _bare(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """Returns OpenAI's fields without the object around them (recorded at Cerebras)."""
    fields = {"message": refusal.message, "type": refusal.type, "param": refusal.param, "code": refusal.code}
    return compact(fields)


cerebras = elsewhere("cerebras", error_body=_bare)

_OSS, _QWEN = "gpt-oss-120b", "qwen-3-235b-a22b-thinking-2507"
_JSON = {"type": "json_object"}
_STREAMED = refused(
    '"stream=true" with structured outputs is currently not supported for reasoning models.',
    code="wrong_api_format",
    param="json_mode",
)


def _streamed(request: Request) -> str | None:
    """Finds a stream with a format of the answer, or with functions that may be called."""
    called = request.body.get("tools") and request.body.get("tool_choice") != "none"
    return "/tools" if called and request.body.get("stream") else streamed_format(request)


add_feature_rules(
    cerebras,
    [
        refuses_images(
            "!gemma-4*", example=_OSS, source="https://inference-docs.cerebras.ai/capabilities/image-inputs"
        ),
        UnsupportedFeature(
            "REQ-055",
            "The tool choice is `auto` or `none`.",
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
            until=date(2025, 12, 12),  # accepted in the recordings of that day and later
            fix="send `auto`, and say in the prompt which tool to call.",
        ),
        UnsupportedFeature(
            "STO-016",
            "A reasoning model does not stream structured output.",
            ("qwen-3-*-thinking*",),
            _STREAMED,
            (
                "recorded refusals (qwen-3-235b-a22b-thinking-2507, qwen-3-235b-a22b)",
                f"{_TESTS}qwen-3-235b-a22b-thinking-2507_thinking/GenStream-JSON.yaml",
                f"{_TESTS}qwen-3-235b-a22b-thinking-2507_thinking/GenStream-Tools-SquareRoot-1.yaml",
            ),
            streamed_format,
            body(ASK, model=_QWEN, response_format=_JSON),
            body(ASK, model=_QWEN, response_format=_JSON, stream=True),
            fix="leave `stream` out of requests with a schema.",
        ),
        UnsupportedFeature(
            "STO-017",
            "Until December 2025, the models of Qwen 3 that reason did not stream structured output or calls.",
            ("qwen-3-32b", "qwen-3-235b-a22b", "qwen-3-235b-a22b-thinking*"),
            _STREAMED,
            (
                "recorded refusals (qwen-3-32b)",
                f"{_TESTS}qwen-3-32b_thinking/GenStream-JSON.yaml",
            ),
            _streamed,
            body(ASK, model="qwen-3-32b", tools=[TOOL]),
            body(ASK, model="qwen-3-32b", tools=[TOOL], stream=True),
            until=date(2025, 12, 12),  # accepted in the recordings of that day and later
            fix="leave `stream` out of requests with a schema or with tools.",
        ),
    ],
)


def _place(fault: Fault) -> str:
    """Returns `messages.2.assistant.reasoning_content`. A field at the top level is part of the `body`."""
    steps = [str(step) for step in fault.located(unnamed={"function", "text", "image_url"})]
    return ".".join([*(["body"] if len(steps) < 2 else []), *steps])


def _say(fault: Fault, _: Request) -> Mapping[str, str]:
    """Returns a place and pydantic's error. For unions, it lists more than the recordings show."""
    place = _place(fault)
    match fault.kind:
        case FaultKind.UNKNOWN_FIELD:
            text = f"property '{place}' is unsupported"
        case FaultKind.MISSING_FIELD:
            place, text = f"{place}.{fault.key}", "Field required"
        case FaultKind.UNKNOWN_VALUE:
            text = f"Input should be {choice(fault.expected)}"
        case FaultKind.WRONG_VARIANT if fault.key:
            place, text = place.removesuffix(f".{fault.key}"), untagged(fault)
        case FaultKind.WRONG_TYPE if len(types_of(fault.expected)) == 1:
            text = mistyped(fault)[1]
        case _:
            text = f"{problem(fault)}{UNRECORDED}"
    return {"text": f"{place}: {text}"}


enter_shape(
    cerebras,
    Wording(
        "cerebras",
        _say,
        dict.fromkeys(
            FaultKind,
            Refusal(
                "{text}", type="invalid_request_error", param="validation_error", code="wrong_api_format"
            ),
        ),
        body(ASK, call("a"), result("a"), tools=[TOOL]),
        {
            FaultKind.UNKNOWN_FIELD: [
                body(ASK, store=True),
                body(ASK, {"role": "assistant", "content": "5", "reasoning_content": "2 + 3 …"}, ASK),
            ],
            FaultKind.MISSING_FIELD: [{"model": "gpt-oss-120b"}],
            FaultKind.WRONG_TYPE: [{"model": "gpt-oss-120b", "messages": "x"}],
            FaultKind.WRONG_VARIANT: [body({"role": "bogus", "content": "Hi"})],
            FaultKind.UNKNOWN_VALUE: [body(ASK, reasoning_effort="bogus")],
        },
    ),
)
