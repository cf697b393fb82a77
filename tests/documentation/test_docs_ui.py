"""docs/ui.md: its examples run, and its pictures exist and are small."""

import re
from pathlib import Path

import pytest

pytest.importorskip("shinychat", reason="The chat app is an extra: ellmer-core[shiny].")
DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "ui.md").read_text(encoding="utf-8")


def test_the_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    examples = re.findall(r"(?<!-->\n)^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    names = {"__name__": "ui"}
    for example in examples:
        exec(compile(example, "docs/ui.md", "exec"), names)

    assert len(examples) == 6
    assert names["get_weather"].title({"city": "Duluth, MN"}) == "Get weather in Duluth, MN"
    assert names["search_flights"]("Lisbon").value == {"19:05": 96}


@pytest.mark.parametrize("picture", re.findall(r"\]\(images/(.*?)\)", PAGE))
def test_the_pictures_are_there_and_small(picture):
    assert (DOCS / "images" / picture).stat().st_size < 150_000
