"""Malformed requests, derived from recorded ones by the official types, are refused: a seeded sample of `nox -s
mutants`.
"""

import copy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "conformance" / "shapes"))

import mutants  # noqa: E402  # it lies beside the other scripts
from mutations import Mutant  # noqa: E402
from mutations import mutants as derived  # noqa: E402

SAMPLED = {
    "cohere": "cohere",
    "bedrock": "bedrock",
    "mistral": "mistral",
    "openai-chat": "openai-chat/openai",
}


@pytest.mark.parametrize("name", SAMPLED)
def test_what_all_official_types_refuse_is_refused(name):
    requests = mutants.picked(mutants.accepted([ROOT / "cassettes" / SAMPLED[name]]), 2, seed=1)[name]
    count = mutants.judged(requests, mutants.Official(name, None), most=30, seed=1)
    assert count.agreed > 15, "there was nothing to refuse"
    assert not [f"{mutant.kind} at {mutant.place}" for mutant in count.missed]


NODE = {
    "object": {
        "fields": {
            "role": {"string": {"values": ["user"]}},
            "size": {"number": {"minimum": 0}},
            "parts": {"array": {"items": {"string": {}}}},
        },
        "required": ["role"],
    }
}


def test_each_place_is_made_wrong_in_each_way_and_the_request_stays_as_it_is():
    body = {"role": "user", "size": 1, "parts": ["a", "b"]}
    before = copy.deepcopy(body)
    found = list(derived(body, NODE))
    assert body == before
    assert Mutant("missing field", ".role", {"size": 1, "parts": ["a", "b"]}) in found
    assert Mutant("unknown field", "", {**body, "bogus": 1}) in found
    assert Mutant("unknown value", ".role", {**body, "role": "bogus"}) in found
    assert Mutant("out of range", ".size", {**body, "size": -1}) in found
    assert Mutant("wrong type", ".parts[]", {**body, "parts": ["a", 4.5]}) in found


def test_the_table_counts_what_was_refused():
    printed = mutants.table({"telegraph": mutants.Count(derived=9, agreed=8, refused=6, worded=5)})
    assert printed.splitlines()[-1] == "| telegraph | 9 | 8 | 0 | 6 | 75.0 % | 5 |"
