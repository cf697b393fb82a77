"""The table of planted bugs lists the broken adapters and the rules that catch them."""

import re
from pathlib import Path

from broken_on_purpose import BROKEN, invented, lost_or_added_content

PAGE = Path(__file__).parents[3] / "docs" / "tested" / "planted-bugs.md"
_ROW = re.compile(r"^\| `(\w+)` \| .+? \| `(\w+)` \| ([A-Z0-9, -]+) \|$", re.MULTILINE)


def listed():
    rows = _ROW.findall(PAGE.read_text("utf-8"))
    return {name: (case, tuple(rules.split(", "))) for name, case, rules in rows}


def test_every_bug_of_the_table_is_an_adapter_that_its_rule_catches():
    broken = {name: (c.case, tuple(c.caught_by)) for name, c in vars(BROKEN).items()}
    rows = listed()

    assert len(rows) >= 60
    assert {name: broken[name] for name in rows} == rows


def test_every_planted_and_every_invented_bug_is_in_the_table():
    wanted = {
        name
        for name, c in vars(BROKEN).items()
        if c.__module__.startswith((lost_or_added_content.__name__, invented.__name__))
    }

    assert wanted <= set(listed())


def test_those_that_fail_nobody_are_named():
    text = PAGE.read_text("utf-8")
    named = re.findall(r"`(\w+)`", text.partition("break only a SHOULD")[2].partition("\n\n")[0])
    rows = listed()

    assert {*named} == {name for name in rows if vars(BROKEN)[name].gently}
    assert f"{len(rows) - len(named)} of all {len(rows)} fail a run" in text
