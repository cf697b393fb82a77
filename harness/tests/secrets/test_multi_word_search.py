"""Many words are found in one pass: the same ones as with a regular expression, in a time that does not depend on their number."""

import re
from random import Random
from sys import setprofile

import pytest

from ellmer_harness.secrets.cassette_scan import masks
from ellmer_harness.secrets.multi_word_search import FEW, all_spans, branches, spans


@pytest.mark.parametrize("letters", ["ab", "ab\n.*é", "abcdefghij"])
def test_many_words_are_found_as_by_a_regular_expression(letters):
    chance = Random(5)
    words = {"".join(chance.choices(letters, k=chance.randrange(1, 12))) for _ in range(3 * FEW)}
    text = "".join(chance.choices(letters, k=3000))
    pattern = branches(words)
    assert [*spans(words)(text)] == [each.span() for each in re.finditer(pattern, text)]
    assert [*all_spans(words)(text)] == [each.span(1) for each in re.finditer(f"(?=({pattern}))", text)]


def test_a_few_words_are_found_as_many_are():
    text = "one, two, three, twofold"
    assert [text[start:end] for start, end in spans(["two", "twofold", "one"])(text)] == [
        "one",
        "two",
        "twofold",
    ]


def calls(number):
    """The calls of functions while as many keys are searched and masked, each in a text of its own."""
    chance, count = Random(3), 0
    keys = ["sk-proj-" + "".join(chance.choices("abcdefgh123456789", k=48)) for _ in range(number)]

    def counted(*_):
        nonlocal count
        count += 1

    setprofile(counted)
    try:
        found = masks([{"text": f"my key is {key}"} for key in keys])
    finally:
        setprofile(None)
    assert found.keys() == {*keys}
    return count


def test_keys_are_found_in_a_time_that_grows_with_their_number():
    assert calls(2 * FEW * 4) <= 4.6 * calls(2 * FEW)
