"""Adapters outside this repository: a test class, a module, a base URL, each in a separate project."""

import json
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import httpx
import pytest
from conformance_command import pytest_in, run_in

EXAMPLE = Path(__file__).parents[3] / "examples" / "adapter-pytest"
PYTEST = [sys.executable, "-m", "pytest", "-q"]
CONFORMANCE = [sys.executable, "-c", "from ellmer_conformance.cli import main; main()"]
FAST = ["--case=plain_text", "--case=two_parallel_tools", "--case=tool_returns_image"]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Returns a copy of the example, whose commands run in a separate process, or `within` this one."""
    for file in (*EXAMPLE.glob("*.py"), *EXAMPLE.glob("*.toml")):
        (tmp_path / file.name).write_text(file.read_text("utf-8"), "utf-8")
    for name in ("PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:shiny-test")  # which loads all of Shiny

    def run(*arguments):
        return subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=False)

    run.folder = tmp_path
    run.within = partial(run_in, tmp_path)
    run.pytest_within = partial(pytest_in, tmp_path)
    return run


def test_a_test_class_has_ids_k_workers_and_a_report(project):
    some = "stream and not async and (plain_text or two_parallel_tools or tool_returns_image)"
    done = project(*PYTEST, "-rA", "-n", "2", "-k", some, "--report=out")

    assert done.returncode == 0, done.stdout  # nor is an expected failure of another part missed
    id = "TestMyLibrary::test_conformance[my-library/openai-chat/openai/plain_text[stream]]"
    assert f"PASSED test_conformance.py::{id}" in done.stdout
    assert "3 passed" in done.stdout
    report = json.loads((project.folder / "out" / "report.json").read_text("utf-8"))
    assert {play["way"] for play in report["plays"]} == {"server"}
    assert report["named"] == {"my-library": "test_conformance:TestMyLibrary.adapter"}
    assert report["summary"]["my-library openai-chat"]["must_passed"] > 30


PLAIN = "test_conformance.py::TestMyLibrary::test_conformance[my-library/openai-chat/openai/plain_text[sync]]"


@pytest.mark.parametrize("some", [["-k", "plain_text"], [PLAIN]], ids=["some", "one"])
def test_of_a_part_no_expected_failure_is_missed(project, some):
    code, said = project.pytest_within("-q", *some)

    assert code == 0, said


def test_a_test_class_fails_where_the_library_does(project):
    file = project.folder / "my_library.py"
    order = "[*results, *said]"
    assert order in file.read_text("utf-8")
    file.write_text(file.read_text("utf-8").replace(order, "[*said, *results]"), "utf-8")

    code, said = project.pytest_within("-q", "--case=tool_returns_image", "--mode=sync")

    test = said.partition("= FAILURES =")[2].partition("✗ 1 cause, 1 run")[0]
    assert code == 1
    assert "  it causes: ORD-003, " in test
    assert "more: https://ellmer-core.github.io/ellmer-core/dev/rules/openai-chat/ord-002/" in test
    assert test.count("(MUST, fail)") == 1  # what follows from it is named below


def test_a_module_of_the_working_folder_is_found_and_its_pytest_settings_are_not_the_suites(project):
    (project.folder / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n", "utf-8")
    (project.folder / "tests").mkdir()
    (project.folder / "tests" / "conftest.py").write_text("import what_only_the_tests_need\n", "utf-8")

    done = project.within("run", "--adapter=my_library:MyLibrary", "--against=server", *FAST)

    assert done.exit_code == 0, done.output
    assert "run against the strict server" in done.output
    assert "\nnot judged: 2 rules: CAS-01, CAS-02 (the case ran against the strict server, " in done.output


NO_ADAPTERS = {
    "my_library:Nothing": "cannot be imported",
    "no-such-adapter": "there is no adapter",
    "my_library:": "cannot be imported",
    "./my_library.py:MyLibrary": "cannot be imported",
    "my_library:Session": "cannot be made without arguments: TypeError",
    "json:dumps": "cannot be made without arguments: TypeError",
    "my_library:json": "is not an adapter: it has no name, no wires, no capabilities, no session",
}


@pytest.mark.parametrize(("name", "told"), NO_ADAPTERS.items(), ids=NO_ADAPTERS)
def test_an_adapter_that_is_none_is_a_usage_error(project, name, told):
    done = project.within("run", f"--adapter={name}", "--against=server")

    said = " ".join(done.stderr.split())
    assert done.exit_code == 2
    assert f"{name!r}" in said
    assert told in said
    assert "Traceback" not in said


@pytest.mark.parametrize("command", ["no-such-program driver.js", "", "python 'driver.py"])
def test_a_command_that_is_none_is_a_usage_error(project, command):
    done = project.within("run", f"--command={command}", "--wire=anthropic", "--case=plain_text")

    assert done.exit_code == 2
    assert f"the command {command!r} cannot be" in " ".join(done.stderr.split())


def test_a_client_that_knows_only_a_base_url_gets_a_report_too(project):
    serve = [*CONFORMANCE, "serve", "--port=0", "--mode=observe", "--report=out"]
    with subprocess.Popen(serve, cwd=project.folder, stdout=subprocess.PIPE, text=True) as server:
        try:
            url = next(line for line in server.stdout if "mode, on http" in line).split()[-1]
            talk(f"{url}/v1")
        finally:
            server.send_signal(signal.SIGTERM)
        said = server.communicate(timeout=30)[0]

    report = json.loads((project.folder / "out" / "report.json").read_text("utf-8"))
    (play,) = report["plays"]
    assert (play["way"], play["wire"], play["case"]) == ("observe", "openai-chat", "any")
    assert [row["rule"] for row in report["results"] if row["verdict"] == "fail"] == ["PAIR-001"]
    assert {"TXT-005", "STR-007"} <= {skip["rule"] for skip in report["skipped"]}
    assert "a base URL shows only requests" in said


def talk(url):
    call = {"id": "call_1", "type": "function", "function": {"name": "now", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "What time is it?"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "user", "content": "Never mind."},
    ]
    with httpx.Client(headers={"authorization": "Bearer any"}) as client:
        for said in (messages[:1], messages):
            answer = client.post(f"{url}/chat/completions", json={"model": "gpt-4.1", "messages": said})
            assert answer.is_success, answer.text
