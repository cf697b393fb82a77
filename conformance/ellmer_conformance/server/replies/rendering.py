"""Renders a step of a script as the bytes of a reply, in a api."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import takewhile

from ...contract.rule import Refusal
from ...contract.rules import book
from ...scenarios.script import Answer, Call, Cut, Delivery, Failure, Step
from ...scenarios.variations import VariedAnswer, variation
from ..chat_apis.base import ChatApi, Frame, arguments_text
from ..http.reply import Headers, Reply, deliver, plain
from .answer_choice import chosen

__all__ = ["refuse", "render"]


def render(api: ChatApi, step: Step) -> Reply:
    """Returns the reply to a valid request."""
    match step:
        case Cut():
            return _cut(api, step)
        case Failure():
            return _fail(api, step)
        case Delivery():
            return deliver(_varied(render(api, step.step), api.wire, step.variation), step)
        case _:
            return _answer(api, chosen(step, api.ticket.request))


def refuse(api: ChatApi, refusal: Refusal, more: Headers = ()) -> Reply:
    """Returns the provider's error status and body."""
    # some share a api, and have their own envelope
    provider = api.ticket.request.provider or api.provider
    kind, body = book(api.wire, provider).envelope(refusal)
    headers = dict(api.headers(stream=False)) | dict(kind) | dict(more)
    return plain(refusal.status, tuple(headers.items()), body)


def _answer(api: ChatApi, answer: Answer) -> Reply:
    if api.ticket.request.stream:
        return _stream(api, data(api.frames(answer)))
    return plain(200, api.headers(stream=False), api.body(answer))


def _stream(api: ChatApi, writes: Sequence[bytes]) -> Reply:
    return Reply(200, api.headers(stream=True), writes)


def _fail(api: ChatApi, step: Failure) -> Reply:
    if step.after is None or step.kind == "context-length" or not api.ticket.request.stream:
        return refuse(api, api.failures[step.kind], api.retry.get(step.kind, ()))
    before = api.unended(step.after)
    while before and before[-1].kind == "close":  # it fails in the middle of its last part
        before.pop()
    writes = data(before) + list(api.broken(step.kind, before))
    return _stream(api, writes)


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


def _cut(api: ChatApi, step: Cut) -> Reply:
    whole = _answer(api, step.answer)
    if api.ticket.request.stream:
        frames = api.unended(step.answer)
        inside = step.at == "inside-arguments"
        return replace(whole, writes=_inside(api, frames, step.answer) if inside else data(frames))
    body = whole.body.rstrip()
    end = len(body) - 1 if step.at == "before-end" else _middle(api, body, step.answer)
    return replace(whole, writes=(body[:end],), length=end)


def _inside(api: ChatApi, frames: Sequence[Frame], answer: Answer) -> list[bytes]:
    """Returns the frames up to the middle of the first call's arguments. If one frame has them whole, it is half of
    that frame.
    """
    named = next(i for i, frame in enumerate(frames) if frame.kind == "call")
    pieces = sum(1 for _ in takewhile(lambda frame: frame.kind == "arguments", frames[named + 1 :]))
    writes = data(frames[: named + 1 + pieces // 2])
    if not pieces:
        writes[named] = writes[named][: _middle(api, writes[named], answer)]
    return writes


def _middle(api: ChatApi, body: bytes, answer: Answer) -> int:
    """Returns the position in the middle of the first call's arguments."""
    call = next(part for part in answer.parts if isinstance(part, Call))
    start = body.index(api.arguments_key) + len(api.arguments_key)
    return start + len(arguments_text(call).encode()) // 2 + 1


def data(frames: Iterable[Frame]) -> list[bytes]:
    """Returns the bytes of frames."""
    return [frame.data for frame in frames]
