"""The versions of Anthropic's API: the days from which they exist, and the providers and models that have them.

https://platform.claude.com/docs/en/api/versioning
"""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from ..scope import matches

__all__ = ["EVERYWHERE", "VERSIONS", "Version", "versions"]

#: The providers that pass requests on to Anthropic.
EVERYWHERE = ("anthropic", "azure-foundry", "vertex", "bedrock")


class Version(NamedTuple):
    """A version of the API: its name, its first day, and the providers and models that have it."""

    name: str
    since: date
    providers: tuple[str, ...] = EVERYWHERE
    models: str = "*"


VERSIONS = (
    Version("2023-01-01", date(2023, 1, 1), ("anthropic", "azure-foundry")),
    Version("2023-06-01", date(2023, 6, 1)),
    Version("2026-10-21", date(2026, 10, 21), ("anthropic", "azure-foundry", "vertex")),
    Version("2026-10-21", date(2026, 10, 21), ("bedrock",), "claude>=4.7"),
    Version("vertex-2023-10-16", date(2023, 10, 16), ("vertex",)),
    Version("bedrock-2023-05-31", date(2023, 5, 31), ("bedrock",)),
)


def versions(provider: str, day: date | None, model: str = "") -> list[str]:
    """Returns the names of the versions that a provider has for a model on a day.

    Args:
        provider: Name of the provider.
        day: The day; `None` means today.
        model: Name of the model.

    Examples:
        >>> versions("vertex", date(2026, 9, 1))
        ['2023-06-01', 'vertex-2023-10-16']
        >>> versions("bedrock", date(2026, 11, 1), "claude-opus-4-7")
        ['2023-06-01', '2026-10-21', 'bedrock-2023-05-31']
    """
    day = day or date.today()  # noqa: DTZ011 - a provider's day has no time zone here
    return [
        each.name
        for each in VERSIONS
        if day >= each.since and provider in each.providers and matches(model, each.models)
    ]
