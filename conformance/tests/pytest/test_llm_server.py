"""The fixture `llm_server` gives a test a server, and fails it for requests that the real API refuses."""

import os
import subprocess
import sys
import textwrap

import pytest

AGENT = """
import httpx, os, pytest

def ask(text, role="user", **more):
    messages = [{"role": role, "content": text, **more}]
    url, key = os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"]
    reply = httpx.post(
        url + "/chat/completions",
        json={"model": "gpt-4.1", "messages": messages},
        headers={"authorization": f"Bearer {key}"},
    ).json()
    return reply["choices"][0]["message"]["content"] if "choices" in reply else reply["error"]["message"]
"""
#: The body of a test file, and what pytest says of it.
TESTS = {
    "legal": (
        """
        def test_it(llm_server):
            assert ask("Hello!") == "Hello! How can I help you?"
            assert llm_server.base_urls["openai"] == os.environ["OPENAI_BASE_URL"]
            assert llm_server.requests[0].request.model == "gpt-4.1"
        """,
        "1 passed",
    ),
    "scripted": (
        """
        @pytest.mark.llm_server(script=[{"when": {"user": "Hi"}, "text": "Good day."}], strict=True)
        def test_it(llm_server):
            assert ask("Hi") == "Good day."
            assert "None of the 1 entries" in ask("Bye")
        """,
        "1 passed",
    ),
    "a file": (
        """
        @pytest.mark.llm_server(script="answers.yaml")
        def test_it(llm_server):
            assert ask("Hi") == "from the file"
        """,
        "1 passed",
    ),
    "illegal": (
        """
        def test_it(llm_server):
            ask("5", role="tool", tool_call_id="call_1")
        """,
        "The real API would refuse requests of this test",
    ),
    "allowed": (
        """
        @pytest.mark.llm_server(allow=["*"])
        def test_it(llm_server):
            ask("5", role="tool", tool_call_id="call_1")
        """,
        "1 passed",
    ),
}


@pytest.mark.parametrize("name", TESTS)
def test_a_test_with_the_fixture(name, tmp_path):
    body, told = TESTS[name]
    (tmp_path / "answers.yaml").write_text("answers: [{text: from the file}]")
    (tmp_path / "test_agent.py").write_text(AGENT + textwrap.dedent(body))
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "ellmer_conformance.pytest.llm_server",
        "-p",
        "no:recording",
    ]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert told in done.stdout, done.stdout + done.stderr
