"""Two MCP servers: `python servers.py files FOLDER` speaks over stdin and stdout, `python servers.py weather PORT` over HTTP."""

from __future__ import annotations

import sys
from pathlib import Path

from ellmer_core.mcp import serve_mcp

FORECAST = {"Oslo": "rain, 4 degrees", "Rome": "sun, 15 degrees"}


def read_file(name: str) -> str:
    """Reads a file.

    Args:
        name: Name of the file.
    """
    return Path(sys.argv[2], name).read_text("utf-8")


def forecast(city: str) -> str:
    """Gets the weather of tomorrow.

    Args:
        city: Name of the city, in English.
    """
    return FORECAST[city]


if __name__ == "__main__":
    if sys.argv[1] == "files":
        serve_mcp([read_file], name="files")
    else:
        serve_mcp([forecast], name="weather", port=int(sys.argv[2]))
