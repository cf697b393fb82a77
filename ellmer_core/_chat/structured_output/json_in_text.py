"""Finds JSON in a model's text: alone, in a Markdown fence, in prose, or after thoughts. It does no I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ...wire.shared.json_objects import bounded, read_json

__all__ = ["begun_json", "json_values"]

_THOUGHT = re.compile(r"<(think|thinking)>.*?(</\1>|\Z)", re.DOTALL)
_FENCED = re.compile(r"```[ \t]*\w*\s*\n(.*?)\n?\s*```", re.DOTALL)
_START = re.compile(r"[{\[]")
MOST = 50  # places where JSON may begin that are tried: a text of brackets is not gone through for each
_decoder = json.JSONDecoder()


def json_values(*texts: str) -> Iterator[Any]:
    """Yields the values in the texts, the most likely first: a text that is JSON, then fenced values, then values in
    prose, the longest first.
    """
    for text in texts:
        without_thoughts = _THOUGHT.sub("", text)
        for candidate in (text, without_thoughts, *_FENCED.findall(without_thoughts)):
            try:
                yield read_json(candidate)
            except (ValueError, RecursionError):
                continue
        yield from _within(without_thoughts)


def _within(text: str) -> Iterator[Any]:
    """Yields the objects and lists in prose, the longest first."""
    found: list[tuple[int, Any]] = []
    place = 0
    for _ in range(MOST):
        start = _START.search(text, place)
        if start is None:
            break
        try:
            value, place = _decoder.raw_decode(text, start.start())
            bounded(value)
            found.append((place - start.start(), value))
        except (ValueError, RecursionError):
            place = max(place, start.end())
    yield from (value for _, value in sorted(found, key=lambda one: -one[0]))


def begun_json(text: str) -> str | None:
    """Returns where JSON begins in an incomplete text, or `None` if it has not begun."""
    said = _THOUGHT.sub("", text)
    start = _START.search(said)
    return said[start.start() :] if start else None
