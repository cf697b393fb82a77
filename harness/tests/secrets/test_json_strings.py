"""Every string of a value is searched, and what is found in it has a place."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ellmer_harness.secrets.cassette_scan import scan
from ellmer_harness.secrets.json_strings import places, strings

NAMES = st.sampled_from(["name", "value", "text", "content", "api_key", "password", "key", "n", "headers"])
TEXTS = NAMES | st.text(max_size=6)
VALUES = st.recursive(
    st.none() | st.integers() | st.floats() | TEXTS | st.binary(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=4) | st.tuples(NAMES, inner) | st.dictionaries(NAMES, inner, max_size=4)
    ),
    max_leaves=20,
)
DRAWN = "Zx7kQ9mW2pLr4TvB8nYc"


@given(VALUES)
def test_what_is_searched_and_what_has_a_place_are_the_same(value):
    found = strings(value)
    assert max(Counter(found).values()) == 1 if found else True
    assert {text for _, text in found} == {text for _, text in places(value)}
    named = {each for each in places(value) if each[0]}
    assert named <= set(found)


def nested(levels):
    value = DRAWN
    for _ in range(levels):
        value = [value]
    return {"api_key": value}


def test_however_deep_it_is():
    assert [*scan(nested(5000))]


def test_a_pair_and_a_field_of_a_telling_name():
    for value in (("api_key", DRAWN), ["api_key", DRAWN], [{"name": "API_KEY", "value": [DRAWN]}]):
        assert [*scan(value)], value


def test_lines_are_searched_as_one_text():
    (found,) = scan({"text": ["see\n", f"api_key: {DRAWN[:10]}", f"{DRAWN[10:]}\n"]})
    assert found.where == "/text/0"


@pytest.mark.parametrize("value", [{"x": 1}, [], None, 7, ""])
def test_an_option_of_a_command_may_have_any_value(value):
    assert ("--password", "Winter2031!") in strings(["--password", "Winter2031!", "--api-key", value])
