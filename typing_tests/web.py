"""Chats for web clients, and MCP servers, as a user writes them. Never run: type checkers read it."""

from collections.abc import AsyncGenerator, Generator
from typing import Any, assert_type

from ellmer_core import (
    Chat,
    Content,
    StreamController,
    ToolCallDelta,
    ToolContext,
    ToolDef,
    Turn,
    chat_openai,
)
from ellmer_core.mcp import McpPrompt, McpResource, mcp_tools
from ellmer_core.web import Endpoint, Scope, WebRequest, ag_ui, endpoint, vercel

chat = chat_openai(model="gpt-4.1", when_busy="wait")
chat_openai(when_busy="queue")  # type: ignore[arg-type]
assert_type(chat.stream("Hi", content="deltas"), Generator[Content | ToolCallDelta, None, None])


async def find(conversation: str, scope: Scope) -> Chat | None:
    return chat if conversation == scope["path"] else None


assert_type(endpoint(vercel, find), Endpoint)
assert_type(endpoint(ag_ui, lambda _conversation, _scope: chat, max_bytes=1000), Endpoint)
endpoint("vercel", find)  # type: ignore[arg-type]

asked = vercel.read(b"{}")
assert_type(asked, WebRequest)
assert_type(vercel.stream(chat, asked, controller=StreamController()), AsyncGenerator[bytes, None])
assert_type(ag_ui.stream(chat, ag_ui.read({})), AsyncGenerator[bytes, None])


def asks(context: ToolContext[None]) -> str:
    assert_type(context.ask("Sure?"), dict[str, Any] | None)
    return ""


server = mcp_tools("https://example.com/mcp", auth=None, sampling=chat)
with server as tools:
    assert_type(tools, list[ToolDef])
    assert_type(server.resources(), list[McpResource])
    assert_type(server.read("file:///a"), list[Content])
    assert_type(server.prompts(), list[McpPrompt])
    assert_type(server.prompt("review", code="x"), list[Turn])
    server.prompt("review", code=1)  # type: ignore[arg-type]
