"""`stream_structured()`: data while they arrive, as objects of their class."""

import asyncio
import json
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from operator import is_
from typing import Annotated

import pytest
from chats.answers import SSE, Book, calls, f, streamed
from pydantic import BaseModel, Field
from pydantic_core import from_json
from typing_extensions import TypedDict

from ellmer_core._chat.structured_output import Partial, partial_value
from ellmer_core.errors import ConversionError
from ellmer_core.schemas.type_functions import type_object, type_string


class Colour(Enum):
    RED = "red"


class Page(BaseModel):
    number: int
    text: str = ""


class Place(TypedDict):
    city: str


@dataclass
class Shelf:
    name: str
    books: list[Book]
    first: Page | None = None
    colour: Colour | None = None
    built: date | None = None
    notes: list[str] = field(default_factory=list)


def words(text, size=6):
    return [{"content": text[at : at + size]} for at in range(0, len(text), size)]


GOOD = '{"title": "It", "pages": 1138}'


def test_objects_grow(server, reply, make):
    server.answers(reply(streamed(*words(GOOD)), headers=SSE))
    seen = list(make().stream_structured("Which?", type=Book))
    assert all(isinstance(book, Book) for book in seen)
    assert [book.title for book in seen][-1] == "It"
    assert Book("It", None) in seen
    assert seen[-1] == Book("It", 1138)


def test_async_too(server, reply, make):
    server.answers(reply(streamed(*words(GOOD)), headers=SSE))

    async def main():
        return [book async for book in make().stream_structured_async("Which?", type=Book)]

    seen = asyncio.run(main())
    assert seen[-1] == Book("It", 1138)
    assert len(seen) > 2


def test_lists_grow_without_their_wrapper(server, reply, make):
    server.answers(reply(streamed(*words('{"wrapper": ["one", "two"]}', 3)), headers=SSE))
    seen = list(make().stream_structured("Which?", type=list[str]))
    assert ["o"] in seen
    assert ["one"] in seen
    assert seen[-1] == ["one", "two"]


def test_tools_are_called_before(server, reply, make):
    chat = make()
    chat.register_tool(f)
    server.answers(reply([calls("a")]), reply(streamed(*words(GOOD)), headers=SSE))
    assert list(chat.stream_structured("Which?", type=Book))[-1] == Book("It", 1138)


def test_what_does_not_fit_begins_anew_or_is_an_error(server, reply, make):
    bad = reply(streamed(*words('{"title": "It"}')), headers=SSE)
    server.answers(bad, reply(streamed(*words(GOOD)), headers=SSE), bad)
    assert list(make().stream_structured("Which?", type=Book))[-1] == Book("It", 1138)
    with pytest.raises(ConversionError, match="pages"):
        list(make().stream_structured("Which?", type=Book, max_retries=0))


def test_data_that_come_as_arguments_of_a_call_grow_too(server, reply, make):
    head = {
        "index": 0,
        "id": "c",
        "type": "function",
        "function": {"name": "give_structured_data", "arguments": ""},
    }
    parts = [{"index": 0, "function": {"arguments": GOOD[at : at + 6]}} for at in range(0, len(GOOD), 6)]
    deltas = [{"tool_calls": [part]} for part in (head, *parts)]
    server.answers(reply(streamed(*deltas, finish="tool_calls"), headers=SSE))
    chat = make()
    seen = list(chat.stream_structured("Which?", type=Book, mode="tool"))
    assert Book("It", None) in seen
    assert seen[-1] == Book("It", 1138)
    assert json.loads(chat.last_turn("assistant").text) == {"title": "It", "pages": 1138}


def test_a_stream_that_is_left_frees_the_chat(server, reply, make):
    server.answers(reply(streamed(*words(GOOD)), headers=SSE), reply(streamed(*words(GOOD)), headers=SSE))
    chat = make()
    stream = chat.stream_structured("Which?", type=Book)
    next(stream)
    stream.close()
    assert chat.chat("And?", echo="none")


@pytest.mark.parametrize(
    ("data", "type", "value"),
    [
        ({}, Shelf, Shelf(None, None)),
        ({"name": "A", "books": [{"title": "It"}]}, Shelf, Shelf("A", [Book("It", None)])),
        ({"name": "A", "first": {"number": 3}}, Shelf, Shelf("A", None, Page(number=3))),
        ({"name": "A", "colour": "re", "built": "2026"}, Shelf, Shelf("A", None)),
        ({"name": "A", "colour": "red"}, Shelf, Shelf("A", None, None, Colour.RED)),
        ({"city": "Ro"}, Place, {"city": "Ro"}),
        ({"a": {"title": "It"}}, dict[str, Book], {"a": Book("It", None)}),
        ({"title": "It"}, Book | int, Book("It", None)),
        ({"pages": 3}, Page | Book, Book(None, 3)),
        (3, Book | int, 3),
        ("tex", Annotated[str, "Some."], "tex"),
        ({"a": "x"}, type_object(a=type_string()), {"a": "x"}),
    ],
)
def test_what_is_there_of_a_value(data, type, value):
    assert partial_value(data, type) == value


class Titled(BaseModel):
    text: str = Field(alias="Text")
    pages: list[Page] = []


LONG = [
    ({"name": "A", "books": [{"title": "It", "pages": 3}, {"title": "Us"}], "notes": ["x", "y"]}, Shelf),
    ({"name": "A", "first": {"number": 3, "text": "z"}, "colour": "red", "built": "2026-01-02"}, Shelf),
    ([{"pages": 3}, {"number": 3, "text": "It"}, {"pages": 3, "title": "It"}], list[Page | Book]),
    ({"a": {"title": "It", "pages": 1}, "b": {"title": "Us", "pages": 22}}, dict[str, Book]),
    ({"Text": "It", "pages": [{"number": 12}, {"number": 1, "text": "x"}]}, Titled),
    ([["Ro", "Pa"], ["Be"]], list[list[str]]),
]


@pytest.mark.parametrize(("data", "type"), LONG)
def test_growing_data_are_what_they_would_be_if_made_anew(data, type):
    text, known = json.dumps(data), None
    for end in range(1, len(text) + 1):
        begun = from_json(text[:end], allow_partial="trailing-strings")
        anew = partial_value(begun, type)
        known = Partial(begun, partial_value(begun, type, known))
        assert known.value == anew


def test_complete_parts_are_not_made_again():
    items = [{"title": f"{n}", "pages": n} for n in range(3)]
    first = partial_value(items, list[Book])
    more = partial_value([*items, {"title": "It"}], list[Book], Partial(items, first))

    assert all(map(is_, more, first))
    assert more[3] == Book("It", None)
