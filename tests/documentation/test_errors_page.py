"""The page of errors has the same tree as the module."""

from pathlib import Path

import ellmer_core.errors


def test_the_page_has_the_tree_of_the_module():
    drawn = str(ellmer_core.errors.__doc__).partition("\n\n")[2].strip()
    page = Path(__file__).parents[2].joinpath("docs", "chat", "errors.md").read_text("utf-8")

    assert drawn in page
