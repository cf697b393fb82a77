"""Two causes that are one mistake, which failures show from two sides."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .results import Cause, Row

#: The rules about a play that has no result.
NO_RESULT = "RUN-"


def is_part_of(part: Cause, whole: Cause) -> bool:
    """Tells whether a cause shows the mistake of another one from another side."""
    return any(shows(part, whole) for shows in _SIDES)


def _rules(part: Cause, whole: Cause) -> tuple[str, str]:
    return part.rows[0].rule, whole.rows[0].rule


def _ways(cause: Cause, *names: str) -> set[tuple[str, ...]]:
    """Returns in which formats, modes or cases of a library a cause was seen."""
    return {tuple(getattr(row, name) for name in ("adapter", *names)) for row in cause.rows}


def _say(cause: Cause, words: str) -> bool:
    return all(row.message.endswith(words) for row in cause.rows)


def _loses_all_media(part: Cause, whole: Cause) -> bool:
    """A result's media are lost or become text, those that the format can have and those that it cannot."""
    alike = _rules(part, whole) in {("TRM-010", "TRM-001"), ("TRM-010", "TRM-002")}
    return alike and _ways(part, "wire") <= _ways(whole, "wire")


def _misses_the_end(part: Cause, whole: Cause) -> bool:
    """No error is raised for a page in place of a stream, because nothing checks that the stream ended."""
    if _rules(part, whole) != ("ERR-006", "STR-007") or not _say(part, "no error was raised"):
        return False
    streamed = {row.mode for row in part.rows} == {"stream"} and _ways(part) <= _ways(whole)
    return streamed or _ways(part, "wire", "mode") <= _ways(whole, "wire", "mode")


def _hands_anything_over(part: Cause, whole: Cause) -> bool:
    """A value that was cut is handed over, and so is one that does not fit: nothing compares them with the schema."""
    alike = _rules(part, whole) == ("STO-004", "STO-003") and _ways(part, "wire") <= _ways(whole, "wire")
    return alike and _say(part, " was handed over") and _say(whole, " was handed over")


def _goes_back_misread(part: Cause, whole: Cause) -> bool:
    """What goes back in place of the model's words is what the caller got in other runs."""
    got = {(row.adapter, row.seen) for row in whole.rows}
    return _rules(part, whole) == ("HIS-006", "TXT-005") and all(
        row.seen and (row.adapter, row.seen) in got for row in part.rows
    )


_SAID = re.compile(r"""the (?:caller|model) did not say (['"])(.+?)\1""")


def _invents_the_same(part: Cause, whole: Cause) -> bool:
    """The library says one text of its own in two roles."""
    theirs, ours = (
        {
            (row.adapter, re.sub(r"\W", "", found[2]))
            for row in each.rows
            if (found := _SAID.match(row.message))
        }
        for each in (part, whole)
    )
    return _rules(part, whole) == ("HIS-011", "SYS-010") and bool(theirs) and theirs <= ours


_RAISED = re.compile(r"(?:the call|send) raised (\w+)(?:: |\(['\"])(.+)")
_CLASS = re.compile(r"\b\w+(?:Error|Exception)\b")


def _raises_the_same(part: Cause, whole: Cause) -> bool:
    """The same error is raised while requests with different objects are written."""
    theirs, ours = ({_error_of(row) for row in each.rows} for each in (part, whole))
    return None not in theirs and theirs <= ours and _ways(part, "wire") <= _ways(whole, "wire")


def _error_of(row: Row) -> tuple[str, str] | None:
    found = next(filter(None, map(_RAISED.search, row.message.splitlines())), None)
    if found is None or not row.rule.startswith(NO_RESULT):
        return None
    return found[1], _CLASS.sub("*", found[2]).rstrip("'\")")


_USAGE = re.compile(r",? ?(?<!\d)\d+ input, \d+ output")


def _loses_the_usage(part: Cause, whole: Cause) -> bool:
    """Only the tokens of an answer differ, whatever else is in the stream."""
    return _ways(part, "wire") <= _ways(whole, "wire") and all(
        row.rule.startswith("STR-") and _has_other_usage(row.message) for row in [*part.rows, *whole.rows]
    )


def _has_other_usage(message: str) -> bool:
    before, _, after = message.partition(" and are ")
    said = before.partition(" were ")[2]
    return bool(said) and said != after and _USAGE.sub("", said) == _USAGE.sub("", after)


def _is_refused_here(part: Cause, whole: Cause) -> bool:
    """What one format refuses, others accept: two rules point at one place of a request."""
    at = {row.place: row.pointer for row in part.rows if row.kind == "reject"}
    cases = {(row.adapter, row.rule, row.case) for row in whole.rows if row.kind != "reject"}
    return any(
        row.pointer == at.get(row.place) and (row.adapter, row.rule, row.case) in cases
        for row in part.follows
    )


def _sends_a_history_as_it_is(part: Cause, whole: Cause) -> bool:
    """A first request has calls only if the caller gave them: they go out as they were given."""
    rows = [*part.rows, *whole.rows]
    return _ways(part) == _ways(whole) and all(
        row.kind == "reject"
        and row.pointer.startswith("/exchanges/0/")
        and row.rule.startswith(("PAIR-", "THK-"))
        for row in rows
    )


def _rewrites_the_answer(part: Cause, whole: Cause) -> bool:
    """A message of the model goes back as a new one: without its phase, without the id that its reasoning needs, and behind the calls."""
    alike = _rules(part, whole) in {("HIS-017", "ORD-008"), ("HIS-006", "ORD-008"), ("HIS-006", "HIS-017")}
    return alike and _ways(part, "wire") == _ways(whole, "wire") and _is_written_anew(part, whole)


def _is_written_anew(part: Cause, whole: Cause) -> bool:
    told = {"HIS-006": "the answer had text, then call", "HIS-017": "the phase "}
    return all(row.message.startswith(told.get(row.rule, "")) for row in [*part.rows, *whole.rows])


def _takes_the_item_for_the_call(part: Cause, whole: Cause) -> bool:
    """The id of an item stands for that of its call: without an item the `call_id` is empty, and without its id there is no call."""
    return _rules(part, whole) == ("STR-026", "PAIR-018") and _ways(part, "wire") == _ways(whole, "wire")


def _loses_the_stop_reason(part: Cause, whole: Cause) -> bool:
    """Where no stop reason arrives, neither does the one that says that the model failed to write its call."""
    alike = _rules(part, whole) == ("STP-007", "STP-001")
    told = [row.message.startswith("the model failed to write its call") for row in part.rows]
    none = [row.message.startswith("the caller got no stop reason") for row in whole.rows]
    return alike and all(told) and all(none) and _ways(part, "wire", "mode") <= _ways(whole, "wire", "mode")


#: How two causes may be one mistake. The first is a part of the second.
_SIDES = (
    _loses_all_media,
    _misses_the_end,
    _hands_anything_over,
    _goes_back_misread,
    _invents_the_same,
    _raises_the_same,
    _loses_the_usage,
    _is_refused_here,
    _sends_a_history_as_it_is,
    _rewrites_the_answer,
    _takes_the_item_for_the_call,
    _loses_the_stop_reason,
)
