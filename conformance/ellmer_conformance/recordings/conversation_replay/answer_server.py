"""Plays recorded answers over HTTP. Each conversation has its own URL, and each request gets the next answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ellmer_harness.format.sse_and_ndjson import split_events

from ...contract import readers
from ...contract.exchange import Exchange, Request
from ...server.chat_api_lookup import chat_api_of
from ...server.chat_apis.base import Ticket
from ...server.http.messages import HttpRequest, Reply, plain
from ...server.http.routes import route_of
from ...server.journal import without_secrets
from ...server.replies import render
from ..recording_files import Recording
from .recorded_cases import END, RecordedCase

__all__ = ["OtherForm", "Playing", "RecordedAnswers"]

#: Headers of a connection, and of how a body was packed: ours are others.
_OF_THE_WAY = {"connection", "content-encoding", "content-length", "keep-alive", "transfer-encoding"}


class OtherForm(Exception):
    """The client requested a whole answer for a recorded stream, or the other way round."""


@dataclass
class Playing:
    """A conversation in progress: its position, and its requests and answers."""

    recorded: RecordedCase
    exchanges: list[Exchange] = field(default_factory=list)
    other_form: str = ""

    def next(self, request: Request) -> Reply:
        """Returns the next recorded answer to a request. After the last one, it ends the conversation."""
        number, answers = len(self.exchanges), self.recorded.conversation.recorded
        if number < len(answers):
            return self._recorded(answers[number].recording, request)
        return render(chat_api_of(Ticket(request, self.recorded.case.name, number)), END)

    def _recorded(self, recording: Recording, request: Request) -> Reply:
        if request.stream != self.recorded.streamed and (recording.status or 0) < 300:
            wanted, there = (
                ("a stream", "a whole answer") if request.stream else ("a whole answer", "a stream")
            )
            self.other_form = f"the client asks for {wanted}, and {there} was recorded"
            return _plain(501, self.other_form)
        streams = request.stream and (recording.status or 0) < 300
        body = recording.response
        headers = _headers(recording, request.wire, streams=streams)
        if not streams:
            return plain(recording.status or 0, headers, body)
        return Reply(recording.status or 0, headers, _chunks(recording, request.wire))


class RecordedAnswers:
    """The handler of a server that plays recordings. Conversations are opened before and closed afterwards."""

    def __init__(self) -> None:
        self.open: dict[str, Playing] = {}

    def answer(self, request: HttpRequest) -> Reply:
        """Returns the reply to a whole request."""
        way = route_of(request.target, request.host)
        playing = self.open.get(way.nonce or "")
        if playing is None or not way.wire or request.method != "POST":
            return _plain(404, f"{request.method} {way.path} was not recorded")
        try:
            headers = without_secrets(request.headers)
            asked = readers.request(request.method, way.url, headers, request.body, way.provider)
        except (ValueError, RecursionError) as error:
            return _plain(400, str(error))
        reply = playing.next(asked)
        playing.exchanges.append(Exchange(asked, reply.response))
        return reply

    def too_large(self, request: HttpRequest) -> Reply:
        """Returns the reply to a request whose body will not be read."""
        return _plain(413, f"the body of {request.method} is too large")


def _plain(status: int, message: str) -> Reply:
    body = json.dumps({"error": {"message": message, "type": "not_recorded"}}).encode()
    return plain(status, [("content-type", "application/json")], body)


def _headers(recording: Recording, wire: str, *, streams: bool) -> Sequence[tuple[str, str]]:
    kept: Mapping[str, str] = {k: v for k, v in recording.answered.items() if k not in _OF_THE_WAY}
    named, events = (
        kept.get("content-type", ""),
        recording.response.lstrip().startswith((b"data:", b"event:")),
    )
    fits = "event-stream" in named if events else streams or "json" in named or recording.status != 200
    if named and fits:
        return tuple(kept.items())
    return tuple({**kept, "content-type": _type(recording.response, wire, streams=streams)}.items())


def _type(body: bytes, wire: str, *, streams: bool) -> str:
    """Returns the content type, if the recorder left it out."""
    if not streams or body.lstrip().startswith(b"["):
        return "application/json"
    if wire == "bedrock":
        return "application/vnd.amazon.aws_event_stream"
    return "application/x-ndjson" if wire == "ollama" else "text/event-stream"


def _chunks(recording: Recording, wire: str) -> tuple[bytes, ...]:
    """Returns the body in its recorded chunks, or else with one event in each chunk."""
    body, sizes = recording.response, recording.chunks
    if sizes and sum(sizes) == len(body):
        starts = [sum(sizes[:n]) for n in range(len(sizes) + 1)]
        return tuple(body[a:b] for a, b in pairwise(starts) if a < b)
    if wire == "bedrock":
        return (body,)
    if wire == "ollama":
        return tuple(body.splitlines(keepends=True))
    try:
        return tuple(event.encode() for event in split_events(body.decode()))
    except UnicodeDecodeError:
        return (body,)
