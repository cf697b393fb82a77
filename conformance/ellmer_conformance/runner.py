"""Plays a case: opens the cassette, drives the adapter, and turns what was observed into verdicts.

*Replay* (the default) has no server and no network. *Record* routes the vendor's host to the strict server,
or, with a key in the environment, goes live. The adapter sees the same URLs each time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ellmer_harness import Miss, Tape, Unused, use_cassette

from . import rules, wires
from .adapters import Adapter, Session
from .case import Ask, Case, Mode
from .endpoints import WHERE, endpoint, live_key
from .exchange import Exchange, Response
from .neutral import Reply, Tool
from .rule import Kind, Level, Rule, Verdict, Violation, broken, verdict
from .rules import behaviour
from .run import Run, ToolRun

__all__ = ["Played", "cassette_path", "play"]


@dataclass(frozen=True)
class Played:
    """A run, what the rules say of it, and where its cassette came from."""

    run: Run
    verdicts: list[Verdict]
    recorded_from: str


def cassette_path(root: Path, wire: str, vendor: str, case: Case, mode: Mode) -> Path:
    """`<root>/<wire>/<vendor>/<case>.json`; streamed answers, being other answers, have a file of their own."""
    stream = ".stream" if "stream" in mode else ""
    return root / wire / vendor / f"{case.name}{stream}.json"


def play(
    adapter: Adapter,
    wire: str,
    vendor: str,
    case: Case,
    mode: Mode,
    *,
    cassettes: Path,
    tape_mode: str = "replay",
    server: Callable[[str], str] | None = None,
) -> Played:
    """One case, one wire format, one mode. `server(case)` gives the strict server's URL when recording."""
    path = cassette_path(cassettes, wire, vendor, case, mode)
    live = tape_mode != "replay" and live_key(wire, vendor) is not None
    place = WHERE[wire, vendor]
    routes = {place.origin: server(case.name)} if server and not live and tape_mode != "replay" else None
    tools, tool_runs = _watched(case.tools)
    spoiled: list[str] = []
    with _tape(path, tape_mode, routes, spoiled, live=live, wire=wire, vendor=vendor) as tape:
        session = adapter.session(
            endpoint(wire, vendor, live=live), system=case.system, tools=tools, history=case.history
        )
        with closing(session):
            replies = [_send(session, step, mode, spoiled) for step in case.steps]
            transcript = session.transcript()
    run = Run(
        case=case,
        wire=wire,
        vendor=vendor,
        mode=mode,
        exchanges=exchanges_of(tape, vendor),
        replies=replies,
        tool_runs=tool_runs,
        transcript=transcript,
        refused=adapter.capabilities(wire, vendor).refused(case.needs),
    )
    return Played(run, judge(run, spoiled), tape.recorded_from)
