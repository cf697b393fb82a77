"""`thinking=`: one setting for all providers, converted to the parameters of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ..errors import UsageError
from ..wire.interfaces import Profile
from ..wire.shared.json_objects import merged

__all__ = ["LEVELS", "Thinking", "thinking_params"]

Thinking = Literal["off", "low", "medium", "high", "max"] | int

#: The tokens of thinking for each level, if the model needs a budget.
LEVELS: Mapping[str, int] = {"low": 2_048, "medium": 8_192, "high": 16_384, "max": 100_000}

#: The words of effort that come nearest to a level, the best first.
_WORDS: Mapping[str, tuple[str, ...]] = {
    "off": ("none",),
    "low": ("low", "minimal", "medium", "high"),
    "medium": ("medium", "low", "high"),
    "high": ("high", "medium", "low"),
    "max": ("max", "xhigh", "high", "medium", "low"),
}

Told = tuple[dict[str, Any], str]


def thinking_params(profile: Profile, thinking: object, takes: Mapping[str, str]) -> Told:
    """Returns the parameters for a setting. If the model does not support it, the reason is returned."""
    if thinking == "off" or (thinking == 0 and not isinstance(thinking, bool)):
        return _off(profile)
    if isinstance(thinking, int) and not isinstance(thinking, bool) and thinking > 0:
        if profile.budget or (profile.budget is None and "reasoning_tokens" in takes):
            return merged(profile.on, {"reasoning_tokens": thinking}), ""
        return _level(profile, _level_of(thinking), takes)
    if isinstance(thinking, str) and thinking in LEVELS:
        return _level(profile, thinking, takes)
    raise UsageError(
        f'thinking= must be "off", "low", "medium", "high", "max" or a number of tokens, not {thinking!r}.'
    )


def _off(profile: Profile) -> Told:
    if profile.off is not None:
        return dict(profile.off), ""
    if "none" in (profile.efforts or ()):
        return {"reasoning_effort": "none"}, ""
    if profile.efforts:
        return {"reasoning_effort": profile.efforts[0]}, "the model always thinks; the lowest level is used"
    if profile.budget:
        return {"reasoning_tokens": profile.budget[0]}, "the model always thinks; the lowest level is used"
    known = profile.efforts is not None and not profile.thinks
    return {}, "" if known else "thinking cannot be turned off for this model"


def _level(profile: Profile, level: str, takes: Mapping[str, str]) -> Told:
    if level in profile.levels:
        return merged(profile.on, profile.levels[level]), ""
    efforts = profile.efforts if profile.efforts is not None else ("low", "medium", "high")
    word = next((word for word in _WORDS[level] if word in efforts), None)
    if word and "reasoning_effort" in takes:
        return merged(profile.on, {"reasoning_effort": word}), ""
    if profile.budget or (profile.budget is None and "reasoning_tokens" in takes):
        most = profile.budget[1] if profile.budget else LEVELS["high"]
        return merged(profile.on, {"reasoning_tokens": min(LEVELS[level], int(most))}), ""
    return (
        {},
        "the model decides how much it thinks" if profile.thinks else "the model does not support thinking",
    )


def _level_of(tokens: int) -> str:
    return next((level for level, worth in LEVELS.items() if tokens <= worth), "max")
