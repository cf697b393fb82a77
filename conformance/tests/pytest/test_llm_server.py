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
#: The body of a test file, and the outcomes that pytest lists: of the call, and of a fixture that ends with an error.
TESTS = {
    "legal": (
        """
        def test_it(llm_server):
            assert ask("Hello!") == "Hello! How can I help you?"
            assert llm_server.base_urls["openai"] == os.environ["OPENAI_BASE_URL"]
            assert llm_server.requests[0].request.model == "gpt-4.1"
        """,
        ["PASSED"],
    ),
    "scripted": (
        """
        @pytest.mark.llm_server(script=[{"when": {"user": "Hi"}, "text": "Good day."}], strict=True)
        def test_it(llm_server):
            assert ask("Hi") == "Good day."
            assert "None of the 1 entries" in ask("Bye")
        """,
        ["PASSED"],
    ),
    "a file": (
        """
        @pytest.mark.llm_server(script="answers.yaml")
        def test_it(llm_server):
            assert ask("Hi") == "from the file"
        """,
        ["PASSED"],
    ),
    "illegal": (
        """
        def test_it(llm_server):
            ask("5", role="tool", tool_call_id="call_1")
        """,
        ["PASSED", "ERROR"],
    ),
    "allowed": (
        """
        @pytest.mark.llm_server(allow=["*"])
        def test_it(llm_server):
            ask("5", role="tool", tool_call_id="call_1")
        """,
        ["PASSED"],
    ),
}


@pytest.fixture(scope="module")
def told_by_pytest(tmp_path_factory):
    """What pytest says of each test, by its name: all of them run in one process."""
    folder = tmp_path_factory.mktemp("tests")
    (folder / "answers.yaml").write_text("answers: [{text: from the file}]")
    for number, (body, _) in enumerate(TESTS.values()):
        (folder / f"test_agent_{number}.py").write_text(AGENT + textwrap.dedent(body))
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    env.pop("CI", None)  # there, the summary repeats each error in full
    env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    command = [sys.executable, "-m", "pytest", "-v", "-p", "ellmer_conformance.pytest.llm_server"]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", TESTS)
def test_a_test_with_the_fixture(name, told_by_pytest):
    number, outcome = list(TESTS).index(name), TESTS[name][1]
    lines = [line.split() for line in told_by_pytest.splitlines()]
    assert [line[1] for line in lines if line[:1] == [f"test_agent_{number}.py::test_it"]] == outcome


def test_an_error_says_what_the_api_would_refuse(told_by_pytest):
    assert told_by_pytest.count("The real API would refuse requests of this test:\nrequest 1 ") == 1
    assert "PAIR-002 /messages/0" in told_by_pytest
