"""The shapes of the wire formats, their checker, and the origins in their files."""

import copy
import json
from pathlib import Path

import pytest

from ellmer_conformance.contract import rules, shapes
from ellmer_conformance.contract.shapes.checker import Checker

NAMES = sorted(file.stem for file in Path(shapes.__file__).parent.glob("*.json"))
#: Whose requests a shape is for.
BOOKS = {
    "vertex": ("gemini", "vertex"),
    "groq": ("openai-chat", "groq"),
    "cerebras": ("openai-chat", "cerebras"),
}


def faults(shape, body):
    return [(str(fault.kind), fault.pointer, fault.key) for fault in Checker(shape).faults(body)]


def field(**node):
    return {"root": {"object": {"fields": {"x": node}, "required": ["x"]}}}


@pytest.mark.parametrize("name", NAMES)
def test_a_shape_names_its_sources(name):
    found = shapes.shape(name)
    assert found["wire"] == name
    assert all(": " in source for source in found["sources"]), "each has a version and a type"


def test_a_shape_that_is_not_there_is_told():
    with pytest.raises(LookupError, match="telegraph"):
        shapes.shape("telegraph")


@pytest.mark.parametrize(
    ("node", "value", "fault"),
    [
        ({"string": {}}, 5, ("wrong type", "/x", "")),
        ({"string": {"values": ["a"]}}, "b", ("unknown value", "/x", "")),
        ({"string": {"pattern": "^a"}}, "b", ("out of range", "/x", "")),
        ({"number": {"minimum": 1}}, 0, ("out of range", "/x", "")),
        ({"number": {"integer": True}}, 1.5, ("wrong type", "/x", "")),
        ({"array": {"items": {"string": {}}}}, ["a", 5], ("wrong type", "/x/1", "")),
        ({"array": {"items": {"any": {}}, "maxItems": 1}}, [1, 2], ("out of range", "/x", "")),
        ({"object": {"fields": {"y": {"any": {}}}}}, {"a/b": 1}, ("unknown field", "/x/a~1b", "a/b")),
        ({"object": {"tag": "type", "variants": {}}}, {"type": "b"}, ("wrong variant", "/x/type", "type")),
        ({"object": {"tag": "type", "variants": {}}}, {}, ("missing field", "/x", "type")),
    ],
)
def test_a_fault_has_a_kind_and_a_place(node, value, fault):
    assert faults(field(**node), {"x": value}) == [fault]


@pytest.mark.parametrize(
    ("node", "value"),
    [
        ({"any": {}}, [{"a": None}]),
        ({"null": {}}, None),
        ({"number": {"integer": True}}, 1.0),
        ({"object": {"fields": {}, "others": {"number": {}}}}, {"a": 1}),
        ({"object": {"tag": "type", "variants": {}, "untagged": {"fields": {}}}}, {}),
    ],
)
def test_what_fits_has_no_fault(node, value):
    assert faults(field(**node), {"x": value}) == []


def test_what_is_missing_is_named_by_the_object_that_lacks_it():
    assert faults(field(any={}), {}) == [("missing field", "", "x")]


def test_a_variant_on_the_way_is_a_step_of_the_path_that_pydantic_writes():
    inner = {"fields": {"type": {"any": {}}, "text": {"string": {}}}}
    shape = field(array={"items": {"object": {"tag": "type", "variants": {"text": inner}}}})
    (fault,) = Checker(shape).faults({"x": [{"type": "text", "text": 5}]})
    assert fault.located() == ["x", 0, "text", "text"]
    assert fault.located(unnamed={"text"}) == ["x", 0, "text"]


def test_protobufs_reader_takes_both_spellings_small_letters_and_numbers_as_text():
    node = {
        "maxTokens": {"number": {}, "string": {"pattern": r"^\d+$"}},
        "mode": {"string": {"values": ["ANY"]}},
    }
    shape = {"reader": "proto", "root": {"object": {"fields": node}}}
    assert faults(shape, {"max_tokens": "5", "mode": "any"}) == []
    assert faults(shape, {"max_tokens": "many"}) == [("wrong type", "/max_tokens", "")]


def test_pydantic_takes_numbers_as_text():
    shape = field(number={}) | {"reader": "pydantic"}
    assert faults(shape, {"x": "0.5"}) == []
    assert faults(shape, {"x": "hot"}) == [("wrong type", "/x", "")]


def test_a_node_can_be_inside_itself():
    tree = {"object": {"fields": {"inner": {"ref": "Tree"}}}}
    shape = {"root": {"ref": "Tree"}, "nodes": {"Tree": tree}}
    assert faults(shape, {"inner": {"inner": {}}}) == []
    assert faults(shape, {"inner": {"inner": 5}}) == [("wrong type", "/inner/inner", "")]


@pytest.mark.parametrize("name", NAMES)
def test_any_json_at_any_place_is_a_fault_or_none_but_no_failure(name):
    wire, provider = BOOKS.get(name, (name, ""))
    book, checker = rules.book(wire, provider), shapes.checker(name)
    for rule in book.rules.values():
        for body in rule.examples[:1]:
            for holder, key in list(places(changed := copy.deepcopy(body))):
                kept, holder[key] = holder[key], [None, {"type": ["x"]}, 5]
                assert all(fault.pointer.startswith("/") or fault.key for fault in checker.faults(changed))
                holder[key] = kept


def places(value):
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in list(inner):
        yield value, key
        yield from places(each)


REFUSED = [
    ("anthropic", {"messages": "hi"}, "messages: Input should be a valid array"),
    ("anthropic", {"max_tokens": "many"}, "max_tokens: Input should be a valid integer"),
    ("openai-chat", {"model": 4}, "Invalid type for 'model': expected a string, but got an integer instead."),
    ("openai-chat", {"tools": ["x"]}, "Invalid type for 'tools[0]': expected an object, but got a string instead."),
    ("openai-responses", {"input": 3}, "Invalid type for 'input': expected one of a string or array of objects, but got an integer instead."),
    ("gemini", {"contents": "x"}, "Invalid value at 'contents' (type.googleapis.com/google.ai.generativelanguage.v1beta.Content), \"x\""),
    ("gemini", {"tools": [{"bogus": {}}]}, 'Invalid JSON payload received. Unknown name "bogus" at \'tools[0]\': Cannot find field.'),
    ("cohere", {"bogus": 1}, "unknown field: parameter 'bogus' is not a valid field. For proper usage, please refer to https://docs.cohere.com/reference/chat"),
]  # fmt: skip


@pytest.mark.parametrize(("wire", "change", "said"), REFUSED)
def test_a_malformed_request_is_refused_in_the_providers_words(wire, change, said):
    from ellmer_conformance.contract.rule import objection

    book = rules.book(wire)
    body = book.rules["REQ-101"].examples[0] | change
    violation = objection(book.judge(book.request(body)))
    assert violation is not None
    assert violation.refusal.message == said
    assert violation.refusal.status == (422 if wire == "cohere" else 400)


def test_closed_providers_refuse_what_their_types_do_not_have():
    cerebras = rules.book("openai-chat", "cerebras")
    body = {
        "model": "gpt-oss-120b",
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "5", "reasoning_content": "…"},
            {"role": "user", "content": "Hi"},
        ],
    }
    found = [v for verdict in cerebras.judge(cerebras.request(body)) for v in verdict.violations]
    place = "messages.1.assistant.reasoning_content"
    assert [v.refusal.message for v in found if v.rule.refuses] == [
        f"{place}: property '{place}' is unsupported"
    ]
    assert json.loads(cerebras.refuse(found[0])[2])["code"] == "wrong_api_format"


@pytest.mark.parametrize(
    ("node", "value", "fits"),
    [
        ({"boolean": {}}, "true", True),
        ({"boolean": {}}, "OFF", True),
        ({"boolean": {}}, "maybe", False),
        ({"boolean": {}}, 1, True),
        ({"boolean": {}}, 2, False),
        ({"number": {}}, " 1.5e3", True),
        ({"number": {}}, "one", False),
        ({"number": {}}, True, True),
        ({"array": {"items": {"any": {}}}}, 1, False),
        ({"array": {"items": {"any": {}}}}, "true", False),
    ],
)
def test_pydantic_converts_texts_and_numbers_to_what_is_expected(node, value, fits):
    shape = {**field(**node), "reader": "pydantic"}

    assert faults(shape, {"x": value}) == ([] if fits else [("wrong type", "/x", "")])
