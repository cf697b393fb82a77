"""n letters cost O(n): each regular expression of the three packages, on texts that are made from it to make it go back and forth."""

import os
import re
from time import process_time

import pytest
from pattern_attacks import attacks, patterns

pytestmark = pytest.mark.invariants

SCALE = int(os.environ.get("INVARIANTS", "0"))
SLOW = 0.25  # seconds: a cubic time for that many letters is longer
SIZE = {"ellmer_core": 1500, "ellmer_harness": 500, "ellmer_conformance": 500}
#: Expressions that are only matched at the beginning of a text, or against a whole one, which this test does not know.
ANCHORED = {"ellmer_core.render.markup.BEFORE"}


@pytest.mark.parametrize("package", SIZE)
def test_no_pattern_goes_back_and_forth(package, record_property):
    if package == "ellmer_conformance" and not SCALE:
        pytest.skip("nox -s invariants")
    found = patterns(package)
    tried, slow = 0, []
    for name, pattern in found.items():
        for text in attacks(pattern, SIZE[package]):
            tried += 1
            began = process_time()
            for _ in pattern.finditer(text):
                pass
            if process_time() - began > SLOW and name not in ANCHORED:
                slow.append((name, text[:40]))
                break
    record_property("cases", tried)
    assert len(found) > 50
    assert slow == []


@pytest.mark.parametrize("package", SIZE)
def test_no_group_is_possessive(package):
    """Python 3.11.2 keeps what such a group has read of a repetition that failed (python/cpython#100061): `(?>(?:…)*)` instead of `(?:…)*+`."""
    possessive = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+")
    texts = {name: pattern.pattern for name, pattern in patterns(package).items()}

    assert [name for name, text in texts.items() if isinstance(text, str) and possessive.search(text)] == []


def test_an_expression_that_goes_back_and_forth_is_found():
    fenced = re.compile(r"```[ \t]*\w*\s*\n(.*?)\n?\s*```", re.DOTALL)  # as it was
    began = process_time()
    for text in attacks(fenced, 300):
        fenced.findall(text)
    assert process_time() - began > SLOW
