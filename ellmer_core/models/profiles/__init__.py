"""The tables of model capabilities, and the profile of a model from them.

Every row names providers, a pattern of model names and its source, and may name a wire format, a pattern of API
versions, and days: `since` is the first day on which it holds, and `until` the first day on which it no longer does.
Matching rows are applied in order, so that a later one has priority. An unknown model gets the general rows of its
provider. A row without facts says that a model is as the rows before it have it, and why.
"""

from __future__ import annotations

import re
from dataclasses import fields
from datetime import date
from functools import cache, lru_cache
from typing import Any

from ...errors import UsageError
from ...wire.base import Wire
from ...wire.interfaces import Profile
from . import anthropic, bedrock, google, hosts, openai, others

__all__ = ["profile_of", "rows"]

_KEYS = {field.name for field in fields(Profile)} - {"sources"}
_SCOPE = {"provider", "format", "model", "version", "since", "until", "source"}
FILES = (anthropic, bedrock, google, hosts, openai, others)


def profile_of(wire: Wire, day: date | None = None) -> Profile:
    """Returns the tables' profile of the wire's model, as of a day; `None` (default) means today."""
    day = day or date.today()  # noqa: DTZ011 - a provider's day has no time zone here
    return _profile(wire.provider, wire.name, wire.model, wire.version, day)


@cache
def rows(provider: str = "") -> tuple[dict[str, Any], ...]:
    """Returns all rows, file by file, or those that name the provider."""
    found = [row for file in FILES for row in file.ROWS if not provider or provider in row["provider"]]
    for row in found:
        if wrong := row.keys() - _KEYS - _SCOPE:
            raise UsageError(f"A profile has no field {', '.join(sorted(wrong))}: {row['source']}")
    return tuple(found)


@lru_cache(1024)
def _profile(provider: str, format: str, model: str, version: str, day: date) -> Profile:
    facts: dict[str, Any] = {}
    sources: list[str] = []
    for row in rows(provider):
        here = row.get("format", format) == format and row.get("since", day) <= day < row.get(
            "until", date.max
        )
        here = here and re.search(row.get("version", ""), version) is not None
        if here and re.search(row["model"], model, re.IGNORECASE):
            facts |= {key: _frozen(value) for key, value in row.items() if key in _KEYS}
            sources.append(row["source"])
    return Profile(**facts, sources=tuple(dict.fromkeys(sources)))


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _frozen(item) for key, item in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
