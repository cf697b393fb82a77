"""Baseten: error bodies with a sentence, a type and the status, and features that its models refuse."""

from __future__ import annotations

from collections.abc import Mapping

from ....exchange import Request
from ....readers.json_access import object_of
from ....rule import Refusal
from ..._refused_features import Lack, enter
from .._features import a_part, logprobs
from .._rulebook import ASK, IMAGE, body
from ._elsewhere import compact, elsewhere

#: Recorded by others, in public.
_TESTS = (
    "https://github.com/maruel/genai/blob/66b63e62283f032dc40f348b3a9885221bad394e/providers/"
    "baseten/testdata/TestClient/Scoreboard/"
)
_OLDER = (
    "https://github.com/maruel/genai/blob/af299aacd3da59239a3be5e0a1eaf99eb25b1365/providers/"
    "baseten/testdata/TestClient/Scoreboard/"
)


def _numbered(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    return compact({"error": {"code": refusal.status, "message": refusal.message, "type": refusal.type}})


def _refused(message: str) -> Refusal:
    return Refusal(message, type="Bad Request")


def _unnamed(request: Request) -> str | None:
    format = object_of(request.body.get("response_format"))
    named = format.get("type") != "json_schema" or object_of(format.get("json_schema")).get("name")
    return None if named else "/response_format/json_schema"


baseten = elsewhere("baseten", envelope=_numbered)

_V4, _M2, _GLM, _OSS = (
    "deepseek-ai/DeepSeek-V4-Pro",
    "MiniMaxAI/MiniMax-M2.5",
    "zai-org/GLM-5.2",
    "openai/gpt-oss-120b",
)
_PICTURE = {"role": "user", "content": [IMAGE]}

enter(
    baseten,
    [
        Lack(
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
        ),
        Lack(
            "REQ-051",
            "Images are sent only to models that accept them (the error text of another engine).",
            ("openai/gpt-oss*",),
            _refused("image_url is not supported"),
            (
                "recorded refusal (gpt-oss-120b)",
                f"{_TESTS}openai/gpt-oss-120b_thinking/GenSyncMultiModal-Image-jpg-URL.yaml",
            ),
            a_part("image_url"),
            body(ASK, model=_OSS),
            body(_PICTURE, model=_OSS),
        ),
        Lack(
            "STO-016",
            "The schema of an answer has a name.",
            ("openai/gpt-oss*", "deepseek-ai/DeepSeek-V4*", "zai-org/GLM-5*"),
            _refused("Validation: `response_format.json_schema.name` cannot be empty"),
            (
                "recorded refusals (gpt-oss-120b, DeepSeek-V4-Pro, GLM-5.2)",
                f"{_TESTS}deepseek-ai/DeepSeek-V4-Pro_thinking/GenStream-JSONSchema.yaml",
                f"{_TESTS}openai/gpt-oss-120b_thinking/GenSync-JSONSchema.yaml",
            ),
            _unnamed,
            body(ASK, model=_OSS),
            body(ASK, model=_OSS, response_format={"type": "json_schema", "json_schema": {"schema": {}}}),
        ),
        Lack(
            "REQ-053",
            "Log probabilities are requested only from models that return them.",
            ("MiniMaxAI/*",),
            _refused("returning log probs is not supported"),
            (
                "recorded refusal (MiniMax-M2.5)",
                f"{_OLDER}MiniMaxAI/MiniMax-M2.5_thinking/GenStream-TopLogprobs.yaml",
            ),
            logprobs,
            body(ASK, model=_M2),
            body(ASK, model=_M2, logprobs=True),
        ),
        Lack(
            "REQ-054",
            "`top_logprobs` is at most 1.",
            ("zai-org/GLM-5*",),
            _refused("This model does not support logprobs > 1 due to advanced speculative decoding."),
            ("recorded refusal (GLM-5.2)", f"{_TESTS}zai-org/GLM-5.2_thinking/GenSync-TopLogprobs.yaml"),
            lambda request: "/top_logprobs" if (request.body.get("top_logprobs") or 0) > 1 else None,
            body(ASK, model=_GLM, logprobs=True, top_logprobs=1),
            body(ASK, model=_GLM, logprobs=True, top_logprobs=2),
        ),
    ],
)
