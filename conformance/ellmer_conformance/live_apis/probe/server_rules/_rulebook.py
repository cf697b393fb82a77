"""The book of the server rules, and what they share."""

from __future__ import annotations

from ....contract.rule import Finding, Kind, Level, broken, met
from ....contract.rulebook import RuleBook

__all__ = ["HERE", "LOSS", "MUST", "REFERENCE", "SHOULD", "book", "found"]

book = RuleBook("*", "server")
MUST, SHOULD, LOSS = Level.MUST, Level.SHOULD, Kind.LOSS

HERE = "/exchanges/0/response"
#: The references of the APIs, one for each wire format.
REFERENCE = (
    "https://developers.openai.com/api/reference/resources/chat",
    "https://developers.openai.com/api/reference/resources/responses",
    "https://platform.claude.com/docs/en/api/messages",
    "https://ai.google.dev/api/generate-content",
    "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html",
    "https://docs.ollama.com/api/chat",
    "https://docs.mistral.ai/api/endpoint/chat",
    "https://docs.cohere.com/reference/chat",
)


def found(fine: object, place: str, problem: str) -> Finding:
    """Returns a finding at `place`; `problem` describes the error unless `fine`."""
    return met(place) if fine else broken(place, problem)
