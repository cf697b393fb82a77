"""Who else speaks Anthropic Messages: clouds that hand requests over to Anthropic, and gateways to other models."""

from __future__ import annotations

from ...rulebook import RuleBook
from ._book import book

#: The same service behind another cloud's door: https://github.com/Kilo-Org/kilocode/issues/5163 shows its sentences.
CLOUDS = ("vertex", "azure-foundry")
#: What does not depend on the cloud: the conversation, its media, the tools. Parameters and betas may.
EVERYWHERE = ("EMP", "IMG", "ORD", "PAIR", "SCH")


def dialect(vendor: str) -> RuleBook:
    """The rules at a vendor; of the gateways to other models nothing is known to be refused."""
    if vendor in {"", book.vendor}:
        return book
    known = [id for id, rule in book.rules.items() if rule.refuses and rule.group in EVERYWHERE]
    return book.extend(vendor, only=known if vendor in CLOUDS else [])
