"""Makes the reply to a request: the step of the script, its bytes in a chat API, and its variation."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, assert_never

from ..contract import readers
from ..contract.observed.exchange import Json, Media, Request
from ..contract.rule import Refusal
from ..contract.rules import book
from ..scenarios.script import (
    Answer,
    AnswerByMedia,
    AnswerByText,
    AskModel,
    Call,
    Cut,
    Delivery,
    Failure,
    Say,
    Step,
    StructuredAnswer,
)
from .chat_apis.base import ChatApi, Frame, arguments_text, compact
from .http.messages import Headers, Reply, deliver, plain
from .model import answer_of

# --- the answer, if it depends on the request ------------------------------------------------------------


_DEAF = Answer((Say("I did not understand."),))
_TOOL_NAME = re.compile(r'"name": "([^"]+)"')


def chosen(
    step: Answer | AskModel | StructuredAnswer | AnswerByText | AnswerByMedia, request: Request
) -> Answer:
    """Chooses the answer to a request by its content, by the last message of the user, or by what it requires."""
    match step:
        case Answer():
            return step
        case AnswerByMedia(media, then, otherwise):
            return then if tuple(seen.sha256 for seen in visible(request)) == media else otherwise
        case AnswerByText(answers):
            return answers.get(_heard(request), _DEAF)
        case AskModel():
            return answer_of(request)
        case StructuredAnswer(value, usage):
            return Answer((_filled(request.body, value),), usage=usage)
    assert_never(step)


def visible(request: Request) -> list[Media]:
    """Returns the images, documents and audio that the request adds after the model's last message, in order."""
    news = takewhile(lambda item: item.role != "assistant", reversed(readers.read(request)))
    return [item.media for item in news if item.media and item.kind in {"image", "document", "other"}][::-1]


def _filled(body: Json, value: Any) -> Say | Call:
    """Returns the value as text, or as arguments of a tool if the request forces its call."""
    if re.search(r'"(any|tool|function|required)"', _choice(body).lower()):
        return Call(_tool_for(body, value), value)
    return Say(compact(value))


def _tool_for(body: Json, value: Any) -> str:
    """Returns the name of the forced tool, or else of the first with the value's properties, or of the last."""
    declared = _declared(body)
    taking = [*(tool for tool in declared if _takes(tool, value)), *declared[::-1]]
    found: list[str] = _TOOL_NAME.findall(_choice(body)) or _TOOL_NAME.findall(json.dumps(taking[0]))
    return found[0]


def _choice(body: Json) -> str:
    """Returns the tool choice of the request."""
    configs = [body.get(key) or {} for key in ("toolConfig", "tool_config")]
    modes = [{key: value for key, value in config.items() if key != "tools"} for config in configs]
    return json.dumps([body.get("tool_choice"), *modes])


def _declared(body: Json) -> list[Any]:
    """Returns all tools, in any of the request's lists."""
    tools = body.get("tools") or (body.get("toolConfig") or {}).get("tools") or []
    return [
        each
        for tool in tools
        for each in tool.get("functionDeclarations") or tool.get("function_declarations") or [tool]
    ]


def _takes(tool: Any, value: Any) -> bool:
    text = json.dumps(tool, ensure_ascii=False)
    return all(f'"{name}"' in text for name in value) if isinstance(value, dict) else True


def _heard(request: Request) -> str:
    """Returns the user's last message."""
    texts = (
        item.text for item in reversed(readers.read(request)) if item.kind == "text" and item.role == "user"
    )
    return next(texts, "")


# --- the bytes of a reply --------------------------------------------------------------------------------


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
    # some share an API, and have an error body of their own
    provider = api.ticket.request.provider or api.provider
    kind, body = book(api.wire, provider).error_body(refusal)
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
        told = (("x-should-retry", "false"),) if step.final else api.retry.get(step.kind, ())
        refused = refuse(api, api.failures[step.kind], told)
        body = api.error_body(step.kind, b"".join(refused.writes))
        return replace(refused, writes=(body,), length=len(body))
    before = api.unended(step.after)
    while before and before[-1].kind == "close":  # it fails in the middle of its last part
        before.pop()
    writes = data(before) + list(api.broken(step.kind, before))
    return _stream(api, writes)


def _varied(reply: Reply, wire: str, name: str) -> Reply:
    """Returns the reply under the variation of that name, or unchanged if the name is empty."""
    if not name:
        return reply
    from ..scenarios.variations import VariedAnswer, variation  # noqa: PLC0415 - they import the harness

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
