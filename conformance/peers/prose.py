# ruff: noqa: INP001 - beside the script that imports it
"""Markdown helpers for the pages, and the names of rules and cells."""

from __future__ import annotations

from collections.abc import Sequence

from failures import Json

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.rule import Rule
from ellmer_conformance.contract.rules import behaviour

CAUSES = {
    "wire": "wire violation: the API refuses the request",
    "loss": "silent loss: data is lost or wrong, and no error is reported",
    "error": "error: the library raises although the conversation could continue",
    "policy": "policy: a design choice of the library, which the rule does not share",
    "caller": "caller: the library sends what the caller gives it",
    "follows": "consequence of a refused request or of an error, in all its cases",
}


def linked(rule: str, wire: str, up: str = "") -> str:
    """Returns a link to the rule's page, with its sentence as a tooltip."""
    own = rule in rules.book(wire).rules
    title = sentence(rule, wire).replace('"', "'").replace("|", "/")
    return f'[{rule}]({up}rules/{wire if own else "behaviour"}.md#{rule.lower()} "{title}")'


def sentence(rule: str, wire: str) -> str:
    """Returns the rule's sentence."""
    found: Rule = rules.book(wire).rules.get(rule) or behaviour.book.rules[rule]
    return found.sentence


def anchor(cell: Json) -> str:
    """Returns the anchor of a cell's section."""
    return f"{cell['wire']}-{cell['rule'].lower()}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def prose(text: str) -> str:
    """Returns text that Markdown does not interpret."""
    short = text if len(text) <= 400 else f"{text[:400]}…"
    return f"`{short.replace('`', chr(39)).strip()}`"


def fenced(language: str, text: str) -> str:
    """Returns a code block with any content."""
    return f"````{language}\n{text}\n````"


def folded(title: str, text: str) -> str:
    """Returns content that is folded at first."""
    lines = "\n".join(f"    {line}" if line else "" for line in text.splitlines())
    return f'??? note "{title}"\n\n{lines}'
