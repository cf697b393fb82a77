"""Which of the offered tools fit a question, and which part of it is for each."""

# ruff: noqa: SIM905 - the words are easier to read in lines
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ellmer_core.base.budget import remembered

from .arithmetic import expression_in
from .meanings import EMPTY, STARTERS, VERBS, content_words, stem
from .money import currencies_in
from .request_options import Tool
from .user_words import UserWords

_CLAUSE_END = re.compile(
    r"[.?!;。？！；]\s*(?=\S)|(?:,|(?<!\s))\s+(?:and then|then|and|und|et|y)\s+|,\s+(?=[a-z])"
)
_UNIT_WORD = re.compile(
    r"\b(?:(?:kilo|centi|milli)?(?:met(?:er|re)|gram|lit(?:er|re))s?|kg|km|miles?|feet|foot|inch(?:es)?|yards?|pounds?|ounces?|lbs?|celsius"
    r"|fahrenheit|kelvin|gallons?|cups?|pints?|acres?|hectares?|meilen|kilometern?|pouces|pulgadas)\b",
    re.IGNORECASE,
)
_VALUES = re.compile(r"\d|[./]\w")  # what a number, a file and a URL have
_SIGNS = {"+": "sum", "*": "multiply", "-": "subtract", "/": "divide", "^": "power", "sqrt": "sqrt"}
_READS = re.compile(
    r"\b(?:open|show|view|display|cat|print|what(?:'s| is| does)|contents? of|tell me|lies|affiche|lee)\b",
    re.IGNORECASE,
)
_PAYS = re.compile(r"\b(?:pay|send|transfer|give|wire|owe|zahle|überweise|paie|paga)\b", re.IGNORECASE)
_LOOKS_UP = re.compile(
    r"\W*(?:who|when|where|which|what)\b(?!.{0,12}\b(?:you|your|i|my|it|that|this)\b)", re.IGNORECASE
)
_ASKS = re.compile(r"\W*(?:where|what|which|who|when|how|is|are|show|tell)\b", re.IGNORECASE)
_MOST_OPTIONS = 1000  # options of an argument whose words are compared
_READS_NAME = re.compile(r"(?:get|find|look|search|list|check|show|read|query|fetch)", re.IGNORECASE)
_SOURCES = frozenset(
    "web internet online document doc knowledge base news page bing brave tavily duckduckgo fact engine".split()
)
_SEARCHES = frozenset({"search", "browse", "retrieve", "wikipedia"})


def fitting(tools: Sequence[Tool], question: str) -> list[Tool]:
    """Returns the tools that fit a question: first the best one, then each one for words that the others do not fit.

    Args:
        tools: The offered tools.
        question: The user's last text.
    """
    asked = asked_words(question)
    scores = [(score, tool) for tool in tools if (score := _score(tool, asked, question))]
    if not scores:
        return _by_option(tools, question) or _for_facts(tools, question)
    ranked = [tool for _, tool in sorted(scores, key=lambda each: -each[0])]
    found = ranked[:1]
    clauses = [(clause, asked_words(clause)) for clause, _ in _clauses(question)] if len(ranked) > 1 else []
    for tool in ranked[1:]:
        if any(_leads(tool, found, words, clause) for clause, words in clauses):
            found.append(tool)
    return [tool for tool in tools if tool in found]


def _leads(tool: Tool, others: Sequence[Tool], words: frozenset[str], clause: str) -> bool:
    """Tells whether a tool fits a clause better than the other ones do."""
    score = _score(tool, words, clause)
    return score > 0 and all(score > _score(other, words, clause) for other in others)


def about(tool: Tool, tools: Sequence[Tool], question: str) -> str:
    """Returns the clauses of a question that a tool fits, if another tool fits others and these name something.

    Args:
        tool: One of the tools.
        tools: The tools that are called.
        question: The user's last text.
    """
    if len(tools) < 2:
        return question
    told: list[str] = []
    last = False
    for clause, end in _clauses(question):
        scores = {each.name: _score(each, asked_words(clause), clause) for each in tools}
        last = scores[tool.name] == max(scores.values()) if any(scores.values()) else last
        told += [clause, end] if last else []
    words = UserWords("".join(told))
    if not words.names and re.search(r"\b(?:there|dort|là-bas|allí)\b", "".join(told)):
        whole = UserWords(question)
        return " ".join(
            [
                "".join(told),
                *(f"in {name}" for name in whole.names[-1:]),
                *(whole.dates[-1:] if not words.dates else ()),
            ]
        )
    return (
        "".join(told)
        if words.names or words.numbers or words.quotes or words.files or words.urls
        else question
    )


def _clauses(question: str) -> list[tuple[str, str]]:
    ends = [*_CLAUSE_END.finditer(question)]
    starts = [0, *(end.end() for end in ends)]
    stops = [*(end.start() for end in ends), len(question)]
    return [
        (question[start:stop], end[0] if end else "")
        for start, stop, end in zip(starts, stops, [*ends, None], strict=True)
    ]


def asked_words(question: str) -> frozenset[str]:
    """Returns the words of a question that say what it asks for, and the kinds of its values: a sum, a file, a sum of money."""
    return (
        content_words(question) | _meant_by_values(question)
        if len(question) < 2000
        else content_words(question)
    )


@lru_cache(512)
def _meant_by_values(question: str) -> frozenset[str]:
    if not _VALUES.search(question):
        return frozenset()
    words, meant = UserWords(question), set[str]()
    if expression := expression_in(question):
        meant |= {"calculate", "expression"} | {word for sign, word in _SIGNS.items() if sign in expression}
    if words.files:
        meant |= {"file", "read"} if _READS.search(question) else {"file"}
    if words.urls:
        meant |= {"url", "page", "webpage", "website"}
    if money := currencies_in(question):
        meant |= {"currency", "convert"} if len(money) > 1 else set()
        meant |= {"pay"} if len(money) == 1 and words.numbers and _PAYS.search(question) else set()
    if len(_UNIT_WORD.findall(question)) > 1 and words.numbers:
        meant |= {"unit", "convert"}
    return frozenset(meant)


def _score(tool: Tool, asked: frozenset[str], question: str) -> int:
    """Returns how well a tool fits. Words of its name count more than other words, and nouns more than verbs."""
    named, described = tool.name_words & asked, tool.words
    if len(tool.name) > 3 and tool.name in question and re.search(rf"\b{re.escape(tool.name)}\b", question):
        return 100 + len(
            described & asked
        )  # of two named tools, the one that is described in the question's words
    if tool.name_parts and tool.name_parts <= _all_words(question):
        return 50
    if named:
        reads = _ASKS.match(question) is not None and _READS_NAME.match(tool.name) is not None
        return 3 * len(named) + 3 * len(named - VERBS) + 2 * len(described & asked) + reads
    if not tool.name_words and _weak_words(tool.name) & _all_stems(question):
        return 4
    common = described & asked
    return len(common) if len(common) > len(described) // 12 else 0


def _by_option(tools: Sequence[Tool], question: str) -> list[Tool]:
    """Returns a tool of which the question names an option: `red shoes`, if there are shoes, shirts and hats."""
    asked = content_words(question)
    for tool in tools:
        properties = tool.schema.get("properties")
        for schema in properties.values() if isinstance(properties, dict) else ():
            options = schema.get("enum") if isinstance(schema, dict) else None
            texts = (
                [each for each in options[:_MOST_OPTIONS] if isinstance(each, str) and len(each) > 3]
                if isinstance(options, list)
                else []
            )
            if any((words := content_words(each)) and words <= asked for each in texts):
                return [tool]
    return []


def _for_facts(tools: Sequence[Tool], question: str) -> list[Tool]:
    """Returns a tool that searches, for a question about a fact that no other tool fits."""
    if not (
        _LOOKS_UP.match(question)
        and len(question) < 300
        and (UserWords(question).names or UserWords(question).numbers)
    ):
        return []
    return [
        tool for tool in tools if tool.name_words & _SEARCHES and tool.name_words <= _SEARCHES | _SOURCES
    ][:1]


@remembered(64, longest=10_000)
def _all_words(question: str) -> frozenset[str]:
    """Returns the words of a question, also those without a meaning of their own. Each tool is compared with them."""
    return frozenset(re.findall(r"\w+", question.lower()))


@remembered(64, longest=10_000)
def _all_stems(question: str) -> frozenset[str]:
    return frozenset(map(stem, _all_words(question)))


@remembered(256)
def _weak_words(name: str) -> frozenset[str]:
    """Returns the words of a name that has none with a meaning of its own, such as `user` in `get_user`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_-]", " ", name).lower().split()
    return frozenset(word for word in spaced if word in EMPTY and word not in STARTERS)


def sentences_for(tool: Tool, question: str) -> str:
    """Returns the sentences of a question that a tool fits.

    Args:
        tool: The tool.
        question: The user's last text.
    """
    sentences = re.split(r"(?<=[.?!\n])\s+(?=\S)", question.rstrip())
    return " ".join(each for each in sentences if _score(tool, asked_words(each), each))


def options_in(schema: Mapping[str, Any]) -> list[str]:
    """Returns the options of each `enum` of a tool's arguments. They are no names.

    Args:
        schema: The schema of the arguments.
    """
    properties = schema.get("properties")
    found = (
        [each.get("enum") for each in properties.values() if isinstance(each, dict)]
        if isinstance(properties, dict)
        else []
    )
    return [
        option
        for options in found
        if isinstance(options, list)
        for option in options
        if isinstance(option, str)
    ]
