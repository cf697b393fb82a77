"""A null for an optional argument is `None` where the type allows it, and the default elsewhere, on every wire format."""

import pytest
from wires.eight_wires import connected, each_wire

from ellmer_conformance.scenarios.script import Answer, Call, Say, Script
from ellmer_conformance.server.strict_server import StrictServer

SCRIPT = Script([
    Answer((Call("search", {"text": "tea", "limit": None, "exact": None, "within": None}),)),
    Answer((Say("Nothing."),)),
])  # fmt: skip


@pytest.fixture(scope="module")
def server():
    with StrictServer({"null": SCRIPT}) as running:
        yield running


@each_wire
def test_a_null_is_none_where_the_type_allows_it(wire, server, monkeypatch):
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    calls = []

    def search(text: str, limit: int | None = 10, exact: bool = True, within: list[str] | None = None) -> str:
        """Searches."""
        calls.append((text, limit, exact, within))
        return "nothing"

    chat = connected(wire, server, "null")
    chat.register_tool(search)
    assert chat.chat("Search for tea.") == "Nothing."
    assert calls == [("tea", None, True, None)]
    assert [found for entry in server.requests for found in entry.violations] == []
