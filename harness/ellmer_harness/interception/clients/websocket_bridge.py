"""WebSockets: the client connects to a server on this machine, which replays a recording, or forwards and
records messages.

A conversation is one interaction of a cassette: a GET with the status 101. Its body has one line for each
message, `{"sent": …}` or `{"received": …}`. The last line is `{"closed": 1000}`, with `"by": "client"` if the
client closed, or `"reset": true` if the server's system knew nothing of the connection any more. A message of compact JSON is stored as a value (`"style": "spaced"` if it has spaces), and
bytes as `sent_base64` and `received_base64`. What is no proper frame, because the server broke the protocol, is
`received_raw`.
"""

from __future__ import annotations

import inspect
import json
import re
import threading
from base64 import b64decode, b64encode
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from socket import SHUT_RD, SHUT_RDWR, SO_LINGER, SOL_SOCKET
from struct import pack
from typing import Any
from urllib.parse import urlsplit

from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, SecurityError
from websockets.frames import Close, CloseCode, Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import Protocol, State
from websockets.sync.client import ClientConnection, connect
from websockets.sync.server import Server, ServerConnection, serve
from websockets.utils import accept_key

from ...exchange.messages import Failure
from .. import network_guard
from ..http1 import BrokenError, Outgoing, Wire
from ..open_cassettes import RequestInFlight

_WIRE = Wire("websockets")
_CONNECT = inspect.unwrap(connect)  # that of the bridge itself is not led anywhere
_HANDSHAKE = ("sec-websocket-", "connection", "upgrade", "host")
_PROTOCOL = "sec-websocket-protocol"
_OF_THE_WIRE = (*_HANDSHAKE, "content-", "transfer-encoding", "date", "server")
_UNREADABLE = "RemoteProtocolError"
_RAW = "received_raw"
_ACCEPT = "{accept}"  # in a recorded answer that no client accepts: what fits the key of the request
_LINES = "application/x-ndjson"
_LOOP, _REDIRECTED = re.compile(r"more than \d+ redirects"), b"HTTP/1.1 302 Found"
_MOMENT = 2  # seconds
_BRIEFLY = 0.2
_GONE = 1006  # the connection ended without a word
_NO_CODE = 1005  # what clients call a close without a code
_STYLES: dict[str, dict[str, Any]] = {
    "": {"separators": (",", ":"), "ensure_ascii": False},
    "ascii": {"separators": (",", ":")},
    "spaced": {},
    "spaced utf-8": {"ensure_ascii": False},
}
Message = str | bytes


def bridge(cassette: Any, url: str, headers: dict[str, str]) -> Bridge:
    """Bridges one connection. Raises `Miss` if it is not recorded."""
    take = cassette.begin(_WIRE, Outgoing.of("GET", url, headers), b"")
    return Bridge(cassette, take, cassette.target(url))


class Bridge:
    """A WebSocket connection. `url` is the address that the client connects to."""

    def __init__(self, cassette: Any, take: RequestInFlight, target: str) -> None:
        self._cassette, self._take = cassette, take
        self._target = f"ws{target[4:]}" if target.startswith("http") else target
        self._real: Any = None
        self._closing, self._refusal = False, b""
        self._over, self._stack = threading.Event(), ExitStack()
        take.last_words = self._wait
        self._lock = threading.Lock()
        self._server: Server = serve(
            self._talk,
            "127.0.0.1",
            0,
            process_request=self._opened,
            process_response=self._accepted,
            create_connection=partial(_Client, self._answer_to_close),  # type: ignore[arg-type]  # it is only called
            select_subprotocol=self._subprotocol,
            ping_interval=None,
            max_size=None,
            compression=None,
        )
        port = self._server.socket.getsockname()[1]
        network_guard.let_through(port)
        parts = urlsplit(target)
        self.url = f"ws://127.0.0.1:{port}{parts.path or '/'}" + (f"?{parts.query}" if parts.query else "")
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def _wait(self) -> None:
        """Waits for the end of a conversation that the client has closed, because the close message arrives a
        moment later.
        """
        self._over.wait(_MOMENT)

    def _opened(self, connection: ServerConnection, request: Request) -> Response | None:
        """Returns the answer to the opening request if it is not the usual 101, else `None`."""
        reply = self._take.reply
        if self._refusal:
            return _answer_raw(connection, self._refusal)
        if reply is None:
            return self._connected(connection, request)
        try:
            self._take.begin_reply()
        except BrokenError as broken:
            if broken.error != _UNREADABLE:
                return _unreachable(str(broken))
            refused = reply.failure.refused if reply.failure else ""
            return self._answered_raw(
                connection, refused.replace(_ACCEPT, _accept(request)).encode("latin-1")
            )
        if reply.status != 101:
            return Response(
                reply.status,
                reply.reason,
                Headers(reply.headers),
                b"".join(p.data for p in self._take.play()),
            )
        return None

    def _connected(self, connection: ServerConnection, request: Request) -> Response | None:
        opening: list[_Real] = []
        try:
            self._real = self._stack.enter_context(_connection_to(self._target, request, opening))
        except InvalidStatus as error:
            return self._refused(error.response)
        except (InvalidHandshake, EOFError) as error:
            raw = opening[-1].frames.opening
            if isinstance(error, SecurityError):
                raw = _redirect(request) if _LOOP.search(str(error)) else b""
            said = raw.decode("latin-1").replace(_accept(request), _ACCEPT)
            self._take.broke(Failure(_UNREADABLE, str(error), said))
            return self._answered_raw(connection, raw)
        except OSError as error:
            self._take.broke(Failure("ConnectError", str(error)))
            return _unreachable(str(error))
        pairs = _pairs(self._real.response.headers)
        kept = [
            (name, value) for name, value in pairs if name == _PROTOCOL or not name.startswith(_OF_THE_WIRE)
        ]
        self._take.answered(101, "Switching Protocols", [("content-type", _LINES), *kept])
        return None

    def _answered_raw(self, connection: ServerConnection, raw: bytes) -> Response:
        """Answers with these bytes, also when the client follows a redirect in them, which leads to the same place."""
        self._refusal = raw if raw.startswith(_REDIRECTED) else b""
        return _answer_raw(connection, raw)

    def _refused(self, answer: Response) -> Response:
        """Records an answer that is not 101, and returns it for the client."""
        self._take.answered(answer.status_code, answer.reason_phrase, _pairs(answer.headers))
        self._take.chunk(bytes(answer.body or b""))
        self._take.eof()
        return answer

    def _accepted(self, _: ServerConnection, __: Request, response: Response) -> None:
        """Gives the client the headers of the real server's answer, or of the recorded one."""
        for name, value in self._take.exchange.headers if response.status_code == 101 else ():
            if not name.startswith((*_OF_THE_WIRE, _PROTOCOL)):
                response.headers[name] = value

    def _subprotocol(self, _: Any, offered: Any) -> Any:
        """Returns the subprotocol that the real server chose."""
        if self._take.reply is None:
            return self._real.subprotocol
        recorded = self._take.exchange.header(_PROTOCOL)
        return recorded if recorded in offered else (offered[0] if offered else None)

    def _talk(self, client: ServerConnection) -> None:
        try:
            if self._take.reply is not None:
                self._play(client)
            else:
                self._record(client, self._real)
        finally:
            self._stack.close()
            self._over.set()
            self._server.shutdown()  # it has no other clients

    # While a cassette records.

    def _record(self, client: ServerConnection, real: Any) -> None:
        back = threading.Thread(target=self._pass_on, args=("received", real, client))
        back.start()
        self._pass_on("sent", client, real)
        back.join()
        self._take.eof()

    def _pass_on(self, direction: str, source: Any, target: Any) -> None:
        """Forwards messages from one side to the other until one of them closes."""
        with suppress(ConnectionClosed):
            while True:
                try:
                    message = source.recv()
                except ConnectionClosed as closed:
                    if direction == "received" and self._passed_on_raw(closed, source, target):
                        return
                    self._note_end(direction, closed)
                    if _is_reset(closed):
                        _reset(target)
                    elif closed.rcvd:
                        _end(target, closed.rcvd.code, closed.rcvd.reason)
                    else:
                        _end(target, _GONE, "")
                    return
                self._note(_line(direction, message))
                target.send(message)

    def _passed_on_raw(self, closed: ConnectionClosed, real: _Real, client: ServerConnection) -> bool:
        """Forwards the bytes with which the server broke the protocol, or which it did not finish, as they are. What the client makes
        of them is its own business.
        """
        data = real.frames.broken(closed)
        if data:
            self._note({_RAW: b64encode(data).decode()})
            self._note({"closed": closed.sent.code, "by": "client"} if closed.sent else {"closed": _GONE})
            _send_raw(client, data, waits=bool(closed.sent))
        return bool(data)

    def _answer_to_close(self, asked: bytes) -> bytes | None:
        """Returns the content of the server's answer to a close message of the client, or `None` if it sends none."""
        if self._take.reply is not None:
            last = json.loads(self._take.reply.body.rstrip(b"\n").rpartition(b"\n")[2] or b"{}")
            return _content(last["answer"]) if last.get("by") == "client" and "answer" in last else asked
        self._closing = True
        frame = Close.parse(asked)
        self._real.close(None if frame.code == _NO_CODE else frame.code, frame.reason)
        answer = self._real.protocol.close_rcvd
        line = {**_closed(frame), "by": "client"}
        if answer != frame:
            line["answer"] = _closed(answer) if answer else None
        self._note(line)
        return _content(line["answer"]) if answer != frame else asked

    def _note_end(self, direction: str, closed: ConnectionClosed) -> None:
        frame = closed.rcvd
        if (frame is not None and closed.rcvd_then_sent is False) or self._closing:
            return  # the answer to a close that came from the other side
        line = _closed(frame) if frame else {"closed": _GONE}
        if _is_reset(closed):
            line["reset"] = True
        self._note(line | ({"by": "client"} if direction == "sent" else {}))

    def _note(self, line: dict[str, Any]) -> None:
        with self._lock:
            if b'"closed":' not in self._take.exchange.body[-80:]:
                self._take.chunk(json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode() + b"\n")

    # While a cassette plays.

    def _play(self, client: ServerConnection) -> None:
        reply = self._take.reply
        assert reply is not None, "only a take with a reply is played"
        self._take.exchange.chunks += [piece.data for piece in reply.pieces]
        self._take.eof()
        lines = [json.loads(line) for line in reply.body.splitlines()]
        try:
            for line in lines:
                if "closed" in line and line.get("by") != "client":
                    if line.get("reset"):
                        _reset(client)
                    else:
                        _end(client, line["closed"], line.get("reason", ""))
                    return
                if _RAW in line:
                    _send_raw(client, b64decode(line[_RAW]), waits=lines[-1].get("by") == "client")
                    return
                if any(name.startswith("received") for name in line):
                    client.send(message_of(line, "received"))
                elif "closed" not in line and not self._heard(client, line):
                    _end(client, 1011, "not in the cassette")
                    return
            self._nothing_more(client)
        except ConnectionClosed:
            return

    def _heard(self, client: ServerConnection, line: dict[str, Any]) -> bool:
        """Waits for the client's next message, and tells whether it may be it."""
        if not self._cassette.any_message:
            return self._asked(client.recv(), message_of(line, "sent"))
        with suppress(TimeoutError):
            client.recv(timeout=_BRIEFLY)
        return True

    def _asked(self, message: Message, recorded: Message) -> bool:
        """Checks that the client sent the recorded message. Any other message is a miss."""
        if self._value(message) == self._value(recorded):
            return True
        self._cassette.missed(
            f"the client sent another message over {self._take.exchange.sent.url} than the one that was recorded:\n"
            f"  recorded {_shown(recorded)}\n  now      {_shown(message)}"
        )
        return False

    def _nothing_more(self, client: ServerConnection) -> None:
        if self._cassette.any_message:
            with suppress(TimeoutError):
                while True:
                    client.recv(timeout=_MOMENT)
            _end(client, 1000, "")
            return
        message = client.recv()
        self._cassette.missed(
            f"the client sent one message more over {self._take.exchange.sent.url} than was recorded: {_shown(message)}"
        )
        _end(client, 1011, "not in the cassette")

    def _value(self, message: Message) -> bytes:
        body = message.encode() if isinstance(message, str) else message
        canonical: bytes = self._cassette.match.canonical(self._cassette.scrub.body(body), "application/json")
        return canonical


class _Frames:
    """Keeps the bytes of the last frames that a server sent, because it may break the protocol."""

    def __init__(self, protocol: Protocol) -> None:
        self._protocol, self._receive, self._take_frame = protocol, protocol.receive_data, protocol.recv_frame
        self._rest, self._message, self.opening = bytearray(), bytearray(), b""
        vars(protocol).update(receive_data=self._data, recv_frame=self._frame)

    def _data(self, data: bytes) -> None:
        opening = self._protocol.state is State.CONNECTING
        self._rest += data
        if opening:
            self.opening += data
        if opening and (end := self._rest.find(b"\r\n\r\n")) >= 0:
            del self._rest[: end + 4]  # the head of the answer
        self._receive(data)

    def _frame(self, frame: Frame) -> None:
        size = 2 + {126: 2, 127: 8}.get(self._rest[1] & 127, 0) + len(frame.data)
        if frame.opcode in (Opcode.TEXT, Opcode.BINARY):
            self._message.clear()
        if frame.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            self._message += self._rest[:size]
        self._take_frame(frame)  # if it raises an error, the frame stays the one that broke the protocol
        del self._rest[:size]

    def broken(self, closed: ConnectionClosed) -> bytes:
        """Returns the bytes of the frame that ended a connection, if it was not a close message."""
        if closed.rcvd:
            return b""
        is_text = closed.sent is not None and closed.sent.code == CloseCode.INVALID_DATA
        return bytes(self._rest or (self._message if is_text else b""))


class _Real(ClientConnection):
    """The connection to the real server."""

    def __init__(self, socket: Any, protocol: Any, **options: Any) -> None:
        self.frames = _Frames(protocol)
        super().__init__(socket, protocol, **options)


def _connection_to(target: str, request: Request, opening: list[_Real]) -> Any:
    """Opens a connection to the real server with the headers of the client's request."""
    headers = {n: v for n, v in request.headers.raw_items() if not n.lower().startswith(_HANDSHAKE)}
    offered = request.headers.get("Sec-WebSocket-Protocol", "")
    return _CONNECT(
        target,
        additional_headers=headers,
        user_agent_header=None,
        subprotocols=[each.strip() for each in offered.split(",")] if offered else None,
        ping_interval=None,
        max_size=None,
        compression=None,
        create_connection=partial(_opening, opening, request.headers["Sec-WebSocket-Key"]),
    )


def _pairs(headers: Headers) -> list[tuple[str, str]]:
    return [(name.lower(), value) for name, value in headers.raw_items()]


def _opening(made: list[_Real], key: str, socket: Any, protocol: Any, **options: Any) -> _Real:
    """Returns the connection to the real server, which gets the client's own key, so that its answer fits the client, too."""
    protocol.key = key
    made.append(_Real(socket, protocol, **options))
    return made[-1]


class _Client(ServerConnection):
    """The connection of the client, which gets the answer of the real server to its close message, and not an echo."""

    def __init__(
        self, answer: Callable[[bytes], bytes | None], socket: Any, protocol: Any, *more: Any, **options: Any
    ) -> None:
        self._answer, self._take_frame = answer, protocol.recv_frame
        vars(protocol)["recv_frame"] = self._frame
        super().__init__(socket, protocol, *more, **options)

    def _frame(self, frame: Frame) -> None:
        if frame.opcode is not Opcode.CLOSE or self.protocol.state is not State.OPEN:
            self._take_frame(frame)
            return
        answer, sent = self._answer(bytes(frame.data)), self.protocol.send_frame
        vars(self.protocol)["send_frame"] = lambda _: (
            None if answer is None else sent(Frame(Opcode.CLOSE, answer))
        )
        try:
            self._take_frame(frame)
        finally:
            del vars(self.protocol)["send_frame"]


def _closed(frame: Close) -> dict[str, Any]:
    return {"closed": frame.code} | ({"reason": frame.reason} if frame.reason else {})


def _content(line: dict[str, Any] | None) -> bytes | None:
    """Returns the content of a close message, or `None` if there is none."""
    if line is None:
        return None
    return b"" if line["closed"] == _NO_CODE else Close(line["closed"], line.get("reason", "")).serialize()


def _send_raw(client: ServerConnection, data: bytes, *, waits: bool) -> None:
    """Sends bytes that are no proper frame, waits for the client's close message if it sends one, and ends the connection."""
    client.socket.sendall(data)
    if waits:
        client.recv_events_thread.join(_MOMENT)
    client.close_socket()


def _unreachable(why: str) -> Response:
    return Response(502, "Bad Gateway", Headers(), f"{why}\n".encode())


def _answer_raw(connection: ServerConnection, data: bytes) -> Response:
    """Answers an opening request with what a server said that does not speak the protocol, and ends the connection."""
    with suppress(OSError):  # the client has closed it already
        connection.socket.sendall(data)
        connection.socket.shutdown(SHUT_RDWR)
    return _unreachable("")  # nobody gets it


def _redirect(request: Request) -> bytes:
    """Returns an answer that leads to the same place again, until the client gives up."""
    path = request.path.encode()
    return b"%s\r\nlocation: %s\r\nconnection: close\r\ncontent-length: 0\r\n\r\n" % (_REDIRECTED, path)


def _accept(request: Request) -> str:
    """Returns what the answer to an opening request must say, which depends on the random key of the request."""
    return accept_key(request.headers["Sec-WebSocket-Key"])


def _is_reset(closed: ConnectionClosed) -> bool:
    return isinstance(closed.__cause__, ConnectionResetError)


def _reset(connection: Any) -> None:
    """Ends a connection as an operating system does that knows nothing of it."""

    def close() -> None:
        real_close()
        connection.recv_messages.close()  # whoever waits for a message waits no longer

    real_close = connection.socket.close
    with suppress(OSError):  # the client has closed it already
        connection.socket.setsockopt(SOL_SOCKET, SO_LINGER, pack("ii", 1, 0))
        vars(connection).update(close_socket=close, send_data=lambda: None)
        connection.socket.shutdown(SHUT_RD)  # its thread closes it, and says nothing before


def _end(connection: Any, code: int, reason: str) -> None:
    if code == _GONE:
        connection.close_socket()
    else:
        connection.close(None if code == _NO_CODE else code, reason)


def _line(direction: str, message: Message) -> dict[str, Any]:
    if isinstance(message, bytes):
        return {f"{direction}_base64": b64encode(message).decode()}
    try:
        value = json.loads(message)
    except (ValueError, RecursionError):
        return {direction: message}
    if isinstance(value, dict | list):
        for style, spelled in _STYLES.items():
            if json.dumps(value, **spelled) == message:
                return {direction: value, "style": style} if style else {direction: value}
    return {direction: message}


def message_of(line: dict[str, Any], direction: str) -> Message:
    """Returns the message of a line, `sent` or `received`."""
    if f"{direction}_base64" in line:
        return b64decode(line[f"{direction}_base64"])
    value = line.get(direction, "")
    return value if isinstance(value, str) else json.dumps(value, **_STYLES[line.get("style", "")])


def _shown(message: Message) -> str:
    text = message if isinstance(message, str) else f"{len(message)} bytes"
    return text if len(text) < 300 else f"{text[:300]}…"
