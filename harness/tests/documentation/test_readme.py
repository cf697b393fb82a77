"""The statements of the README are true."""

import ast
import json
import re
from pathlib import Path

import httpx
import pytest

import ellmer_harness
from ellmer_harness import errors, faults, use_cassette
from ellmer_harness.cassette.cassette_state import MODES, Options

pytest_plugins = ["pytester"]

README = Path(__file__).parents[2].joinpath("README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_cassette_it_shows_can_be_replayed(tmp_path):
    (tmp_path / "c.json").write_text(blocks("json")[-1])
    chat = {"messages": [{"role": "user", "content": "Hi"}], "stream": True}
    with (
        use_cassette(tmp_path / "c.json", delays="virtual") as cassette,
        httpx.stream("POST", "https://api.example.com/v1/chat", json=chat) as response,
    ):
        chunks = list(response.iter_raw())
    assert chunks == [b'data: {"text":"Hel"}\n\n', b'data: {"text":"lo"}\n\n', b"data: [DONE]\n\n"]
    assert cassette.clock.now == pytest.approx(0.351)


def test_the_call_of_grpc_it_shows_is_played(tmp_path, monkeypatch):
    call, whole = map(json.loads, blocks("json"))
    (tmp_path / "greeting.json").write_text(json.dumps({**whole, "interactions": [call]}))
    monkeypatch.chdir(tmp_path)
    [code] = [code for code in blocks("python") if code.startswith("# a call of gRPC")]
    exec(code, {})


def test_its_first_program_without_pytest_runs(tmp_path, monkeypatch, capsys):
    whole = json.loads(blocks("json")[-1])
    url = "https://wttr.in/Paris?format=j1"
    request = {"method": "GET", "uri": url, "headers": {}, "body": None}
    response = {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"text": "sunny"}}
    recorded = {**whole, "interactions": [{"request": request, "response": response}]}
    (tmp_path / "cassettes").mkdir()
    (tmp_path / "cassettes" / "weather.json").write_text(json.dumps(recorded))
    monkeypatch.chdir(tmp_path)
    [code] = [code for code in blocks("python") if code.startswith("# Without pytest")]
    exec(code, {})

    assert capsys.readouterr().out == f"{url}\n200\n"


@pytest.mark.parametrize("code", blocks("python"))
def test_its_code_uses_what_there_is(code):
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom):
            module = faults if node.module == "ellmer_harness.faults" else ellmer_harness
            assert all(hasattr(module, alias.name) for alias in node.names)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "use_cassette":
            assert {keyword.arg for keyword in node.keywords} <= Options.__dataclass_fields__.keys()


def test_it_names_every_mode_error_and_fault():
    names = [*MODES, *errors.__all__, *faults.__all__]
    inner = {"HarnessError", "Fault", "Schedule"}
    assert not [name for name in names if f"`{name}`" not in README and name not in inner]


def test_its_conftests_run(suite, pytester, tmp_path, monkeypatch, server):
    monkeypatch.setenv("CASSETTE_CACHE", str(tmp_path / "copies"))
    conftests = [code for code in blocks("python") if code.startswith("# conftest.py")]
    ours = pytester.path / "conftest.py"
    code = "\n".join([ours.read_text(), *conftests]).replace(
        "s3://our-ci/cassettes", f"memory://{tmp_path.name}"
    )
    ours.write_text(code)
    test = """
        def test_a(cassette):
            import httpx
            httpx.post("https://api.example.com/v1/x", json={"metadata": {"user_id": USER}})
    """
    suite("USER = 1\n" + test.replace("\n        ", "\n"), "--cassette-mode=record").assert_outcomes(passed=1)
    result = suite("USER = 2\n" + test.replace("\n        ", "\n"))
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["1 replayed", "STALE *(v1 of the API is gone)"])
    assert len(conftests) == 2
    assert not (pytester.path / "cassettes").exists()
