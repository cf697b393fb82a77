"""Legal variations of accepted requests, by the official types: no rule about shapes refuses one."""

import copy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "conformance" / "shapes"))

import legal  # noqa: E402  # it lies beside the other scripts
import mutants  # noqa: E402

from ellmer_conformance.contract import rules  # noqa: E402
from ellmer_conformance.contract.observed.exchange import Request  # noqa: E402

SAMPLED = {"cohere": "cohere", "mistral": "mistral", "openai-chat": "openai-chat/openai"}


@pytest.mark.parametrize("name", SAMPLED)
def test_what_the_official_types_call_legal_is_in_its_shape(name):
    requests = mutants.picked(mutants.accepted([ROOT / "cassettes" / SAMPLED[name]]), 2, seed=1)[name]
    count = legal.judged(requests, mutants.Official(name, None).root, most=30, seed=1)
    assert count.derived > 15, "there was nothing to vary"
    assert not count.by_shape, count.refused


NODE = {
    "object": {
        "fields": {
            "role": {"string": {"values": ["user", "system"]}},
            "size": {"number": {"minimum": 0, "maximum": 0.5}},
            "parts": {"array": {"items": {"string": {"minLength": 6}}}},
            "code": {"string": {"pattern": "^[0-9]{12}$"}},
            "kind": {
                "object": {"fields": {"id": {"string": {}}, "more": {"boolean": {}}}, "required": ["id"]}
            },
        },
        "required": ["role"],
    }
}


def test_each_field_that_is_absent_is_set_and_each_listed_value_is_taken_by_another():
    body = {"role": "user"}
    before = copy.deepcopy(body)
    found = list(legal.variations(body, NODE))
    assert body == before
    assert found == [
        (".role=system", {"role": "system"}),
        (".size", {"role": "user", "size": 0.5}),
        (".parts", {"role": "user", "parts": ["aaaaaa"]}),
        (".kind", {"role": "user", "kind": {"id": "aaaa"}}),
    ]


def test_what_a_rule_says_to_a_legal_request_is_counted_where_it_stands():
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]}
    request = Request("openai-chat", "openai", body, model="gpt-4o")
    assert not [verdict for verdict in rules.book("openai-chat").judge(request) if verdict.violations]
    root = {"object": {"fields": {"verbosity": {"string": {"values": ["low"]}}, "bogus": {"boolean": {}}}}}
    count = legal.judged([request], root, most=9, seed=1)
    assert count.derived == 2
    assert sorted(count.refused) == ["REQ-024", "REQ-062"]
    assert legal.table({"telegraph": count}).splitlines()[-1] == "| telegraph | 2 | 0 | 2 |"
