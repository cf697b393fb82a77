"""No rule about the shape of a request refuses a value that the types of the official SDKs allow."""

from collections.abc import Iterable, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin

import pytest
from anthropic.types import ContentBlockParam, ToolUnionParam
from anthropic.types.beta import BetaContentBlockParam, BetaToolUnionParam
from mistralai.client.models import chatcompletionrequest as mistral
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolUnionParam
from openai.types.responses import ResponseInputItemParam, ToolParam
from typing_extensions import TypeAliasType, get_type_hints, is_typeddict

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.rules._media import PNG

DEPTH = 4
ASK = {"role": "user", "content": "Hi"}
SAMPLES = {
    "arguments": "{}",
    "data": PNG,
    "file_id": "file-1",
    "media_type": "image/png",
    "image_url": f"data:image/png;base64,{PNG}",
    "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
    "input_schema": {"type": "object"},
    "role": "user",
    "url": f"data:image/png;base64,{PNG}",
}


def values(of: Any, key: str = "", depth: int = 0) -> list[Any]:
    """Returns legal values of a type: one of each literal, of each member of a union, with each optional field once."""
    of = of.__value__ if isinstance(of, TypeAliasType) else of
    origin, inner = get_origin(of), get_args(of)
    if origin in (Required, NotRequired, Annotated):
        return values(inner[0], key, depth)
    if origin is Literal:
        return list(inner)
    if origin in (Union, UnionType):
        return [value for each in inner for value in values(each, key, depth)]
    if origin in (list, Iterable, Sequence) or getattr(origin, "__name__", "") in {"Iterable", "Sequence"}:
        return [[value] for value in values(inner[0], key, depth)]
    if is_typeddict(of):
        return objects(of, depth + 1) if depth < DEPTH else []
    return plain(origin or of, key)


def plain(of: Any, key: str) -> list[Any]:
    simple = {str: SAMPLES.get(key, "text"), bool: True, int: 1, float: 1.0, NoneType: None, dict: {}}
    if of in simple:
        return [SAMPLES[key] if key in SAMPLES else simple[of]]
    return [SAMPLES.get(key, {})] if of is object or "Mapping" in str(of) else []


def objects(of: Any, depth: int) -> list[dict[str, Any]]:
    fields = get_type_hints(of, include_extras=True)
    legal = {key: found for key, hint in fields.items() if (found := values(hint, key, depth))}
    wanted = {key for key, hint in fields.items() if needed(of, hint)}
    least = {key: legal[key][0] for key in legal if key in wanted}
    return [least, *({**least, key: value} for key, found in legal.items() for value in found)]


def needed(of: Any, hint: Any) -> bool:
    origin = get_origin(hint)
    return origin is Required or (getattr(of, "__total__", True) and origin is not NotRequired)


PLACES = {
    "chat messages": ("openai-chat", ChatCompletionMessageParam, lambda it: {"messages": [ASK, it]}),
    "chat tools": (
        "openai-chat",
        ChatCompletionToolUnionParam,
        lambda it: {"messages": [ASK], "tools": [it]},
    ),
    "response items": ("openai-responses", ResponseInputItemParam, lambda it: {"input": [ASK, it]}),
    "response tools": ("openai-responses", ToolParam, lambda it: {"input": [ASK], "tools": [it]}),
    "mistral messages": (
        "mistral",
        mistral.ChatCompletionRequestMessageTypedDict.__value__,
        lambda it: {"messages": [ASK, it, ASK]},
    ),
    "mistral tools": (
        "mistral",
        mistral.ChatCompletionRequestToolTypedDict.__value__,
        lambda it: {"messages": [ASK], "tools": [it]},
    ),
    **{
        f"{name} blocks": (
            "anthropic",
            block,
            lambda it: {"max_tokens": 9, "messages": [ASK, {"role": "user", "content": [it]}]},
        )
        for name, block in (("anthropic", ContentBlockParam), ("beta", BetaContentBlockParam))
    },
    **{
        f"{name} tools": ("anthropic", tool, lambda it: {"max_tokens": 9, "messages": [ASK], "tools": [it]})
        for name, tool in (("anthropic", ToolUnionParam), ("beta", BetaToolUnionParam))
    },
}
SHAPE = {
    "REQ-004",
    "REQ-005",
    "REQ-007",
    "REQ-009",
    "REQ-010",
    "REQ-011",
    "REQ-012",
    "REQ-034",
    "REQ-036",
    "REQ-045",
}
SHAPE |= {"SCH-001", "SCH-002", "SCH-020", "SCH-021", "PAIR-018"}
# Where an API was recorded to refuse what the type allows.
REFUSED = (
    "`file_id` is missing",
    "`call_id` is missing",
    "`content` is missing",
    "the message has no content",
)


@pytest.mark.parametrize(("wire", "of", "request_of"), PLACES.values(), ids=PLACES)
def test_a_legal_value_has_a_legal_shape(wire, of, request_of):
    book, count = rules.book(wire), 0
    model = {"anthropic": "claude-sonnet-4-5"}.get(wire, "gpt-5")
    for member in get_args(of):
        for value in values(member):
            count += 1
            request = book.request({"model": model, **request_of(value)})
            wrong = [
                (each.rule.id, violation.message)
                for each in book.judge(request)
                for violation in each.violations
                if each.rule.refuses and each.rule.id in SHAPE and violation.message not in REFUSED
            ]
            assert not wrong, value
    assert count > 5
