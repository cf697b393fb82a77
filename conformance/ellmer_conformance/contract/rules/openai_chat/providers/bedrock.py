"""Bedrock's Chat Completions, at the addresses of Mantle and of the runtime."""

from __future__ import annotations

from ....rulebook import NO_IMAGES, UnsupportedFeature, add_feature_rules
from ..._openai.refusals import refused
from .._refusals_and_examples import ASK, IMAGE, body
from ..features import a_part
from ._elsewhere import elsewhere

#: Recorded by others, in public.
_TESTS = (
    "https://github.com/llamastack/llama-stack/blob/98e38671ec9472dfd9573635d5434ed73076551d/"
    "tests/integration/responses/recordings/"
)
_OSS = "openai.gpt-oss-20b"

bedrock = elsewhere("bedrock")

add_feature_rules(
    bedrock,
    [
        UnsupportedFeature(
            "REQ-050",
            "Images are sent only to models that accept them.",
            ("openai.gpt-oss-*",),
            refused("Model does not support image modality", code="validation_error"),
            (
                "recorded refusals (gpt-oss-20b)",
                f"{_TESTS}2eafd5c6eb8e2cff3433007bf23b19e6d66547b2dcab1b1892d5bd53f8ad34b4.json",
            ),
            a_part("image_url"),
            body(ASK, model=_OSS),
            body({"role": "user", "content": [IMAGE]}, model=_OSS),
            fix=NO_IMAGES,
        ),
    ],
)
