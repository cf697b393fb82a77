"""The way of an answer: recorded answers that travel otherwise, and must come to the same, or be missed.

No cassette is recorded for them: those of other cases are played under `variations/`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..case import MODES, Case, Mode, case
from ..variations import of_rules
from .text import unicode_throughout
from .thinking import thinking_with_tools
from .tools import text_then_tool, tool_without_arguments, two_parallel_tools


def _again(
    build: Callable[[], Case], variations: Sequence[str], modes: Sequence[Mode] = ("sync", "stream")
) -> Case:
    """The case once more, from its own cassettes, under variations. How async code reads is seen in two of them."""
    return replace(build(), everywhere=False, recording=build.__name__, variations=variations, modes=modes)


@case
def chunks_anywhere() -> Case:
    """The network cuts a stream where it likes: byte by byte, at random, in two. The answer is the same."""
    return _again(text_then_tool, of_rules("STR-001"), MODES)


@case
def characters_in_pieces() -> Case:
    """Every character that is more than one byte long comes in several chunks."""
    variations = of_rules("STR-002")
    return _again(unicode_throughout, variations)


@case
def lines_of_any_kind() -> Case:
    """CRLF, CR, comments, keep-alives, ids, a BOM: all that the event stream's format allows."""
    variations = of_rules("STR-003", "STR-004", "STR-005")
    return _again(unicode_throughout, variations)


@case
def news() -> Case:
    """Events and fields that nobody knows yet, and something after the end."""
    variations = of_rules("STR-006", "STR-019")
    return _again(text_then_tool, variations)


@case
def crosswise_calls() -> Case:
    """Two parallel calls whose arguments arrive in turns, under one index, or before their names."""
    variations = of_rules("STR-012", "STR-013", "STR-015", "STR-020")
    return _again(two_parallel_tools, variations)


@case
def no_arguments() -> Case:
    """A call without arguments, in every spelling of nothing."""
    variations = of_rules("STR-014")
    return _again(tool_without_arguments, variations)


@case
def reasons_and_counts() -> Case:
    """Stop reasons that are new, token counts that are elsewhere or missing."""
    variations = of_rules("STP-002", "STP-003", "USG-002", "USG-005")
    return _again(unicode_throughout, variations)


@case
def broken_anywhere() -> Case:
    """The stream ends after each of its events; the connection is reset; nothing comes any more."""
    variations = ("cut:*", "reset:2", "reset:4", "stall:2")
    return _again(text_then_tool, variations, MODES)


@case
def not_an_answer() -> Case:
    """A gateway's page, an empty body, an error under status 200, a redirect: each is an error, and none a crash."""
    variations = of_rules("ERR-006", "ERR-007", "AUT-004")
    return _again(unicode_throughout, variations)


@case
def redacted_thoughts() -> Case:
    """What the model thought is not for reading: a block of opaque data, that goes back as it came."""
    return _again(thinking_with_tools, of_rules("THK-002"))
