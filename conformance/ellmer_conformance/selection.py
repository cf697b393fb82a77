"""What to play: adapters × wire formats × vendors × cases × modes, narrowed by filters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib import import_module
from importlib.metadata import entry_points
from operator import attrgetter

from .adapters import Adapter, Capabilities
from .case import MODES, Case, Mode
from .cases import all_cases
from .driver import Driver
from .endpoints import WHERE, live_key

__all__ = ["FILTERS", "OURS", "Play", "UnknownChoice", "find_adapter", "inexpressible", "select"]

FILTERS = ("wire", "vendor", "case", "mode")
OURS = "ellmer-core"


class UnknownChoice(LookupError):
    """A name that stands for nothing; the message lists what there is."""


@dataclass(frozen=True)
class Play:
    """One test: who plays what, where, how. `frozen`: its transcripts are kept as snapshots."""

    adapter: Adapter
    wire: str
    vendor: str
    case: Case
    mode: Mode
    frozen: bool

    @property
    def id(self) -> str:
        """The test's id, and what `-k` matches."""
        return f"{self.adapter.name}/{self.wire}/{self.vendor}/{self.case.name}[{self.mode}]"


def select(
    names: Sequence[str], wanted: Mapping[str, Sequence[str]], *, record: bool = False, live: bool = False
) -> list[Play]:
    """Every play that the filters let through. Raises UnknownChoice for a filter that lets nothing through."""
    adapters = {name: find_adapter(name) for name in names or [OURS]}
    _check_filters(wanted, list(adapters.values()))
    plays = [play for name, one in adapters.items() for play in _plays(one, name == OURS, wanted, record)]
    if live:
        _check_keys(plays)
    return plays


def find_adapter(name: str) -> Adapter:
    """An adapter by entry point (group `ellmer_conformance.adapters`), as `package.module:name`, or as a command
    (`command:node driver.mjs`)."""
    if name.startswith("command:"):
        made = Driver(name.removeprefix("command:"))
    elif ":" in name:
        module, _, attribute = name.partition(":")
        made = attrgetter(attribute)(import_module(module))
    else:
        known = {point.name: point for point in entry_points(group="ellmer_conformance.adapters")}
        if name not in known:
            raise UnknownChoice(
                f"unknown adapter {name!r}; installed: {', '.join(sorted(known))}. "
                "Give package.module:name for one that is not."
            )
        made = known[name].load()
    adapter: Adapter = made() if callable(made) else made
    return adapter


def inexpressible(names: Sequence[str]) -> Iterator[dict[str, str]]:
    """What a wire format of these adapters cannot say, with the reason."""
    for adapter in map(find_adapter, names or [OURS]):
        for case in all_cases().values():
            for wire, reason in case.inexpressible.items():
                if wire in adapter.wires:
                    yield {"adapter": adapter.name, "wire": wire, "case": case.name, "reason": reason}


def _plays(
    adapter: Adapter,
    frozen: bool,
    wanted: Mapping[str, Sequence[str]],
    record: bool,
) -> Iterator[Play]:
    places = [(wire, vendor) for wire, vendors in adapter.wires.items() for vendor in vendors]
    for wire, vendor in places:
        modes = _modes(adapter.capabilities(wire, vendor), record=record)
        for case in all_cases().values():
            for mode in modes if wire not in case.inexpressible else ():
                place = {"wire": wire, "vendor": vendor, "case": case.name, "mode": mode}
                if all(_matches(place[name], globs) for name, globs in wanted.items()):
                    yield Play(adapter, wire, vendor, case, mode, frozen)


def _matches(value: str, globs: Sequence[str]) -> bool:
    return not globs or any(fnmatchcase(value, glob) for glob in globs)


def _modes(able: Capabilities, *, record: bool) -> list[Mode]:
    """The modes to play; one for each cassette when recording (sync and async share theirs)."""
    modes = [mode for mode in MODES if mode in able.modes]
    return list({"stream" in mode: mode for mode in reversed(modes)}.values()) if record else modes


def _check_filters(wanted: Mapping[str, Sequence[str]], adapters: Sequence[Adapter]) -> None:
    known: dict[str, set[str]] = {
        "wire": {wire for adapter in adapters for wire in adapter.wires},
        "vendor": {v for adapter in adapters for vendors in adapter.wires.values() for v in vendors},
        "case": set(all_cases()),
        "mode": set(MODES),
    }
    for name, globs in wanted.items():
        for glob in globs:
            if not any(fnmatchcase(value, glob) for value in known[name]):
                raise UnknownChoice(
                    f"there is no {name} {glob!r}; there are {', '.join(sorted(known[name]))}"
                )


def _check_keys(plays: Sequence[Play]) -> None:
    for wire, vendor in dict.fromkeys((play.wire, play.vendor) for play in plays):
        if live_key(wire, vendor) is None:
            variables = " or ".join(WHERE[wire, vendor].key_vars)
            raise UnknownChoice(
                f"no key to record {wire} at {vendor} live: set {variables}, or leave --live away to record "
                "from the strict server."
            )
