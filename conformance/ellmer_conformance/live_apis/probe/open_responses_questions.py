"""Asks a server the questions of Open Responses: over HTTP, at `/responses/compact`, and on a WebSocket."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol

from ...contract.observed.exchange import Exchange, Json, Request, Response
from .open_responses import QUESTIONS, TURNS, WIRE, as_stream, filled
from .questions import Question, headers

#: Headers of a POST that the opening of a WebSocket does not have.
_OF_A_POST = {"content-type", "accept"}
_ENDS = {"response.completed", "response.failed", "response.incomplete", "error"}
_MOST = 10_000  # messages in one turn


class Target(Protocol):
    """The server under test, as `run.Target` describes it."""

    @property
    def base_url(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def provider(self) -> str: ...
    @property
    def timeout(self) -> float: ...
    @property
    def headers(self) -> tuple[tuple[str, str], ...]: ...


class Conversation(Protocol):
    """A conversation with the server: `run.Probe`."""

    able: dict[str, bool]

    @property
    def target(self) -> Target: ...
    def sent(self, content: bytes, *, model: str, key: str, where: str = "") -> Exchange: ...
    def keeps(self, question: Question, exchange: Exchange) -> None: ...


@dataclass
class OpenResponses:
    """The questions to one server.

    Args:
        probe: The conversation with the server.
    """

    probe: Conversation

    def ask(self) -> None:
        """Sends all questions. What needs a feature that the server lacks is left out."""
        self._over_http()
        self._compacted()
        self._on_websocket()

    def _over_http(self) -> None:
        id = ""
        for name, (needs, fields) in QUESTIONS.items():
            if self.probe.able.get(needs, True) is False or ("{id}" in fields.values() and not id):
                continue
            exchange = self._post({"model": self.probe.target.model, **filled(fields, id)})
            self.probe.keeps(Question(name, needs=needs), exchange)
            id = _id(_value(exchange)) if name == "stored" else id

    def _compacted(self) -> None:
        body = {"model": self.probe.target.model, "input": [{"role": "user", "content": "Say hello."}]}
        exchange = self._post(body, "/responses/compact")
        self.probe.keeps(Question("compacted", needs="compaction"), exchange)

    def _post(self, body: Json, where: str = "") -> Exchange:
        target = self.probe.target
        return self.probe.sent(json.dumps(body).encode(), model=target.model, key=target.key, where=where)

    def _on_websocket(self) -> None:
        """Takes all turns on one connection. Without the package `websockets`, none is taken."""
        try:
            from websockets.exceptions import InvalidHandshake, InvalidStatus  # noqa: PLC0415 - it is optional
            from websockets.sync.client import connect  # noqa: PLC0415 - likewise
        except ImportError:
            return
        target = self.probe.target
        url = target.base_url.rstrip("/").replace("http", "ws", 1) + "/responses"
        sent = headers(WIRE, target.key) | dict(target.headers)
        more = {name: value for name, value in sent.items() if name not in _OF_A_POST}
        try:
            with connect(url, additional_headers=more, open_timeout=target.timeout, proxy=None) as socket:
                self._turns(socket)
        except InvalidStatus as error:
            self._refused(error.response.status_code)
        except (InvalidHandshake, OSError, EOFError):
            self._refused(_NO_WEBSOCKET)

    def _refused(self, status: int) -> None:
        request = Request(WIRE, self.probe.target.provider, {}, model=self.probe.target.model)
        status = max(status, _NO_WEBSOCKET)  # a page with 200 is no WebSocket either
        answer = Response(status, {}, b"")
        self.probe.keeps(Question("websocket_first", needs="WebSocket"), Exchange(request, answer))

    def _turns(self, socket: Any) -> None:
        id = ""
        for name, fields in TURNS.items():
            if "{id}" in fields.values() and not id:
                continue
            body = {"type": "response.create", "model": self.probe.target.model, "store": False}
            body |= filled(fields, id)
            socket.send(json.dumps(body))
            found = _answered(socket, self.probe.target.timeout)
            answer = Response(200, {"content-type": "text/event-stream"}, as_stream(found))
            request = Request(WIRE, self.probe.target.provider, body, model=self.probe.target.model)
            self.probe.keeps(Question(name, needs="WebSocket"), Exchange(request, answer))
            if not found or _kind(found[-1]) not in _ENDS:  # the server is silent, or has closed
                return
            id = _id_of_last(found) or (id if name == "websocket_failed" else "")


_NO_WEBSOCKET = 400


def _answered(socket: Any, seconds: float) -> list[str]:
    """Returns the messages up to the end of a turn, or until the server closes or is silent."""
    from websockets.exceptions import ConnectionClosed  # noqa: PLC0415 - it is optional

    found: list[str] = []
    while len(found) < _MOST:
        try:
            message = socket.recv(timeout=seconds)
        except (TimeoutError, ConnectionClosed):
            break
        found.append(message if isinstance(message, str) else message.decode("utf-8", "replace"))
        if _kind(found[-1]) in _ENDS:
            break
    return found


def _kind(message: str) -> str:
    return str(_object(message).get("type", ""))


def _object(text: str | bytes) -> Json:
    try:
        told = json.loads(text)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _value(exchange: Exchange) -> Json:
    return _object(exchange.response.body) if exchange.response else {}


def _id(resource: Json) -> str:
    return str(resource.get("id") or "")


def _id_of_last(messages: list[str]) -> str:
    told = _object(messages[-1]).get("response") if messages else None
    return _id(told) if isinstance(told, dict) else ""
