"""The rules about what a client tells of itself: the ids of users and caches, and metadata. They are the same in both
formats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...exchange import Json, Request
from ...readers.json_access import object_of
from ...rule import Finding, Kind, Level, broken
from ...rulebook import RuleBook
from .refusals import TOO_LONG, WORDED, too_long

__all__ = ["enter_client_keys", "enter_metadata"]

_PAIRS, _VALUE = 16, 512  # the limits of `metadata`


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


def enter_metadata(book: RuleBook, body: Callable[..., Json], ask: Json) -> None:
    """Adds the rule to a book; `body` and `ask` make its examples in the book's format."""
    pairs = {str(number): "x" for number in range(_PAIRS + 1)}
    enter = book.rule(
        "REQ-070",
        Level.MUST,
        Kind.REJECT,
        source=[
            "https://github.com/thiswillbeyourgithub/openwebui_custom_pipes_filters/issues/3",
            "https://github.com/spiceai/docs/issues/928",
        ],
        refusal=WORDED,
        examples=[body(ask, metadata={"run": "x" * _VALUE})],
        counterexamples=[body(ask, metadata=pairs), body(ask, metadata={"run": "x" * (_VALUE + 1)})],
    )
    enter(metadata_are_short)


def metadata_are_short(request: Request) -> Iterator[Finding]:
    """`metadata` has at most 16 pairs, and a value has at most 512 characters.

    Fix: send only what you search for later.
    """
    pairs = object_of(request.body.get("metadata"))
    if len(pairs) > _PAIRS:
        text = (
            f"Invalid 'metadata': too many properties. Expected an object with at most {_PAIRS} properties, but got an "
            f"object with {len(pairs)} properties instead."
        )
        facts = {"text": text, "code": "object_above_max_properties", "path": "metadata"}
        yield broken("/metadata", f"{len(pairs)} pairs", **facts)
    for key, value in pairs.items():
        for found in too_long(value, f"/metadata/{key}", _VALUE):
            yield found if found.problem is None else _long(key, str(value), found)


def _long(key: str, value: str, found: Finding) -> Finding:
    place = f"metadata.{key}"
    text = (
        f"Invalid '{place}': string too long. Expected a string with maximum length {_VALUE}, but got a string with "
        f"length {len(value)} instead."
    )
    facts = {"text": text, "code": "string_above_max_length", "path": place}
    return broken(found.pointer, f"{len(value)} characters", **facts)
