"""InvokeModel, whose body goes to the model unchanged. No other provider of Converse has been studied."""

from __future__ import annotations

from collections.abc import Iterator

from ...observed.exchange import Request
from ...readers.bedrock import blocks, messages
from ...rule import Finding, broken, met
from ...rulebook import RuleBook
from ._refusals_and_examples import ASK, MUST, NOVA, NOVA_LITE, REJECT, body, book, refused

INVOKE = book.extend("bedrock-invoke", only=[])
_BLOCKS = {"text", "image", "video", "document", "toolUse", "toolResult", "reasoningContent", "cachePoint"}


def _asking(**block: object) -> dict[str, object]:
    return body({"role": "user", "content": [block]}, model=NOVA_LITE)


@INVOKE.rule(
    "REQ-131",
    MUST,
    REJECT,
    source=(
        "https://github.com/open-telemetry/opentelemetry-java-instrumentation/blob/3300ac68822ed4dbade73496f2fffd3a2c6e32ed/"
        "instrumentation/aws-sdk/aws-sdk-2.2/testing/src/main/resources/mappings/"
        "io.opentelemetry.instrumentation.awssdk.v2_2.abstractaws2bedrockruntimetest"
        ".testinvokemodelwithresponsestreamamazonnova.yaml"
    ),
    refusal=refused("Malformed input request: #{place}: {said}, please reformat your input and try again."),
    models=NOVA,
    examples=[body(ASK, model=NOVA_LITE)],
    counterexamples=[
        _asking(inputText="Hi"),
        _asking(inputText="Hi", toolUse=None),
    ],
)
def blocks_are_of_nova(request: Request) -> Iterator[Finding]:
    """A content block for Nova has `text`, a file, a tool call or a tool result.

    Fix: send `text`. Titan's `inputText` is the field of another family.
    """
    for pointer, message in messages(request.body):
        for place, block in blocks(message, pointer):
            strange = next((key for key in block if key not in _BLOCKS), None)
            if strange is None:
                yield met(place)
            elif "toolUse" in block:  # its schema is tried last
                said = f"extraneous key [{strange}] is not permitted"
                yield broken(place, f"a block has `{strange}`", place=place, said=said)
            elif not _BLOCKS & block.keys():
                said = "required key [toolUse] not found"
                yield broken(place, f"a block has only `{strange}`", place=place, said=said)


#: Those whose rules are known, besides the format's own provider.
PROVIDERS = (INVOKE.provider,)


def book_of(provider: str) -> RuleBook:
    """Returns the rules of a provider. Refusals by gateways are not known."""
    if provider == INVOKE.provider:
        return INVOKE
    return book if provider in {"", book.provider} else book.extend(provider, only=[])
