"""Other providers of Anthropic Messages: clouds that pass requests on to Anthropic, and gateways to other models."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ...observed.exchange import Request
from ...readers.json_access import object_of
from ...rule import Refusal
from ...rulebook import RuleBook, UnsupportedFeature, add_feature_rules
from ._refusals_and_examples import IMAGE, body, book, user
from ._turns import all_blocks

#: The same service at another cloud: https://github.com/Kilo-Org/kilocode/issues/5163 shows its sentences.
CLOUDS = ("vertex", "azure-foundry", "bedrock")
#: Rules that do not depend on the cloud: the conversation, its media, the tools. Parameters and betas may depend on it.
EVERYWHERE = ("EMP", "IMG", "ORD", "PAIR", "SCH")
#: The version's own rules hold wherever the version is: https://platform.claude.com/docs/en/api/versioning
VERSIONED = ("REQ-120", "REQ-122", "REQ-123", "REQ-124")
#: Recorded at InvokeModel: temperature and `top_p` together (claude-haiku-4-5), a field of a beta without the beta.
INVOKED = ("REQ-015", "REQ-083")


def _message(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """Returns the error of Bedrock's InvokeModel: Anthropic's sentence, with the type in a header."""
    body = json.dumps({"message": refusal.message}, separators=(",", ":"), ensure_ascii=False)
    service = "http://internal.amazon.com/coral/com.amazon.bedrock/"
    return {
        "content-type": "application/json",
        "x-amzn-errortype": f"ValidationException:{service}",
    }, body.encode("utf-8", "backslashreplace")


def _known() -> list[str]:
    return [id for id, rule in book.rules.items() if rule.refuses and rule.group in EVERYWHERE]


def _linked(request: Request) -> str | None:
    """Returns an image or a document behind a URL."""
    places = (
        f"{pointer}/source"
        for pointer, _, block in all_blocks(request.body)
        if block.get("type") in {"image", "document"} and object_of(block.get("source")).get("type") == "url"
    )
    return next(places, None)


#: The error of InvokeModel's own check of the body, before Anthropic gets it.
MALFORMED = (
    'Malformed input request: #: subject must not be valid against schema {{"required":["messages"]}}'
    "#/messages/{index}/content: expected type: String, found: JSONObject"
    "#/messages/{index}/content: expected type: JSONArray, found: JSONObject, "
    "please reformat your input and try again."
)
_RUBY = (
    "https://github.com/crmne/ruby_llm/commits/5b3b940e41ad195a10f3ad3021d702b77d5eb77c/spec/fixtures/vcr_cassettes/"
    "chat_real_error_scenarios_bedrock_anthropic_claude-3-5-haiku-20241022-v1_0_handles_invalid_message_format_errors.yml"
)
_LINGUA = (
    "https://github.com/braintrustdata/lingua/blob/75f55048ff58a75d000e79bf42b5367bda2ea202/payloads/snapshots/"
    "bedrockAnthropicContextManagementParam/bedrock-anthropic/error.json"
)
INVOKE = book.extend(
    "bedrock",
    only=[*_known(), *VERSIONED, *INVOKED, "REQ-007"],
    error_body=_message,
    REQ_120={
        "refusal": Refusal("Invalid API version: {version}"),
        "source": ("https://github.com/boto/boto3/issues/4218",),
    },
    REQ_083={"source": (_LINGUA,)},
    REQ_007={"refusal": Refusal(MALFORMED), "formerly": (), "source": (_RUBY,)},
)
_LINK = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}

add_feature_rules(
    INVOKE,
    [
        UnsupportedFeature(
            "IMG-018",
            "A request to InvokeModel has media as base64, because InvokeModel does not fetch URLs.",
            (),
            Refusal("messages.0.content.0.image.source.base64.data: URL sources are not supported"),
            (
                "recorded refusal (claude-sonnet-4-5)",
                "https://github.com/posit-dev/chatlas/blob/main/tests/_vcr/test_provider_bedrock/test_anthropic_images.yaml",
            ),
            _linked,
            body(user(IMAGE)),
            body(user(_LINK)),
            fix="fetch the URL, and send the bytes as base64.",
        )
    ],
)


#: Those whose rules are known, besides the format's own provider.
PROVIDERS = CLOUDS


def book_of(provider: str) -> RuleBook:
    """Returns the rules of a provider. Refusals by gateways to other models are not known."""
    if provider in {"", book.provider}:
        return book
    if provider == "bedrock":
        return INVOKE
    return book.extend(provider, only=[*_known(), *VERSIONED] if provider in CLOUDS else [])
