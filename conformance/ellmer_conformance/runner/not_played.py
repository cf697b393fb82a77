"""Gives the reason why a case is not played with a provider. A case without a reason is played."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..adapters import Adapter
from ..adapters.endpoints import WHERE
from ..scenarios.case import Case, Mode

__all__ = ["nothing_left", "why_not", "why_not_in"]

_NAMED = 5  # cases by name, for each reason


def why_not(adapter: Adapter, wire: str, provider: str, case: Case, *, record: bool) -> str:
    """Returns the reason why the adapter does not play the case there, or `""`. A command declares its supported
    features.

    A case that uses another case's recording, or none, is not recorded.
    """
    if record and case.recording:
        return f"it is played from the recordings of {case.recording}"
    if record and case.on_server:
        return "it is played only against the strict server, and never recorded"
    if cannot := case.cannot(wire, provider):
        return cannot
    if not case.everywhere and (wire, provider) not in WHERE:
        return "it is played only at the provider whose own format it is"
    own = getattr(adapter, "why_not", None)
    return own(case) if own else ""


def why_not_in(mode: Mode, modes: Sequence[Mode], case: Case, wire: str) -> str:
    """Returns the reason why it is not played in a mode, if the adapter has these modes, or `""`."""
    if mode not in modes:
        return f"it is played in the modes {', '.join(modes)}"
    return "" if case.shows(wire, mode) else f"it tests nothing in the mode {mode}"


def nothing_left(reasons: Iterable[tuple[str, str]]) -> str:
    """Returns the message if nothing can be played: each reason once, with its cases."""
    cases: dict[str, dict[str, None]] = {}
    for case, reason in reasons:
        cases.setdefault(reason, {})[case] = None
    return "\n".join(["nothing is left to play:", *(_line(reason, list(at)) for reason, at in cases.items())])


def _line(reason: str, cases: Sequence[str]) -> str:
    more = len(cases) - _NAMED
    return f"- {', '.join(cases[:_NAMED])}{f' and {more} more' if more > 0 else ''}: {reason}"
