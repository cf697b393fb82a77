"""The drift report: the results of a live run, for a terminal and for an issue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...contract.live_key_redaction import redacted
from .play import Checked

__all__ = ["drifted", "markdown"]


def drifted(checked: Sequence[Checked]) -> bool:
    """Tells whether the strict server differs from the live API."""
    return any(any(each.differences) for each in checked)


def markdown(checked: Sequence[Checked]) -> str:
    """Returns the report: a line of counts, then each difference once, with its cases."""
    found = _by_sentence(checked)
    requests = sum(len(each.differences) for each in checked)
    lines = [
        "# Drift report",
        "",
        f"{len(checked)} cases were played live, with {requests} requests; the strict server disagrees in {len(found)} points.",
    ]
    for place, sentences in _grouped(found):
        lines += ["", f"## {place}", ""]
        lines += [f"- {sentence} ({', '.join(cases)})" for sentence, cases in sentences]
    broken = [line for each in checked for line in _broken(each)]
    lines += ["", "## Rules that were not kept", "", *broken] if broken else []
    return redacted("\n".join(lines)) + "\n"


def _by_sentence(checked: Sequence[Checked]) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for each in checked:
        for number, some in enumerate(each.differences):
            for difference in some:
                key = (f"{each.play.wire} at {each.play.provider}", difference.sentence)
                found.setdefault(key, []).append(f"{each.play.case.name}[{each.play.mode}] request {number}")
    return found


def _grouped(found: dict[tuple[str, str], list[str]]) -> Iterator[tuple[str, list[tuple[str, list[str]]]]]:
    for place in dict.fromkeys(place for place, _ in found):
        yield place, [(sentence, cases[:3]) for (at, sentence), cases in found.items() if at == place]


def _broken(each: Checked) -> Iterator[str]:
    name = f"{each.play.id}"
    if each.run.trouble:
        yield f"- {name}: {each.run.trouble.text.splitlines()[0]}"
    elif each.broken:
        yield from (f"- {name}: {v.rule.id}: {v.violations[0].message.splitlines()[0]}" for v in each.broken)
