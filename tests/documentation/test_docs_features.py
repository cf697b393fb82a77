"""docs/chat/features.md: every claimed feature links to a tested example, or to the tests."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import ellmer_core

FOLDER = Path(__file__).parents[2] / "docs" / "chat"
PAGE = (FOLDER / "features.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.splitlines() if line.startswith("| ")
]
FEATURES = [row for row in ROWS if len(row) == 7 and row[0] != "feature"]
OURS = [(row[0], *re.fullmatch(r"✓ \[(.+)\]\(([\w./-]+)#([\w-]+)\)", row[1]).groups()) for row in FEATURES if row[1] != "–" and "by" not in row[1][:5]]  # fmt: skip


@cache
def sections(page):
    """The text below each heading of a page, by its anchor."""
    text = (FOLDER / page).read_text(encoding="utf-8")
    parts = re.split(r"^##+ (.+)$", text, flags=re.MULTILINE)[1:]
    return {
        re.sub(r"[^\w]+", "-", heading.lower()).strip("-"): body
        for heading, body in zip(parts[::2], parts[1::2], strict=True)
    }


def test_every_row_says_something_of_each_library():
    assert len(FEATURES) >= 30
    assert {cell[0] for row in FEATURES for cell in row[1:]} <= set("✓◐–")


@pytest.mark.parametrize(
    "package", ["chatlas", "pydantic-ai-slim", "langchain", "langchain-core", "langchain-openai"]
)
def test_the_versions_are_those_of_the_page_about_their_behaviour(package):
    lines = FOLDER.joinpath("../peers.md").read_text(encoding="utf-8").splitlines()
    played = "\n".join(line for line in lines if " @" not in line)  # npm has packages of these names, too
    [version] = set(re.findall(rf"[, ]{package} ([\d.]+)", played))

    assert re.search(rf"\b{package}[ /]{re.escape(version)}\b", PAGE)


def test_every_cell_of_ellmer_can_be_run():
    """`python -m devtools.feature_cells ellmer` runs them in R."""
    program = (FOLDER.parents[1] / "devtools" / "feature_cells" / "ellmer.R").read_text("utf-8")
    cells = re.findall(r'^  "(.+)" = (runs|has|nothing)\((.*)$', program, re.MULTILINE)
    tried = {
        row: "–" if kind == "nothing" and "symbol" not in how else re.search("[✓◐–]", how)[0]
        for row, kind, how in cells
    }
    assert tried == {row[0]: row[3][0] for row in FEATURES}


def test_every_cell_of_the_ai_sdk_can_be_run():
    """`python -m devtools.feature_cells ai_sdk` runs them in Node."""
    program = (FOLDER.parents[1] / "devtools" / "feature_cells" / "ai_sdk.mjs").read_text("utf-8")
    cells = re.findall(r'^  "(.+)": (runs|names|nothing)\((.*)$', program, re.MULTILINE)
    tried = {row: "–" if kind == "nothing" else re.search("[✓◐–]", how)[0] for row, kind, how in cells}
    assert tried == {row[0]: row[6][0] for row in FEATURES}


@pytest.mark.parametrize(("library", "column"), [("chatlas", 2), ("pydantic_ai", 4), ("langchain", 5)])
def test_every_cell_can_be_run(library, column):
    """`python -m devtools.feature_cells` runs them."""
    tree = ast.parse((FOLDER.parents[1] / "devtools" / "feature_cells" / f"{library}.py").read_text("utf-8"))
    [cells] = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "CELLS"
    ]
    tried = {
        row.value: "–" if cell.func.id == "nothing" else cell.args[0].value
        for row, cell in zip(cells.keys, cells.values, strict=True)
    }
    assert tried == {row[0]: row[column][0] for row in FEATURES}


@pytest.mark.parametrize(("feature", "what", "page", "anchor"), OURS, ids=[ours[0] for ours in OURS])
def test_our_features_have_examples(feature, what, page, anchor):
    section = sections(page)[anchor]

    assert re.search(r"(?<!-->\n)```python\n|::test_", section)
    for name in re.findall(r"`(\w+)(?:\(\))?`", what):
        public = hasattr(ellmer_core, name) or hasattr(ellmer_core.Chat, name)
        assert public, f"{feature}: there is no {name}"
        assert name in section, f"{feature}: {name} is not in {page}#{anchor}"
