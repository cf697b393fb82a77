"""`one.py RECORDER CLIENT FIRST`: each exchange, from the first, without a recorder, recorded, and played. Prints a line of JSON
for each: `[]`, or its name and what the client saw instead."""

# ruff: noqa: PLC0415  # only the recorder that is measured is imported

from __future__ import annotations

import faulthandler
import json
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

from clients import CLIENTS, Client, Outcome
from exchanges import EXCHANGES, Exchange
from harder_exchanges import HARDER
from newest_exchanges import NEWEST
from oddest_exchanges import ODDEST
from server import Server

LONGEST = 90  # seconds; a busy machine needs ten for five megabytes
ALL = [*EXCHANGES, *HARDER, *ODDEST, *NEWEST]
Recorder = Callable[[Path, bool], AbstractContextManager[Any]]


def vcrpy(path: Path, plays: bool) -> AbstractContextManager[Any]:
    """Stock vcrpy."""
    import vcr

    recorder: AbstractContextManager[Any] = vcr.use_cassette(
        f"{path}.yaml", record_mode="none" if plays else "all"
    )
    return recorder


def cassetter(path: Path, plays: bool) -> AbstractContextManager[Any]:
    """Cassetter."""
    from cassetter import use_cassette

    recorder: AbstractContextManager[Any] = use_cassette(
        f"{path}.yaml", record_mode="none" if plays else "all"
    )
    return recorder


def ours(path: Path, plays: bool) -> AbstractContextManager[Any]:
    """This package; cookies are kept, with placeholders."""
    from ellmer_harness import use_cassette

    return use_cassette(
        f"{path}.json", mode="replay" if plays else "rewrite", mask=not plays, allow_idle=True
    )


RECORDERS: dict[str, Recorder] = {"vcrpy": vcrpy, "cassetter": cassetter, "ours": ours}


def main() -> None:
    """Prints how each exchange differs. One that does not end ends the program, which may go on with the next."""
    recorder, client = RECORDERS[sys.argv[1]], CLIENTS[sys.argv[2]]
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        for exchange in ALL[int(sys.argv[3]) :]:
            faulthandler.dump_traceback_later(LONGEST, exit=True)  # some loop where no signal arrives
            print(json.dumps(differs(exchange, recorder, client, server, Path(folder))), flush=True)  # noqa: T201 - it is its answer


def differs(
    exchange: Exchange, recorder: Recorder, client: Client, server: Server, folder: Path
) -> list[str]:
    """How the recording or the replay differs from what the client sees without a recorder; nothing if neither does."""
    path = folder / str(ALL.index(exchange))
    ask = partial(client, exchange, server.serve(exchange))
    for name in ("http_proxy", "no_proxy"):
        os.environ.pop(name, None)
    os.environ.update(server.proxy)
    expected = ask()
    server.serve(exchange)
    recorded = _under(recorder(path, False), ask)
    server.serve(exchange)
    seen = recorded if isinstance(recorded, str) else _under(recorder(path, True), ask)
    if server.run.asked:
        seen = f"the replay sent {server.run.asked} requests to the server"
    for what, found in (("recorded", recorded), ("replayed", seen)):
        if found != expected:
            return [exchange.name, f"{what}: {_difference(found, expected)}"]
    return []


def _under(cassette: AbstractContextManager[Any], ask: Callable[[], list[Outcome]]) -> Any:
    try:
        with cassette:
            return ask()
    except BaseException as error:  # noqa: BLE001  # some recorders raise what is no Exception
        return f"{type(error).__name__}: {error}"[:200]


def _difference(seen: Any, expected: list[Outcome]) -> str:
    if not isinstance(seen, list):
        return str(seen)
    pairs = [
        pair
        for mine, theirs in zip(seen, expected, strict=True)
        for pair in zip(Outcome._fields, mine, theirs, strict=True)
    ]
    return "; ".join(
        f"{name} {str(mine)[:200]} for {str(theirs)[:200]}" for name, mine, theirs in pairs if mine != theirs
    )


if __name__ == "__main__":
    main()
