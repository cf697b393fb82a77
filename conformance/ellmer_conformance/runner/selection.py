"""Selects the runs: adapters × wire formats × providers × cases × modes, narrowed by filters."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from importlib import import_module
from operator import attrgetter
from shutil import which
from typing import TYPE_CHECKING, Any, Literal, cast
from zlib import crc32

from ..adapters import Adapter, Capabilities, registered
from ..adapters.endpoints import PROVIDER_ADDRESSES, address_of, live_key
from ..contract.readers import MODULES
from ..scenarios import combinations as by_combination
from ..scenarios.case import MODES, Case, Mode
from ..scenarios.cases import all_cases

if TYPE_CHECKING:
    from .command import Driver

#: Which combinations are played beside the hand-written cases: none, the usual ones, or a whole covering array.
Combinations = Literal["none", "usual", "all"]


# --- Cases that are not played ---------------------------------------------------------------------------


_NAMED = 5  # cases by name, for each reason


def why_not(adapter: Adapter, wire: str, provider: str, case: Case, *, record: bool) -> str:
    """Returns the reason why the adapter does not run the case there, or `""`. A command declares its supported
    features.

    A case that uses another case's recording, or none, is not recorded.
    """
    if record and case.recording:
        return f"it uses the recordings of {case.recording}"
    if record and case.on_server:
        return "it runs only against the strict server, and is never recorded"
    if cannot := case.why_not(wire, provider):
        return cannot
    if not case.everywhere and (wire, provider) not in PROVIDER_ADDRESSES:
        return "it runs only at the provider that defined the wire format"
    own = getattr(adapter, "why_not", None)
    return own(case) if own else ""


def why_not_in(mode: Mode, modes: Sequence[Mode], case: Case, wire: str) -> str:
    """Returns the reason why it is not run in a mode, if the adapter has these modes, or `""`."""
    if mode not in modes:
        return f"it runs only in the modes {', '.join(modes)}"
    return "" if case.shows(wire, mode) else f"it tests nothing in the mode {mode}"


def nothing_left(reasons: Iterable[tuple[str, str]]) -> str:
    """Returns the message if nothing can be run: each reason once, with its cases."""
    cases: dict[str, dict[str, None]] = {}
    for case, reason in reasons:
        cases.setdefault(reason, {})[case] = None
    return "\n".join(["nothing is left to run:", *(_line(reason, list(at)) for reason, at in cases.items())])


def _line(reason: str, cases: Sequence[str]) -> str:
    more = len(cases) - _NAMED
    return f"- {', '.join(cases[:_NAMED])}{f' and {more} more' if more > 0 else ''}: {reason}"


# --- The selection ---------------------------------------------------------------------------------------


FILTERS = ("wire", "provider", "case", "mode")
OURS = "ellmer-core"
_ELSEWHERE = " The bridges to other libraries are in the repository: install its folder conformance/peers, or run this in a clone."
_PARTS = ("name", "wires", "capabilities", "session")  # of an adapter


class UnknownChoice(LookupError):
    """A name that matches nothing. The message lists the known names."""


@dataclass(frozen=True)
class Play:
    """One test: its adapter, provider, case and mode. `frozen` says that its transcripts are snapshots.

    `asked` is the name with which `find_adapter` finds the adapter again.
    """

    adapter: Adapter
    wire: str
    provider: str
    case: Case
    mode: Mode
    frozen: bool
    asked: str

    @property
    def id(self) -> str:
        """The test's id, which `-k` matches."""
        return f"{self.adapter.name}/{self.wire}/{self.provider}/{self.case.name}[{self.mode}]"


def select(
    names: Sequence[str],
    wanted: Mapping[str, Sequence[str]],
    *,
    record: bool = False,
    live: bool = False,
    combinations: Combinations = "usual",
    every_mode: bool = False,
    seconds: float | None = None,
) -> list[Play]:
    """Returns all selected runs. A command has `seconds` for its declaration. Raises UnknownChoice for a filter that matches
    nothing.
    """
    adapters = {name: find_adapter(name, seconds=seconds) for name in names or [OURS]}
    how: dict[str, Any] = {"record": record, "live": live, "combinations": combinations}
    return plays_of(adapters, wanted, **how, every_mode=every_mode)


def plays_of(
    adapters: Mapping[str, Adapter],
    wanted: Mapping[str, Sequence[str]],
    *,
    record: bool = False,
    live: bool = False,
    combinations: Combinations = "usual",
    every_mode: bool = False,
) -> list[Play]:
    """Returns the selected runs of adapter objects, under names that find them again. Raises UnknownChoice with the
    reason if nothing is left.

    Unless providers or modes are chosen, or `every_mode` is set, the further providers of a wire format get half of the modes.
    """
    _check_filters(wanted, list(adapters.values()))
    wanted = _at_home(wanted, adapters.values())
    left: list[tuple[str, str]] = []
    plays = [
        play
        for name, adapter in adapters.items()
        for play in _plays(adapter, name, wanted, record, left, combinations)
    ]
    if not plays:
        raise UnknownChoice(nothing_left(left))
    if live:
        _check_keys(plays)
    narrowed = record or wanted.get("provider") or wanted.get("mode")
    return plays if every_mode or narrowed else [*_in_usual_modes(plays)]


def _in_usual_modes(plays: Sequence[Play]) -> Iterator[Play]:
    """Yields the runs at the provider of each wire format (its own, or the adapter's first) in every mode, and those at further
    providers in one whole and one streamed mode, of which one is async.
    """
    firsts: dict[tuple[str, str], str] = {}
    for play in plays:
        home = MODULES[play.wire].PROVIDER if play.wire in MODULES else ""
        at = firsts.setdefault((play.asked, play.wire), play.provider)
        firsts[play.asked, play.wire] = home if play.provider == home else at
    modes: dict[tuple[str, str, str, str], list[Mode]] = {}
    for play in plays:
        modes.setdefault((play.asked, play.wire, play.provider, play.case.name), []).append(play.mode)
    for play in plays:
        there = modes[play.asked, play.wire, play.provider, play.case.name]
        first = firsts[play.asked, play.wire] == play.provider
        if first or play.mode in _alternately(there, f"{play.provider}/{play.case.name}"):
            yield play


def _alternately(modes: Sequence[Mode], name: str) -> tuple[Mode, ...]:
    """Returns a whole mode and a streamed one, if there are both. The name decides which of them is async."""
    whole: Sequence[Mode] = [mode for mode in modes if "stream" not in mode]
    streamed: Sequence[Mode] = [mode for mode in modes if "stream" in mode]
    ends = (0, -1) if crc32(name.encode()) % 2 else (-1, 0)
    return tuple(side[end] for side, end in zip((whole, streamed), ends, strict=True) if side)


def find_adapter(name: str | Adapter | Callable[[], Adapter], *, seconds: float | None = None) -> Adapter:
    """Returns an adapter by its name (an entry point of the group `ellmer_conformance.adapters`, or a bridge of this
    clone), as `package.module:name`, or as a command (`command:node driver.mjs`). An adapter object, its class or its
    factory is accepted, too. A command has `seconds` for its declaration, a minute by default.
    """
    target: Any
    if not isinstance(name, str):
        target = name
    elif name.startswith("command:"):
        target = _driver(name.removeprefix("command:"), seconds)
    elif ":" in name:
        module, _, attribute = name.partition(":")
        target = _imported(name, module, attribute)
    else:
        module, _, attribute = _registered(name).partition(":")
        target = _imported(name, module, attribute)
    return _adapter(name, target)


def _registered(name: str) -> str:
    """Returns the `package.module:name` of an adapter of an installed package, or of this clone. Raises UnknownChoice."""
    installed, bridges = registered.installed(), registered.bridges()
    if name in bridges:
        sys.path.append(str(registered.PEERS))
        return bridges[name]
    if name in installed:
        return installed[name]
    there_are = ", ".join(sorted({*installed, *bridges}))
    raise UnknownChoice(
        f"there is no adapter {name!r}{did_you_mean(name, [*installed, *bridges])}; the adapters are {there_are}. "
        f"Give package.module:name for one that is not installed.{'' if bridges else _ELSEWHERE}"
    )


def inexpressible(played: Iterable[tuple[str, str]]) -> Iterator[dict[str, str]]:
    """Yields the cases that these wire formats cannot express, each with the adapter and the reason."""
    for adapter, wire in played:
        for case in all_cases().values():
            for place, reason in case.inexpressible.items():
                if place.partition("/")[0] == wire:
                    yield {"adapter": adapter, "wire": place, "case": case.name, "reason": reason}


def left_out(
    played: Iterable[tuple[str, str]], named: Mapping[str, str], *, seconds: float | None = None
) -> Iterator[dict[str, str]]:
    """Yields the cases that a command's protocol cannot express, with reasons. Commands that declare support run
    them. A command has `seconds` for its declaration.
    """
    for name, wire in played:
        asked = named.get(name, "")
        driver: Any = find_adapter(asked, seconds=seconds) if asked.startswith("command:") else None
        for case, reason in driver.left_out().items() if driver else ():
            if wire not in all_cases()[case].inexpressible:  # already reported
                yield {"adapter": name, "wire": wire, "case": case, "reason": reason}


def _imported(name: str, module: str, attribute: str) -> Any:
    """Returns the object that `package.module:name` names. Raises UnknownChoice."""
    found: Any = None
    try:
        found = import_module(module)
        return attrgetter(attribute)(found)
    except ImportError as error:
        raise UnknownChoice(
            f"the adapter {name!r} cannot be imported: {error}. Run this in the folder of the module, or install its library."
        ) from error
    except AttributeError as error:
        near = did_you_mean(attribute, vars(found)) if found else ""
        raise UnknownChoice(f"the adapter {name!r} cannot be imported: {error}{near}") from error
    except (TypeError, ValueError) as error:  # what `import_module` says to `./lib.py`
        raise UnknownChoice(
            f"the adapter {name!r} cannot be imported: {error}. Give package.module:name."
        ) from error


def _driver(command: str, seconds: float | None) -> Driver:
    """Returns a command as an adapter. Raises UnknownChoice if there is none."""
    try:
        program = next(iter(shlex.split(command)), "")
    except ValueError as error:
        raise UnknownChoice(f"the command {command!r} cannot be read: {error}") from error
    from .command import DeclaredWrongly, Driver  # noqa: PLC0415 - only a command needs it, and the strict server

    if which(program) is None:
        raise UnknownChoice(f"the command {command!r} cannot be run: there is no program {program!r}")
    driver = Driver(command) if seconds is None else Driver(command, timeout=seconds)
    try:
        driver.declared  # noqa: B018 - asked now, so that a wrong declaration is a wrong choice
    except DeclaredWrongly as error:
        raise UnknownChoice(
            f"the command {command!r} declares its capabilities incorrectly: {error}"
        ) from error
    return driver


def _adapter(name: object, target: Any) -> Adapter:
    """Returns the adapter, or the one that a class or function makes. Raises UnknownChoice for other objects."""
    try:
        adapter = target() if callable(target) else target
    except Exception as error:
        problem = f"the adapter {name!r} cannot be made without arguments: {type(error).__name__}: {error}"
        raise UnknownChoice(problem) from error
    missing = [part for part in _PARTS if not hasattr(adapter, part)]
    if missing:
        raise UnknownChoice(f"{name!r} is not an adapter: it has no {', no '.join(missing)}")
    return cast("Adapter", adapter)


def _plays(  # noqa: PLR0917 - a step of `plays_of`
    adapter: Adapter,
    asked: str,
    wanted: Mapping[str, Sequence[str]],
    record: bool,
    left: list[tuple[str, str]],
    combinations: Combinations,
) -> Iterator[Play]:
    """Yields the runs of an adapter. Requested cases that are not run are added to `left` with the reason."""
    for wire, provider in [
        (wire, provider)
        for wire, providers in adapter.wires.items()
        for provider in providers
        if _wanted(wanted, wire=wire, provider=provider)
    ]:
        able = _modes(adapter.capabilities(wire, provider), record=record)
        own = getattr(adapter, "modes_of", None)  # a command knows its modes by the case
        combined = _combined(adapter, wire, provider, wanted, combinations) if not record else []
        for case in [*all_cases().values(), *combined]:
            if not _wanted(wanted, case=case.name):
                continue
            modes = own(case) if own else able
            never = why_not(adapter, wire, provider, case, record=record)
            for mode in dict.fromkeys((*modes, *MODES)):
                if not _wanted(wanted, mode=mode):
                    continue
                if reason := never or why_not_in(mode, modes, case, wire):
                    left.append((case.name, reason))
                else:
                    yield Play(adapter, wire, provider, case, mode, asked == OURS, asked)


def _combined(
    adapter: Adapter,
    wire: str,
    provider: str,
    wanted: Mapping[str, Sequence[str]],
    combinations: Combinations,
) -> list[Case]:
    """Returns the cases by combination that are run at a provider: those that a filter names, or the selection."""
    if named := [case for name in wanted.get("case", ()) if (case := by_combination.case_named(name))]:
        return named
    if combinations == "none" or (wire, provider) not in PROVIDER_ADDRESSES:
        return []
    able = adapter.capabilities(wire, provider)
    modes = ["sync", "stream"] if hasattr(adapter, "modes_of") else _modes(able, record=False)
    values = by_combination.possible_values(wire, modes, lambda need: bool(able.refused([need])))
    rows = by_combination.usual(values) if combinations == "usual" else by_combination.covering(values)
    return list({case.name: case for case in map(by_combination.combined, rows)}.values())


def _at_home(wanted: Mapping[str, Sequence[str]], adapters: Iterable[Adapter]) -> Mapping[str, Sequence[str]]:
    """Returns the filters. A wire format without a provider gets its own provider, if an adapter has it."""
    if not wanted.get("wire") or wanted.get("provider"):
        return wanted
    spoken = {
        (wire, provider) for each in adapters for wire, names in each.wires.items() for provider in names
    }
    asked = {wire for wire, _ in spoken if _matches(wire, wanted["wire"])}
    homes = [MODULES[wire].PROVIDER for wire in asked if wire in MODULES]
    at_home = all(any((wire, provider) in spoken for provider in homes) for wire in asked)
    return {**wanted, "provider": sorted(set(homes))} if at_home else wanted


def _wanted(wanted: Mapping[str, Sequence[str]], **place: str) -> bool:
    return all(_matches(value, wanted.get(name, ())) for name, value in place.items())


def _matches(value: str, globs: Sequence[str]) -> bool:
    return not globs or any(fnmatchcase(value, glob) for glob in globs)


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Returns the names that look like a name, as an addition to a message; an empty string if none does."""
    near = get_close_matches(name, sorted({*names}), n=2, cutoff=0.6)
    return f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""


def _modes(able: Capabilities, *, record: bool) -> list[Mode]:
    """Returns the modes to run. For a recording, it is one for each cassette, because sync and async share theirs."""
    modes: list[Mode] = [mode for mode in MODES if mode in able.modes]
    ways: dict[bool, Mode] = {"stream" in mode: mode for mode in reversed(modes)}
    return list(ways.values()) if record else modes


def _check_filters(wanted: Mapping[str, Sequence[str]], adapters: Sequence[Adapter]) -> None:
    choices: dict[str, set[str]] = {
        "wire": {wire for adapter in adapters for wire in adapter.wires},
        "provider": {v for adapter in adapters for providers in adapter.wires.values() for v in providers},
        "case": {*all_cases(), *by_combination.DEFAULT},
        "mode": set(MODES),
    }
    for name, globs in wanted.items():
        for glob in globs:
            if name == "case" and by_combination.case_named(glob):
                continue
            if not any(fnmatchcase(value, glob) for value in choices[name]):
                raise UnknownChoice(_not_there(name, glob, choices[name]))


def _not_there(name: str, glob: str, choices: Iterable[str]) -> str:
    """Returns the message about a name that is none of the choices. The cases are too many to be listed."""
    near = did_you_mean(glob, choices)
    if name == "case":
        return f"there is no case {glob!r}{near}; `conformance serve --list-cases` lists them"
    return f"there is no {name} {glob!r}{near}; there are {', '.join(sorted(choices))}"


def _check_keys(plays: Sequence[Play]) -> None:
    for play in plays:
        place = address_of(play.adapter, play.wire, play.provider)
        if live_key(place) is None:
            variables = " or ".join(place.key_vars)
            raise UnknownChoice(
                f"there is no key to record {play.wire} at {play.provider} live: set {variables}, or record from the strict server without --live."
            )
