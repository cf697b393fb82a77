# ruff: noqa: INP001 - beside the script that imports it
"""One request to Chat Completions with the standard library, with retries and streams."""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

BASE_URL = os.environ["CONFORMANCE_BASE_URL"]
KEY = os.environ["CONFORMANCE_API_KEY"]
MODEL = os.environ["CONFORMANCE_MODEL"]
STREAM = "stream" in os.environ["CONFORMANCE_MODE"]
TRIES = int(os.environ["CONFORMANCE_MAX_RETRIES"]) + 1
_HEADERS = {
    "authorization": f"Bearer {KEY}",
    "content-type": "application/json",
    "accept": "text/event-stream" if STREAM else "application/json",
    "user-agent": "driver-python/1.0",
}


class ApiError(Exception):
    """The provider refused or failed. `status` is the HTTP status, and `text` is the received part of an answer."""

    def __init__(self, message: str, status: int | None = None, text: str = "") -> None:
        super().__init__(message)
        self.status, self.text = status, text


class TooLong(ApiError):
    """The prompt is longer than the model's context."""


class RateLimited(ApiError):
    """There were too many requests."""


class Incomplete(ApiError):
    """The answer was truncated."""


class GivenUp(ApiError):
    """The caller cancelled the answer."""


def ask(messages: list[Json], more: Json, *, give_up: bool = False) -> Json:
    """Returns the answer's message, stop reason, usage and pieces."""
    body: Json = {"model": MODEL, "messages": messages, **more}
    if STREAM:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    with sent(json.dumps(body).encode()) as response:
        if give_up:
            response.read(1)
            raise GivenUp("the caller gave it up")
        kind = response.headers.get_content_type()
        if STREAM and kind == "text/event-stream":
            return folded(response)
        return whole(response)


def sent(body: bytes) -> Any:
    """Returns the open response. Raises ApiError."""
    for left in reversed(range(TRIES)):
        request = urllib.request.Request(f"{BASE_URL}/chat/completions", body, _HEADERS)  # noqa: S310 - the suite's own server
        try:
            return _OPENER.open(request, timeout=20)
        except urllib.error.HTTPError as error:
            refusal = refused(error.code, error.read())
            if not left or error.code not in {429, 500, 502, 503, 529}:
                raise refusal from error
            time.sleep(pause(error.headers))
        except OSError as error:
            raise ApiError(f"no answer came: {error}") from error
    raise ApiError("nothing was sent")


class _StayHere(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, because the key is for one host."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_StayHere)


def pause(headers: Any) -> float:
    """Returns the seconds after which the provider wants a retry."""
    if "retry-after-ms" in headers:
        return float(headers["retry-after-ms"]) / 1000
    return float(headers.get("retry-after", 0.1))


def refused(status: int, body: bytes) -> ApiError:
    """Returns the provider's error in its own class."""
    text = body.decode("utf-8", "replace")
    try:
        error = json.loads(text)["error"]
        message, code = error["message"], error.get("code")
    except (ValueError, KeyError, TypeError):
        message, code = text, None
    kind = TooLong if code == "context_length_exceeded" else RateLimited if status == 429 else ApiError
    return kind(f"{status}: {message}", status)


def whole(response: Any) -> Json:
    """Returns an answer without a stream."""
    try:
        body = response.read()
        answer = json.loads(body)
        if "error" in answer:
            raise ApiError(str(answer["error"].get("message")), answer["error"].get("code"))
        choice = answer["choices"][0]
        message = choice["message"]
        message["content"] = message.get("content") or message.get(
            "refusal"
        )  # a refusal is what the model says
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise Incomplete(f"the answer is invalid: {error}") from error
    return {
        "message": message,
        "stop": choice.get("finish_reason"),
        "usage": answer.get("usage"),
        "pieces": [],
    }


def lines(response: Any) -> Iterator[str]:
    """Yields the lines of a stream, for every line ending and any chunks."""
    rest = b""
    while chunk := response.read1(65536):
        rest += chunk
        ended = rest.endswith(b"\r")
        found = rest.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        rest = found.pop() + (b"\r" if ended else b"")
        yield from (line.decode("utf-8", "replace") for line in found)
    yield from (line.decode("utf-8", "replace") for line in rest.splitlines())


def events(response: Any) -> Iterator[Json]:
    """Yields the events of a stream, up to its end."""
    data: list[str] = []
    for number, line in enumerate(lines(response)):
        text = line.removeprefix("\ufeff") if not number else line
        if text.startswith("data:"):
            data.append(text.removeprefix("data:").removeprefix(" "))
        elif not text and data:
            if data == ["[DONE]"]:
                return
            yield json.loads("\n".join(data))
            data = []


class Folded:
    """A stream that is merged into one answer."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.calls: list[tuple[int | None, Json]] = []
        self.stop: str | None = None
        self.usage: Json | None = None

    def add(self, event: Json) -> None:
        """Adds an event. Raises Incomplete for an error in it."""
        if "error" in event:
            raise Incomplete(event["error"]["message"], text=self.text)
        self.usage = event.get("usage") or self.usage
        for choice in event.get("choices") or []:
            self.stop = choice.get("finish_reason") or self.stop
            if piece := choice["delta"].get("content") or choice["delta"].get("refusal"):
                self.pieces.append(piece)
            for delta in choice["delta"].get("tool_calls") or []:
                self.call(delta)

    def call(self, delta: Json) -> None:
        """Adds a part of a call: to a new call for a new id, else to the last one at its index. Some servers send no index."""
        at = delta.get("index")
        known = [call for index, call in self.calls if index == at]
        if not known or (delta.get("id") and delta["id"] not in {"", known[-1]["id"]}):
            known = [{"id": delta.get("id"), "type": "function", "function": {"name": "", "arguments": ""}}]
            self.calls.append((at, known[-1]))
        for key, value in (delta.get("function") or {}).items():
            known[-1]["function"][key] += value or ""

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self.pieces)


def folded(response: Any) -> Json:
    """Returns a stream as one answer. Raises Incomplete if it ends too early."""
    found = Folded()
    try:
        for event in events(response):
            found.add(event)
    except (OSError, ValueError) as error:
        raise Incomplete(f"the stream broke off: {error}", text=found.text) from error
    if found.stop is None:
        raise Incomplete("the stream ended without a finish_reason", text=found.text)
    message = {"role": "assistant", "content": found.text or None}
    calls = [call for _, call in found.calls]
    return {
        "message": message | ({"tool_calls": calls} if calls else {}),
        "stop": found.stop,
        "usage": found.usage,
        "pieces": found.pieces,
    }
