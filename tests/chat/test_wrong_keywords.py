"""A wrong keyword is named, with the one that was probably meant, by every function that people call."""

import asyncio
import inspect
from typing import TypedDict

import pytest

import ellmer_core as ec
from ellmer_core.base import argument_checks


def chat():
    return ec.chat_openai(model="m", api_key="k")


WRONG = {
    "constructor": (lambda: ec.chat_openai(modle="m"), "`modle=` is not a parameter of chat_openai(); did you mean `model=`?"),
    "own option": (lambda: ec.chat_anthropic(cahce="5m"), "`cahce=` is not a parameter of chat_anthropic(); did you mean `cache=`?"),
    "of the model": (lambda: ec.chat_openai(temperature=1), "give params=params(temperature=…)"),
    "method": (lambda: chat().chat_structured("x", data_model=dict), "chat_structured(); did you mean `type=`?"),
    "async method": (
        lambda: asyncio.run(chat().chat_async("x", ehco="none")), "chat_async(); did you mean `echo=`?"
    ),
    "echo_mode": (lambda: chat().chat("x", echo_mode="all"), "chat(); did you mean `echo=`?"),
    "yield_all": (lambda: chat().stream("x", yield_all=True), "stream(); did you mean `content=`?"),
    "register_tool": (lambda: chat().register_tool(print, mdel=int), "register_tool(); did you mean `model=`?"),
    "limits": (lambda: ec.UsageLimits(token=5), "UsageLimits(); did you mean `tokens=`?"),
    "timeouts": (lambda: ec.Timeouts(conect=5), "Timeouts(); did you mean `connect=`?"),
    "type": (lambda: ec.type_array(item=ec.type_string()), "type_array(); did you mean `items=`?"),
    "params": (lambda: ec.params(temprature=1), "params(); did you mean `temperature=`?"),
    "tool": (lambda: ec.tool(print, anotations={}), "tool(); did you mean `annotations=`?"),
    "nothing near": (lambda: ec.type_string(zzz=1), "it has `description=`, `required=`."),
    "many prompts": (lambda: ec.parallel_chat(chat(), ["x"], max_actve=3), "parallel_chat(); did you mean `max_active=`?"),
    "many texts": (lambda: ec.parallel_chat_text(chat(), ["x"], max_workers=3), "parallel_chat_text(); did you mean `max_active=`?"),
    "what is not an option": (lambda: ec.parallel_chat(chat(), ["x"], zzz=3), "it has `chat=`, `prompts=`, `max_active=`"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_the_keyword_that_was_meant_is_named(name):
    call, sentence = WRONG[name]
    with pytest.raises(TypeError) as caught:
        call()
    assert sentence in str(caught.value)


def test_what_a_providers_own_parameter_is_called_is_not_judged():
    assert ec.params(logprobs=True, top_a=1) == {"logprobs": True, "top_a": 1}


def test_a_type_error_inside_stays_itself():
    def broken(_context):
        return int(base=3, wrong=4)

    with pytest.raises(TypeError, match="int"):
        argument_checks.spelt(broken)(None)
    assert inspect.iscoroutinefunction(ec.Chat.chat_async)
    assert next(iter(inspect.signature(ec.tool).parameters)) == "function"


def test_hints_may_name_what_is_local_to_the_caller():
    class Place(TypedDict):
        city: str

    def visit(place: "Place") -> str:
        """Visits."""
        return place["city"]

    assert list(ec.tool(visit).arguments.properties["place"].properties) == ["city"]
