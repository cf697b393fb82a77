"""One fact of a model and what proves it, and the families of models."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

Answer = Literal["yes", "no", "ignored", "unknown"]


@dataclass(frozen=True)
class Evidence:
    """What proves a cell.

    Args:
        kind: `"accepted"` or `"refused"` (a recording), `"elsewhere"` (a recording of another model), `"rule"` or
            `"document"`. `"profile"` is what only the chat library's table of models says, which proves nothing.
        link: The page to open.
        words: The API's words; empty for an accepted request. Those of a rule are about the example of the feature.
        day: The day of the recording, or on which the page was read, as `2026-11-21`; empty if it is not known.
        place: JSON pointer of the feature in the recorded request; the id of a rule.
        quote: What the page of a rule says, if it is the refusal of something else by the same check; empty (default) otherwise.

    Examples:
        >>> Evidence("document", "https://example.com").words
        ''
    """

    kind: str
    link: str
    words: str = ""
    day: str = ""
    place: str = ""
    quote: str = ""

    @property
    def said(self) -> str:
        """The API's words, and what the page shows instead of them."""
        shown = f"The page shows the same check refuse something else: {self.quote}" if self.quote else ""
        return " ".join(filter(None, (self.words, shown)))


@dataclass(frozen=True)
class Cell:
    """One fact: whether a model has a feature over a wire format at a provider.

    Args:
        feature: The feature's name, such as `"temperature"`.
        model: The model's name at the provider.
        family: The family of the model, such as `"claude"`.
        wire: Name of the wire format.
        provider: Name of the provider.
        answer: `"yes"`, `"no"`, `"ignored"` or `"unknown"`.
        evidence: What proves it; empty for `"unknown"`.
        since: The first day on which it holds, as `2026-11-21`; empty (default) if there is no such day.
        until: The first day on which it no longer holds; empty (default) if it still does.
        note: A restriction in words, such as a value that is refused.
        inferred: Whether the evidence is about another model of the same API, or about something else that the same check refuses.
            Default: False, it is about this very model or API, and about this very feature.

    Examples:
        >>> Cell("temperature", "gpt-4.1", "gpt", "openai-chat", "openai", "unknown").last_seen
        ''
    """

    feature: str
    model: str
    family: str
    wire: str
    provider: str
    answer: Answer
    evidence: tuple[Evidence, ...] = ()
    since: str = ""
    until: str = ""
    note: str = ""
    inferred: bool = False

    @property
    def last_seen(self) -> str:
        """The newest day of the evidence, or an empty text."""
        return max((each.day for each in self.evidence), default="")

    @property
    def place(self) -> tuple[str, str, str, str]:
        """What identifies the cell: wire format, provider, model and feature."""
        return self.wire, self.provider, self.model, self.feature


# --- Names of models -------------------------------------------------------------------------------------


_FAMILIES = (
    *(
        "claude",
        "gemini",
        "gemma",
        "gpt-oss",
        "gpt",
        "mistral",
        "command",
        "llama",
        "qwen",
        "deepseek",
        "grok",
        "nova",
    ),
    *("glm", "kimi", "minimax", "phi", "nemotron", "titan", "jamba", "sonar"),
)
_ALIKE = {
    "mistral": r"mistral|mixtral|ministral|magistral|codestral|devstral|voxtral|pixtral",
    "gpt": r"gpt|chatgpt|(^|[/.])o\d|codex|davinci",
    "command": r"command|c4ai|aya",
    "qwen": r"qw[eq]n?",
}


@cache
def family_of(model: str) -> str:
    """Returns the family of a model; `"other"` for one of no known family.

    Args:
        model: The model's name, also with a prefix of its host.

    Examples:
        >>> family_of("us.anthropic.claude-sonnet-5"), family_of("o3-mini"), family_of("x")
        ('claude', 'gpt', 'other')
    """
    name = model.lower()
    return next((each for each in _FAMILIES if re.search(_ALIKE.get(each, each), name)), "other")


def cell_at(
    feature: str,
    place: tuple[str, str, str],
    answer: Answer,
    *evidence: Evidence,
    since: str = "",
    until: str = "",
    note: str = "",
) -> Cell:
    wire, provider, model = place
    return Cell(feature, model, family_of(model), wire, provider, answer, evidence, since, until, note)
