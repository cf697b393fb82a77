"""Which cases can show that a rule is broken, and the catalogue of an adapter's duties towards its users.

A case can show it if the rule checks something in it, or if the rule catches a broken adapter in it. `reached.json` has
the result, which `tests/support/measure_coverage.py` of the repository writes and `nox -s ways` checks.

The catalogue has 150 rules in 19 groups. A rule of the suite has the catalogue's id if it says the same. `HELD_BY` names
the rules that cover a catalogue rule without its own rule; `BEYOND` says why no case reaches a rule.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files

from ..contract.rule import Level

__all__ = ["BEYOND", "CATALOGUE", "HELD_BY", "reached", "table"]

Reached = Mapping[str, Sequence[str]]

_GROUPS = {  # group: the numbers of those that MUST hold, of those that SHOULD
    "ORD": ("001 002 003 004 005 007 008 009", "006 010 011"),
    "PAIR": ("001 002 003 004 005 006 007 008 009 011", "010 012"),
    "PAR": ("001 002 003 004 005", "006 007"),
    "TRM": ("001 002 003 004 005 007 008 009 010 011 014", "006 012 013"),
    "IMG": ("001 002 003 004 005", "006 007"),
    "SYS": ("001 002 003", "004 005"),
    "SCH": ("001 002 003 004 005 008 009", "006 007"),
    "STO": ("001 002 003 004", "005 006"),
    "STR": ("001 002 003 004 006 007 008 009 010 011 012 013 014 015 016", "005 017 018 019 020"),
    "THK": ("001 002 003 004 005 006 007", "008"),
    "USG": ("001 002 003 004", "005 006"),
    "STP": ("001 002 003 004", "005"),
    "ERR": ("001 002 004 005 006 007 008 009", "003 010 011"),
    "AUT": ("001 002 003 004 005", "006 007"),
    "UNI": ("001 002", "003"),
    "EMP": ("001 002 003 004", "005"),
    "HIS": ("001 002 003 004", "005"),
    "ASY": ("001 002 003", "004 005"),
    "TXT": ("001 002", "003 004"),
}

CATALOGUE: Mapping[str, Level] = {
    f"{group}-{number}": level
    for group, columns in _GROUPS.items()
    for level, numbers in zip(Level, columns, strict=True)
    for number in numbers.split()
}

HELD_BY: Mapping[str, Sequence[str]] = {
    "ORD-010": ("ORD-001", "ORD-002", "ORD-003", "ORD-005"),  # text before a result, in one turn
    "TRM-004": ("TRM-001", "TRM-016"),  # in the result or behind it, as the adapter declares
    "STR-016": ("TXT-001", "TXT-005", "USG-001", "STP-001"),  # one frozen transcript, streamed and not
    "THK-004": ("THK-006", "ORD-008"),
    "USG-006": ("TXT-001",),  # the transcript's header adds the tokens up
    "STP-005": ("PAR-001", "PAR-005"),  # Gemini's answers with calls stop with STOP
    "ASY-001": ("CAS-01", "CAS-02", "TXT-001"),  # async is played from what was recorded sync
    "TXT-003": ("TXT-001",),  # the frozen transcript is the same for streams
}

_NO_OPTION = "the adapter protocol has no such option, because libraries name it differently"
BEYOND: Mapping[str, str] = {
    "ORD-004": "recordings show that OpenAI's Responses API accepts other orders, so it is not a rule there",
    "PAR-007": _NO_OPTION,
    "TRM-013": "cases carry media as bytes, which can be compared; a URL is fetched by the provider, unseen",
    "SYS-004": "it is about models that the cases do not use; the models that they use accept `system`",
    "SYS-005": "an empty system prompt is what a caller gives; a combination gives one, and the rules of the formats judge it",
    "SCH-005": "not every library has a place for the root of a schema, so the tools of the cases have no `$ref`",
    "STO-005": "scripts have no refusal: only OpenAI's formats tell one from text",
    "STO-006": "the protocol requests values without a stream",
    "STR-018": "the suite sees a reply when it is complete, not when each piece arrived",
    "THK-007": "a history in neutral terms holds no reasoning of another provider",
    "AUT-007": _NO_OPTION,
}


@cache
def reached() -> Reached:
    """Returns each rule with its scenarios, the most significant first."""
    found: Reached = json.loads(files(__name__).joinpath("reached.json").read_text(encoding="utf-8"))
    return found


def table() -> Iterator[tuple[str, str, str]]:
    """Yields each rule of the catalogue: id, level, and its scenarios, or the rule that covers it, or why no scenario
    reaches it.
    """
    for id, level in CATALOGUE.items():
        if id in BEYOND:
            yield id, level, f"not reached: {BEYOND[id]}"
        elif id in HELD_BY:
            yield id, level, f"held by {', '.join(HELD_BY[id])}"
        else:
            yield id, level, _few(reached().get(id, ()))


def _few(cases: Sequence[str]) -> str:
    more = f" and {len(cases) - 4} more" if len(cases) > 5 else ""
    return ", ".join(cases[: 4 if more else 5]) + more
