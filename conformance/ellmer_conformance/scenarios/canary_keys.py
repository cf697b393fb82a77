"""Planted keys that open nothing. If one is found outside its header, it has leaked.

The session's key is `CANARY`. While a case runs, the variables in which libraries look for keys have their own
canaries, so that a key that goes to the wrong provider can be identified.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager

PREFIX = "canary-key-"
CANARY = f"{PREFIX}0000"

#: Environment variables in which libraries look for keys.
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
    """Tells whether a secret is a canary."""
    return PREFIX in text


def strangers(text: str) -> list[str]:
    """Returns the variables whose canaries are in a text."""
    return _STRANGER.findall(text)


def environment(own: Collection[str]) -> dict[str, str]:
    """Returns a canary for every variable: the session's key for its own provider, and others for other providers.

    A provider's second kind of credential is not set, because a client may rightly refuse two credentials.
    """
    return {name: CANARY if name in own else f"{PREFIX}{name}" for name in {*VARIABLES, *own} - hidden(own)}


def hidden(own: Collection[str]) -> set[str]:
    """Returns the variables that a client does not see: those of the same provider for another kind of credential, and pytest's, by
    which a client may know that it is tested.
    """
    makers = tuple(f"{name.partition('_')[0]}_" for name in own)
    rivals = {name for name in VARIABLES if name.startswith(makers or ("\0",)) and name not in own}
    return {*rivals, "PYTEST_CURRENT_TEST"}


def about_planted_keys(text: str, own: Collection[str]) -> str:
    """Returns a sentence about the planted keys for an error about keys."""
    if not re.search(r"api.?key|credential|auth|token", text, re.IGNORECASE):
        return ""
    names = ", ".join(sorted(environment(own)))
    return f"\n(While a case runs, the suite sets keys that open nothing: {names}.)"


@contextmanager
def planted(own: Collection[str]) -> Iterator[None]:
    """Yields the environment with canaries and without what is hidden, inside the block."""
    before = dict(os.environ)
    for name in hidden(own):
        os.environ.pop(name, None)
    os.environ.update(environment(own))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
