"""The figures of the pages: they are written, and compared."""

from importlib import import_module
from pathlib import Path

import pytest

NOW = {"exchanges": 5000, "archives": 54, "packages": 39, "rules": 1443}


@pytest.fixture
def tool(monkeypatch, tmp_path):
    """The tool with copies of the pages."""
    root = Path(__file__).parents[2]
    tool = import_module("devtools.figures")
    for page in tool.PAGES:
        (tmp_path / page).parent.mkdir(exist_ok=True)
        (tmp_path / page).write_text((root / page).read_text("utf-8"), "utf-8")
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    monkeypatch.setattr(tool, "figures", lambda: NOW)
    return tool


def test_all_figures_are_written(tool):
    assert tool.main([]) == 0
    text = (tool.ROOT / "README.md").read_text("utf-8")
    assert "| rules, over eight wire formats | 1,443 |" in text
    assert (
        "no accepted request is refused | 5,000 | [pinned recordings](conformance/corpus.toml) in 54 archives of 39"
        in text
    )
    assert "[5,000 exchanges]" in (tool.ROOT / "docs" / "index.md").read_text("utf-8")
    assert tool.main(["--check", "--exact"]) == 0


def test_a_new_rule_is_no_failure_before_a_release(tool):
    tool.main([])
    more = NOW | {"rules": 1444}
    assert tool.differences(more, exact=False) == []
    assert tool.differences(more, exact=True) == [
        "README.md says 1,443 rules, and there are 1,444. Run `nox -s figures`."
    ]


def test_a_figure_that_claims_too_much_is_a_failure(tool, capsys):
    tool.main([])
    (told,) = tool.differences(NOW | {"packages": 38}, exact=False)
    assert told.startswith("README.md says 39 packages, and there are 38.")


def test_a_figure_that_is_not_found_is_told(tool):
    with pytest.raises(LookupError, match="no figure is found by"):
        tool.written("A page.", tool.PAGES["docs/index.md"], NOW)
