"""Adapters that always send the smallest request that breaks a rule: one for each MUST of each wire format. The tests
of a rule check values; these adapters check that the suite catches the same violation over HTTP.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

import httpx

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.contract.rule import Level, Rule

from .base import BrokenAdapter

__all__ = ["Impostor", "impostors", "must"]


#: Further rules that the smallest bodies break.
_WITH_IT = {
    ("anthropic", "THK-012"): ("REQ-122",),  # our client asks for the version that has no `temperature`
    ("anthropic", "THK-019"): ("REQ-122",),
    ("openai-chat", "IMG-008"): ("REQ-104",),
    ("openai-responses", "REQ-106"): ("PAIR-002", "PAIR-007"),
    ("bedrock", "REQ-106"): ("SCH-014",),
}


class Impostor(BrokenAdapter):
    """Breaks one rule of one wire format, and sends nothing of the conversation."""

    case, caught_by, on = "plain_text", (), tuple(rules.WIRES)
    #: Its body is invented, so it has neither the messages nor the options.
    also: tuple[str, ...] = (  # type: ignore[misc]  # each has what its own body breaks besides
        *("ERR-002", "HIS-002", "PAIR-004", "UNI-001", "EMP-004", "IMG-004"),
        *("HIS-006", "HIS-009", "OPT-002", "SYS-010"),
        *(
            "REQ-101",
            "REQ-102",
            "REQ-103",
            "REQ-105",
            "REQ-106",
        ),  # some breaches are faults of the shape, too
    )

    def __init__(self, wire: str, rule: Rule) -> None:
        super().__init__()
        self.wire, self.rule = wire, rule
        self.name = f"breaks_{rule.id}"
        self.also = (*Impostor.also, *_WITH_IT.get((wire, rule.id), ()))

    @cached_property
    def said(self) -> Json:
        """The body that it sends."""
        return self.rule.counterexamples[0]

    def body(self, body: Json) -> Json:
        """Returns the body. It asks for a stream only if the client does: Ollama streams if nothing is said."""
        return {**{name: body[name] for name in ("stream",) if name in body}, **self.said}

    def request(self, request: httpx.Request) -> httpx.Request:
        """Returns the request to the model of the body, if the URL names the model."""
        model = str(self.said.get("model") or "").removeprefix("models/")
        if model and self.wire in {"bedrock", "gemini"}:
            url = re.sub(r"(/models?/)[^/:]+(?=[/:])", rf"\g<1>{model}", str(request.url))
            request.url = httpx.URL(url)
        return request


def impostors() -> Iterator[Impostor]:
    """Yields an adapter for every rule that must hold and has a counterexample."""
    for wire in rules.WIRES:
        for rule in rules.book(wire).rules.values():
            if must(rule) and rule.counterexamples:
                yield Impostor(wire, rule)


def must(rule: Rule) -> bool:
    """Tells whether a rule is a MUST in force today."""
    return rule.level is Level.MUST and not rule.preview and rule.until is None
