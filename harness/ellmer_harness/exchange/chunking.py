"""Splits a body into chunks for a replay. A client must read the same answer from any chunks.

A framing is named by words, applied from left to right: `every-byte`, `events` (one chunk an event), `whole` (one
chunk), `split:N` (two chunks, cut after N bytes), `random:SEED` (chunks of 1 to 16 bytes), `crlf` and `lf` (the line
ends of an event stream). `every_split` names all the ways to cut a body in two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

from .reply import Reply, cut, event_sizes

__all__ = ["every_split", "framed"]

_EOL = re.compile(rb"\r\n|\n|\r")


def framed(reply: Reply, framing: str | Callable[[Reply], Reply]) -> Reply:
    """Returns the same answer in other chunks. Raises ValueError for an unknown word."""
    if callable(framing):
        return framing(reply)
    for word in framing.split():
        reply = _word(reply, word)
    return reply


def every_split(size: int) -> Iterator[str]:
    """Yields the framings that cut a body of `size` bytes in two, one for each place."""
    return (f"split:{place}" for place in range(1, size))


def _word(reply: Reply, word: str) -> Reply:
    body, (name, _, number) = reply.body, word.partition(":")
    match name:
        case "crlf" | "lf":
            return _line_ends(reply, b"\r\n" if name == "crlf" else b"\n")
        case "every-byte":
            sizes = [1] * len(body)
        case "events":
            sizes = event_sizes(body, reply.content_type)
        case "whole":
            sizes = [len(body)]
        case "split":
            sizes = [min(int(number), len(body)), max(len(body) - int(number), 0)]
        case "random":
            sizes = _random_sizes(len(body), int(number or 0))
        case _:
            raise ValueError(f"{word!r} is not a framing; see ellmer_harness.exchange.chunking")
    return replace(reply, pieces=cut(body, sizes))


def _line_ends(reply: Reply, eol: bytes) -> Reply:
    if "event-stream" not in reply.content_type or any(
        name == "content-encoding" for name, _ in reply.headers
    ):
        return reply
    # A chunk may end between \r and \n: the change is made on the whole, and cut again by event.
    body = _EOL.sub(eol, reply.body)
    return replace(reply, pieces=cut(body, event_sizes(body, reply.content_type)))


def _random_sizes(total: int, seed: int) -> list[int]:
    lots, sizes = Random(seed), list[int]()  # noqa: S311  # to be repeatable, not secret
    while total > 0:
        sizes.append(min(lots.randint(1, 16), total))
        total -= sizes[-1]
    return sizes
