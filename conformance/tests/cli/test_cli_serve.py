"""`conformance serve` in a separate process, as a person starts it."""

import json
import re
import signal
import socket
import subprocess
import sys
from itertools import takewhile

import httpx
import pytest
from conformance_command import run

from ellmer_conformance.server import greeting

SERVE = [sys.executable, "-c", "from ellmer_conformance.cli import main; main()", "serve"]


@pytest.fixture
def served():
    """A started server: the process and its URL."""
    process = subprocess.Popen(
        [*SERVE, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        url = re.search(r"on (http://127\.0\.0\.1:\d+)", process.stdout.readline())[1]
        yield process, url
    finally:
        process.kill()
        process.communicate()


def curl(line):
    """Returns the URL, the headers and the body of a printed curl command."""
    url, data = re.search(r"curl (\S+) .* -d '(.*)'", line).groups()
    return url, dict(header.split(": ") for header in re.findall(r"-H '([^']*)'", line)), json.loads(data)


def test_what_it_prints_works_and_ctrl_c_ends_it(served):
    process, url = served
    lines = list(takewhile(lambda line: "--list-cases" not in line, process.stdout))
    tried = [curl(line) for line in lines if "curl " in line]
    assert len(tried) == 3
    for target, headers, body in tried:
        assert target.startswith(url)
        reply = httpx.post(target, headers=headers, json=body)
        assert (reply.status_code, "How can I help you?" in reply.text) == (200, True)
    _, headers, body = tried[0]
    orphan = {"role": "tool", "tool_call_id": "call_1", "content": "5"}
    refused = httpx.post(f"{url}/v1/chat/completions", headers=headers, json=body | {"messages": [orphan]})
    assert refused.status_code == 400
    process.send_signal(signal.SIGINT)
    printed, errors = process.communicate(timeout=10)
    assert (process.returncode, errors) == (0, "")
    logged = [line for line in printed.splitlines() if re.match(r"\d{3}  any", line)]
    assert logged[:3] == [
        "200  any  openai-chat  gpt-4.1",
        "200  any  anthropic  claude-sonnet-5",
        "200  any  gemini  gemini-3.5-flash",
    ]
    assert re.fullmatch(r"400  any  openai-chat  gpt-4\.1  [A-Z]+-\d{3} /messages.*", logged[3])


def test_a_port_in_use_exits_2_and_says_what_to_do():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = subprocess.run([*SERVE, "--port", str(port)], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert f"port {port} on 127.0.0.1 is in use" in ended.stderr
    assert "--port" in ended.stderr
    assert "Traceback" not in ended.stderr


def ran(*arguments):
    return subprocess.run([*SERVE, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "words",
    [["--report", "{}"], ["--report", "{}/a"], ["--record", "http://127.0.0.1:9", "--script", "{}/a.yaml"]],
)
def test_what_is_written_at_the_end_can_be_written_at_the_beginning(words, tmp_path):
    (tmp_path / "file").write_text("")
    words = [word.format(tmp_path / "file") for word in words]
    ended = run("serve", "--port", "0", *words)
    assert ended.exit_code == 2
    assert str(tmp_path / "file") in ended.output


def test_the_start_is_at_most_twenty_lines():
    assert len(greeting("http://127.0.0.1:8087", "reject").splitlines()) <= 20


def test_the_cases_are_listed():
    names = ran("--list-cases").stdout.split()
    assert {"plain_text", "two_parallel_tools"} <= {*names}
    assert not [name for name in names if "~" in name]


def test_an_unknown_case_gets_a_suggestion(served):
    _, url = served
    body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hi"}]}
    keys = {"authorization": "Bearer any-key"}
    reply = httpx.post(f"{url}/c/two_paralel_tools/1/v1/chat/completions", json=body, headers=keys)
    assert reply.status_code == 404
    assert "Did you mean 'two_parallel_tools'?" in reply.json()["error"]["message"]


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--script", "no-such.yaml"], "cannot read no-such.yaml"),
        (["--record", "https://api.openai.com"], "--record URL needs --script FILE"),
        (["--record", "ftp://x", "--script", "a.yaml"], "is not an http or https URL"),
    ],
)
def test_a_wrong_option_exits_2(arguments, fault):
    ended = ran(*arguments)
    assert (ended.returncode, fault in ended.stderr) == (2, True), ended.stderr


def test_the_start_imports_no_client_report_or_case():
    code = "import sys, ellmer_conformance.cli.server.serve; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    slow = {
        "httpx",
        "rich",
        "vcr",
        "yaml",
        "pydantic",
        "PIL",
        "ellmer_harness",
        "ellmer_conformance.scenarios.cases",
    }
    assert not slow & {*loaded}
