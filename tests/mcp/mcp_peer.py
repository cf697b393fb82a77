"""An MCP server with only the SDK; `python mcp_peer.py [PORT]`: over stdio, or over HTTP."""

import os
import sys

from mcp import types
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

PNG = "iVBORw0KGgo="
server = MCPServer("peer")


class Place(BaseModel):
    city: str
    country: str = "DE"


@server.tool(title="The weather", annotations=types.ToolAnnotations(read_only_hint=True))
def weather(place: Place, days: int = 1) -> str:
    """Gets the weather."""
    return f"{place.city}, {place.country}: {days} sunny days"


@server.tool()
def draw() -> list[types.ContentBlock]:
    """Draws."""
    pdf = types.BlobResourceContents(
        uri="file:///a/plan.pdf", mime_type="application/pdf", blob="JVBERi0xLjc="
    )
    return [
        types.TextContent(text="Here:"),
        types.ImageContent(data=PNG, mime_type="image/png"),
        types.EmbeddedResource(resource=pdf),
        types.AudioContent(data="aGk=", mime_type="audio/wav"),
        types.ResourceLink(name="more", uri="https://example.com/more"),
    ]


@server.tool(name="files.fail")
def fail() -> str:
    """Fails."""
    raise ToolError("no such file")


@server.tool()
def end() -> str:
    """Ends the whole server."""
    os._exit(3)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
