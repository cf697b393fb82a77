"""Blocks of the pages that are not run: each has a reason of the table, and what can be checked of it is checked."""

import re
import shutil
import subprocess
import tomllib

import pytest
from code_blocks import NOT_RUN, PAGES, ROOT, blocks

BLOCKS = [(page, block) for page in PAGES for block in blocks(page)]
LEFT_OUT = [(page, block) for page, block in BLOCKS if "not run" in block.said]
SCRIPTS = [(page, block) for page, block in LEFT_OUT if block.language in {"js", "javascript"}]


def test_each_reason_is_in_the_table_and_each_entry_is_needed():
    assert {block.said["not run"] for _, block in LEFT_OUT} == NOT_RUN.keys()


def test_what_checks_them_instead_exists():
    assert not [path for path in NOT_RUN.values() if not (ROOT / path).exists()]


def test_fifteen_of_sixteen_blocks_are_run():
    assert len(LEFT_OUT) <= len(BLOCKS) / 16


def test_commands_that_need_a_network_name_what_exists():
    texts = [block.text for _, block in LEFT_OUT if block.said["not run"] == "it needs a network"]
    assert texts
    for text in texts:
        assert text.startswith("python -m devtools.")
        module = (ROOT / f"{text.split()[2].replace('.', '/')}.py").read_text("utf-8")
        assert not [option for option in re.findall(r"--[a-z-]+", text) if f'"{option}"' not in module]


def test_install_commands_name_extras_that_exist():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    named = [re.findall(r"(?:ellmer-core|['\"]\.)\[([a-z,]+)\]", block.text) for _, block in BLOCKS]
    named = [name for found in named for group in found for name in group.split(",")]
    assert len(named) > 10
    assert {*named} <= extras.keys()


@pytest.mark.skipif(not shutil.which("node"), reason="it needs Node")
@pytest.mark.parametrize(("page", "block"), SCRIPTS, ids=[f"{page}:{block.line}" for page, block in SCRIPTS])
def test_node_can_parse_the_scripts(page, block, tmp_path):
    script = tmp_path / "block.mjs"
    script.write_text(block.text, "utf-8")
    done = subprocess.run(["node", "--check", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
