"""Parameters for one model. Unsupported parameters are left out with a warning.

It does no I/O: it gets the caller's parameters, and returns the parameters to send and the sentences for one warning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from ..base.argument_checks import unfit
from ..errors import UsageError
from ..wire.base import Wire
from ..wire.interfaces import NEUTRAL, Profile, check_params
from ..wire.shared.json_objects import is_forced, merged
from .profiles import profile_of

# --- levels of thinking ----------------------------------------------------------------------------------


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
    settled = profile.efforts is not None and not profile.thinks
    return {}, "" if settled else "thinking cannot be turned off for this model"


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


# --- parameters ------------------------------------------------------------------------------------------


class Asked(NamedTuple):
    """The caller's parameters and settings, for any model, and the fields of its profile that the caller overrides."""

    params: Mapping[str, Any] = MappingProxyType({})
    profile: Profile | Mapping[str, Any] | None = None


def profiled(wire: Wire, profile: Profile | Mapping[str, Any] | None) -> Profile:
    """Returns the profile of the wire's model: the caller's own, or the one of the tables with the caller's changes."""
    if isinstance(profile, Profile):
        return profile
    if not isinstance(profile, Mapping | None):
        raise UsageError(f"profile= must be a Profile or a dictionary of its fields, not {profile!r}.")
    if not profile:
        return profile_of(wire)
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in profile.items()
    }
    if wrong := unfit(Profile, given):
        raise UsageError(f"profile= is not valid: {wrong}")
    return replace(profile_of(wire), **given)


def fitted(wire: Wire, asked: Asked) -> tuple[Wire, str]:
    """Returns the wire with the parameters that its model accepts, and a warning about the others."""
    check_params(asked.params)
    profile = profiled(wire, asked.profile)
    fit = _Fit(profile, {name: value for name, value in asked.params.items() if value is not None}, wire)
    fit.all()
    notes = "; ".join(fit.notes)
    warning = f"{wire.provider}'s {wire.model}: {notes}." if notes else ""
    return replace(wire, params=fit.params, profile=profile), warning


@dataclass(eq=False, repr=False)
class _Fit:
    profile: Profile
    params: dict[str, Any]
    wire: Wire
    notes: list[str] = field(default_factory=list)
    thinks: bool = False

    def all(self) -> None:
        self.think()
        self.drop(
            [n for n in self.params if n in NEUTRAL and n not in self.wire.takes],
            "there is no such parameter",
        )
        self.drop(self.profile.refuses, "the model does not accept it")
        self.drop(self.profile.gone, f"version {self.wire.version} of the API does not have it")
        self.effort()
        self.compaction()
        if self.thinks:
            self.drop(self.profile.refuses_thinking, "the model does not accept it while it thinks")
        for group in self.profile.exclusive:
            names = [name for name in group if name in self.params]
            self.drop(names[1:], f"the model does not accept it together with {names[0] if names else ''}")
        self.choice()
        for name, (least, most) in self.profile.ranges.items():
            self.bound(name, least, most)
        self.budget()

    def drop(self, names: Any, why: str) -> None:
        for name in names:
            if name in self.params:
                del self.params[name]
                self.notes.append(f"{name} is left out, because {why}")

    def think(self) -> None:
        """Converts `thinking` to the model's own parameters. `reasoning_tokens=0` means "off"."""
        params = self.params
        if params.get("reasoning_tokens") == 0 and "thinking" not in params:
            del params["reasoning_tokens"]
            params["thinking"] = "off"
        setting = params.get("thinking")
        if isinstance(setting, Mapping) or setting is None:  # the provider's own field
            effort = params.get("reasoning_effort")
            asked = bool(params.get("reasoning_tokens")) or effort is not None
            self.thinks = effort != "none" if asked else self.profile.thinks
            return
        if both := params.keys() & {"reasoning_effort", "reasoning_tokens"}:
            raise UsageError(f"Give thinking= or {', '.join(sorted(both))}, not both.")
        del params["thinking"]
        settings, why = thinking_params(self.profile, setting, self.wire.takes)
        self.params = {**params, **settings}
        self.thinks = bool(settings) if setting != "off" else bool(why)
        if why:
            self.notes.append(f"thinking={setting!r} is not possible, because {why}")

    def effort(self) -> None:
        word, efforts = self.params.get("reasoning_effort"), self.profile.efforts
        if word is not None and efforts is not None and word not in efforts:
            there = (
                f"its efforts are {', '.join(efforts)}" if efforts else "the model does not support an effort"
            )
            self.drop(["reasoning_effort"], there)

    def compaction(self) -> None:
        if not self.profile.compacts:
            self.drop(["compact_at"], "the provider does not compact its conversations; chat.compact() does")
        else:
            self.bound("compact_at", *self.profile.compacts)

    def choice(self) -> None:
        """Removes a forced tool choice if the model does not support it."""
        forced = is_forced(self.params.get("tool_choice"))
        if forced and not self.profile.forced:
            self.drop(["tool_choice"], "the model does not support forced calls")
        elif forced and self.thinks and not self.profile.forced_thinking:
            self.drop(["tool_choice"], "the model does not support forced calls while it thinks")

    def bound(self, name: str, least: float, most: float) -> None:
        value = self.params.get(name)
        if isinstance(value, int | float) and not least <= value <= most:
            self.params[name] = type(value)(min(max(value, least), most))
            self.notes.append(f"{name} is {self.params[name]}, because the model takes {least} to {most}")

    def budget(self) -> None:
        """Limits the thinking tokens to those that the model accepts, so that tokens are left for the answer."""
        tokens, limit = self.params.get("reasoning_tokens"), self.params.get("max_tokens")
        if not isinstance(tokens, int) or self.profile.budget is None or self.params == {}:
            return
        if not self.profile.budget:
            self.drop(["reasoning_tokens"], "the model does not support a thinking budget")
            return
        if tokens == 0 and (self.profile.off or {}).get("reasoning_tokens") == 0:
            return
        least, most = self.profile.budget
        self.bound("reasoning_tokens", least, most)
        if isinstance(limit, int) and limit <= self.params["reasoning_tokens"]:
            if limit // 2 < least:
                self.drop(["reasoning_tokens"], f"max_tokens={limit} leaves no room for it")
            else:
                self.params["reasoning_tokens"] = limit // 2
                self.notes.append(f"reasoning_tokens is {limit // 2}, half of max_tokens")
