"""Structured output as a user writes it. Never run, as `chats.py`."""

from collections.abc import Generator
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypedDict, assert_type

from pydantic import BaseModel

from ellmer_core import (
    Chat,
    PromptResults,
    batch_chat_structured,
    chat_openai,
    parallel_chat_as_completed,
    parallel_chat_as_completed_async,
    parallel_chat_structured,
    parallel_chat_structured_async,
    type_array,
    type_integer,
    type_object,
    type_string,
)


@dataclass
class Person:
    name: str
    age: int


class Place(TypedDict):
    city: str


class Model(BaseModel):
    value: float


class Colour(Enum):
    RED = "red"


chat = chat_openai()
assert_type(chat.chat_structured("Who?", type=Person), Person)
assert_type(chat.chat_structured("Where?", type=Place), Place)
assert_type(chat.chat_structured("How much?", type=Model), Model)
assert_type(chat.chat_structured("Which?", type=Colour), Colour)
assert_type(chat.chat_structured("How many?", type=int), int)
assert_type(chat.chat_structured("All?", type=list[Person]), list[Person])

people = type_array(items=type_object(name=type_string("The name."), age=type_integer(required=False)))
assert_type(chat.chat_structured("Who?", type=people), Any)
assert_type(chat.chat_structured("Who?", type=Person, convert=False), Any)
assert_type(chat.chat_structured("Who?", type=list[Person], frame="pandas"), Any)
assert_type(chat.chat_structured("Who, if anybody?", type=Person | None), Person | None)
assert_type(parallel_chat_structured(chat, ["Who?"], type=Person, frame="polars"), Any)
assert_type(parallel_chat_structured(chat, ["Who?"], type=Person), PromptResults[Person | None])
assert_type(parallel_chat_structured(chat, ["Who?"], type=Person | None), PromptResults[Person | None])
assert_type(parallel_chat_structured(chat, ["All?"], type=list[Person]), PromptResults[list[Person] | None])
assert_type(parallel_chat_structured(chat, ["Who?"], type=people), Any)
assert_type(batch_chat_structured(chat, ["Who?"], "batch.json", type=Person), PromptResults[Person | None])
for index, found in parallel_chat_as_completed(chat, ["Who?"], type=Person, max_active=3):
    assert_type((index, found), tuple[int, Person | Exception])
for index, fork in parallel_chat_as_completed(chat, ["Who?"]):
    assert_type((index, fork), tuple[int, Chat | Exception])
assert_type(chat.chat_structured("Who?", type=Person, mode="tool", max_retries=3), Person)
assert_type(chat.stream_structured("Who?", type=Person), Generator[Person, None, None])
assert_type(chat.stream_structured("Who?", type=people), Generator[Any, None, None])
for person in chat.stream_structured("All?", type=list[Person]):
    assert_type(person, list[Person])
chat.chat_structured("Who?", type=Person, mode="words")  # type: ignore[call-overload]
chat.chat_structured("Who?")  # type: ignore[call-overload]
chat.chat_structured("Who?", type=Person, frame="excel")  # type: ignore[call-overload]


async def ask() -> None:
    assert_type(await chat.chat_structured_async("Who?", type=Person), Person)
    assert_type(await chat.chat_structured_async("Who?", type=people), Any)
    async for place in chat.stream_structured_async("Where?", type=Place):
        assert_type(place, Place)
    many = await parallel_chat_structured_async(chat, ["Who?"], type=Person | None)
    assert_type(many, PromptResults[Person | None])
    async for index, found in parallel_chat_as_completed_async(chat, ["Who?"], type=Person | None):
        assert_type((index, found), tuple[int, Person | Exception | None])
