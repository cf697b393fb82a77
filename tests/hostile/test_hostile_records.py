"""Damaged and hostile saved chats: each is restored, or raises an `EllmerError` with the reason."""

import json
import os
from random import Random

import httpx
import pytest
from chats.scripted import talk

import ellmer_core as ec
from ellmer_core.errors import EllmerError, UsageError

COUNT = int(os.environ.get("FUZZ", "320"))
GOOD = {"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]}
STRANGE = [
    *(None, 1, -1, 1e999, True, "x", "", "\ud83d", [], {}, [[]], {"a": None}),
    *({"$float": "inf"}, {"$bytes": "!"}, {"$bytes": "a"}, {"$map": [[1]]}, {"$map": [[{}, 1]]}),
    *({"$record": 1}, {"$record": {"class": "UserTurn", "props": {}}}),
    {"$record": {"class": "ContentText", "props": {"text": "y"}}},
    {"$record": {"class": "os.system", "props": {"command": "true"}}},
]


def saved():
    """The record of a chat with an image, a call and its result."""
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
    answers = iter(
        [
            {"message": {"content": "x", "tool_calls": [call]}, "finish_reason": "tool_calls"},
            {"message": {"content": "done"}, "finish_reason": "stop"},
        ]
    )
    usage = {"prompt_tokens": 3, "completion_tokens": 4}
    chat = talk(lambda _: httpx.Response(200, json={"choices": [next(answers)], "usage": usage}))

    @chat.register_tool
    def f(x: int) -> dict[str, list[float]]:
        """F."""
        return {"$a": [x / 2]}

    chat.chat("Hi", ec.content_image_url("https://x.example/a.png"))
    return chat.record()


def places(value, at=()):
    """Yields every place in a record, as a path of keys."""
    if at:
        yield at
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from places(part, (*at, key))


def damaged(record, place, value):
    copy = json.loads(json.dumps(record))
    inside = copy
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    return copy


def used(record):
    chat = talk(lambda _: httpx.Response(200, json=GOOD))
    chat.restore(record)
    str(chat), repr(chat.get_turns())
    chat.restore(chat.record())
    chat.chat("Go on")


@pytest.mark.filterwarnings("ignore::ellmer_core.EllmerWarning")
def test_a_damaged_record_is_restored_or_said():
    chance, record = Random("records"), saved()
    found = [*places(record)]
    refused = 0
    for _ in range(COUNT):
        place, value = chance.choice(found), chance.choice(STRANGE)
        try:
            used(damaged(record, place, value))
        except EllmerError:
            refused += 1
        except Exception as error:
            error.add_note(f"{place} is {value!r}")
            raise
    assert 0 < refused < COUNT


def deep(levels=100_000):
    value = {}
    for _ in range(levels):
        value = {"a": value}
    return value


def test_a_record_that_nests_too_deeply_is_said():
    result = {"class": "ContentToolResult", "props": {"value": deep()}}
    with pytest.raises(UsageError, match="nested too deeply"):
        ec.contents_replay({"version": 1, **result})


def test_a_value_that_holds_itself_is_not_saved():
    value = []
    value.append(value)
    with pytest.raises(UsageError, match="contains itself"):
        ec.contents_record(ec.ContentToolResult(value=value, request=None))


def test_a_mapping_by_tuples_comes_back():
    result = ec.ContentToolResult(value={(1, ("a", 2)): 3})
    saved = json.loads(json.dumps(ec.contents_record(result)))
    assert ec.contents_replay(saved).value == {(1, ("a", 2)): 3}
