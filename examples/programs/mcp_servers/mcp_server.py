"""Serves two tools over MCP, for any client: `mcp_client.py` starts it.

It runs until its client goes away.
"""

from ellmer_core import tool, tool_annotations
from ellmer_core.mcp import serve_mcp


@tool(annotations=tool_annotations(title="Weather", read_only_hint=True))
def get_weather(city: str) -> str:
    """Looks up the weather in a city."""
    return f"21 °C in {city}"


@tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


if __name__ == "__main__":
    serve_mcp([get_weather, add], name="weather")
