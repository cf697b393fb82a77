"""Measures the library against equivalent programs on plain httpx, in one run, and prints one table.

The servers are separate processes. The exit code is 1 if a target is missed.
"""

# ruff: noqa: T201 - it prints
from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

import httpx

from ellmer_core import AssistantTurn, Chat, UserTurn, chat_openai_completions, tool

from .environments import distributions, python_of
from .fast_server import WORDS, serving
from .measure import memory, processes, scaled, side_by_side
from .subjects import HEADERS, KEY, bare, ellmer_core

CHATS = 1000
TOOLS = 20
STRICT = """
from ellmer_conformance.server import StrictServer
server = StrictServer()
server.serve_forever(lambda: print(server.origin, flush=True))
"""
OURS = "import ellmer_core; chat = ellmer_core.chat_openai_completions(model='m', api_key={key!r}, base_url={url!r}, echo='none')"
BARE = "import httpx; client = httpx.Client()"
#: Made for the first HTTPS request; `httpx.Client()` makes one always.
TLS = "import sys; next(m._tls for n, m in sys.modules.items() if n[:11] == 'ellmer_core' and hasattr(m, '_tls'))()"


@dataclass(frozen=True)
class Row:
    """One line of the table; `value` may be at most `target`."""

    what: str
    bare: str
    ours: str
    value: float
    target: float
    unit: str = "×"

    @property
    def met(self) -> bool:
        return self.value <= self.target

    def __str__(self) -> str:
        verdict = "ok" if self.met else "MISSED"
        value = f"{self.value:.2f}{self.unit}" if self.unit == "×" else f"{self.value:.0f}{self.unit}"
        return f"{self.what:<60}{self.bare:>12}{self.ours:>12}{value:>11}  ≤ {self.target:g}{self.unit:<6}{verdict}"


def run(options: Namespace) -> int:
    """Prints the table and returns the exit code."""
    missed = 0
    print(f"{'':<60}{'bare httpx':>12}{'ellmer_core':>12}{'':>11}  target")
    with serving() as url:
        for row in rows(url, 1 if options.quick else 5):
            print(row, flush=True)
            missed += not row.met
    return 1 if missed else 0


def rows(url: str, times: int) -> Iterator[Row]:
    """Yields all measurements, in order."""
    python = python_of("ellmer_core", ".")
    yield from imports(python, url, times)
    yield memories(python)
    installed = len(distributions(python))
    yield Row("distributions of the base install", "", str(installed), installed, 13, "")
    yield from conversations(url, times)
    yield from histories(url, times)
    yield from scaling(python, url)
    yield crowd(times)


def imports(python: str, url: str, times: int) -> Iterator[Row]:
    """Measures whole processes, without the time of an empty one."""
    ours, post = OURS.format(url=f"{url}/v1", key=KEY), f"client.post({url!r}, json={{}})"
    codes = {
        "": ("import httpx", "import ellmer_core; ellmer_core.Chat"),
        ", and a client, a chat": (BARE, ours),
        ", and an answer": (f"{BARE}; {post}", f"{ours}; chat.chat('Hi')"),
        ", and an answer over HTTPS": (f"{BARE}; {post}", f"{ours}; chat.chat('Hi'); {TLS}"),
    }
    nothing, *seconds = processes(
        python, ["", *(code for pair in codes.values() for code in pair)], 6 * times
    )
    for place, what in enumerate(codes):
        theirs, mine = (seconds[2 * place + n] - nothing for n in (0, 1))
        yield Row(f"import{what}", ms(theirs), ms(mine), mine / theirs, 1.3)


def conversations(url: str, times: int) -> Iterator[Row]:
    """Yields one call, and a stream read to its end."""
    (turn, stream), (our_turn, our_stream) = bare(url), ellmer_core(url)
    assert turn() == our_turn() == "Hello."
    assert stream() == our_stream() == "".join(WORDS)
    theirs, mine = side_by_side([turn, our_turn], 200 * times)
    yield Row("a turn", us(theirs), us(mine), mine / theirs, 1.3)
    yield with_tools(url, times)
    theirs, mine = side_by_side([stream, our_stream], 10 * times)
    yield Row(f"a stream of {len(WORDS):,} words", ms(theirs), ms(mine), mine / theirs, 1.5)


def with_tools(url: str, times: int) -> Row:
    """Measures a turn with registered tools, against a program that posts the same prepared bytes."""
    chat = chat_openai_completions(model="gpt-4.1", api_key=KEY, base_url=f"{url}/v1", echo="none")
    for n in range(TOOLS):
        chat.register_tool(tool(weather, name=f"weather_{n}"))
    ready = as_bytes(chat.wire.request([UserTurn("Hi")], [*chat.get_tools().values()]).json)

    def turn() -> str:
        chat.set_turns([])
        return chat.chat("Hi")

    theirs, mine = side_by_side([posting(url, ready), turn], 100 * times)
    return Row(f"a turn with {TOOLS} tools", us(theirs), us(mine), mine / theirs, 1.3)


def weather(
    place: str, days: int = 3, units: Literal["C", "F"] = "C", details: list[str] | None = None
) -> str:
    """Returns the weather at a place.

    Args:
        place: Name of the place.
        days: Number of days.
        units: Units of the temperature.
        details: What else is wanted.
    """
    return f"{place}, {days} days, {units}, {details}"


def histories(url: str, times: int) -> Iterator[Row]:
    """Yields the cost of one turn after many, against a program that posts the same prepared bytes."""
    chat = chat_openai_completions(model="gpt-4.1", api_key=KEY, base_url=f"{url}/v1", echo="none")
    for count in (100, 1000):
        turns = said(count)
        body = as_bytes(asked(chat, turns))

        def turn(turns: list[Any] = turns) -> str:
            chat.set_turns(turns)
            return chat.chat("And now?")

        theirs, mine = side_by_side([posting(url, body), turn], 20 * times)
        size = f"{len(body) // 1024} KB, ready"
        yield Row(f"a turn after {count:,} others ({size})", us(theirs), us(mine), mine / theirs, 1.3)


def posting(url: str, body: bytes) -> Callable[[], Any]:
    """Returns a program that posts the same prepared bytes."""
    client, path = httpx.Client(headers=HEADERS), f"{url}/v1/chat/completions"
    headers = {"content-type": "application/json"}
    return lambda: client.post(path, content=body, headers=headers).json()["choices"][0]


def as_bytes(body: dict[str, Any]) -> bytes:
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()


def said(count: int) -> list[UserTurn | AssistantTurn]:
    return [
        turn for n in range(count // 2) for turn in (UserTurn(f"{n}? " * 30), AssistantTurn(f"{n}. " * 100))
    ]


def asked(chat: Chat, turns: list[UserTurn | AssistantTurn]) -> dict[str, Any]:
    return chat.wire.request([*turns, UserTurn("And now?")]).json


def scaling(python: str, url: str) -> Iterator[Row]:
    """Measures the processor time of many prompts: 100 in progress against 10, and users on forks against users on
    chats.
    """
    cost = scaled(python, "ellmer_core", url)
    for what, few, more in (
        ("CPU of 500 prompts, 100 at once against 10", "10", "100"),
        ("CPU of 200 users on forks, against chats", "chats", "forks"),
    ):
        yield Row(what, ms(cost[few]), ms(cost[more]), cost[more] / cost[few], 1.3)


def memories(python: str) -> Row:
    """Returns the maximum memory of a process, including the interpreter."""
    theirs, mine = memory(python, "import httpx"), memory(python, "import ellmer_core; ellmer_core.Chat")
    return Row("memory after import", f"{theirs:.0f} MB", f"{mine:.0f} MB", mine, 30, " MB")


def crowd(times: int) -> Row:
    """Runs many chats at once on one thread, with our client's limits, against the strict server. None may be lost."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    theirs, mine = [], []
    with serving(sys.executable, "-c", STRICT) as url:
        for _ in range(times):
            theirs.append(asyncio.run(posts(f"{url}/v1"))[0])
            mine.append(asyncio.run(chats(f"{url}/v1")))
    lost = sum(lost for _, lost in mine)
    seconds = median(seconds for seconds, _ in mine)
    return Row(f"{CHATS:,} chats at once, {times} times", ms(median(theirs)), ms(seconds), lost, 0, " lost")


async def chats(url: str) -> tuple[float, int]:
    """Returns the seconds, and the number of chats without an answer."""
    root = chat_openai_completions(model="gpt-4.1", api_key=KEY, base_url=url, echo="none")
    began = time.perf_counter()
    async with root:
        forks = [root.fork() for _ in range(CHATS)]
        texts = await asyncio.gather(*(fork.chat_async("Hi") for fork in forks), return_exceptions=True)
    return time.perf_counter() - began, sum(not isinstance(text, str) or not text for text in texts)


async def posts(url: str) -> tuple[float, int]:
    body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hi"}]}
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=100)
    began = time.perf_counter()
    async with httpx.AsyncClient(headers=HEADERS, limits=limits, timeout=600) as client:
        path = f"{url}/chat/completions"
        answers = await asyncio.gather(
            *(client.post(path, json=body) for _ in range(CHATS)), return_exceptions=True
        )
        texts = [
            a.json()["choices"][0]["message"]["content"] for a in answers if isinstance(a, httpx.Response)
        ]
    return time.perf_counter() - began, CHATS - len(texts)


def ms(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms"


def us(seconds: float) -> str:
    return f"{seconds * 1e6:.0f} us"
