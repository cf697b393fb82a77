"""Plays a case: opens the cassette, drives the adapter, and keeps everything that was observed.

*Replay* (the default) has no server and no network. *Record* routes the vendor's host to the strict server,
or, with a key in the environment, goes live. The adapter sees the same URLs each time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ellmer_harness import Miss, Tape, Unused, use_cassette

from . import rules, wires
from .adapters import Adapter, Session
from .case import Ask, Case, Mode
from .endpoints import WHERE, endpoint, live_key
from .exchange import Exchange, Response
from .neutral import Reply, Tool
from .rule import Verdict
from .rules import behaviour
from .run import Run, ToolRun

__all__ = ["cassette_path", "judge", "play"]


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
) -> Run:
    """One case, one wire format, one mode. `server(case)` gives the strict server's URL to record from."""
    live = tape_mode != "replay" and live_key(wire, vendor) is not None
    stage = _Stage(case, mode, tools=[])
    stage.tools += [_watched(tool, stage.tool_runs) for tool in case.tools]
    session = adapter.session(
        endpoint(wire, vendor, live=live), system=case.system, tools=stage.tools, history=case.history
    )
    routes = {WHERE[wire, vendor].origin: server(case.name)} if server and not live else None
    tape = use_cassette(
        cassette_path(cassettes, wire, vendor, case, mode),
        mode=tape_mode,
        routes=routes,
        recorded_from="live" if live else "strict-server",
        judge=lambda sent: _complaints(sent, vendor),
    )
    with closing(session):
        observed = stage.act(session, tape)
    refused = adapter.capabilities(wire, vendor).refused(case.needs)
    return replace(observed, wire=wire, vendor=vendor, exchanges=[], refused=refused)
