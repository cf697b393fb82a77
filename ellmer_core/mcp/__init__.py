"""Tools over the Model Context Protocol, with its official SDK (`pip install "ellmer-core[mcp]"`).

    server = mcp_tools(["uvx", "mcp-server-time"])  # or its URL
    with server as tools:
        chat.register_tools(tools)
        chat.chat("What time is it in Köln?")
        chat.chat("Summarize this.", *server.read("file:///notes.md"))

    serve_mcp([get_weather])  # ours, for any MCP client

The tools of a server can be used in blocking and async chats. https://modelcontextprotocol.io
"""

from .client import McpPrompt, McpResource, McpTools, mcp_tools
from .server import mcp_server, serve_mcp

__all__ = ["McpPrompt", "McpResource", "McpTools", "mcp_server", "mcp_tools", "serve_mcp"]
