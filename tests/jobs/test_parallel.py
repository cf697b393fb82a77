"""Many prompts at once: order, errors, tools, limits, the progress bar. The provider is a real local server."""

import asyncio
import json
import threading
import warnings
from collections import Counter
from dataclasses import dataclass

import pydantic
import pytest
from chats.many import chat_with, provider

from ellmer_core.contents.content import ContentText
from ellmer_core.errors import BadRequestError, ConversionError, EllmerWarning, NotSentError, UsageError
from ellmer_core.jobs import parallel
from ellmer_core.jobs.pacing import Pace
from ellmer_core.jobs.parallel import (
    parallel_chat,
    parallel_chat_async,
    parallel_chat_structured,
    parallel_chat_structured_async,
    parallel_chat_text,
    parallel_chat_text_async,
)
from ellmer_core.providers.openai_compatible import chat_openai_compatible
from ellmer_core.schemas.type_functions import type_from_schema, type_integer, type_object, type_string
from ellmer_core.testing import ScriptedModel
from ellmer_core.tools.definition import tool


def upper(messages):
    return {"role": "assistant", "content": messages[-1]["content"].upper()}


PROMPTS = [f"prompt {n}" for n in range(25)]


def test_chats_come_in_the_order_of_the_prompts_and_the_chat_stays_as_it_was():
    with provider(upper) as url:
        chat = chat_with(url, "Shout.")
        chats = parallel_chat(chat, PROMPTS, rpm=1e6)
        assert [c.last_turn().text for c in chats] == [p.upper() for p in PROMPTS]
        assert chats[0].chat("again") == "AGAIN"
    assert all(c.get_system_prompt() == "Shout." for c in chats)
    assert chat.get_turns() == []


def test_texts_and_a_prompt_of_several_contents():
    with provider(
        lambda messages: {"role": "assistant", "content": str(len(messages[-1]["content"]))}
    ) as url:
        prompts = ["ab", ContentText("abc"), ["x", ContentText("y")], ("x", "y", "z")]
        assert parallel_chat_text(chat_with(url), prompts) == ["2", "3", "2", "3"]
        assert parallel_chat_text(chat_with(url), []) == []


def test_async_twins_and_a_blocking_call_inside_an_event_loop():
    async def main(url):
        chat = chat_with(url)
        chats = await parallel_chat_async(chat, ["a"])
        texts = await parallel_chat_text_async(chat, ["b"])
        data = await parallel_chat_structured_async(chat, ["[1]"], type=list[int], convert=False)
        return chats[0].last_turn().text, texts, data, parallel_chat_text(chat, ["c"])

    def answer(messages):
        text = messages[-1]["content"]
        return {"role": "assistant", "content": '{"wrapper": [1]}' if text == "[1]" else text}

    with provider(answer) as url:
        assert asyncio.run(main(url)) == ("a", ["b"], [[1]], ["c"])


def test_tools_run_and_callbacks_hear_of_them():
    def answer(messages):
        if messages[-1]["role"] == "tool":
            return {"role": "assistant", "content": messages[-1]["content"]}
        function = {"name": "double", "arguments": json.dumps({"text": messages[-1]["content"]})}
        return {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": function}]}

    @tool
    def double(text: str) -> str:
        """Doubles."""
        return text * 2

    heard = []
    with provider(answer) as url:
        chat = chat_with(url)
        chat.register_tool(double)
        chat.on_tool_result(lambda result: heard.append(result.value))
        assert parallel_chat_text(chat, ["a", "b"]) == ["aa", "bb"]
    assert sorted(heard) == ["aa", "bb"]


def failing(messages):
    return 400 if messages[-1]["content"] == "bad" else upper(messages)


def test_after_an_error_no_further_prompt_is_started():
    with (
        provider(failing) as url,
        pytest.warns(EllmerWarning, match=r"(?s)1 of 4 prompts failed .*2 were not sent"),
    ):
        first, error, *rest = parallel_chat(chat_with(url), ["a", "bad", "b", "c"], max_active=1)
    assert first.last_turn().text == "A"
    assert isinstance(error, BadRequestError)
    assert [type(each) for each in rest] == [NotSentError] * 2
    assert "because another prompt failed (BadRequestError: OpenAI-compatible's m" in str(rest[0])


def test_or_all_others_go_on():
    with provider(failing) as url, pytest.warns(EllmerWarning, match="1 of 3 prompts failed"):
        assert parallel_chat_text(chat_with(url), ["a", "bad", "b"], on_error="continue") == ["A", None, "B"]


def test_or_the_error_is_raised():
    with provider(failing) as url, pytest.raises(BadRequestError):
        parallel_chat(chat_with(url), ["bad", *PROMPTS], on_error="stop")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"on_error": "ignore"}, UsageError),
        ({"max_active": 0}, UsageError),
        ({"rpm": 0}, UsageError),
        ({"max_actve": 3}, TypeError),
    ],
)
def test_options_that_make_no_sense(options, error):
    with pytest.raises(error):
        parallel_chat(chat_with("http://127.0.0.1:9"), ["a"], **options)


# Limits -----------------------------------------------------------------------------------------------------


def test_no_more_are_in_work_than_was_said():
    lock, now, most = threading.Lock(), 0, 0
    together = threading.Barrier(3)

    def answer(messages):
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        together.wait(5)  # three are there at once, or this fails
        with lock:
            now -= 1
        return upper(messages)

    with provider(answer) as url:
        assert None not in parallel_chat_text(chat_with(url), PROMPTS[:9], max_active=3, rpm=1e6)
    assert most == 3


def test_so_many_requests_a_minute():
    now, slept = 0.0, []

    async def sleep(seconds):
        nonlocal now
        slept.append(round(seconds, 6))
        now += seconds

    async def main():
        pace = Pace(120, burst=3, clock=lambda: now, sleep=sleep)
        for _ in range(6):
            await pace.admit()
            pace.answered()

    asyncio.run(main())
    assert slept == [0.5, 0.5, 0.5]


def test_every_request_counts(monkeypatch):
    counted = Counter()

    async def sleep(seconds):
        counted["slept"] += seconds > 0

    def answer(messages):
        if messages[-1]["role"] == "tool":
            return {"role": "assistant", "content": "done"}
        call = {"id": "c", "type": "function", "function": {"name": "nothing", "arguments": "{}"}}
        return {"role": "assistant", "tool_calls": [call]}

    monkeypatch.setattr(parallel, "Pace", lambda *args: Pace(*args, clock=lambda: 0.0, sleep=sleep))
    with provider(answer) as url:
        assert parallel_chat_text(chat_with(url), ["a", "b"], max_active=1) == ["done", "done"]
    assert counted["slept"] == 3


# Structured -------------------------------------------------------------------------------------------------


@dataclass
class Person:
    name: str
    age: int


def person(messages):
    text = messages[-1]["content"]
    return {"role": "assistant", "content": json.dumps({"name": text, "age": len(text)})}


def test_structured_answers_are_values_of_the_type():
    with provider(person) as url:
        people = parallel_chat_structured(chat_with(url), ["Ann", "Otto"], type=Person)
    assert people == [Person("Ann", 3), Person("Otto", 4)]


def test_data_of_another_shape_lets_the_others_go_on():
    def answer(messages):
        return person(messages) if messages[-1]["content"] != "?" else {"role": "assistant", "content": "[]"}

    with provider(answer) as url, pytest.warns(EllmerWarning, match="1 of 3 prompts failed"):
        people = parallel_chat_structured(
            chat_with(url), ["?", "Ann", "Otto"], type=Person, max_active=1, max_retries=0
        )
    assert people == [None, Person("Ann", 3), Person("Otto", 4)]
    with provider(answer) as url, pytest.raises(ConversionError):
        parallel_chat_structured(chat_with(url), ["?"], type=Person, on_error="stop", max_retries=0)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("type", [Person, type_object(name=type_string(), age=type_integer())])
def test_a_data_frame_with_a_row_per_prompt(library, type):
    pytest.importorskip(library, reason=f"{library} is not installed")
    with (
        provider(lambda m: person(m) if m[-1]["content"] != "bad" else 400) as url,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", EllmerWarning)
        frame = parallel_chat_structured(
            chat_with(url), ["Ann", "bad", "c"], type=type, frame=library, max_active=1
        )
    assert list(frame.columns) == ["name", "age", ".error", ".input_tokens", ".output_tokens", ".cost"]
    assert frame["name"].to_list()[0] == "Ann"
    assert frame["age"].to_list()[0] == 3
    refused, unsent = frame[".error"].to_list()[1:]
    assert refused.startswith("OpenAI-compatible's m (status 400): no\n")
    assert unsent.startswith("This prompt was not sent, because another prompt failed (BadRequestError")
    assert frame[".input_tokens"].to_list()[0] == 3


class Part(pydantic.BaseModel):
    name: str
    parts: list["Part"] = []


LISTED = {
    "type": "array",
    "items": Part.model_json_schema()["$defs"]["Part"],
    "$defs": Part.model_json_schema()["$defs"],
}


@pytest.mark.parametrize("type", [list[Part], type_from_schema(LISTED)])
def test_a_data_frame_of_a_recursive_type_has_its_properties_as_columns(type):
    pytest.importorskip("polars", reason="polars is not installed")
    row = {"name": "car", "parts": [{"name": "wheel", "parts": []}]}
    frame = ScriptedModel([row, row]).chat().chat_structured("?", type=type, frame="polars")
    assert frame.columns == ["name", "parts"]
    assert frame["name"].to_list() == ["car", "car"]
    frame = parallel_chat_structured(ScriptedModel(row).chat(), ["?"], type=Part, frame="polars")
    assert frame["parts"].to_list() == [row["parts"]]


def test_a_data_frame_needs_objects():
    with pytest.raises(UsageError, match="must describe objects"):
        parallel_chat_structured(chat_with("http://x"), ["a"], type=int, frame="pandas")


# The bar ----------------------------------------------------------------------------------------------------


def test_the_bar_counts_the_prompts_in_a_terminal(monkeypatch, capsys):
    console = pytest.importorskip("rich.console", reason="rich is not installed")
    monkeypatch.setattr(console.Console, "is_terminal", True)
    with provider(upper) as url:
        parallel_chat_text(chat_with(url), ["a", "b"])
        shown = capsys.readouterr()
        assert "Chatting" in shown.err
        assert "2/2" in shown.err
        parallel_chat_text(chat_with(url), ["a", "b"], progress=False)
    assert shown.out == capsys.readouterr().err == ""


def test_without_rich_there_is_no_bar(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "rich.console", None)
    with provider(upper) as url:
        assert parallel_chat_text(chat_with(url), ["a"]) == ["A"]


@pytest.mark.parametrize("prompts", ["Hi", ContentText("Hi"), 3])
def test_prompts_are_many(prompts):
    with pytest.raises(UsageError, match="Prompts must be a list"):
        parallel_chat(chat_openai_compatible(base_url="http://localhost:1", model="m"), prompts)
