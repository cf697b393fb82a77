"""Models that refuse tools, and models that refuse images."""

from __future__ import annotations

from collections.abc import Iterator

from ....exchange import Request
from ....readers.openai_chat import messages, parts
from ....rule import Finding, Refusal, broken, met
from ..._openai.refusals import refused
from .._rulebook import ASK, IMAGE, MUST, REJECT, TOOL, body, book


@book.rule(
    "REQ-039",
    MUST,
    REJECT,
    source=[
        "recorded refusal (gpt-5-chat-latest)",
        "https://github.com/dzhng/deep-research/issues/96 (o1-mini)",
        "https://github.com/UKGovernmentBEIS/inspect_ai/pull/1290 (o1-mini, o1-preview)",
    ],
    refusal=Refusal(
        "tools is not supported in this model. For a list of supported models, refer to "
        "https://platform.openai.com/docs/guides/function-calling#models-supporting-function-calling.",
        404,
        type="invalid_request_error",
    ),
    models=["gpt-5-chat-latest", "o1-mini*", "o1-preview*"],
    examples=[body(ASK, model="gpt-5-chat-latest")],
    counterexamples=[
        body(ASK, model="gpt-5-chat-latest", tools=[TOOL]),
        body(ASK, model="o1-mini", tools=[TOOL]),
    ],
)
def some_models_have_no_tools(request: Request) -> Iterator[Finding]:
    """The chat model of GPT-5 and the first small reasoning models do not accept tools."""
    yield (
        broken("/tools", "this model does not support tools") if request.body.get("tools") else met("/model")
    )


@book.rule(
    "IMG-016",
    MUST,
    REJECT,
    source=[
        "https://github.com/browser-use/web-ui/issues/274",
        "https://github.com/nextcloud/integration_openai/issues/282",
    ],
    refusal=refused(
        "Invalid content type. image_url is only supported by certain models.",
        param="messages.[{index}].content.[{part}].type",
    ),
    models=[
        "gpt-3.5*",
        "gpt-4",
        "gpt-4-0613",
        "gpt-4-0314",
        "gpt-4-32k*",
        "o1-mini*",
        "o1-preview*",
        "o3-mini*",
    ],
    examples=[body({"role": "user", "content": [{"type": "text", "text": "Hi"}]}, model="o3-mini")],
    counterexamples=[body({"role": "user", "content": [IMAGE]}, model="o3-mini")],
)
def images_go_to_models_that_see(request: Request) -> Iterator[Finding]:
    """Images are sent only to vision models; GPT-3.5, the first GPT-4 and the small first o-models are not."""
    for index, (pointer, message) in enumerate(messages(request.body)):
        for i, (place, part) in enumerate(parts(message, pointer)):
            seen = part.get("type") == "image_url"
            yield (
                broken(place, "this model does not accept images", index=index, part=i)
                if seen
                else met(place)
            )
