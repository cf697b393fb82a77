"""Adapters that send requests to the wrong host, with the wrong key, too often, or not at all."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import httpx

from ellmer_conformance.adapters.ellmer_core import Options, Session
from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.scenarios.messages import Part, Reply

from .base import BrokenAdapter
from .messages import without_results


class OpensNoSocket(BrokenAdapter):
    """Returns a fixed answer without sending a request. The tests of langchain-tests accept it."""

    case, caught_by = "plain_text", ("RUN-001",)

    def session(self, *args: Any, **options: Any) -> Session:
        session = super().session(*args, **options)
        return _Talking(session.chat, session.another)


class _Talking(Session):
    def send(self, parts: Sequence[Part], *, stream: bool = False, options: Options = None) -> Reply:
        return Reply("Bonjour! How can I help?", stop="stop", usage={"input": 9, "output": 7})


class IgnoresTheBaseUrl(BrokenAdapter):
    """Sends requests to another host than the base URL."""

    case, caught_by = "plain_text", ("RUN-001",)

    def request(self, request: httpx.Request) -> httpx.Request:
        request.url = request.url.copy_with(path="/nowhere")
        return request


class CallsHome(BrokenAdapter):
    """Requests prices from another host."""

    case, caught_by = "plain_text", ("AUT-005",)

    def body(self, body: Json) -> Json:
        with suppress(OSError):
            socket.create_connection(("prices.invalid", 443), timeout=1)
        return body


class KeyInTheUrl(BrokenAdapter):
    """Sends the key as a URL parameter, too."""

    case, caught_by = "plain_text", ("AUT-002",)

    def request(self, request: httpx.Request) -> httpx.Request:
        request.url = request.url.copy_add_param("key", self.endpoint.api_key)
        return request


class KeyInTheBody(BrokenAdapter):
    """Sends the key in the body, too."""

    case, caught_by, also = "plain_text", ("AUT-002",), ("REQ-004", "REQ-101", "OPT-006")

    def body(self, body: Json) -> Json:
        return body | {"metadata": {"user_id": self.endpoint.api_key}}


class TakesAnyKey(BrokenAdapter):
    """Uses a key from the environment instead of the given one."""

    case, caught_by, on = "plain_text", ("AUT-003",), ("anthropic", "gemini")

    def request(self, request: httpx.Request) -> httpx.Request:
        request.headers["x-fallback"] = os.environ["OPENAI_API_KEY"]
        return request


class RetriesRefusals(BrokenAdapter):
    """Retries a request that the provider refused."""

    case, caught_by, also = "two_parallel_tools", ("ERR-002",), ("PAIR-001", "PAR-001")
    on = ("openai-chat", "openai-responses", "anthropic")  # Gemini refuses nothing here

    def body(self, body: Json) -> Json:
        return without_results(body)

    def exchange(self, transport: httpx.BaseTransport, request: httpx.Request) -> httpx.Response:
        response = transport.handle_request(request)
        if response.status_code == 400:
            response.close()
            response = transport.handle_request(request)
        return response


class HidesTheKey(BrokenAdapter):
    """Sends the key in a header that the provider does not read."""

    case, caught_by = "plain_text", ("AUT-001",)
    also = ("ERR-002", "REQ-001", "REQ-002", "REQ-014", "REQ-102", "UNI-001")

    def request(self, request: httpx.Request) -> httpx.Request:
        for name in ("authorization", "x-api-key", "x-goog-api-key"):
            request.headers.pop(name, None)
        request.headers["x-token"] = self.endpoint.api_key
        return request
