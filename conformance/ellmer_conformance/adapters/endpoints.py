"""The endpoint of each wire format: the provider's real base URL, a model, and the variable that holds a key.

`PROVIDER_ADDRESSES` has each format's own provider, with which every case runs. An adapter may add more providers with their
places. Cassettes always have these URLs, both from live recordings and from the strict server.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

from ..scenarios.canary_keys import CANARY
from ..scenarios.case import Case
from . import Adapter, Endpoint, ProviderAddress

__all__ = ["CANARY", "PROVIDER_ADDRESSES", "address_for", "address_of", "endpoint", "live_key"]


PROVIDER_ADDRESSES: Mapping[tuple[str, str], ProviderAddress] = {
    ("openai-chat", "openai"): ProviderAddress("https://api.openai.com/v1", "gpt-4.1", ("OPENAI_API_KEY",)),
    ("openai-chat", "deepseek"): ProviderAddress(
        "https://api.deepseek.com", "deepseek-v4-pro", ("DEEPSEEK_API_KEY",)
    ),
    ("openai-responses", "openai"): ProviderAddress(
        "https://api.openai.com/v1", "gpt-5.6-terra", ("OPENAI_API_KEY",)
    ),
    ("anthropic", "anthropic"): ProviderAddress(
        "https://api.anthropic.com/v1", "claude-sonnet-5", ("ANTHROPIC_API_KEY",)
    ),
    ("gemini", "google"): ProviderAddress(
        "https://generativelanguage.googleapis.com/v1beta",
        "gemini-3.5-flash",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ),
    ("gemini", "vertex"): ProviderAddress(
        "https://us-central1-aiplatform.googleapis.com/v1beta1/projects/example-project/locations/us-central1"
        "/publishers/google",
        "gemini-3.5-flash",
        ("GOOGLE_OAUTH_ACCESS_TOKEN",),
    ),
    ("bedrock", "bedrock"): ProviderAddress(
        "https://bedrock-runtime.us-east-1.amazonaws.com",
        "us.anthropic.claude-sonnet-5",
        ("AWS_BEARER_TOKEN_BEDROCK",),
    ),
    ("ollama", "ollama"): ProviderAddress("http://localhost:11434", "qwen3-vl:4b", ("OLLAMA_API_KEY",)),
    ("mistral", "mistral"): ProviderAddress(
        "https://api.mistral.ai/v1", "mistral-small-latest", ("MISTRAL_API_KEY",)
    ),
    ("cohere", "cohere"): ProviderAddress(
        "https://api.cohere.com/v2", "command-a-03-2025", ("CO_API_KEY", "COHERE_API_KEY")
    ),
}


def address_for(case: Case, adapter: Adapter, wire: str, provider: str) -> ProviderAddress:
    """Returns the place for a case at a provider, with the case's model.

    A model for media is used only with media. An adapter that refuses them uses the provider's usual model.
    """
    place = address_of(adapter, wire, provider)
    refused = adapter.capabilities(wire, provider).refused(case.needs) if wire in case.models else ()
    if wire not in case.models or any(need.endswith("_in_user") for need in refused):
        return place
    return replace(place, model=case.models[wire])


def address_of(adapter: Adapter, wire: str, provider: str) -> ProviderAddress:
    """Returns the place of a provider, from the suite or else from the adapter. Raises LookupError for an unknown
    provider.
    """
    own: Mapping[tuple[str, str], ProviderAddress] = getattr(adapter, "addresses", {})
    places = PROVIDER_ADDRESSES if (wire, provider) in PROVIDER_ADDRESSES else own
    if (wire, provider) not in places:
        raise LookupError(
            f"{adapter.name} speaks {wire} at {provider!r}, but the URL of that provider is unknown: give the adapter `addresses`, a mapping of (wire, provider) to `ellmer_conformance.adapters.ProviderAddress`."
        )
    return places[wire, provider]


def live_key(place: ProviderAddress) -> str | None:
    """Returns the real key from the environment, if there is one."""
    return next((os.environ[v] for v in place.key_vars if os.environ.get(v)), None)


def endpoint(place: ProviderAddress, wire: str, provider: str, *, live: bool = False) -> Endpoint:
    """Returns the endpoint for a session. Its key is the canary, except in live recordings."""
    key = live_key(place) if live else None
    return Endpoint(wire, provider, place.base_url, key or CANARY, place.model)
