"""Hugging Face: messages that are not a list are refused in plain text, and each model's provider has its own checks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ....observed.exchange import Json, Request
from ....readers.json_access import object_of
from ....readers.openai_chat import tools
from ....rule import Finding, Refusal, broken, met
from ....rulebook import NO_IMAGES, NO_TOOLS, UnsupportedFeature, add_feature_rules
from ..._openai.refusals import error_body
from .._refusals_and_examples import ASK, IMAGE, MUST, REJECT, body
from ..features import a_part
from ._elsewhere import compact, elsewhere, refuses_images

#: Recorded by others, in public.
_TESTS = (
    "https://github.com/maruel/genai/blob/66b63e62283f032dc40f348b3a9885221bad394e/providers/"
    "huggingface/testdata/TestClient/Scoreboard/"
)

_OLDER = (
    "https://github.com/maruel/genai/blob/02401d2faf4f07b48d3fe0a4a6b90bd6194e8e73/providers/"
    "huggingface/testdata/TestClient/Scoreboard/"
)
_SMALL = "meta-llama/Llama-3.2-1B-Instruct"

_CHECK = "Invalid request. Please check the parameters"  # a provider behind the router
_FEATURES = "model features {what} not support"  # another one


def _plain(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    if refusal.message.startswith(_CHECK):
        return compact({"detail": refusal.message})
    if refusal.type == "INVALID_REQUEST_BODY":
        fields = {"code": refusal.status, "reason": refusal.type, "message": refusal.message, "metadata": {}}
        return compact(fields)
    if refusal.status == 422:
        return {"content-type": "text/plain; charset=utf-8"}, refusal.message.encode(
            "utf-8", "backslashreplace"
        )
    return error_body(None)(refusal)


huggingface = elsewhere("huggingface", without=["REQ-003"], error_body=_plain)


@huggingface.rule(
    "REQ-003",
    MUST,
    REJECT,
    source="recorded refusal (Meta-Llama-3-70B-Instruct)",
    refusal=Refusal(
        "Failed to deserialize the JSON body into the target type: messages: invalid type: string {value}, expected a "
        "sequence at line 1 column 91",
        status=422,
    ),
    examples=[body(ASK)],
    counterexamples=[{"model": "meta-llama/Meta-Llama-3-70B-Instruct", "messages": "Hi"}],
)
def messages_are_a_list(request: Request) -> Iterator[Finding]:
    """`messages` is a list.

    Fix: wrap a single message in a list.
    """
    value = request.body.get("messages")
    text = isinstance(value, str)
    yield broken("/messages", "it is a string", value=json.dumps(value)) if text else met("/messages")


_QWEN, _LLAMA, _V4 = (
    "Qwen/Qwen3-4B",
    "meta-llama/Llama-3.1-8B-Instruct",
    "deepseek-ai/DeepSeek-V4-Pro-0813",
)
_BARE: Json = {"type": "json_schema", "json_schema": {"name": "sum", "type": "object"}}
_KNOWN = {"name", "schema", "strict", "description"}
_LINK = "    For further information visit https://errors.pydantic.dev/2.11/v/extra_forbidden"


def _declared(key: str) -> Json:
    function = {"name": "add", key: {"type": "object", "properties": {}}}
    return {"type": "function", "function": function}


def _argued(request: Request) -> str | None:
    """Finds a function that is declared with `arguments`, not with `parameters`."""
    places = (place for place, tool in tools(request.body) if "arguments" in object_of(tool.get("function")))
    return next((f"{place}/function/arguments" for place in places), None)


def _schema(request: Request) -> Json:
    format = object_of(request.body.get("response_format"))
    return object_of(format.get("json_schema")) if format.get("type") == "json_schema" else {}


def _bare(request: Request) -> str | None:
    """Finds a schema in the place of the object with its name."""
    return "/response_format/json_schema" if _schema(request).keys() - _KNOWN else None


def _extra(key: str, value: Any) -> str:
    details = f"[type=extra_forbidden, input_value={value!r}, input_type={type(value).__name__}]"
    return f"{key}\n  Extra inputs are not permitted {details}\n{_LINK}"


def _refused(message: str) -> Refusal:
    return Refusal(message, type="invalid_request_error", code="invalid_request_error")


add_feature_rules(
    huggingface,
    [
        refuses_images(
            "openai/gpt-oss*",
            example="openai/gpt-oss-120b",
            source="https://huggingface.co/openai/gpt-oss-120b",
        ),
        UnsupportedFeature(
            "REQ-050",
            "Images are sent only to models that accept them.",
            ("Qwen/Qwen3-4B",),
            Refusal(_CHECK + " and try again. Details: /model-storage/{model}-FP8 is not a multimodal model"),
            (
                "recorded refusal (Qwen3-4B)",
                f"{_TESTS}Qwen/Qwen3-4B_thinking/GenSyncMultiModal-Image-jpg-URL.yaml",
            ),
            a_part("image_url"),
            body(ASK, model=_QWEN),
            body({"role": "user", "content": [IMAGE]}, model=_QWEN),
            fix=NO_IMAGES,
        ),
        UnsupportedFeature(
            "REQ-051",
            "A function is declared with `parameters`. One of the providers behind Hugging Face does not support functions, and says so.",
            ("meta-llama/Llama-3.1-8B-Instruct",),
            Refusal(_FEATURES.format(what="function calling"), type="INVALID_REQUEST_BODY"),
            (
                "recorded refusals (Llama-3.1-8B-Instruct)",
                f"{_TESTS}meta-llama/Llama-3.1-8B-Instruct/GenSync-Tools-SquareRoot-1-any.yaml",
            ),
            _argued,
            body(ASK, model=_LLAMA, tools=[_declared("parameters")]),
            body(ASK, model=_LLAMA, tools=[_declared("arguments")]),
            fix="declare the function with `parameters`, or name another provider behind the model.",
        ),
        UnsupportedFeature(
            "STO-016",
            "The schema of a response format is in `schema`. One of the providers behind Hugging Face does not support schemas, and says so.",
            (
                "meta-llama/Llama-3.1-8B-Instruct",
                "meta-llama/Llama-3.3-70B-Instruct",
                "meta-llama/Llama-3.2-1B-*",
            ),
            Refusal(_FEATURES.format(what="structured outputs"), type="INVALID_REQUEST_BODY"),
            (
                "recorded refusals (Llama-3.1-8B-Instruct, Llama-3.3-70B-Instruct)",
                f"{_TESTS}meta-llama/Llama-3.1-8B-Instruct/GenSync-JSONSchema.yaml",
            ),
            _bare,
            body(ASK, model=_LLAMA, response_format={"type": "json_object"}),
            body(ASK, model=_LLAMA, response_format=_BARE),
            fix="put the schema into `json_schema.schema`, or name another provider behind the model.",
        ),
        UnsupportedFeature(
            "REQ-053",
            "Images are sent only to models that accept them. One of the providers has its own words for it.",
            ("meta-llama/Llama-3.[13]-*", "meta-llama/Llama-3.2-1B-*", "deepseek-ai/DeepSeek-V3.2"),
            Refusal(_FEATURES.format(what="vision"), type="INVALID_REQUEST_BODY"),
            (
                "recorded refusals (Llama-3.1-8B-Instruct, Llama-3.3-70B-Instruct)",
                f"{_TESTS}meta-llama/Llama-3.1-8B-Instruct/GenStreamMultiModal-Image-jpg-URL.yaml",
                f"{_TESTS}meta-llama/Llama-3.3-70B-Instruct/GenStreamMultiModal-Image-jpg-URL.yaml",
                f"{_OLDER}meta-llama/Llama-3.2-1B-Instruct/GenStreamMultiModal-Image-jpg-URL.yaml",
                f"{_OLDER}deepseek-ai/DeepSeek-V3.2/GenSyncMultiModal-Image-jpg-Inline.yaml",
            ),
            a_part("image_url"),
            body(ASK, model=_LLAMA),
            body({"role": "user", "content": [IMAGE]}, model=_LLAMA),
            fix=NO_IMAGES,
        ),
        UnsupportedFeature(
            "REQ-054",
            "Functions are sent only to models that accept them; the smallest Llama does not.",
            ("meta-llama/Llama-3.2-1B-*",),
            Refusal(_FEATURES.format(what="function calling"), type="INVALID_REQUEST_BODY"),
            (
                "recorded refusals (Llama-3.2-1B-Instruct)",
                f"{_OLDER}meta-llama/Llama-3.2-1B-Instruct/GenSync-Tools-SquareRoot-1.yaml",
            ),
            lambda request: "/tools" if request.body.get("tools") else None,
            body(ASK, model=_SMALL),
            body(ASK, model=_SMALL, tools=[_declared("parameters")]),
            fix=NO_TOOLS,
        ),
        UnsupportedFeature(
            "REQ-052",
            "A function is declared with `parameters`, not with `arguments`.",
            ("deepseek-ai/DeepSeek-V4*",),
            _refused("Extra inputs are not permitted, field: 'tools[0].function.arguments'"),
            (
                "recorded refusals (DeepSeek-V4-Pro-0813)",
                f"{_TESTS}deepseek-ai/DeepSeek-V4-Pro-0813/GenSync-Tools-SquareRoot-1-any.yaml",
            ),
            _argued,
            body(ASK, model=_V4, tools=[_declared("parameters")]),
            body(ASK, model=_V4, tools=[_declared("arguments")]),
            fix="rename the key to `parameters`.",
        ),
    ],
)


@huggingface.rule(
    "STO-011",
    MUST,
    REJECT,
    source=[
        "recorded refusal (DeepSeek-V4-Pro-0813)",
        f"{_TESTS}deepseek-ai/DeepSeek-V4-Pro-0813/GenSync-JSONSchema.yaml",
    ],
    refusal=_refused(
        "Invalid json_schema format: {count} validation errors for OpenAIJsonSchemaFormat\n{errors}"
    ),
    models=["deepseek-ai/DeepSeek-V4*"],
    examples=[body(ASK, model=_V4, response_format={"type": "json_object"})],
    counterexamples=[
        body(ASK, model=_V4, response_format={**_BARE, "json_schema": {"type": "object", "x": 1}})
    ],
)
def the_schema_is_inside(request: Request) -> Iterator[Finding]:
    """The schema of a response format is in `json_schema.schema`, not in `json_schema` itself.

    Fix: write `"json_schema": {"name": …, "schema": …}`.
    """
    extra = [_extra(key, value) for key, value in _schema(request).items() if key not in _KNOWN]
    place, facts = "/response_format/json_schema", {"count": len(extra), "errors": "\n".join(extra)}
    yield (
        broken(place, "the schema is directly in `json_schema`", **facts)
        if extra
        else met("/response_format")
    )
