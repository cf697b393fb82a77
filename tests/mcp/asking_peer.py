"""An MCP server with only the SDK, which asks the user and the model, and has resources and prompts: `python asking_peer.py
[PORT [TOKEN]]`. With a token, it wants it.
"""

import sys
from typing import Annotated

from mcp import types
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import AssistantMessage, UserMessage
from mcp.server.mcpserver.resolve import Elicit, Resolve, Sample
from pydantic import AnyHttpUrl, BaseModel

PORT, TOKEN = [*sys.argv[1:], "", ""][:2]


class Verifier:
    async def verify_token(self, token):
        return AccessToken(token=token, client_id="c", scopes=[]) if token == TOKEN else None


def guarded():
    if not TOKEN:
        return {}
    url = AnyHttpUrl(f"http://127.0.0.1:{PORT}/mcp")
    return {"auth": AuthSettings(issuer_url=url, resource_server_url=url), "token_verifier": Verifier()}


server = MCPServer("asking", **guarded())


class Seat(BaseModel):
    seat: str
    meal: bool = False


def which_seat(to: str) -> Elicit[Seat]:
    return Elicit(f"Which seat to {to}?", Seat)


@server.tool()
def book(to: str, seat: Annotated[Seat, Resolve(which_seat)]) -> str:
    """Books a flight."""
    return f"{to}: {seat.seat}, {'a' if seat.meal else 'no'} meal"


@server.tool()
async def book_before_2026(to: str, context: Context) -> str:
    """Books a flight."""
    answer = await context.elicit(f"Which seat to {to}?", Seat)
    return f"{to}: {answer.data.seat}" if answer.action == "accept" else answer.action


@server.tool()
async def pay(context: Context) -> str:
    """Pays."""
    answer = await context.elicit_url("Pay here.", "https://pay.example.com/1", "e1")
    return answer.action


def haiku(about: str) -> Sample:
    words = types.TextContent(text=f"A haiku about {about}")
    return Sample(
        [types.SamplingMessage(role="user", content=words)], max_tokens=50, system_prompt="You are a poet."
    )


@server.tool()
def poem(about: str, made: Annotated[types.CreateMessageResult, Resolve(haiku)]) -> str:
    """Writes a poem."""
    return f"{made.model} wrote about {about}: {made.content.text}"


@server.resource("file:///notes.md", mime_type="text/markdown", description="The notes.")
def notes() -> str:
    return "# Notes"


@server.resource("file:///dot.png", mime_type="image/png")
def dot() -> bytes:
    return b"\x89PNG\r\n\x1a\n"


@server.prompt()
def review(code: str) -> list:
    """Reviews code."""
    return [UserMessage("You review code."), AssistantMessage("I do."), UserMessage(f"Review this: {code}")]


if __name__ == "__main__":
    if PORT:
        server.run("streamable-http", port=int(PORT))
    else:
        server.run("stdio")
