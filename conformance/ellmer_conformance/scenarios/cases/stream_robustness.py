"""Transport of an answer: the same recorded answer arrives in other ways. The result is the same, or an error.

They have no cassettes of their own: the cassettes of other cases are run under `variations/`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..case import MODES, Case, Mode, case
from ..variations import of_rules
from .errors import rate_limited
from .text import counted_in_parts, unicode_throughout
from .tools import text_then_tool, thinking_with_tools, tool_without_arguments, two_parallel_tools


def _again(
    build: Callable[[], Case], variations: Sequence[str], modes: Sequence[Mode] = ("sync", "stream")
) -> Case:
    """Returns the case with variations, from its own cassettes. Two of them show how async code reads."""
    return replace(build(), everywhere=False, recording=build.__name__, variations=variations, modes=modes)


@case
def chunks_anywhere() -> Case:
    """A stream is split into chunks anywhere: byte by byte, at random, in two. The answer is the same."""
    return _again(text_then_tool, of_rules("STR-001"), MODES)


@case
def characters_in_pieces() -> Case:
    """Every character of more than one byte arrives in several chunks."""
    variations = of_rules("STR-002")
    return _again(unicode_throughout, variations)


@case
def lines_of_any_kind() -> Case:
    """The stream uses everything that the event stream format allows: CRLF, CR, comments, keep-alives, ids, a BOM,
    a line of a megabyte.
    """
    variations = of_rules("STR-003", "STR-004", "STR-005", "STR-029")
    return _again(unicode_throughout, variations)


@case
def news() -> Case:
    """The answer has unknown events and fields, text in parts, calls without ids of items or with another stop reason, its stop reason
    beside its last piece, and data after its end.
    """
    variations = of_rules("STR-006", "STR-019", "STR-023", "STR-025", "STR-026", "STP-008", "USG-008")
    return _again(text_then_tool, variations)


@case
def crosswise_calls() -> Case:
    """The arguments of two parallel calls arrive interleaved, under one index, or before their names. Text has empty lists of calls."""
    variations = of_rules("STR-012", "STR-013", "STR-015", "STR-020", "STR-030")
    return _again(two_parallel_tools, variations)


@case
def no_arguments() -> Case:
    """A call has no arguments, in each form that providers use."""
    variations = of_rules("STR-014")
    return _again(tool_without_arguments, variations)


@case
def reasons_and_counts() -> Case:
    """The answer has new stop reasons or a filter's, and token counts, also of cached input, in other places or none."""
    variations = of_rules("STP-002", "STP-003", "USG-002", "USG-005", "USG-007")
    return _again(counted_in_parts, variations)


@case
def broken_anywhere() -> Case:
    """The stream ends after each of its events, the connection is reset, or no more data arrives."""
    variations = ("cut:*", "reset:2", "reset:4", "stall:2")
    return _again(text_then_tool, variations, MODES)


@case
def not_an_answer() -> Case:
    """Each of these raises an error, and none crashes the client: a gateway's error page, an empty body, an error
    with status 200, an answer that failed, a redirect.
    """
    variations = of_rules("ERR-006", "ERR-007", "AUT-004")
    return _again(unicode_throughout, variations)


@case
def late_thoughts() -> Case:
    """The model's reasoning is complete only after the call that follows it has begun: both go back."""
    return _again(thinking_with_tools, of_rules("STR-027"))


@case
def silent_pieces() -> Case:
    """Pieces without text stand between the thoughts, calls and texts of a stream: they change nothing."""
    return _again(thinking_with_tools, of_rules("STR-028"), ("stream",))


@case
def rate_limited_until() -> Case:
    """There are too many requests, and the provider says as a date when to come back."""
    return _again(rate_limited, of_rules("ERR-001"), ("sync",))


@case
def redacted_thoughts() -> Case:
    """The thinking of the model is redacted: it is a block of opaque data, which is sent back unchanged."""
    case = _again(thinking_with_tools, of_rules("THK-002"))
    return replace(
        case, inexpressible={"bedrock": "its models think if they are asked: redacted_reasoning shows it"}
    )
