"""What the README shows is so."""

import ast
import re
from pathlib import Path

import httpx
import pytest

import ellmer_harness
from ellmer_harness import errors, faults, use_cassette
from ellmer_harness.options import MODES, Options

README = Path(__file__).parent.parent.joinpath("README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_cassette_it_shows_can_be_replayed(tmp_path):
    (tmp_path / "c.json").write_text(*blocks("json"))
    chat = {"messages": [{"role": "user", "content": "Hi"}], "stream": True}
    with (
        use_cassette(tmp_path / "c.json", delays="virtual") as tape,
        httpx.stream("POST", "https://api.example.com/v1/chat", json=chat) as response,
    ):
        chunks = list(response.iter_raw())
    assert chunks == [b'data: {"text":"Hel"}\n\n', b'data: {"text":"lo"}\n\n', b"data: [DONE]\n\n"]
    assert tape.clock.now == pytest.approx(0.351)


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
