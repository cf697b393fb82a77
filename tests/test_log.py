"""The content of the log, and what it never contains."""

import json
import logging
import subprocess
import sys

import pytest

from ellmer_core import chat_openai_completions, tool
from ellmer_core.conversation import retries

KEY = "sk-secret-0123456789"


@tool
def fail(secret: str) -> str:
    """Fails."""
    raise ValueError("no luck")


def whole(content, *calls):
    message = {"role": "assistant", "content": content, "tool_calls": list(calls)}
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()


def test_requests_tries_and_tools_are_logged_and_nothing_that_is_said(server, reply, caplog, monkeypatch):
    monkeypatch.setattr(retries, "FIRST", 0.001)
    caplog.set_level(logging.DEBUG, "ellmer_core")
    call = {"id": "c", "type": "function", "function": {"name": "fail", "arguments": '{"secret": "hush"}'}}
    server.answers(
        reply([b'{"error": {"message": "hush"}}'], status=500),
        reply([whole(None, call)]),
        reply([whole("hush")]),
    )
    chat = chat_openai_completions("hush", model="m", api_key=KEY, base_url=f"{server.url}/v1", echo="none")
    chat.register_tool(fail)
    chat.chat("hush")
    lines = [
        (record.levelname, record.getMessage()) for record in caplog.records if record.name == "ellmer_core"
    ]
    path = f"{server.url.removeprefix('http://')}/v1/chat/completions"

    assert [level for level, _ in lines] == ["DEBUG"] * 2 + ["INFO"] + ["DEBUG"] * 2 + ["WARNING"] + [
        "DEBUG"
    ] * 2
    assert lines[0][1].startswith(f"POST {path}, ")
    assert lines[1][1].startswith("answered 500 after 0.")
    assert lines[2][1].startswith("ServerError 500; try 2 of 3 in ")
    assert lines[5][1] == "tool fail: ValueError"
    assert "no luck" in caplog.text, "what a tool raised can be found"
    assert "hush" not in caplog.text
    assert KEY not in caplog.text


def test_what_may_be_secret_in_a_url_is_not_logged(server, reply, caplog):
    caplog.set_level(logging.DEBUG, "ellmer_core")
    server.answers(reply([whole("Hi")]))
    host = server.url.removeprefix("http://")
    base = f"http://me:{KEY}@{host}/v1"
    chat_openai_completions(model="m", api_key=KEY, base_url=base, echo="none").chat("Hi")

    assert f"POST {host}/v1/chat/completions" in caplog.text
    assert KEY not in caplog.text


PROGRAM = """
import ellmer_core as ec
from ellmer_core.tool_execution import invoke

@ec.tool
def divide(x: int) -> float:
    "Divides."
    return 1 / x

for _ in range(3):
    assert invoke(ec.ContentToolRequest("c", "divide", {"x": 0}, divide)).error
invoke(ec.ContentToolRequest("c", "divide", {"x": 1}, divide))
"""


@pytest.mark.parametrize(
    ("setup", "tracebacks", "lines"),
    [("", 1, 3), ("import logging; logging.getLogger('ellmer_core').setLevel('ERROR')", 0, 0)],
)
def test_a_program_that_sets_nothing_up_sees_once_where_a_tool_failed(setup, tracebacks, lines):
    done = subprocess.run([sys.executable, "-c", setup + PROGRAM], check=True, capture_output=True, text=True)

    assert done.stdout == ""
    assert done.stderr.count("in divide") == done.stderr.count("Traceback") == tracebacks
    assert done.stderr.count("tool divide: ZeroDivisionError") == lines
