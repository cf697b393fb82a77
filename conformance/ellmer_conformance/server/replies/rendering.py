"""Renders a step of a script as the bytes of a reply, in a dialect."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import takewhile

from ...contract.rule import Refusal
from ...contract.rules import book
from ...scenarios.script import Answer, Call, Cut, Delivery, Failure, Step
from ...scenarios.variations import VariedAnswer, variation
from ..dialects.base import Dialect, Frame, arguments_text
from ..http.reply import Headers, Reply, deliver, plain
from .answer_choice import chosen

__all__ = ["refuse", "render"]


def render(dialect: Dialect, step: Step) -> Reply:
    """Returns the reply to a valid request."""
    match step:
        case Cut():
            return _cut(dialect, step)
        case Failure():
            return _fail(dialect, step)
        case Delivery():
            return deliver(_varied(render(dialect, step.step), dialect.wire, step.variation), step)
        case _:
            return _answer(dialect, chosen(step, dialect.ticket.request))


def refuse(dialect: Dialect, refusal: Refusal, more: Headers = ()) -> Reply:
    """Returns the provider's error status and body."""
    # some share a dialect, and have their own envelope
    vendor = dialect.ticket.request.vendor or dialect.vendor
    kind, body = book(dialect.wire, vendor).envelope(refusal)
    headers = dict(dialect.headers(stream=False)) | dict(kind) | dict(more)
    return plain(refusal.status, tuple(headers.items()), body)


def _answer(dialect: Dialect, answer: Answer) -> Reply:
    if dialect.ticket.request.stream:
        return _stream(dialect, data(dialect.frames(answer)))
    return plain(200, dialect.headers(stream=False), dialect.body(answer))


def _stream(dialect: Dialect, writes: Sequence[bytes]) -> Reply:
    return Reply(200, dialect.headers(stream=True), writes)


def _fail(dialect: Dialect, step: Failure) -> Reply:
    if step.after is None or step.kind == "context-length" or not dialect.ticket.request.stream:
        return refuse(dialect, dialect.failures[step.kind], dialect.retry.get(step.kind, ()))
    before = dialect.unended(step.after)
    while before and before[-1].kind == "close":  # it fails in the middle of its last part
        before.pop()
    writes = data(before) + list(dialect.broken(step.kind, before))
    return _stream(dialect, writes)


def _varied(reply: Reply, wire: str, name: str) -> Reply:
    """Returns the reply under the variation of that name, or unchanged if the name is empty."""
    if not name:
        return reply
    before = VariedAnswer(wire, reply.status, dict(reply.headers), tuple(reply.writes), reply.ending)
    after = variation(name).change(before)
    return replace(
        reply,
        status=after.status,
        headers=tuple(after.headers.items()),
        writes=after.writes,
        length=None if reply.length is None else len(after.body),
        ending=after.ending,
    )


def _cut(dialect: Dialect, step: Cut) -> Reply:
    whole = _answer(dialect, step.answer)
    if dialect.ticket.request.stream:
        frames = dialect.unended(step.answer)
        inside = step.at == "inside-arguments"
        return replace(whole, writes=_inside(dialect, frames, step.answer) if inside else data(frames))
    body = whole.body.rstrip()
    end = len(body) - 1 if step.at == "before-end" else _middle(dialect, body, step.answer)
    return replace(whole, writes=(body[:end],), length=end)


def _inside(dialect: Dialect, frames: Sequence[Frame], answer: Answer) -> list[bytes]:
    """Returns the frames up to the middle of the first call's arguments. If one frame has them whole, it is half of
    that frame.
    """
    named = next(i for i, frame in enumerate(frames) if frame.kind == "call")
    pieces = sum(1 for _ in takewhile(lambda frame: frame.kind == "arguments", frames[named + 1 :]))
    writes = data(frames[: named + 1 + pieces // 2])
    if not pieces:
        writes[named] = writes[named][: _middle(dialect, writes[named], answer)]
    return writes


def _middle(dialect: Dialect, body: bytes, answer: Answer) -> int:
    """Returns the position in the middle of the first call's arguments."""
    call = next(part for part in answer.parts if isinstance(part, Call))
    start = body.index(dialect.arguments_key) + len(dialect.arguments_key)
    return start + len(arguments_text(call).encode()) // 2 + 1


def data(frames: Iterable[Frame]) -> list[bytes]:
    """Returns the bytes of frames."""
    return [frame.data for frame in frames]
