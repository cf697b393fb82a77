"""The parts for other projects: the GitHub Action and the hooks of pre-commit. Their shell commands run here."""

import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"] if "run" in step}

OUT_OF_ORDER = """\
interactions:
- request:
    body: '{"model": "gpt-4.1", "messages": [
      {"role": "user", "content": "Weather?"},
      {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function",
        "function": {"name": "get_weather", "arguments": "{}"}}]},
      {"role": "user", "content": "Never mind."},
      {"role": "tool", "tool_call_id": "call_1", "content": "21 °C"}]}'
    headers: {content-type: [application/json]}
    method: POST
    uri: https://api.openai.com/v1/chat/completions
  response:
    body: {string: '{"choices": [{"message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"}]}'}
    headers: {content-type: [application/json]}
    status: {code: 200, message: OK}
version: 1
"""


@pytest.fixture
def step(tmp_path, monkeypatch):
    """Runs a step of the action in an empty project, with given inputs and declared defaults."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    monkeypatch.chdir(tmp_path)

    def run(name, **inputs):
        given = {key: declared["default"] for key, declared in ACTION["inputs"].items()} | inputs
        known = {f"${{{{ inputs.{key} }}}}": value for key, value in given.items()}
        known["${{ github.action_path }}"] = os.environ.get("PACKAGE", str(ROOT))
        env = {key: known[value] for key, value in STEPS[name]["env"].items()}
        shell = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c"]  # as GitHub starts it
        return subprocess.run(
            [*shell, STEPS[name]["run"]], env=os.environ | env, capture_output=True, text=True, check=False
        )

    return run


def test_recordings_that_break_a_rule_are_annotated_summarised_and_kept(step, tmp_path):
    (tmp_path / "my cassettes").mkdir()
    (tmp_path / "my cassettes" / "weather.yaml").write_text(OUT_OF_ORDER, "utf-8")

    done = step("Judge", arguments="'my cassettes'")

    assert done.returncode == 1, done.stderr
    assert "::error file=my cassettes/weather.yaml" in done.stdout
    assert "ORD-002" in (tmp_path / "summary.md").read_text("utf-8")
    assert '"version": "2.1.0"' in (tmp_path / "conformance-report" / "conformance.sarif").read_text("utf-8")


def test_nothing_is_kept_where_no_report_is_wanted(step, tmp_path):
    shutil.copytree(ROOT / "cassettes" / "cohere" / "cohere", tmp_path / "cassettes")

    done = step("Judge", arguments="cassettes", report="")

    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cassettes", "summary.md"]


def test_an_adapter_is_run(step, tmp_path):
    done = step("Judge", command="run", arguments="--case one_tool --wire cohere --against server")

    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "conformance-report" / "report.json").is_file()
    assert "one_tool" in done.stdout


def test_what_cannot_be_read_is_no_success(step, tmp_path):
    assert step("Judge", arguments="no-such-folder").returncode == 2
    assert step("Judge", command="judge").returncode == 2


@pytest.mark.skipif("PACKAGE" not in os.environ, reason="installs into the environment: nox -s package")
def test_it_installs_itself(step, tmp_path, monkeypatch):
    venv.create(tmp_path / "venv", with_pip=True)
    monkeypatch.setenv("PATH", f"{tmp_path / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}")

    done = step("Install", install="pytest-xdist")

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "venv" / "bin" / "conformance").exists()


def test_each_hook_finds_what_it_looks_for(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    bad = tmp_path / "cassettes" / "weather.yaml"
    bad.parent.mkdir()
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"
    bad.write_text(OUT_OF_ORDER.replace("[application/json]", f"[application/json], x: [{token}]", 1))
    for hook in HOOKS.values():
        done = subprocess.run(
            [*hook["entry"].split(), bad], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 1, done.stdout + done.stderr


def test_the_workflows_name_sessions_and_commands_that_exist():
    sessions = set(
        re.findall(r"@nox\.session.*\n(?:@.*\n)*def (\w+)", (ROOT / "noxfile.py").read_text("utf-8"))
    )
    scripts = [path.read_text("utf-8") for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))]
    named = {
        name for text in scripts for line in re.findall(r"nox -s ([\w ]+)", text) for name in line.split()
    }
    commands = {name for text in scripts for name in re.findall(r"^ *conformance (\w+)", text, re.MULTILINE)}

    assert {"tests", "publish_docs"} <= named <= sessions
    assert commands == {"live"}
    assert commands <= {path.stem for path in (ROOT / "conformance/ellmer_conformance/cli").glob("*/*.py")}


@pytest.mark.parametrize(
    "page", ["README.md", "docs/conformance/ci.md", "docs/tutorial.md", ".github/workflows"]
)
def test_actions_of_others_are_pinned_by_hash(page):
    path = ROOT / page
    files = [*path.glob("*.yml")] if path.is_dir() else [path]
    used = [each for file in files for each in re.findall(r"uses: (\S+)@(\S+)", file.read_text("utf-8"))]

    others = [(name, at) for name, at in used if name != "ellmer-core/ellmer-core"]
    assert others
    assert [each for each in others if not re.fullmatch("[0-9a-f]{40}", each[1])] == []
