"""Dated facts as a feed: what is known to hold since a day, or no longer holds. The days are those of the data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, SubElement, tostring

from . import Cell

if TYPE_CHECKING:
    from .changes import Change

__all__ = ["Entry", "atom", "entries", "json_feed", "recent"]

SITE = "https://ellmer-core.github.io/ellmer-core/facts/"


@dataclass(frozen=True)
class Entry:
    """One entry of the feed.

    Args:
        day: The day from which the fact holds, as `2026-11-21`.
        title: The fact in one sentence.
        link: The page that proves it.
        words: The API's words, or an explanation.

    Examples:
        >>> Entry("2026-11-21", "A model is shut down.", "https://example.com").id[:4]
        'urn:'
    """

    day: str
    title: str
    link: str
    words: str = ""

    @property
    def id(self) -> str:
        """An address that stays the same while the fact does."""
        return f"urn:sha256:{sha256(f'{self.day} {self.title}'.encode()).hexdigest()[:40]}"


def entries(cells: Iterable[Cell], changes: Iterable[Change] = ()) -> list[Entry]:
    """Returns the dated facts, newest first. Equal facts about several models are one entry.

    Args:
        cells: The cells.
        changes: What else is known with a date: rules, types, capabilities, versions and entries of changelogs. Models that are
            shut down and beta features are left out, because the cells have them. Default: none.

    Examples:
        >>> entries([])
        []
    """
    grouped: dict[tuple[str, str, str, str], list[str]] = {}
    for cell in cells:
        for day, what in _dated(cell):
            proof = cell.evidence[0]
            models = grouped.setdefault((day, what, proof.link, proof.words or cell.note), [])
            models += [cell.model] if cell.model not in models else []
    found = [
        Entry(day, f"{_listed(models)}: {what}.", link, words)
        for (day, what, link, words), models in grouped.items()
    ]
    found += [_of_change(each) for each in changes if not each.about.startswith(("models ", "beta "))]
    return sorted(found, key=lambda each: (each.day, each.title), reverse=True)


def _of_change(change: Change) -> Entry:
    about, _, rest = change.about.partition(" ")
    verbs = {"begins": "holds from this day", "ends": "no longer holds"}
    if change.sort == "entry":
        return Entry(
            change.day.isoformat(), f"{change.about}: {change.sentence.split(' (rules and')[0]}.", change.link
        )
    title = f"{about[0].upper()}{about[1:]} {rest} {verbs[change.sort]}: {change.sentence.split('. ')[0].rstrip('.')}."
    return Entry(change.day.isoformat(), title, change.link, change.sentence)


def _dated(cell: Cell) -> list[tuple[str, str]]:
    where = "" if cell.wire == "*" else f" over {cell.wire}"
    if cell.feature == "available":
        return [(cell.since or cell.until, f"shut down at {cell.provider}")]
    if cell.feature.startswith("beta:"):
        return [(day, f"beta feature {cell.feature[5:]} begins") for day in (cell.last_seen,) if day]
    name = cell.feature.replace("_", " ")
    begins = [
        (
            cell.since,
            f"{name} is {'refused' if cell.answer == 'no' else 'accepted'} at {cell.provider}{where}",
        )
    ]
    ends = [(cell.until, f"{name} at {cell.provider}{where} changes again")]
    return [each for each in (*begins, *ends) if each[0]]


def _listed(models: list[str]) -> str:
    few = ", ".join(models[:6])
    return few if len(models) <= 6 else f"{few} and {len(models) - 6} more models"


def recent(found: Iterable[Entry], today: date, days: int = 90) -> list[Entry]:
    """Returns the entries of the last days, and those of days to come.

    Args:
        found: The entries.
        today: The day to count from.
        days: How many days back. Default: 90.

    Examples:
        >>> recent([Entry("2026-01-01", "Old.", "")], date(2026, 11, 1))
        []
    """
    first = (today - timedelta(days=days)).isoformat()
    return [each for each in found if each.day >= first]


def atom(found: Iterable[Entry]) -> str:
    """Returns the entries as an Atom feed.

    Args:
        found: The entries, newest first.

    Examples:
        >>> atom([]).startswith("<feed")
        True
    """
    listed = list(found)
    feed = Element("feed", xmlns="http://www.w3.org/2005/Atom")
    _add(
        feed,
        title="What changed at LLM APIs",
        id=f"{SITE}feed.atom",
        updated=_time(listed[0].day if listed else ""),
    )
    SubElement(feed, "link", rel="self", href=f"{SITE}feed.atom")
    SubElement(SubElement(feed, "author"), "name").text = "ellmer-core"
    for each in listed:
        entry = SubElement(feed, "entry")
        _add(entry, title=each.title, id=each.id, updated=_time(each.day), summary=each.words or each.title)
        SubElement(entry, "link", href=each.link)
    return tostring(feed, encoding="unicode")


def _add(parent: Element, **texts: str) -> None:
    for name, text in texts.items():
        SubElement(parent, name).text = text


def _time(day: str) -> str:
    return f"{day or '2026-01-01'}T00:00:00Z"


def json_feed(found: Iterable[Entry]) -> dict[str, Any]:
    """Returns the entries in the form of jsonfeed.org, version 1.1.

    Args:
        found: The entries, newest first.

    Examples:
        >>> json_feed([])["items"]
        []
    """
    return {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "What changed at LLM APIs",
        "home_page_url": SITE,
        "feed_url": f"{SITE}feed.json",
        "items": [
            {
                "id": each.id,
                "url": each.link,
                "title": each.title,
                "content_text": each.words or each.title,
                "date_published": _time(each.day),
            }
            for each in found
        ],
    }
