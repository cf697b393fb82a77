"""A forced call is told from a free choice, in the form of any wire format."""

import pytest

from ellmer_core.wire.shared.json_objects import is_forced

FORCED = [
    "required",
    "any",
    "REQUIRED",
    {"type": "any"},
    {"mode": "ANY"},
    {"any": {}},
    {"type": "tool", "name": "f"},
]
FREE = [None, "auto", "none", {"type": "auto"}, {"mode": "AUTO"}, {"auto": {}}, {"type": "none"}]


@pytest.mark.parametrize("choice", FORCED, ids=str)
def test_a_demanded_call_is_forced(choice):
    assert is_forced(choice)


@pytest.mark.parametrize("choice", FREE, ids=str)
def test_another_choice_is_free(choice):
    assert not is_forced(choice)
