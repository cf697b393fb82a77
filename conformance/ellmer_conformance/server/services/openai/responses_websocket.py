"""The WebSocket of OpenAI's Responses API: each `response.create` is judged and answered like a POST.

https://developers.openai.com/api/docs/guides/websocket-mode. The connection remembers its last response, so that one with `store: false` can
be continued. Sentences that the guide does not quote are UNVERIFIED. These are not served: `response.steer` and `response.processed`,
which are beta, lanes (`stream_id`) at the same time, and the WebSockets of other providers.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.util import find_spec

from ....contract.observed.exchange import Json, Request
from ....contract.readers.json_access import bounded, items_of, object_of, text_of
from ....contract.rule import Refusal
from ....scenarios.script import Answer
from ...chat_api_lookup import chat_api_of
from ...chat_apis.base import Ticket, compact, utf8
from ...http.messages import HttpRequest, Reply, Upgraded
from ...replies import render
from ..service_request import ServiceRequest
from .stored_responses import continued, items_in

_BAD = "invalid_request_error"
_PATH = "/v1/responses"
_LANE = re.compile(r"[A-Za-z0-9_.-]{1,256}")
_OF_THE_HANDSHAKE = re.compile(r"sec-websocket-.*|upgrade|connection|content-length|expect")
_WHOLE = {"response.completed", "response.incomplete"}
_LAST = _WHOLE | {"response.failed", "error"}
#: OpenAI's words, as Codex has them: https://github.com/openai/codex (codex-api/src/endpoint/responses_websocket.rs)
_LIMIT = Refusal(
    "Responses websocket connection limit reached (60 minutes). Create a new websocket connection to continue.",
    400,
    _BAD,
    "websocket_connection_limit_reached",
)


def connect(service: ServiceRequest) -> Reply:
    """Opens a WebSocket."""
    wanted = service.http.headers.get("upgrade", "").lower() == "websocket"
    if service.provider != "openai" or not wanted:
        return service.refuse(service.api.no_such("GET", service.route.path))
    if not find_spec("websockets"):
        sentence = "The strict server needs the package `websockets` for this: pip install websockets"
        return service.refuse(Refusal(sentence, 501, "not_implemented"))
    return Upgraded(101, (), turns=ResponseTurns(service))


@dataclass
class _Turn:
    """What is known of the request that is being answered: its items, its lane, and the response that it continues."""

    items: list[Json]
    lane: Json
    previous: str = ""


@dataclass
class _Last:
    """The last response of the connection."""

    id: str
    items: list[Json]


class ResponseTurns:
    """The turns of one connection. Each is over before the next one is read.

    Args:
        service: The request that opened it.
    """

    def __init__(self, service: ServiceRequest) -> None:
        self._service = service
        self.ended = False
        self._turn = _Turn([], {})
        self._last: _Last | None = None

    def asked(self, message: bytes) -> HttpRequest | Reply:
        """Returns the POST that a message stands for, or the reply to another message."""
        self._turn, self.ended = _Turn([], {}), False
        try:
            body = bounded(json.loads(message))
        except (ValueError, RecursionError) as error:
            return self._service.refuse(self._service.api.no_json(str(error)))
        lane = object_of(body).get("stream_id")
        if isinstance(lane, str) and _LANE.fullmatch(lane):
            self._turn.lane = {"stream_id": lane}
        if refusal := _no_turn(body, lane):
            return self._service.refuse(refusal)
        body = self._whole(body)
        generate = body.pop("generate", None)
        request = Request(
            "openai-responses", self._service.provider, body, model=str(body.get("model", "")), stream=True
        )
        full = continued(request, self._service.stored)
        if isinstance(full, Refusal):
            return self._service.refuse(full)
        self._turn.items = items_in(full.body.get("input"))
        return self._prepared(full) if generate is False else self._post(body)

    def _whole(self, body: Json) -> Json:
        """Returns the body of the POST. What only this connection remembers is in its input."""
        body = {name: each for name, each in body.items() if name not in {"type", "stream_id"}}
        body |= {"stream": True}
        self._turn.previous = previous = text_of(body.get("previous_response_id"))
        if self._last and previous == self._last.id and previous not in self._service.stored.responses:
            body |= {"input": [*self._last.items, *items_in(body.get("input"))]}
            del body["previous_response_id"]
        return body

    def _post(self, body: Json) -> HttpRequest:
        headers = {
            name: each
            for name, each in self._service.http.headers.items()
            if not _OF_THE_HANDSHAKE.fullmatch(name)
        }
        data = utf8(compact(body))
        more = {"content-type": "application/json", "content-length": str(len(data))}
        return HttpRequest("POST", self._service.http.target, headers | more, data)

    def _prepared(self, request: Request) -> Reply:
        """Returns the reply to `generate: false`: a response without output."""
        service = self._service
        if refusal := service.api.no_model(request.model) or service.objection(_PATH, request.body):
            return service.refuse(refusal)
        service.stored.count += 1
        ticket = Ticket(request, service.route.case, 0, salt=f"prepared {service.stored.count}")
        return render(chat_api_of(ticket), Answer(()))

    def event(self, data: bytes) -> str:
        """Returns the message for an event of a stream. The end of a response is remembered."""
        _, _, told = data.partition(b"data: ")
        event = object_of(json.loads(told)) if told.startswith(b"{") else {}
        if "type" not in event:
            return ""
        self.ended |= event["type"] in _LAST
        if response := object_of(event.get("response")):
            if self._turn.previous:
                response["previous_response_id"] = self._turn.previous
            if event["type"] in _WHOLE:
                items = [*self._turn.items, *items_of(response.get("output"))]
                self._last = _Last(text_of(response.get("id")), items)
        return compact(event | self._turn.lane)

    def failed(self, reply: Reply) -> str:
        """Returns the message for an error. The response that the failed turn wanted to continue is forgotten."""
        if self._last and self._turn.previous == self._last.id:
            self._last = None
        try:
            error = object_of(json.loads(reply.body)).get("error")
        except ValueError:
            error = {"message": reply.body.decode("utf-8", "replace"), "type": "server_error"}
        return compact({"type": "error", "status": reply.status, "error": error} | self._turn.lane)

    def over(self) -> str:
        """Returns the message after 60 minutes."""
        self._turn = _Turn([], {})
        return self.failed(self._service.refuse(_LIMIT))


def _no_turn(body: object, lane: object) -> Refusal | None:
    """Returns the error for a message that is no `response.create`, or for fields that a WebSocket does not take."""
    if not isinstance(body, dict) or "type" not in body:
        return Refusal("Missing required parameter: 'type'.", 400, _BAD, "missing_required_parameter", "type")
    if body["type"] != "response.create":
        sentence = f"Invalid value: '{body['type']}'. Supported values are: 'response.create'."
        return Refusal(sentence, 400, _BAD, "invalid_value", "type")
    if lane is not None and not (isinstance(lane, str) and _LANE.fullmatch(lane)):
        sentence = "Invalid 'stream_id': string does not match pattern. Expected a string that matches the pattern '^[A-Za-z0-9_.-]+$'."
        return Refusal(sentence, 400, _BAD, "invalid_value", "stream_id")
    if body.get("background") is True:
        return Refusal(
            "Background mode is not supported over WebSocket.",
            400,
            _BAD,
            "unsupported_parameter",
            "background",
        )
    return None


ROUTES = (("GET", "/responses", connect),)
