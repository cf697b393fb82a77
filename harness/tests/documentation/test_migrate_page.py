"""docs/recordings/migrate.md: its conftest moves a suite of pytest-recording, and the names in it exist."""

import re
from pathlib import Path

import pytest
import yaml

from ellmer_harness.cassette.cassette_state import MODES, Options
from ellmer_harness.cli import main

pytest_plugins = ["pytester"]

PAGE = Path(__file__).parents[3].joinpath("docs", "recordings", "migrate.md").read_text(encoding="utf-8")
[_, CONFTEST] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
TESTS = """
    import httpx, pytest, urllib3

    @pytest.mark.vcr
    @pytest.mark.parametrize("model", ["gpt-4.1", "a/b"])
    def test_story(model):
        body = {"model": model, "metadata": {"user_id": "another every day"}}
        assert httpx.post("https://api.example.com/chat?beta=true", json=body).text == "Once"

    @pytest.mark.vcr
    def test_urllib3():
        assert urllib3.request("GET", "https://api.example.com/plain").data == b"Once"
"""


def interaction(method, url, body):
    headers = {"content-type": ["text/plain"], "content-encoding": ["gzip"]}
    return {
        "request": {"method": method, "uri": url, "body": body, "headers": {"User-Agent": ["x"]}},
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": headers,
            "body": {"string": "Once"},
        },
    }


@pytest.fixture
def moved(pytester):
    """A suite with its cassettes where pytest-recording puts them, after steps 2 and 3."""
    folder = pytester.path / "cassettes" / "test_moved"
    folder.mkdir(parents=True)
    chat, plain = "https://api.example.com/chat", "https://api.example.com/plain"
    cassettes = {
        "test_story[gpt-4.1]": interaction(
            "POST", chat, '{"metadata": {"user_id": "1"}, "model": "gpt-4.1"}'
        ),
        "test_story[a-b]": interaction("POST", chat, '{"metadata": {"user_id": "1"}, "model": "a/b"}'),
        "test_urllib3": interaction("GET", plain, None),
    }
    for name, each in cassettes.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump({"version": 1, "interactions": [each]}))
    assert main(["migrate", str(pytester.path / "cassettes")]) == 0
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_moved=TESTS.replace("pytest.mark.vcr", "pytest.mark.cassette"))
    return folder


def test_a_suite_moves(moved, pytester, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    result = pytester.runpytest_inprocess("-p", "ellmer_harness.pytest.plugin", "--strict-markers")
    # pytest-recording wrote - for /, so that two parameters may share a file; here it is another name.
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*Miss: there is no cassette */test_story-a-b-*.json.*"])


def test_what_it_names_exists(capsys):
    for command in set(re.findall(r"ellmer-harness (\w+)", PAGE)):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        options = capsys.readouterr().out
        for line in re.findall(rf"ellmer-harness {command} (.*)", PAGE):
            assert not [option for option in re.findall(r"--[a-z-]+", line) if option not in options]
    table = re.findall(r"^\|.*\|$", PAGE, re.MULTILINE)
    named = set(re.findall(r"`(allow_\w+|on_repeat|secrets|patchers)\b", "\n".join(table)))
    assert named - {"allow_playback_repeats"} <= Options.__dataclass_fields__.keys()
    assert {"record", "replay", "rewrite", "append"} <= set(MODES)
