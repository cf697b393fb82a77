"""Entries of the providers' changelogs, and what this project made of each: `provider_changes.toml`.

`python -m ellmer_conformance.contract.changes.provider_changes` prints them as the table of docs/conformance/news.md.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files

__all__ = ["ProviderChange", "provider_changes", "table"]

HEAD = "| day | provider | entry | rules and server | client |\n|---|---|---|---|---|\n"


@dataclass(frozen=True)
class ProviderChange:
    """One entry of a provider's changelog.

    Args:
        day: The day, such as `2026-10-21`; a month or a year if the entry was found without a day.
        provider: The provider.
        entry: What changed, in a few words.
        link: The page that says so.
        judged: The rules and the parts of the server that know it, or why none does. Markdown.
        client: What the chat library does with it. Markdown.

    Examples:
        >>> ProviderChange("2026-10", "Google", "Gemini 4", "https://example.com", "THK-018", "profiles").first_day
        datetime.date(2026, 10, 1)
    """

    day: str
    provider: str
    entry: str
    link: str
    judged: str
    client: str

    @property
    def first_day(self) -> date:
        """The day, or the first one of the month or of the year."""
        return date.fromisoformat(self.day + "-01" * (2 - self.day.count("-")))


@cache
def provider_changes() -> tuple[ProviderChange, ...]:
    """Returns the entries, in the order of their days.

    Examples:
        >>> provider_changes()[0].day >= "2026"
        True
    """
    text = files("ellmer_conformance.contract.changes").joinpath("provider_changes.toml").read_text("utf-8")
    return tuple(ProviderChange(**entry) for entry in tomllib.loads(text)["change"])


def table() -> str:
    """Returns the entries as a table in Markdown.

    Examples:
        >>> table().splitlines()[0]
        '| day | provider | entry | rules and server | client |'
    """
    rows = [
        f"| {each.day} | {each.provider} | [{each.entry}]({each.link}) | {each.judged} | {each.client} |\n"
        for each in provider_changes()
    ]
    return HEAD + "".join(rows)


if __name__ == "__main__":
    print(table(), end="")  # noqa: T201 - the page is what it writes
