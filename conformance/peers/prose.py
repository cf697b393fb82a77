# ruff: noqa: INP001 - beside the script that imports it
"""The few words of Markdown that the pages are written in, and how they name rules and cells."""

from __future__ import annotations

from collections.abc import Sequence

from failures import Json

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.rule import Rule
from ellmer_conformance.contract.rules import behaviour

CAUSES = {
    "wire": "wire violation: the API refuses the request",
    "loss": "silent loss: nobody is told, and something is gone or wrong",
    "error": "error: the library raises where the conversation could go on",
    "policy": "policy: a choice of the library's, which one may disagree with",
    "caller": "the caller's own: the library sends what it is given",
    "follows": "follows from a refused request, or an error, in all its cases",
}


def linked(rule: str, wire: str, up: str = "") -> str:
    """Returns the rule, as a link to its page, with its sentence to be read on the way."""
    own = rule in rules.book(wire).rules
    title = sentence(rule, wire).replace('"', "'").replace("|", "/")
    return f'[{rule}]({up}rules/{wire if own else "behaviour"}.md#{rule.lower()} "{title}")'


def sentence(rule: str, wire: str) -> str:
    """What the rule says."""
    found: Rule = rules.book(wire).rules.get(rule) or behaviour.book.rules[rule]
    return found.sentence


def anchor(cell: Json) -> str:
    """Of a cell's section."""
    return f"{cell['wire']}-{cell['rule'].lower()}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def prose(text: str) -> str:
    """Text that Markdown leaves alone."""
    short = text if len(text) <= 400 else f"{text[:400]}…"
    return f"`{short.replace('`', chr(39)).strip()}`"


def fenced(language: str, text: str) -> str:
    """Returns a code block, whatever is in it."""
    return f"````{language}\n{text}\n````"


def folded(title: str, text: str) -> str:
    """What is shown on a click."""
    lines = "\n".join(f"    {line}" if line else "" for line in text.splitlines())
    return f'??? note "{title}"\n\n{lines}'
