"""The base class of all broken adapters: our own adapter with hooks for all data that it sends and receives."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

import httpx

import ellmer_core as ec
from ellmer_conformance.adapters import Capabilities, Endpoint
from ellmer_conformance.adapters.ellmer_core import EllmerCore, Session
from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.scenarios.case import Mode
from ellmer_conformance.scenarios.messages import PDF, Approve, Part, Reply, Tool, Turn

__all__ = ["BROKEN", "BrokenAdapter", "blocks", "is_media", "is_result"]

#: Every broken adapter by name, as attributes.
BROKEN = SimpleNamespace()

WIRES = ("openai-chat", "openai-responses", "anthropic", "gemini")
PICTURED = (*WIRES, "bedrock", "mistral")  # where images are blocks
_MEDIA = {"image_url", "input_image", "image", "file", "input_file", "document"}
_RESULTS = {"tool_result", "function_call_output"}


class BrokenAdapter(EllmerCore):
    """A broken adapter. `case` shows its error, on each wire format of `on`; the rules in `caught_by` must fail.

    `also` names rules of other groups that fail with them. `from_cassette` plays its cassette, whose clock can be
    advanced; otherwise, the strict server answers.
    """

    case: ClassVar[str]
    caught_by: ClassVar[tuple[str, ...]]
    also: ClassVar[tuple[str, ...]] = ()
    on: ClassVar[tuple[str, ...]] = WIRES
    mode: ClassVar[Mode] = "sync"
    from_cassette: ClassVar[bool] = False
    gently: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        cls.name = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
        if cls.caught_by:
            setattr(BROKEN, cls.name, cls)

    @property
    def wires(self) -> Mapping[str, Sequence[str]]:
        """The wire formats, each with its own provider."""
        return {wire: providers[:1] for wire, providers in super().wires.items() if wire in self.on}

    def capabilities(self, wire: str, provider: str) -> Capabilities:
        """Returns the capabilities: blocking calls and streams."""
        names = ("audio_in_user", "structured", "approval", "citations", "uploads", "dangling_call")
        able = dict.fromkeys(names, "native")
        return Capabilities(modes=[self.mode], **able)  # type: ignore[arg-type]  # the names are its fields

    def session(
        self,
        endpoint: Endpoint,
        *,
        system: str | None = None,
        tools: Sequence[Tool] = (),
        history: Sequence[Turn] = (),
    ) -> Session:
        """Returns our session with the hooks."""
        self.endpoint, self.tools = endpoint, [self.tool(tool) for tool in tools]
        session = super().session(endpoint, system=system, tools=self.tools, history=history)
        return _Hooked(self, session)

    def options(self) -> Mapping[str, Any]:
        """Returns the options with an HTTP client that has the hooks."""
        if "async" in self.mode:
            return {"client": httpx.AsyncClient(transport=_AsyncTransport(self))} if self.hooks_async else {}
        self.client = httpx.Client(transport=_Transport(self))
        return {"client": self.client}

    hooks_async: ClassVar[bool] = False

    client: httpx.Client | None = None

    # what a broken adapter overrides ------------------------------------------------------------------------

    def tool(self, tool: Tool) -> Tool:
        """Changes a tool before it is registered."""
        return tool

    def body(self, body: Json) -> Json:
        """Changes the body of a request before it is sent."""
        return body

    def request(self, request: httpx.Request) -> httpx.Request:
        """Changes a whole request before it is sent."""
        return request

    def exchange(self, transport: httpx.BaseTransport, request: httpx.Request) -> httpx.Response:
        """Sends a request and returns its answer."""
        return transport.handle_request(request)

    def answer(self, chunks: list[bytes]) -> list[bytes]:
        """Changes the chunks of an answer's body before the client parses them."""
        return chunks

    def reply(self, reply: Reply) -> Reply:
        """Changes the reply before the caller gets it."""
        return reply

    def decision(self, approve: Approve) -> Approve:
        """Returns the function that decides about tool calls."""
        return approve

    def turn_options(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Changes the caller's options of one turn."""
        return options

    def uploaded(self, content: ec.ContentUploaded) -> ec.Content:
        """Returns the content for an uploaded file."""
        return content

    def printed(self, transcript: str) -> str:
        """Changes the printed transcript."""
        return transcript


class _Transport(httpx.BaseTransport):
    def __init__(self, broken: BrokenAdapter) -> None:
        self.broken = broken
        self.inner = httpx.HTTPTransport(verify=False)  # plain HTTP; a TLS context takes 20 ms

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        content = request.read()
        if "json" in request.headers.get("content-type", ""):  # not a form with a file
            content = json.dumps(self.broken.body(json.loads(content))).encode()
        headers = {k: v for k, v in request.headers.items() if k != "content-length"}
        sent = httpx.Request(
            request.method, request.url, headers=headers, content=content, extensions=request.extensions
        )
        response = self.broken.exchange(self.inner, self.broken.request(sent))
        return self._read(response) if type(self.broken).answer is not BrokenAdapter.answer else response

    def _read(self, response: httpx.Response) -> httpx.Response:
        chunks: list[bytes] = []
        assert isinstance(response.stream, httpx.SyncByteStream)
        try:
            chunks.extend(response.stream)
        finally:
            response.stream.close()
        headers = {
            k: v for k, v in response.headers.items() if k not in {"content-length", "transfer-encoding"}
        }
        body = b"".join(self.broken.answer(chunks))
        return httpx.Response(response.status_code, headers=headers, content=body)

    def close(self) -> None:
        self.inner.close()


class _AsyncTransport(httpx.AsyncBaseTransport):
    """The same for async calls: it changes the body of each request, and answers that an adapter wants to change."""

    def __init__(self, broken: BrokenAdapter) -> None:
        self.broken = broken
        # No connection stays open after its answer, because nobody closes the client before the loop ends.
        self.inner = httpx.AsyncHTTPTransport(verify=False, limits=httpx.Limits(max_keepalive_connections=0))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        content = json.dumps(self.broken.body(json.loads(await request.aread()))).encode()
        headers = {k: v for k, v in request.headers.items() if k != "content-length"}
        sent = httpx.Request(
            request.method, request.url, headers=headers, content=content, extensions=request.extensions
        )
        response = await self.inner.handle_async_request(sent)
        if type(self.broken).answer is BrokenAdapter.answer:
            return response
        assert isinstance(response.stream, httpx.AsyncByteStream)
        try:
            chunks = [chunk async for chunk in response.stream]
        finally:
            await response.stream.aclose()
        kept = {k: v for k, v in response.headers.items() if k not in {"content-length", "transfer-encoding"}}
        return httpx.Response(
            response.status_code, headers=kept, content=b"".join(self.broken.answer(chunks))
        )

    async def aclose(self) -> None:
        await self.inner.aclose()


class _Hooked(Session):
    def __init__(self, broken: BrokenAdapter, session: Session) -> None:
        super().__init__(session.chat, session.another)
        self.broken, self.client = broken, broken.client

    def send(
        self, parts: Sequence[Part], *, stream: bool = False, options: Mapping[str, Any] | None = None
    ) -> Reply:
        options = options and self.broken.turn_options(options)
        return self.broken.reply(super().send(parts, stream=stream, options=options))

    async def asend(
        self, parts: Sequence[Part], *, stream: bool = False, options: Mapping[str, Any] | None = None
    ) -> Reply:
        options = options and self.broken.turn_options(options)
        return self.broken.reply(await super().asend(parts, stream=stream, options=options))

    def extract(self, parts: Sequence[Part], schema: Mapping[str, Any]) -> Reply:
        return self.broken.reply(super().extract(parts, schema))

    async def aextract(self, parts: Sequence[Part], schema: Mapping[str, Any]) -> Reply:
        return self.broken.reply(await super().aextract(parts, schema))

    def approving(self, approve: Approve) -> None:
        super().approving(self.broken.decision(approve))

    def upload(self, file: PDF) -> ec.Content:
        uploaded = super().upload(file)
        assert isinstance(uploaded, ec.ContentUploaded), "ours says so"
        return self.broken.uploaded(uploaded)

    def transcript(self) -> str:
        return self.broken.printed(super().transcript())

    def close(self) -> None:
        super().close()
        if self.client:
            self.client.close()


def blocks(value: Any) -> Iterator[list[Any]]:
    """Yields every list of objects in a body, outermost first."""
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        yield value
    for item in value if isinstance(value, list) else value.values() if isinstance(value, dict) else ():
        yield from blocks(item)


def is_media(block: object) -> bool:
    """Tells whether a block is an image or a document."""
    keyed = {"inlineData", "image", "document"}  # Gemini's, Bedrock's
    return isinstance(block, dict) and (
        block.get("type") in _MEDIA or ("type" not in block and bool(keyed & {*block}))
    )


def is_result(block: object) -> bool:
    """Tells whether a block or a message is a tool's result."""
    return isinstance(block, dict) and (
        block.get("type") in _RESULTS or block.get("role") == "tool" or "functionResponse" in block
    )
