"""The options of a cassette."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ..errors import CassetteError
from ..exchange.messages import Sent
from ..exchange.reply import Reply
from ..faults import Fault
from ..interception.virtual_clock import Clock
from ..secrets.redaction import Scrub
from ..store import Store
from .matching.request_key import Match
from .stale_recordings.older_than_policy import Policy

__all__ = ["MODES", "Mode", "Options", "Repeat", "chosen_mode", "set_default_mode"]

Mode = Literal["replay", "record", "rewrite", "append", "verify", "live"]
MODES: tuple[Mode, ...] = ("replay", "record", "rewrite", "append", "verify", "live")
_OF_VCRPY = {"once": "record", "new_episodes": "append", "none": "replay", "all": "rewrite"}
Repeat = Literal["error", "last", "cycle"]
Judge = Callable[[list[Sent]], list[str]]
_default: list[str | None] = [None]


def chosen_mode(mode: str | None) -> Mode:
    """Returns the mode. The default is the pytest option, then the environment variable CASSETTE_MODE, then
    `replay`. Raises `CassetteError` for an unknown mode.
    """
    mode = mode or _default[0] or os.environ.get("CASSETTE_MODE") or "replay"
    for known in MODES:
        if known == mode:
            return known
    ours = _OF_VCRPY.get(mode)
    hint = f" ({mode!r} of vcrpy is {ours!r})" if ours else ""
    raise CassetteError(f"{mode!r} is not a cassette mode; the modes are {', '.join(MODES)}{hint}")


def set_default_mode(mode: str | None) -> str | None:
    """Sets the default mode, for the pytest plugin; returns the previous value."""
    before, _default[0] = _default[0], mode
    return before


@dataclass(kw_only=True)
class Options:
    """The keyword arguments of `use_cassette`; `Tape` explains each."""

    mode: Mode | None = None
    routes: Mapping[str, str] | None = None
    recorded_from: str = "live"
    judge: Judge | None = None
    store: Store | str | None = None
    root: Path | str = "."
    scrub: Scrub | None = None
    secrets: Mapping[str, str] | None = None
    not_secret: Sequence[str] = ()
    mask: bool = False
    keep_headers: Sequence[str] = ()
    match: Match = field(default_factory=Match)
    normalize: Callable[[Sent], Sent] | None = None
    before_save: Callable[[dict[str, Any]], dict[str, Any] | None] | None = None
    on_repeat: Repeat = "error"
    metadata: Mapping[str, Any] | None = None
    blobs: Path | str | None = None
    faults: Sequence[Fault | tuple[Fault, ...]] = ()
    framing: str | Callable[[Reply], Reply] | None = None
    delays: Literal["real", "virtual"] | None = None
    virtual_sleep: Sequence[str] = ()
    allow_unused: bool = False
    allow_idle: bool = False
    allow_hosts: Sequence[str] = ()
    accept_encoding: str | None = "identity"
    patchers: Sequence[str] = ()
    run: str = ""
    rerecord: str | None = None
    clock: Clock = field(default_factory=Clock)
    max_age: float | None = None
    policies: Sequence[Policy] = ()
    stale: Literal["ignore", "warn", "error"] | None = None
