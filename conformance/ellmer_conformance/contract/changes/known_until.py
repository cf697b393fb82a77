"""The day as of which the rules describe the providers, and violations that may be about something newer.

A rule book compares with lists of names that providers extend: fields, types of content and tools, beta features, models. What came
out after the book was read is unknown to it, and not wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from ..observed.exchange import Request
from ..rule import Kind, Violation

__all__ = ["KNOWN_UNTIL", "NOTE", "may_be_newer"]

#: The day on which the providers' pages were last read.
KNOWN_UNTIL = date(2026, 11, 29)
NOTE = f"not known to this rule book of {KNOWN_UNTIL}"
_DATED = re.compile(r"(?<!\d)(20\d\d)-?([01]\d)-?([0-3]\d)(?!\d)")
_NAME_FIRST = re.compile(r"[`'\"][\w.:-]+[`'\"]")  # a message about a name begins with it


def may_be_newer(request: Request, violation: Violation, *, accepted: bool) -> bool:
    """Tells whether a violation may be about something that came out after the rules were written.

    The API accepted the request on a later day, or the name that the book does not know has a later date in it. Only a
    rule about refusals can be out of date in this way: that data are lost is not disproved by an accepted request.

    Args:
        request: The request.
        violation: A broken rule in it.
        accepted: Whether the API accepted the request, according to the recording.

    Returns:
        Whether the rule book cannot know it.

    Examples:
        >>> from .rulebook import RuleBook
        >>> from .rules import book
        >>> body = {"model": "claude-opus-4-8", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}], "swarm": 3}
        >>> asked = Request("anthropic", "anthropic", body, model="claude-opus-4-8", when=date(2027, 3, 1))
        >>> found = [each for verdict in book("anthropic").judge(asked) for each in verdict.violations]
        >>> {may_be_newer(asked, each, accepted=True) for each in found}
        {True}
        >>> {may_be_newer(asked, each, accepted=False) for each in found}
        {False}
    """
    if violation.rule.kind is not Kind.REJECT:
        return False
    later = accepted and request.when is not None and request.when > KNOWN_UNTIL
    return later or any(day > KNOWN_UNTIL for day in _named_days(request, violation))


def _named_days(request: Request, violation: Violation) -> Iterator[date]:
    """Yields the dates in the name that a violation is about, and in the name of the model if the rule is about models."""
    name = _NAME_FIRST.match(violation.message)
    for text in (name[0] if name else "", request.model if violation.rule.models else ""):
        for found in _DATED.finditer(text):
            try:
                yield date(*map(int, found.groups()))
            except ValueError:  # digits that are no date
                continue
