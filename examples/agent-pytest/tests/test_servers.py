"""The agent with the tools of two MCP servers: they are recorded like the model, into the same cassette."""

import sys
from pathlib import Path

import pytest
from agent import agent

from ellmer_core.mcp import mcp_tools

HERE = Path(__file__).parent.parent
WEATHER = "https://weather.example.com/mcp"


@pytest.mark.cassette
def test_it_packs_for_the_weather():
    files_server = [sys.executable, str(HERE / "servers.py"), "files", str(HERE / "trip")]
    with mcp_tools(files_server) as files, mcp_tools(WEATHER) as weather:
        chat = agent()
        chat.register_tools([*files, *weather])
        answer = chat.chat("What do I need most from my packing list in Oslo tomorrow?")
    assert "umbrella" in answer
