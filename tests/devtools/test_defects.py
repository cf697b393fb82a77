"""Each known defect can still be put back: its source has the place once, and its tests exist."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from devtools.defects import DEFECTS
from devtools.invariants import INVARIANTS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("defect", DEFECTS.values(), ids=DEFECTS)
def test_a_defect_can_be_put_back(defect):
    source = Path(find_spec(defect.module).origin).read_text(encoding="utf-8")

    assert source.count(defect.now) == 1
    compile(source.replace(defect.now, defect.defect), defect.module, "exec")
    file, *words = defect.tests
    tests = (ROOT / file).read_text(encoding="utf-8").lower()
    chosen = re.sub(r"\bnot [\w-]+", "", words[-1]) if words else ""
    assert [
        word
        for word in re.findall(r"[\w-]+", chosen.lower())
        if word not in {"and", "or"} and word not in tests
    ] == []


def test_the_tests_of_the_invariants_exist():
    assert [path for each in INVARIANTS for path in each.tests if not (ROOT / path).is_file()] == []
    assert {defect.invariant for defect in DEFECTS.values()} == set(range(1, len(INVARIANTS) + 1))
