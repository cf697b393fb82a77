"""The strict server's replies to the official SDKs, and their results, in neutral terms."""

import itertools
from contextlib import contextmanager
from dataclasses import dataclass

from ellmer_conformance.scenarios.script import Answer, Call, Failure, Say, Script, Think, Usage
from ellmer_conformance.server import StrictServer

PARIS, OSLO = Call("get_weather", {"city": "Pařiž 🗼"}), Call("get_weather", {"city": "Oslo", "days": [1, 2]})
ANSWERS = {
    "text": Answer((Say("Bonjour, 世界! 👩‍👩‍👧 All is well."),), usage=Usage(21, 13, 8)),
    "nothing": Answer((), usage=Usage(21, 0)),
    "thinking": Answer((Think("They greet me. I greet them."), Say("Hello.")), usage=Usage(21, 40, 0, 30)),
    "call": Answer((PARIS,), usage=Usage(60, 20)),
    "parallel": Answer((Say("Two cities."), PARIS, OSLO), usage=Usage(60, 44)),
    "no-arguments": Answer((Call("now"),)),
    "length": Answer((Say("Once upon a"),), stop="length", usage=Usage(9, 3)),
}
FAILURES = {kind: Failure(kind) for kind in ("overloaded", "server-error", "rate-limit", "context-length")}
TOOLS = {
    "get_weather": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "now": {"type": "object", "properties": {}},
}


@dataclass
class Heard:
    """An SDK's result of a reply, in neutral terms."""

    text: str
    thoughts: str
    calls: list
    stop: str
    usage: Usage


@contextmanager
def serving(steps):
    """The server with a script of each step, which counts the runs."""
    with StrictServer({name: Script((step,)) for name, step in steps.items()}) as server:
        server.nonces = map(str, itertools.count())
        yield server
