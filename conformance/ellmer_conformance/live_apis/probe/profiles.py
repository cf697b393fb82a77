"""The requests of well-known clients, as they were recorded: `client_requests.json`, which `python -m devtools.recordings.client_requests` writes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ...contract.observed.exchange import Json

__all__ = ["RECORDED", "Profile", "profiles", "profiles_of"]

RECORDED = Path(__file__).with_name("client_requests.json")


@dataclass(frozen=True)
class Profile:
    """What a client sends: one recorded request, with short texts, and what the client needs of a server.

    Args:
        name: Name of the client.
        version: The version that was recorded.
        wire: The wire format that it speaks.
        recorded: The day of the recording, as in `2026-11-28`.
        source: Where the client can be installed from.
        body: The body, without the model.
        query: The query of the URL. Default: none.
        headers: The headers, without keys and ids. Default: none.
        needs: The tiers and features that it needs.

    Examples:
        >>> codex = profiles_of("openai-responses")[0]
        >>> codex.name, codex.body["store"]
        ('Codex', False)
    """

    name: str
    version: str
    wire: str
    recorded: str
    source: str
    body: Json
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    needs: Sequence[str] = ("answers", "tools")

    @property
    def question(self) -> str:
        """The name of its question in the report."""
        return f"as {self.name}"

    @property
    def called(self) -> str:
        """Name, version and day, as in `Codex 0.171.0 (2026-11-28)`."""
        return f"{self.name} {self.version} ({self.recorded})"


@cache
def profiles() -> tuple[Profile, ...]:
    """Returns all profiles.

    Examples:
        >>> {profile.wire for profile in profiles()} >= {"openai-chat", "openai-responses", "anthropic"}
        True
    """
    return tuple(Profile(**each) for each in json.loads(RECORDED.read_text("utf-8")))


def profiles_of(wire: str) -> list[Profile]:
    """Returns the profiles of the clients that speak a wire format.

    Args:
        wire: Name of the wire format.

    Examples:
        >>> [profile.name for profile in profiles_of("gemini")]
        []
    """
    return [profile for profile in profiles() if profile.wire == wire]
