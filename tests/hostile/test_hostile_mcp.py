"""Hostile MCP servers: they are silent, list tools without an end, and send schemas that grow when they are read."""

import json
import sys
from pathlib import Path

import pytest

from ellmer_core import ConnectError
from ellmer_core.errors import UsageError
from ellmer_core.wire.shared.schemas import json_schema

pytest.importorskip("mcp")

from ellmer_core.mcp import mcp_tools

HOSTILE = [sys.executable, str(Path(__file__).with_name("hostile_mcp_server.py"))]


def test_a_server_that_says_nothing_is_left():
    silent = mcp_tools([*HOSTILE, "mute"], connect_timeout=0.5)
    with pytest.raises(ConnectError, match=r"said nothing.* for 0\.5 seconds"), silent:
        pass


@pytest.mark.parametrize("lists", ["pages", "crowd"])
def test_a_list_of_tools_without_an_end_is_refused(lists):
    with pytest.raises(UsageError, match="more than 1000 tools"), mcp_tools([*HOSTILE, lists]):
        pass


def test_references_to_references_of_a_server_are_not_written_out():
    with mcp_tools([*HOSTILE, "bomb"]) as tools:
        assert len(json.dumps(json_schema(tools[0].arguments))) < 20_000
