"""The profile of a model: its parameters, its thinking settings, its media, tools and schemas.

The facts are in the tables of `ellmer_core/models/profiles/`. `Profile()` means that nothing is known; no parameter
is then left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..values import Value

__all__ = ["Profile"]

#: The media types of images that nearly every model takes.
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")


@dataclass(frozen=True, eq=False, repr=False)
class Profile(Value):
    """What a model accepts. `chat.profile` shows the profile of a chat, and `profile=` overrides fields of it.

    `None` stands for "not known", and an empty tuple for "none".

    Args:
        refuses: Parameters that the model does not accept.
        refuses_thinking: Parameters that it does not accept while it thinks.
        exclusive: Groups of parameters of which it accepts one at a time.
        ranges: The smallest and the largest value of a parameter.
        max_tokens: Tokens that are requested where the caller gives no number and the API requires one.
        thinks: Whether the model thinks unless it is told not to.
        adaptive: Whether the model decides itself how much to think, and is asked for an effort.
        efforts: The values of `reasoning_effort`.
        budget: The smallest and the largest `reasoning_tokens`.
        off: Parameters that turn thinking off.
        on: Parameters that are sent while thinking is on, so that it is shown.
        levels: Parameters for each level, where there is neither an effort nor a budget.
        forced: Whether a tool call can be forced.
        forced_thinking: Whether it can be forced while the model thinks.
        images: Media types of images.
        pdfs: Whether it accepts PDFs.
        tools: Whether it accepts tools.
        system: Whether it accepts a system prompt.
        structured: How it gives structured output: `"schema"`, or `"words"` where only a prompt can ask for it.
        with_tools: Parameters that it requires beside tools.
        fields: Fields that every request has.
        headers: Headers that every request has.
        sources: Links to where the provider documents this.

    Examples:
        >>> chat = chat_openai(model="gpt-4.1", profile={"max_tokens": 500})
        >>> chat.profile.max_tokens
        500
    """

    refuses: tuple[str, ...] = ()
    refuses_thinking: tuple[str, ...] = ()
    exclusive: tuple[tuple[str, ...], ...] = ()
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    max_tokens: int | None = None
    thinks: bool = False
    adaptive: bool = True
    efforts: tuple[str, ...] | None = None
    budget: tuple[int, ...] | None = None
    off: Mapping[str, Any] | None = None
    on: Mapping[str, Any] = field(default_factory=dict)
    levels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    forced: bool = True
    forced_thinking: bool = True
    images: tuple[str, ...] | None = None
    pdfs: bool | None = None
    tools: bool = True
    system: bool = True
    structured: str = "schema"
    with_tools: Mapping[str, Any] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
