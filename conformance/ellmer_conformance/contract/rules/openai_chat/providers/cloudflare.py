"""Cloudflare Workers AI: each model has its own schema, and the schema of some text models has no lists of parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ....observed.exchange import Request
from ....readers.json_access import object_of
from ....readers.openai_chat import messages
from ....rule import Finding, Refusal, broken, met
from ....rulebook import UnsupportedFeature, add_feature_rules
from .._refusals_and_examples import ASK, IMAGE, MUST, REJECT, body
from ._elsewhere import compact, elsewhere, refuses_images


def _listed(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    error = {"message": refusal.message, "code": refusal.code}
    return compact({"errors": [error], "success": False, "result": {}, "messages": []})


cloudflare = elsewhere("cloudflare", error_body=_listed)

_LLAMA = "@cf/meta/llama-3.2-1b-instruct"
#: Recorded by others, in public.
_TESTS = (
    "https://github.com/maruel/genai/blob/66b63e62283f032dc40f348b3a9885221bad394e/providers/"
    "cloudflare/testdata/TestClient/Scoreboard/"
)
_TEXT = "@cf/qwen/qwen2.5-coder-32b-instruct"


@cloudflare.rule(
    "REQ-058",
    MUST,
    REJECT,
    source=[
        "https://github.com/diegosouzapw/OmniRoute/pull/12002 (qwen2.5-coder-32b-instruct)",
        "https://github.com/decolua/9router/issues/4180 (deepseek-r1-distill-qwen-32b)",
        "https://github.com/anomalyco/opencode/issues/30381",
    ],
    refusal=Refusal(
        "AiError: Bad input: Error: oneOf at '/' not met, 0 matches: required properties at '/' are 'prompt', {places} "
        "(e06dfc06-ba30-4e1e-ae04-357dd74f48cd)",
        code=5006,
    ),
    models=["*/qwen2.5-coder*", "*/deepseek-r1-distill*"],
    examples=[body(ASK, model=_TEXT)],
    counterexamples=[body({"role": "user", "content": [{"type": "text", "text": "Hi"}, IMAGE]}, model=_TEXT)],
)
def content_of_text_models_is_a_string(request: Request) -> Iterator[Finding]:
    """The content of a message to a text model is a string, not a list of texts and images.

    Fix: join the texts of a message to one string.
    """
    found = [
        f"{pointer}/content"
        for pointer, message in messages(request.body)
        if isinstance(message.get("content"), list)
    ]
    places = ", ".join(f"Type mismatch of '{place}', 'array' not in 'string'" for place in found)
    yield broken(found[0], "the content is a list", places=places) if found else met("/messages")


def _streamed_schema(request: Request) -> str | None:
    """Finds a schema for the answer in a stream."""
    kind = object_of(request.body.get("response_format")).get("type")
    streamed = request.body.get("stream") is True and kind == "json_schema"
    return "/response_format" if streamed else None


add_feature_rules(
    cloudflare,
    [
        refuses_images(
            "@cf/meta/llama-3.3*",
            "@cf/openai/gpt-oss*",
            example="@cf/meta/llama-3.3-70b-instruct-fp8-fast",
            source="https://developers.cloudflare.com/workers-ai/models/",
        ),
        UnsupportedFeature(
            "STO-016",
            "An answer with a schema is not streamed.",
            ("@cf/meta/llama-3*", "@cf/deepseek-ai/*"),
            Refusal(
                "AiError: Ai: JSON Schema mode is not supported with stream mode. (e06dfc06-ba30-4e1e-ae04-357dd74f48cd)",
                403,
                code=5023,
            ),
            (
                "recorded refusals (llama-3.2-1b-instruct, llama-3.3-70b-instruct-fp8-fast)",
                f"{_TESTS}@cf/meta/llama-3.2-1b-instruct/GenStream-JSONSchema.yaml",
            ),
            _streamed_schema,
            body(ASK, model=_LLAMA, response_format={"type": "json_object"}),
            body(ASK, model=_LLAMA, response_format={"type": "json_schema"}, stream=True),
            fix="leave `stream` out of requests with a schema.",
        ),
    ],
)
