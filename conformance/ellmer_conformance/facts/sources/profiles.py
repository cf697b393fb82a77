"""What the chat library's tables of models say outright."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from typing import Any, NamedTuple

from ..cell import Answer, Cell, Evidence, cell_at
from ..related_models import Spot

#: The names that profiles have for the providers.
_NAMES = {
    "openai": "OpenAI",
    "anthropic": "Anthropic",
    "google": "Google/Gemini",
    "bedrock": "AWS/Bedrock",
    "azure": "Azure/OpenAI",
    "vertex": "Google/Vertex",
    "openrouter": "OpenRouter",
    "groq": "Groq",
    "mistral": "Mistral",
    "cohere": "Cohere",
    "ollama": "Ollama",
    "xai": "xAI",
    "deepseek": "DeepSeek",
    "together": "Together AI",
    "huggingface": "Hugging Face",
    "cerebras": "Cerebras",
    "cloudflare": "Cloudflare",
}
_PARAMETERS = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "seed": "seed",
    "frequency_penalty": "frequency_penalty",
    "presence_penalty": "presence_penalty",
    "stop_sequences": "stop",
    "log_probs": "logprobs",
}
#: A parameter that the library does not send over a wire format, which has something else for it.
_OTHERWISE_NAMED = {("log_probs", "openai-responses")}


def of_profiles(spots: list[Spot]) -> Iterator[Cell]:
    for place, feature in spots:
        for name, answer, source in _profiled(*place):
            if name == feature:
                yield cell_at(name, place, answer, Evidence("profile", source))


@cache
def _profiled(*place: str) -> tuple[tuple[str, Answer, str], ...]:
    return tuple(_said_outright(*place))


def _said_outright(wire: str, provider: str, model: str) -> Iterator[tuple[str, Answer, str]]:
    """Yields what the rows of the profiles say outright: feature, answer and source. The last row has priority."""
    values: dict[str, tuple[Any, str]] = {}
    for row in _rows(_NAMES[provider]) if provider in _NAMES else ():
        here = row.get("format", wire) == wire and not row.get("version")
        if here and re.search(row["model"], model, re.IGNORECASE):
            values |= {key: (value, row["source"]) for key, value in row.items()}
    for name in values.get("refuses", ((), ""))[0]:
        if name in _PARAMETERS and (name, wire) not in _OTHERWISE_NAMED:
            yield _PARAMETERS[name], "no", values["refuses"][1]
    for key, feature in {"images": "image_in_user", "pdfs": "pdf_in_user", "audio": "audio_in_user"}.items():
        if key in values and values[key][0] is not None:
            yield feature, "yes" if values[key][0] else "no", values[key][1]
    for key, feature in {"tools": "tools", "system": "system", "forced": "forced_call"}.items():
        if key in values:
            yield feature, "yes" if values[key][0] else "no", values[key][1]
    if "structured" in values:
        yield (
            "structured_output",
            "yes" if values["structured"][0] == "schema" else "no",
            values["structured"][1],
        )


#: The keys of a row that say where and when it holds; the others are capabilities.
_SCOPE = {"provider", "format", "model", "version", "since", "until", "source"}


class DatedProfile(NamedTuple):
    """A row of the chat library's tables that holds from a day, or until one: what it says of which models, and its source.

    Examples:
        >>> DatedProfile(("OpenAI",), "gpt-6", {"efforts": ["low"]}, "https://example.com").until is None
        True
    """

    providers: tuple[str, ...]
    models: str
    facts: dict[str, Any]
    source: str
    since: date | None = None
    until: date | None = None


def dated_profiles() -> Iterator[DatedProfile]:
    """Yields the rows with a day of the chat library's tables of models.

    Yields:
        The rows, in the order of the tables.

    Examples:
        >>> all(each.since or each.until for each in dated_profiles())
        True
    """
    for row in _rows(""):
        if "since" in row or "until" in row:
            told = {key: value for key, value in row.items() if key not in _SCOPE}
            days = (row.get("since"), row.get("until"))
            yield DatedProfile(tuple(row["provider"]), row["model"], told, row["source"], *days)


@cache
def _rows(name: str) -> tuple[dict[str, Any], ...]:
    from ellmer_core.models.profiles import rows  # noqa: PLC0415 - the profiles are slow to import

    return rows(name)
