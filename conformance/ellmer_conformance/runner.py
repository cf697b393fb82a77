"""Plays a case: opens the cassette, drives the adapter, and keeps everything that was observed.

*Replay* (the default) has no server and no network. *Record* routes the vendor's host to the strict server,
or, with a key in the environment, goes live. The adapter sees the same URLs each time.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from ellmer_harness import CassetteError, Refused, SecretFound, use_cassette
from ellmer_harness import Exchange as Taped

from . import wires
from .adapters import Adapter
from .case import Case, Mode
from .endpoints import endpoint, live_key, place_of
from .judging import complaints, exchange
from .retired import pytest_cassette_stale
from .run import Run, Trouble, Varied
from .show import NotTestable, Show, declared_refusals, opened, without_waiting
from .travel import framing

__all__ = ["attempt", "cassette_path", "observed", "our_trouble", "play"]


def cassette_path(wire: str, vendor: str, case: Case, mode: Mode) -> Path:
    """`<wire>/<vendor>/<case>.json`; streamed answers, being other answers, have a file of their own."""
    stream = ".stream" if "stream" in mode else ""
    return Path(wire, vendor, f"{case.recorded_as}{stream}.json")


def play(
    adapter: Adapter,
    wire: str,
    vendor: str,
    case: Case,
    mode: Mode,
    *,
    cassettes: Path,
    record: bool = False,
    server: Callable[[str], str] | None = None,
) -> Run:
    """One case, one wire format, one mode. `server(case)` gives the strict server's URL to record from.

    Raises NotTestable where the adapter is why there is nothing to judge; other errors are the harness's.
    """
    place = place_of(adapter, wire, vendor)
    live = record and live_key(place) is not None
    where = cassette_path(wire, vendor, case, mode)
    refused = declared_refusals(adapter, wire, vendor, case)
    options: dict[str, Any] = {
        "mode": "rewrite" if record else "replay",
        "blobs": cassettes / "blobs",
        "routes": {place.origin: f"{server(case.name)}@{vendor}"} if server and not live else None,
        "recorded_from": "live" if live else "strict-server",
        "judge": lambda sent: [*complaints(wire, vendor, sent)],
        "policies": [pytest_cassette_stale],
        "allow_idle": bool(refused),  # a refusal may come before any request
        "rerecord": f"conformance record --wire {wire} --vendor {vendor} --case {case.recorded_as}",
    }

    def perform(**more: Any) -> Run:
        show = Show(case, mode)
        where_to = replace(endpoint(place, wire, vendor, live=live), max_retries=case.max_retries)
        sessions = opened(adapter, where_to, case, show.tools, case.history)
        with nullcontext() if live else without_waiting(adapter) as waits:
            taped = show.perform(sessions, use_cassette(cassettes / where, **options | more))
        return observed(
            show,
            wire,
            vendor,
            taped,
            refused=refused,
            replayed=not record,
            misses=show.misses,
            unplayed=show.unplayed,
            cassette=where.as_posix(),
            recorded_from=show.recorded_from,
            waits=waits,
        )

    run = perform()
    return run if record or refused else replace(run, varied=_varied(run, perform))


def _varied(run: Run, perform: Callable[..., Run]) -> list[Varied]:
    """The same under each variation of the case."""
    return [
        Varied(one, perform(framing=framing(one, run.wire), allow_unused=True, allow_idle=True))
        for one in run.variations
    ]


def observed(show: Show, wire: str, vendor: str, taped: Sequence[Taped], **more: Any) -> Run:
    """A performance as a value for the rules."""
    return Run(
        case=show.case,
        wire=wire,
        vendor=vendor,
        mode=show.mode,
        reloaded=show.reloaded,
        exchanges=[
            exchange(wire, vendor, one) for one in taped if not wires.is_beside(one.sent.method, one.sent.url)
        ],
        replies=show.replies,
        tool_runs=show.tool_runs,
        transcript=show.transcript,
        **more,
    )


def attempt(adapter: Adapter, wire: str, vendor: str, case: Case, mode: Mode, **where: Any) -> Run:
    """`play`; what prevents a judgement is the run's trouble. A recording that is refused is still raised."""
    if case.on_server:
        from .direct import play_alone  # noqa: PLC0415 - replay needs no server

        return play_alone(adapter, wire, vendor, case, mode)
    try:
        return play(adapter, wire, vendor, case, mode, **where)
    except (Refused, SecretFound):
        raise
    except NotTestable as error:
        trouble = Trouble(str(error), ours=False)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is ours, and one play's
        trouble = our_trouble(error)
    return Run(case, wire, vendor, mode, trouble=trouble)


def our_trouble(error: Exception) -> Trouble:
    """A fault of the suite or the harness, with the place it comes from."""
    if isinstance(error, CassetteError):
        return Trouble(str(error), ours=True)
    frames = traceback.format_exception(error)[-3:]
    return Trouble(f"{type(error).__name__}: {error}\n{''.join(frames)}", ours=True)
