"""The attacks. Each changes a legal answer in the bytes of its wire format, and names what a client must keep under it."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from random import Random
from typing import Any, Literal

from ..contract.rule import Refusal
from ..scenarios.answer import Answer, Call, Say
from ..scenarios.script import Cut
from ..server.chat_apis.base import ChatApi
from ..server.http.messages import Relayed, Reply, plain
from ..server.replies import refuse, render

__all__ = ["ATTACKS", "BOMB", "PLACE", "TEXT", "Attack", "Duty", "Target", "prepare"]

#: What a client must keep under every attack: it ends within its own timeout, does not crash, needs bounded memory, and does
#: not show its key. Under some attacks also: it runs no call, loses no complete answer, or reports that an answer is cut.
Duty = Literal["ends", "survives", "memory", "key", "no-call", "keeps", "reports"]

#: The text of a complete answer.
TEXT = "The answer is forty-two."
#: The argument of a complete call.
PLACE = "Paris, the capital of France"
#: Bytes that a compressed body has when it is unpacked.
BOMB = 320 * 1024 * 1024

_WHOLE = Answer((Say(TEXT),))
_PIECE = 64 * 1024
_SLOWLY = 0.25  # seconds between two bytes
_BINARY = frozenset({"bedrock"})  # whose streams are frames with checksums
_UNMARKED = frozenset({"gemini"})  # whose streams have no end marker


@dataclass(frozen=True)
class Target:
    """The client's request: its chat API, a tool that it declares, its key, and another host of this server."""

    api: ChatApi
    tool: str = "get_weather"
    key: str = ""
    elsewhere: str = ""
    random: Random = field(default_factory=Random)

    @property
    def streamed(self) -> bool:
        """Whether the client asks for a stream."""
        return self.api.ticket.request.stream

    def legal(self, answer: Answer = _WHOLE) -> Reply:
        """Returns a reply without any attack."""
        return render(self.api, answer)

    def call(self, **more: Any) -> Answer:
        """Returns an answer that calls the tool."""
        return Answer((Call(self.tool, {"city": PLACE}, **more),))


@dataclass(frozen=True)
class Attack:
    """A hostile answer of a provider, and what a client must keep under it.

    Args:
        name: Its name, which is part of the URL.
        does: What the provider does, as a sentence.
        reply: Makes the reply to a request.
        duties: What a client must keep besides what it must always keep.
        streamed: Whether only streams (`True`) or only whole bodies (`False`) can be attacked so; `None` for both.
        spared: Wire formats that cannot be attacked so.

    Examples:
        >>> ATTACKS["silence"].applies("anthropic", streamed=True)
        True
    """

    name: str
    does: str
    reply: Callable[[Target], Reply]
    duties: frozenset[Duty] = frozenset()
    streamed: bool | None = None
    spared: frozenset[str] = frozenset()

    def applies(self, wire: str, *, streamed: bool) -> bool:
        """Tells whether it can be run in a wire format, with a stream or without."""
        return wire not in self.spared and self.streamed in {None, streamed}


# --- Cut answers -----------------------------------------------------------------------------------------


def _cut_call(target: Target) -> Reply:
    return render(target.api, Cut(target.call(), "inside-arguments"))


def _reset(target: Target) -> Reply:
    cut = _cut_call(target)
    return replace(cut, ending="reset", length=None if cut.length is None else cut.length + 100)


def _limit(target: Target) -> Reply:
    part = Call(target.tool, {"city": "Par"}, text='{"city": "Par')
    return target.legal(Answer((part,), stop="length"))


def _unended(target: Target) -> Reply:
    return render(target.api, Cut(target.call(), "before-end"))


# --- Data after the end ----------------------------------------------------------------------------------


def _second_answer(target: Target) -> Reply:
    first, second = target.legal(), target.legal(target.call())
    return replace(first, writes=(*first.writes, *second.writes))


def _same_chunk(target: Target) -> Reply:
    reply = _second_answer(target)
    return replace(reply, writes=(reply.body,))


def _garbage(target: Target) -> Reply:
    first = target.legal()
    return replace(first, writes=(first.body + b"data: <html>\n\n{]\n\x00\xff\n\n",))


def _error_after(target: Target) -> Reply:
    first = target.legal()
    error = json.dumps({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    form = "{}\n" if target.api.wire == "ollama" else "event: error\ndata: {}\n\n"
    return replace(first, writes=(first.body + form.format(error).encode(),))


# --- Bombs and endless answers ---------------------------------------------------------------------------


@cache
def _spaces(before: bytes) -> tuple[bytes, Any]:
    """Returns compressed bytes of `before` and `BOMB` spaces, and the compressor, to be copied."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = [packer.compress(before)]
    packed += [packer.compress(b" " * _PIECE) for _ in range(BOMB // _PIECE)]
    return b"".join(packed), packer


def prepare() -> None:
    """Makes the bombs in advance, because a client may not wait for the compressor."""
    for before in (b"", b":", b"{"):
        _spaces(before)


def _bomb(target: Target) -> Reply:
    whole = target.legal()
    before, rest = (b"", b"\n" + whole.body) if target.streamed else (whole.body[:1], whole.body[1:])
    before = b":" if target.streamed and target.api.wire != "ollama" else before
    packed, packer = _spaces(before)
    packer = packer.copy()
    body = packed + packer.compress(rest) + packer.flush()
    return plain(200, (*whole.headers, ("content-encoding", "gzip")), body)


def _nested(target: Target) -> Reply:
    body = target.legal().body
    for _ in range(3):
        body = gzip.compress(body + b" " * 4096, mtime=0)
    headers = (*target.legal().headers, ("content-encoding", ", ".join(["gzip"] * 40)))
    return plain(200, headers, body)


def _endless(chunk: Callable[[Target], Iterator[bytes]]) -> Callable[[Target], Reply]:
    def reply(target: Target) -> Reply:
        whole = target.legal()
        return Relayed(whole.status, whole.headers, chunks=_sent(chunk(target)))

    return reply


async def _sent(chunks: Iterator[bytes]) -> AsyncGenerator[bytes, None]:
    for chunk in chunks:
        yield chunk


def _events(target: Target) -> Iterator[bytes]:
    frames = list(target.api.frames(_WHOLE))
    yield from (frame.data for frame in frames if frame.kind == "open")
    texts = b"".join(frame.data for frame in frames if frame.kind == "text")
    while True:
        yield texts * (_PIECE // len(texts) + 1)


def _line(target: Target) -> Iterator[bytes]:
    yield b'{"text": "' if target.api.wire == "ollama" else b'data: {"text": "'
    while True:
        yield b"a" * _PIECE


def _body(target: Target) -> Iterator[bytes]:
    yield target.legal().body[:1]
    while True:
        yield b" " * _PIECE


def _comments(_: Target) -> Iterator[bytes]:
    while True:
        yield b": still here\n\n" * (_PIECE // 14)


# --- Slow answers ----------------------------------------------------------------------------------------


def _slow(target: Target) -> Reply:
    whole = target.legal()
    body = whole.body * 50 if target.streamed else whole.body[:1] + b" " * 10_000 + whole.body[1:]
    writes = tuple(body[at : at + 1] for at in range(min(len(body), 10_000)))
    return replace(whole, writes=writes, delay=_SLOWLY, length=None)


def _silence(target: Target) -> Reply:
    return replace(target.legal(), writes=(), length=None, ending="stall")


def _pause(target: Target) -> Reply:
    whole = target.legal()
    half = whole.body[: len(whole.body) // 2]
    return replace(whole, writes=(half,), length=None, ending="stall")


# --- Values that no provider sends -----------------------------------------------------------------------


_OTHERS: tuple[Any, ...] = (None, True, -1, 1.5, "", "\ud800", "x", [], {}, [None], {"a": {}}, [[]], 10**30)


def _wrong_types(target: Target) -> Reply:
    whole = target.legal(target.random.choice([_WHOLE, target.call()]))
    if not target.streamed:
        return replace(whole, writes=(_mutated(whole.body, target.random),), length=None)
    chosen = target.random.randrange(len(whole.writes))
    writes = [
        _mutated(write, target.random) if place == chosen or target.random.random() < 0.2 else write
        for place, write in enumerate(whole.writes)
    ]
    return replace(whole, writes=tuple(writes))


def _mutated(text: bytes, random: Random) -> bytes:
    """Returns the bytes with one value of each JSON text in them replaced by another one."""
    lines = text.split(b"\n") if text.lstrip().startswith((b"data:", b"event:")) else [text]
    return b"\n".join(_mutated_line(line, random) for line in lines)


def _mutated_line(line: bytes, random: Random) -> bytes:
    start = line.find(b"{")
    with suppress(ValueError):
        value = json.loads(line[start:])
        places = list(_places(value))
        holder, key = random.choice(places)
        holder[key] = random.choice(_OTHERS)
        return line[:start] + json.dumps(value).encode()
    return line


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    if not isinstance(value, dict | list):
        return
    for key, item in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        yield from _places(item)


def _instead(text: bytes) -> Callable[[Target], Reply]:
    """Returns an attack that sends a text as the body or as the first event."""

    def reply(target: Target) -> Reply:
        whole = target.legal()
        if not target.streamed:
            return plain(200, whole.headers, text)
        event = text + b"\n" if target.api.wire == "ollama" else b"data: " + text + b"\n\n"
        return replace(whole, writes=(event, *whole.writes))

    return reply


def _bad_bytes(target: Target) -> Reply:
    whole = target.legal()
    body = whole.body.replace(b"answer", b"ans\xff\xfe\xedwer")
    return replace(whole, writes=(body,), length=None if whole.length is None else len(body))


def _many_headers(target: Target) -> Reply:
    whole = target.legal()
    return replace(whole, headers=(*whole.headers, *((f"x-{n}", "a" * 1000) for n in range(20_000))))


# --- Keys ------------------------------------------------------------------------------------------------


def _quotes(status: int) -> Callable[[Target], Reply]:
    def reply(target: Target) -> Reply:
        sentence = f"Incorrect API key provided: {target.key}. You sent Authorization: Bearer {target.key}."
        return refuse(target.api, Refusal(sentence, status), (("x-request-id", f"req-{target.key}"),))

    return reply


def _page(target: Target) -> Reply:
    text = f"<html><body>Bad gateway: the upstream refused {target.key}</body></html>"
    return plain(502, [("content-type", "text/html")], text.encode())


def _redirect(target: Target) -> Reply:
    headers = [("content-type", "text/plain"), ("location", f"{target.elsewhere}/stolen/v1")]
    return plain(307, headers, b"")


# --- The list --------------------------------------------------------------------------------------------


_NO_CALL: frozenset[Duty] = frozenset({"no-call", "reports"})
_KEEPS: frozenset[Duty] = frozenset({"keeps", "no-call"})
_MARKED = _BINARY | _UNMARKED

ATTACKS: Mapping[str, Attack] = {
    attack.name: attack
    for attack in (
        Attack(
            "nothing", "It answers as a provider does.", lambda target: target.legal(), frozenset({"keeps"})
        ),
        Attack("cut-call", "The answer ends in the middle of a call's arguments.", _cut_call, _NO_CALL),
        Attack(
            "cut-call-reset",
            "The connection is reset in the middle of a call's arguments.",
            _reset,
            _NO_CALL,
        ),
        Attack("cut-call-limit", "The token limit cuts a call's arguments.", _limit, frozenset({"no-call"})),
        Attack(
            "call-without-end",
            "A stream ends after a whole call, without a stop reason.",
            _unended,
            _NO_CALL,
            streamed=True,
        ),
        Attack(
            "call-after-end",
            "A second answer with a call follows the end marker.",
            _second_answer,
            _KEEPS,
            True,
            _MARKED,
        ),
        Attack(
            "call-after-end-at-once",
            "A second answer with a call arrives in one piece with the first one.",
            _same_chunk,
            _KEEPS,
            True,
            _MARKED,
        ),
        Attack(
            "garbage-after-end",
            "Garbage follows the end marker.",
            _garbage,
            frozenset({"keeps"}),
            True,
            _MARKED,
        ),
        Attack(
            "error-after-end",
            "An error follows the end marker.",
            _error_after,
            frozenset({"keeps"}),
            True,
            _MARKED,
        ),
        Attack("bomb", "320 KB of gzip are 320 MB of spaces.", _bomb, spared=_BINARY),
        Attack("nested-gzip", "A body names forty compressions.", _nested, spared=_BINARY),
        Attack("endless-events", "A stream never ends.", _endless(_events), streamed=True),
        Attack("endless-line", "A line of a stream never ends.", _endless(_line), streamed=True),
        Attack(
            "endless-comments", "A stream has only comments, without end.", _endless(_comments), streamed=True
        ),
        Attack("endless-body", "A body never ends.", _endless(_body), streamed=False),
        Attack("slow-bytes", "One byte arrives every quarter of a second.", _slow),
        Attack("silence", "Nothing follows the headers.", _silence),
        Attack("half", "Nothing follows the first half.", _pause),
        Attack("wrong-types", "Values have other types.", _wrong_types),
        Attack("deep", "100,000 arrays are nested.", _instead(b"[" * 100_000)),
        Attack(
            "long-number", "A number has a million digits.", _instead(b'{"id": ' + b"9" * 1_000_000 + b"}")
        ),
        Attack("bad-bytes", "The text is not UTF-8.", _bad_bytes),
        Attack("many-headers", "The answer has 20 MB of headers.", _many_headers),
        Attack("quoted-key-401", "An error 401 quotes the key.", _quotes(401)),
        Attack("quoted-key-500", "An error 500 quotes the key.", _quotes(500)),
        Attack("quoted-key-page", "A gateway's page quotes the key.", _page),
        Attack("redirect", "The answer redirects to another host.", _redirect),
    )
}
