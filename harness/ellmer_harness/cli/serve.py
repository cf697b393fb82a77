"""replay a cassette on a port of this machine, for subprocesses and other languages

The command prints the address, and answers until you stop it. Path and query of a request must be those of a
recorded URL; the host does not matter. The answer of https://api.example.com/v1/chat is at
http://127.0.0.1:8123/v1/chat. A request that was not recorded gets a 404 with the nearest recorded request.
The exit code is then 1. Calls of gRPC and conversations over WebSockets are not replayed.
"""

from __future__ import annotations

import argparse
import signal
from pathlib import Path
from queue import SimpleQueue

from ..cassette.request_key import Match
from ..serving import serving
from ._terminal import complain, counted, say


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments of the command."""
    parser.add_argument(
        "path", type=Path, metavar="CASSETTE", help="a cassette, or a recording of another tool"
    )
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, default=0, help="the port (default: any free port)")
    parser.add_argument(
        "--repeat",
        choices=("cycle", "last", "error"),
        default="cycle",
        help="the answer to a request whose recordings have all been used: `cycle` starts again from the first, `last` repeats the last one, `error` answers with an error (default: cycle)",
    )
    parser.add_argument("--delays", action="store_true", help="wait between chunks as long as recorded")
    parser.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="POINTER",
        help="ignore this part of requests: /metadata/user_id of the body, ?beta of the URL",
    )


def run(options: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    over = SimpleQueue[
        None
    ]()  # an event, unlike it, can wait for itself if the signal arrives while it begins to wait
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.put(None))
    match = Match(ignore=tuple(options.ignore))
    played = {"on_repeat": options.repeat, "delays": "real" if options.delays else None, "match": match}
    with serving(options.path, host=options.host, port=options.port, **played) as server:
        count = len(server.cassette.index or ())
        say(f"{server.url} replays {counted(count, 'interaction')} of {options.path}; Ctrl-C ends it")
        over.get()
    for miss in server.missed:
        complain(miss)
    return 1 if server.missed else 0
