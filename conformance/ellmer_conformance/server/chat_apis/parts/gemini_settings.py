"""The settings of a request to Gemini: what its URL, its model and its `generationConfig` ask for."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

from ....contract.readers.json_access import text_of
from ..base import ChatApi
from .gemini_signatures import either

__all__ = ["GeminiSettings"]

_GENERATION = re.compile(r"gemini-(\d+)")


class GeminiSettings(ChatApi):
    """The part of Gemini's api that reads settings."""

    @property
    def sse(self) -> bool:
        """Whether the request asks for server-sent events."""
        return "alt=sse" in self.ticket.request.url

    @property
    def count(self) -> int:
        """The requested number of candidates."""
        asked = either(self.config, "candidateCount")
        return asked if isinstance(asked, int) and 1 <= asked <= 8 else 1

    @property
    def config(self) -> Any:
        """The request's `generationConfig`."""
        return either(self.asked, "generationConfig")

    @property
    def tier(self) -> str:
        """The tier that is asked for: https://ai.google.dev/gemini-api/docs/priority-inference"""
        asked = text_of(either(self.asked, "serviceTier")).removeprefix("SERVICE_TIER_").lower()
        return asked if asked in {"flex", "priority"} else "standard"

    @property
    def measured(self) -> bool:
        """Whether the request asks for log probabilities."""
        return either(self.config, "responseLogprobs") is True

    @property
    def averages(self) -> bool:
        """Whether a whole reply has its average log probability, as in Gemini 2.0 and older."""
        return re.search(r"gemini-(?:1|2\.0)", self.model) is not None

    @cached_property
    def modern(self) -> bool:
        """Whether the model is Gemini 3 or newer. A name without a number counts as newer."""
        found = _GENERATION.match(self.model)
        return not found or int(found[1]) >= 3

    @cached_property
    def shows_thoughts(self) -> bool:
        """Whether the request asks to see the reasoning."""
        config = either(self.config, "thinkingConfig")
        return bool(either(config, "includeThoughts"))
