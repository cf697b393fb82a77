"""Baseten: error bodies with a sentence, a type and the status, and features that its models refuse."""

from __future__ import annotations

from datetime import date

from ....observed.exchange import Request
from ....readers.json_access import object_of
from ....rule import Refusal
from ....rulebook import NO_IMAGES, UnsupportedFeature, add_feature_rules
from ..._openai.refusals import numbered_error_body
from .._refusals_and_examples import ASK, IMAGE, body
from ..features import a_part, logprobs
from ._capabilities import recordings, refusing_models
from ._elsewhere import elsewhere

#: Recorded by others, in public.
_TESTS = (
    "https://github.com/maruel/genai/blob/66b63e62283f032dc40f348b3a9885221bad394e/providers/"
    "baseten/testdata/TestClient/Scoreboard/"
)
_BLIND, _SILENT = "image_url is not supported", "returning log probs is not supported"
_STRICTER = date(2026, 6, 6)  # the day of the first recording in which it is refused


def _refused(message: str) -> Refusal:
    return Refusal(message, type="Bad Request")


def _unnamed(request: Request) -> str | None:
    format = object_of(request.body.get("response_format"))
    named = format.get("type") != "json_schema" or object_of(format.get("json_schema")).get("name")
    return None if named else "/response_format/json_schema"


baseten = elsewhere("baseten", error_body=numbered_error_body)

_V4, _M2, _GLM, _OSS = (
    "deepseek-ai/DeepSeek-V4-Pro",
    "MiniMaxAI/MiniMax-M2.5",
    "zai-org/GLM-5.2",
    "openai/gpt-oss-120b",
)
_PICTURE = {"role": "user", "content": [IMAGE]}

add_feature_rules(
    baseten,
    [
        UnsupportedFeature(
            "REQ-050",
            "Images are sent only to models that accept them.",
            ("deepseek-ai/DeepSeek-V4*", "zai-org/GLM-5*"),
            _refused("This model does not support multimodal (image/video/audio) inputs."),
            (
                "recorded refusals (DeepSeek-V4-Pro, GLM-5.2)",
                f"{_TESTS}deepseek-ai/DeepSeek-V4-Pro_thinking/GenSyncMultiModal-Image-jpg-URL.yaml",
            ),
            a_part("image_url", "video_url", "input_audio"),
            body(ASK, model=_V4),
            body(_PICTURE, model=_V4),
            fix=NO_IMAGES,
        ),
        UnsupportedFeature(
            "REQ-051",
            "Images are sent only to models that accept them. One of the engines has its own words for it.",
            refusing_models("baseten", "images", _BLIND),
            _refused(_BLIND),
            recordings("baseten", "images", _BLIND),
            a_part("image_url"),
            body(ASK, model=_M2),
            body(_PICTURE, model=_M2),
            fix=NO_IMAGES,
        ),
        UnsupportedFeature(
            "REQ-052",
            "From June 2026 on, gpt-oss does not accept images; before, it ignored them.",
            ("openai/gpt-oss*",),
            _refused(_BLIND),
            (
                "recorded refusal (gpt-oss-120b)",
                f"{_TESTS}openai/gpt-oss-120b_thinking/GenSyncMultiModal-Image-jpg-URL.yaml",
            ),
            a_part("image_url"),
            body(ASK, model=_OSS),
            body(_PICTURE, model=_OSS),
            since=_STRICTER,
            fix=NO_IMAGES,
        ),
        UnsupportedFeature(
            "STO-016",
            "The schema of an answer has a name.",
            ("deepseek-ai/DeepSeek-V4*", "zai-org/GLM-5.*"),
            _refused("Validation: `response_format.json_schema.name` cannot be empty"),
            (
                "recorded refusals (DeepSeek-V4-Pro, GLM-5.2)",
                f"{_TESTS}deepseek-ai/DeepSeek-V4-Pro_thinking/GenStream-JSONSchema.yaml",
            ),
            _unnamed,
            body(ASK, model=_V4),
            body(ASK, model=_V4, response_format={"type": "json_schema", "json_schema": {"schema": {}}}),
            fix="write `json_schema.name`.",
        ),
        UnsupportedFeature(
            "STO-018",
            "The schema of an answer of gpt-oss has a name since June 2026.",
            ("openai/gpt-oss*",),
            _refused("Validation: `response_format.json_schema.name` cannot be empty"),
            (
                "recorded refusal (gpt-oss-120b)",
                f"{_TESTS}openai/gpt-oss-120b_thinking/GenSync-JSONSchema.yaml",
            ),
            _unnamed,
            body(ASK, model=_OSS),
            body(ASK, model=_OSS, response_format={"type": "json_schema", "json_schema": {"schema": {}}}),
            since=_STRICTER,
            fix="write `json_schema.name`.",
        ),
        UnsupportedFeature(
            "REQ-053",
            "Log probabilities are requested only from models that return them.",
            refusing_models("baseten", "logprobs", _SILENT),
            _refused(_SILENT),
            recordings("baseten", "logprobs", _SILENT),
            logprobs,
            body(ASK, model=_M2),
            body(ASK, model=_M2, logprobs=True),
            fix="leave `logprobs` out for these models.",
        ),
        UnsupportedFeature(
            "REQ-054",
            "`top_logprobs` is at most 1.",
            ("zai-org/GLM-5.2*",),  # GLM-5.1 is recorded as taking 2
            _refused("This model does not support logprobs > 1 due to advanced speculative decoding."),
            ("recorded refusal (GLM-5.2)", f"{_TESTS}zai-org/GLM-5.2_thinking/GenSync-TopLogprobs.yaml"),
            lambda request: "/top_logprobs" if (request.body.get("top_logprobs") or 0) > 1 else None,
            body(ASK, model=_GLM, logprobs=True, top_logprobs=1),
            body(ASK, model=_GLM, logprobs=True, top_logprobs=2),
            fix="send 1, or leave `top_logprobs` out.",
        ),
    ],
)
