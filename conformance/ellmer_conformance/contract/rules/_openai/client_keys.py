"""The rule about the ids that a client gives to users and caches. It is the same in both formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...exchange import Json, Request
from ...rule import Finding, Kind, Level
from ...rulebook import RuleBook
from .refusals import TOO_LONG, too_long

__all__ = ["enter_client_keys"]


def enter_client_keys(book: RuleBook, body: Callable[..., Json], ask: Json) -> None:
    """Adds the rule to a book; `body` and `ask` make its examples in the book's format."""
    enter = book.rule(
        "REQ-042",
        Level.MUST,
        Kind.REJECT,
        source=[
            "https://github.com/theopenco/llmgateway/pull/3110 (prompt_cache_key)",
            "https://github.com/openai/openai-openapi (safety_identifier)",
            "https://github.com/maximhq/bifrost/pull/1000 (user)",
        ],
        refusal=TOO_LONG,
        examples=[body(ask, user="u" * 64, prompt_cache_key="c" * 64)],
        counterexamples=[body(ask, user="u" * 65), body(ask, prompt_cache_key="c" * 65)],
    )
    enter(keys_of_the_client_are_short)


def keys_of_the_client_are_short(request: Request) -> Iterator[Finding]:
    """User identifiers and cache keys have at most 64 characters.

    Fix: send a hash of the value.
    """
    for key in ("user", "safety_identifier", "prompt_cache_key"):
        yield from too_long(request.body.get(key), f"/{key}", 64)
