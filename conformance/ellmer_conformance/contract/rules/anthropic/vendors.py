"""Who else speaks Anthropic Messages: clouds that hand requests over to Anthropic, and gateways to other models."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ...rule import Refusal
from ...rulebook import RuleBook
from ._book import book

#: The same service behind another cloud's door: https://github.com/Kilo-Org/kilocode/issues/5163 shows its sentences.
CLOUDS = ("vertex", "azure-foundry", "bedrock")
#: What does not depend on the cloud: the conversation, its media, the tools. Parameters and betas may.
EVERYWHERE = ("EMP", "IMG", "ORD", "PAIR", "SCH")
#: Recorded at InvokeModel: temperature and `top_p` together (claude-haiku-4-5).
INVOKED = ("REQ-015",)


def _message(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """Bedrock's InvokeModel has Anthropic's sentence, and the type in a header."""
    body = json.dumps({"message": refusal.message}, separators=(",", ":"), ensure_ascii=False)
    service = "http://internal.amazon.com/coral/com.amazon.bedrock/"
    return {
        "content-type": "application/json",
        "x-amzn-errortype": f"ValidationException:{service}",
    }, body.encode()


def dialect(vendor: str) -> RuleBook:
    """The rules at a vendor; of the gateways to other models nothing is known to be refused."""
    if vendor in {"", book.vendor}:
        return book
    known = [id for id, rule in book.rules.items() if rule.refuses and rule.group in EVERYWHERE]
    if vendor == "bedrock":
        return book.extend(vendor, only=[*known, *INVOKED], envelope=_message)
    return book.extend(vendor, only=known if vendor in CLOUDS else [])
