"""Mode `verify`: while a cassette replays, every request is also sent to the real server, and the answers are
compared.

The program gets the recorded answers. Separate threads send copies of the program's requests. Two
answers of a model have the same fields and different texts, so the structures of the bodies are compared without their
values. The structure of an object is that of its fields, and the structure of a list is that of all its items together.
null and an empty list match anything.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from ..errors import Drift
from ..exchange.reply import Piece, Reply
from ..format.compression import undo
from ..format.sse_and_ndjson import parse
from ..interception import network_guard
from .miss_explanation import visible

_SECONDS = 300
_OURS = {"host", "content-length", "transfer-encoding", "connection", "accept-encoding"}


class LiveCheck:
    """Compares recorded answers with live ones. `target` gives the real address of a request; `told` is its
    name in messages.
    """

    def __init__(self, target: Callable[[str], str]) -> None:
        self._target = target
        self._pool = ThreadPoolExecutor(4, "ellmer-harness-verify")
        self._asked: list[tuple[str, Reply, Future[Reply]]] = []

    def ask(self, told: str, request: Any, body: bytes, recorded: Reply) -> None:
        """Sends a copy of the request. Conversations of WebSockets and gRPC have no copy, and servers that are
        processes are not started twice.
        """
        if recorded.status == 101 or str(request.url).startswith(("grpc://", "stdio://")):
            return
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw]
        url = self._target(str(request.url))
        self._asked.append((told, recorded, self._pool.submit(_answer, request.method, url, headers, body)))

    def close(self, name: str) -> None:
        """Waits for the answers. Raises `Drift` if an answer has another structure than the recorded one."""
        self._pool.shutdown()
        found = [
            f"{visible(told)}\n    {visible(line)}"
            for told, recorded, live in self._asked
            for line in _compared(recorded, live)
        ]
        if found:
            raise Drift(
                f"the live answers have another structure than those in cassette {name}:\n  "
                + "\n  ".join(found[:20])
                + "\nRecord it again (--cassette-mode=rewrite), and check how the program handles the new answers."
            )


def _compared(recorded: Reply, live: Future[Reply]) -> list[str]:
    if error := live.exception():
        return [] if recorded.failure else [f"no answer: {type(error).__name__}: {error}"]
    try:
        return [*drift(recorded, live.result())]
    except RecursionError:
        return ["one of both nests too deeply to be compared"]


def _answer(method: str, url: str, headers: list[tuple[str, str]], body: bytes) -> Reply:
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    with network_guard.aside():
        connection = kind(parts.hostname or "", parts.port, timeout=_SECONDS)
        try:
            # This asks for an answer without a content-encoding.
            connection.putrequest(method, (parts.path or "/") + (f"?{parts.query}" if parts.query else ""))
            for name, value in headers:
                if name.lower() not in _OURS:
                    connection.putheader(name, value)
            if body or method in ("POST", "PUT", "PATCH"):
                connection.putheader("content-length", str(len(body)))
            connection.endheaders(body or None)
            response = connection.getresponse()
            fields = [(name.lower(), value) for name, value in response.getheaders()]
            return Reply(response.status, response.reason, fields, [Piece(response.read())])
        finally:
            connection.close()


# --- The structure of an answer --------------------------------------------------------------------------


_ANY = "anything"
_KINDS = {bool: "a boolean", int: "a number", float: "a number", str: "a text"}


def drift(recorded: Reply, live: Reply) -> Iterator[str]:
    """Yields a line for each difference between the structures of the live and the recorded answer."""
    if recorded.status != live.status:
        yield f"status: recorded {recorded.status}, now {live.status}"
        return
    kinds = [reply.content_type.partition(";")[0].strip() for reply in (recorded, live)]
    if kinds[0] != kinds[1]:
        yield f"content-type: recorded {kinds[0] or 'none'}, now {kinds[1] or 'none'}"
        return
    yield from _changes(_structure_of(recorded), _structure_of(live), "")


def _structure_of(reply: Reply) -> Any:
    """Returns the structure of a body. For a stream, it is the structure of its events by name."""
    coding = next((value for name, value in reply.headers if name == "content-encoding"), "")
    body = undo(reply.body, coding)
    if "event-stream" in reply.content_type:
        events = (parse(body.replace(b"\r\n", b"\n")) or {"sse": []})["sse"]
        return _object([_event(event) for event in events])
    try:
        return _structure(json.loads(body))
    except (ValueError, RecursionError):
        return _KINDS[str] if body else _ANY


def _event(event: dict[str, Any]) -> dict[str, Any]:
    """Returns the structure of an event under its name, or under the type in its data."""
    data = event.get("data", event.get("text", event.get("raw")))
    own = data.get("type") if isinstance(data, dict) else None
    return {f"event {event.get('event') or own or ''}".strip(): data}


def _structure(value: Any) -> Any:
    if value is None:
        return _ANY
    if isinstance(value, dict):
        return {key: _structure(item) for key, item in value.items()}
    if isinstance(value, list):
        found = _ANY
        for item in value:
            found = _common_structure(found, _structure(item))
        return [found]
    return _KINDS[type(value)]


def _object(values: list[dict[str, Any]]) -> Any:
    found: Any = {}
    for value in values:
        found = _common_structure(found, _structure(value))
    return found


def _common_structure(first: Any, second: Any) -> Any:
    """Returns the structure that matches both."""
    if _ANY in (first, second):
        return second if first == _ANY else first
    if isinstance(first, dict) and isinstance(second, dict):
        return {
            key: _common_structure(first.get(key, _ANY), second.get(key, _ANY)) for key in {**first, **second}
        }
    if isinstance(first, list) and isinstance(second, list):
        return [_common_structure(first[0], second[0])]
    return first if first == second else _ANY


def _changes(old: Any, new: Any, pointer: str) -> Iterator[str]:
    if _ANY in (old, new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            at = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
            if key not in new:
                yield f"- {at}: it is missing now"
            elif key not in old:
                yield f"+ {at}: it is new"
            else:
                yield from _changes(old[key], new[key], at)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _changes(old[0], new[0], f"{pointer}/*")
    elif old != new:
        yield f"~ {pointer or '/'}: recorded {_kind_in_words(old)}, now {_kind_in_words(new)}"


def _kind_in_words(structure: Any) -> str:
    if isinstance(structure, dict):
        return "an object"
    return "a list" if isinstance(structure, list) else str(structure)
