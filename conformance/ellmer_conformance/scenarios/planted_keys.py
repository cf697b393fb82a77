"""Keys that open nothing: found anywhere but in its header, one is a leak.

The session's key is `CANARY`. While a case plays, the variables in which libraries look for keys hold canaries
of their own, so that a key that goes to the wrong provider says which it was.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager

__all__ = ["CANARY", "PREFIX", "VARIABLES", "environment", "is_canary", "planted", "strangers"]

PREFIX = "conformance-key-"
CANARY = f"{PREFIX}0000"

#: Where libraries look for keys.
VARIABLES = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AZURE_OPENAI_API_KEY",
    "COHERE_API_KEY",
    "CO_API_KEY",
    "DEEPSEEK_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "OLLAMA_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "XAI_API_KEY",
)
_STRANGER = re.compile(rf"{PREFIX}([A-Z_]+)")


def is_canary(text: str) -> bool:
    """Whether a secret is none."""
    return PREFIX in text


def strangers(text: str) -> list[str]:
    """The variables whose canaries are in a text."""
    return _STRANGER.findall(text)


def environment(own: Collection[str]) -> dict[str, str]:
    """A canary for every variable: the session's own key for its vendor's, others for the rest."""
    return {name: CANARY if name in own else f"{PREFIX}{name}" for name in {*VARIABLES, *own}}


@contextmanager
def planted(own: Collection[str]) -> Iterator[None]:
    """The environment with canaries in it, while the block runs."""
    before = dict(os.environ)
    os.environ.update(environment(own))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
