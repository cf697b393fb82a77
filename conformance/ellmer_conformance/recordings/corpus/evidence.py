"""The evidence of a reject rule: recordings of the corpus, and links to pages that state it.

Links that a rule names as its source are evidence, if they lead to more than a description of requests. Further evidence is data in `evidence.toml` beside the rules of a
wire format: links and recordings, by provider and rule. A provider without its own evidence that refuses like the
format's author uses the author's evidence.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from ...contract import rules
from ...contract.rule import Rule
from ...contract.rulebook import RuleBook
from . import pins

LINK = re.compile(r"https://[^\s()<>\"]+[^\s()<>\".,;:]")
#: A repository of types, or a service model: a description of requests, and no evidence of a refusal.
_DESCRIPTION = re.compile(r"https://github\.com/[^/]+/[^/]+(/blob/.*/service-2\.json)?")


@dataclass(frozen=True)
class Citation:
    """A recording of the corpus: the name of its pin, the member, and the interaction's JSON pointer there."""

    pin: str
    member: str
    place: str


Evidence = str | Citation


def evidence_of(book: RuleBook, rule: Rule) -> list[Evidence]:
    """Returns the evidence of a refusal: links and recordings, but no link to a repository of schemas. A provider's book
    that keeps the author's refusal has the author's evidence, too.
    """
    told = [link for source in rule.source for link in LINK.findall(source)]
    found: list[Evidence] = [link for link in told if not _DESCRIPTION.fullmatch(link)]
    found += _data(book.wire).get(book.provider, {}).get(rule.id, [])
    author = rules.book(book.wire) if book.wire in rules.WIRES else book
    its = author.rules.get(rule.id)
    if not found and its and author.provider != book.provider and its.refusal == rule.refusal:
        return evidence_of(author, its)
    return list(dict.fromkeys(found))


def addresses(book: RuleBook, rule: Rule) -> list[str]:
    """Returns the pages that show what the rule rests on; of a recording, a page of its archive's member."""
    told = [link for source in rule.source for link in LINK.findall(source)]
    shown = [
        each if isinstance(each, str) else _pins()[each.pin].link(each.member)
        for each in evidence_of(book, rule)
    ]
    return list(dict.fromkeys([*told, *shown]))


def citations() -> Iterator[tuple[str, str, str, Citation]]:
    """Yields every cited recording, by a wire format's provider and rule."""
    for wire in rules.WIRES:
        for provider, by_rule in _data(wire).items():
            for rule, entries in by_rule.items():
                yield from ((wire, provider, rule, each) for each in entries if isinstance(each, Citation))


@cache
def _pins() -> dict[str, pins.Pin]:
    return {pin.name: pin for pin in pins.load(pins.shipped())}


@cache
def _data(wire: str) -> dict[str, dict[str, list[Evidence]]]:
    file = files(rules) / wire.replace("-", "_") / "evidence.toml"
    if not file.is_file():
        return {}
    text = tomllib.loads(file.read_text("utf-8"))
    return {
        provider: {id: [*map(_entry, entries)] for id, entries in told.items()}
        for provider, told in text.items()
    }


def _entry(entry: Any) -> Evidence:
    return entry if isinstance(entry, str) else Citation(**entry)
