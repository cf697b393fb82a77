"""IBM's watsonx.ai: images are inline, and text models accept none."""

from __future__ import annotations

from collections.abc import Iterator

from ....observed.exchange import Request
from ....readers.json_access import object_of
from ....readers.openai_chat import all_parts
from ....rule import Finding, broken, met
from ....rulebook import NO_IMAGES, UnsupportedFeature, add_feature_rules
from ..._openai.refusals import refused
from .._refusals_and_examples import ASK, IMAGE, MUST, REJECT, body
from ..features import a_part
from ._elsewhere import elsewhere

#: Recorded by others, in public.
_TESTS = (
    "https://github.com/llamastack/llama-stack/blob/f4e45ec49831bfba60ca51cd08aa508f0a5e6e73/"
    "tests/integration/responses/recordings/"
)
_LLAMA = "meta-llama/llama-3-3-70b-instruct"

watsonx = elsewhere("watsonx")


@watsonx.rule(
    "IMG-039",
    MUST,
    REJECT,
    source=f"{_TESTS}0de6c772eaf770059ac5c5cf610573a5869e6226fcb7f34506892e3c8820919a.json",
    refusal=refused(
        "Json document validation error: The value 'messages[].content.image_url.url' is not valid for the '{url}' field. "
        "Reason: Url must be a base64 encoded image and cannot start with 'http'",
        code="json_validation_error",
    ),
    examples=[body({"role": "user", "content": [IMAGE]})],
    counterexamples=[
        body(
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}],
            }
        )
    ],
)
def images_are_inline(request: Request) -> Iterator[Finding]:
    """An image is sent inline, not as a URL.

    Fix: download the image, and send a `data:` URL.
    """
    for pointer, part in all_parts(request.body):
        if part.get("type") == "image_url":
            url, place = object_of(part.get("image_url")).get("url"), f"{pointer}/image_url/url"
            linked = isinstance(url, str) and url.startswith("http")
            yield broken(place, "the image is a URL", url=url) if linked else met(place)


add_feature_rules(
    watsonx,
    [
        UnsupportedFeature(
            "REQ-050",
            "Images are sent only to models that accept them.",
            (_LLAMA, "*ibm/granite-3-8b-instruct"),
            refused(
                "Model '{model}' does not support function 'function_image_chat'",
                code="model_no_support_for_function",
            ),
            (
                "recorded refusals (llama-3-3-70b-instruct, granite-3-8b-instruct)",
                f"{_TESTS}bac3fea3ae860bd131b267200a800c1a2e165736064480c43cd10d17af97ddb3.json",
            ),
            a_part("image_url"),
            body(ASK, model=_LLAMA),
            body({"role": "user", "content": [IMAGE]}, model=_LLAMA),
            fix=NO_IMAGES,
        ),
    ],
)
