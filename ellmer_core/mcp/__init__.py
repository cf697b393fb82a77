"""Tools over the Model Context Protocol, with its official SDK (`pip install "ellmer-core[mcp]"`).

    with mcp_tools(["uvx", "mcp-server-time"]) as tools:  # or its URL
        chat.register_tools(tools)
        chat.chat("What time is it in Köln?")

    serve_mcp([get_weather])  # ours, for any MCP client

The tools of a server can be used in blocking and async chats. https://modelcontextprotocol.io
"""

from .client import *  # noqa: F403 - `__all__` of each says what is public
from .server import *  # noqa: F403

__all__ = ["McpTools", "mcp_server", "mcp_tools", "serve_mcp"]  # noqa: F405
