"""Where each wire format is spoken: the vendor's real base URL, a model, and the variable that holds a key.

Cassettes always hold these URLs, whether they were recorded live or from the strict server.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from .adapters import Endpoint
from .canary import CANARY

__all__ = ["CANARY", "WHERE", "Place", "endpoint", "live_key"]


@dataclass(frozen=True)
class Place:
    """One vendor, as far as the suite must know it."""

    base_url: str
    model: str
    key_vars: tuple[str, ...]

    @property
    def origin(self) -> str:
        """Scheme and host: what the harness routes to the strict server."""
        return self.base_url.removesuffix(self.path)

    @property
    def path(self) -> str:
        """What the base URL adds to it: `/v1`, or nothing."""
        return urlsplit(self.base_url).path

    @property
    def host(self) -> str:
        """`api.openai.com`."""
        return urlsplit(self.base_url).netloc


WHERE: Mapping[tuple[str, str], Place] = {
    ("openai-chat", "openai"): Place("https://api.openai.com/v1", "gpt-4.1", ("OPENAI_API_KEY",)),
    ("openai-chat", "deepseek"): Place(
        "https://api.deepseek.com", "deepseek-v4-flash", ("DEEPSEEK_API_KEY",)
    ),
    ("openai-responses", "openai"): Place("https://api.openai.com/v1", "gpt-5.6-terra", ("OPENAI_API_KEY",)),
    ("anthropic", "anthropic"): Place(
        "https://api.anthropic.com/v1", "claude-sonnet-5", ("ANTHROPIC_API_KEY",)
    ),
    ("gemini", "google"): Place(
        "https://generativelanguage.googleapis.com/v1beta",
        "gemini-3.5-flash",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ),
    ("bedrock", "bedrock"): Place(
        "https://bedrock-runtime.us-east-1.amazonaws.com",
        "us.anthropic.claude-sonnet-5",
        ("AWS_BEARER_TOKEN_BEDROCK",),
    ),
    ("ollama", "ollama"): Place("http://localhost:11434", "qwen3-vl:4b", ("OLLAMA_API_KEY",)),
    ("mistral", "mistral"): Place("https://api.mistral.ai/v1", "mistral-small-latest", ("MISTRAL_API_KEY",)),
    ("cohere", "cohere"): Place(
        "https://api.cohere.com/v2", "command-a-03-2025", ("CO_API_KEY", "COHERE_API_KEY")
    ),
}


def live_key(wire: str, vendor: str) -> str | None:
    """The real key from the environment, if there is one."""
    return next((os.environ[v] for v in WHERE[wire, vendor].key_vars if os.environ.get(v)), None)


def endpoint(wire: str, vendor: str, *, live: bool = False) -> Endpoint:
    """What a session is given; with the canary for a key unless the recording is live."""
    place = WHERE[wire, vendor]
    key = live_key(wire, vendor) if live else None
    return Endpoint(wire, vendor, place.base_url, key or CANARY, place.model)
