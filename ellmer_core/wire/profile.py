"""What one model takes, as a value: which parameters, how it is asked to think, which media, tools and schemas.

The facts are in the tables of `ellmer_core/models/profiles/`. `Profile()` says that nothing is known, and then nothing
is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Profile"]

#: The media types of images that nearly every model takes.
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")


@dataclass(frozen=True)
class Profile:
    """What a model takes. `None` stands for "not known", an empty tuple for "none".

    - `refuses`: parameters that the model does not take; `refuses_thinking`: those it does not take while it thinks.
    - `exclusive`: parameters of which it takes one at a time.
    - `ranges`: the least and the largest value of a parameter.
    - `max_tokens`: what is sent where the caller says nothing and the API wants a number.
    - `thinks`: it thinks unless it is told not to.
    - `adaptive`: it decides itself how much to think, and is asked for an effort.
    - `efforts`: the words of `reasoning_effort`; `budget`: the least and the largest `reasoning_tokens`.
    - `off`: the parameters that switch thinking off; `on`: those that go along while it is on, so that it is shown;
      `levels`: those that stand for a level, where neither an effort nor a budget does.
    - `forced`: a call can be forced on it; `forced_thinking`: also while it thinks.
    - `images`: media types of images; `pdfs`, `tools`, `system`: whether it takes these.
    - `structured`: how it gives structured output: `"schema"`, or `"words"` where only the prompt can ask for it.
    - `with_tools`: parameters that it needs beside tools.
    - `fields`, `headers`: what every request to it carries.
    - `sources`: where this is written.
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
