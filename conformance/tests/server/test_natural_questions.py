"""The calls that the server's model makes for questions of people, in several languages: `natural_questions.json`."""

import json
from pathlib import Path

import jsonschema
import pytest

from ellmer_conformance.contract.exchange import Request
from ellmer_conformance.server.model import answer_of

WRITTEN = json.loads(Path(__file__).with_name("natural_questions.json").read_text(encoding="utf-8"))
TOOLS = WRITTEN["tools"]


def asked(question, offered, history=(), **more):
    tools = [{"type": "function", "function": {"name": name, **TOOLS[name]}} for name in offered]
    messages = [*history, {"role": "user", "content": question}]
    return answer_of(
        Request(
            "openai-chat", "openai", {"model": "gpt-4.1", "messages": messages, "tools": tools or None} | more
        )
    )


@pytest.mark.parametrize("case", WRITTEN["questions"], ids=lambda case: case["question"][:40])
def test_a_question_gets_the_calls_that_a_person_expects(case):
    calls = asked(case["question"], case["offered"]).calls
    assert [{call.name: call.arguments} for call in calls] == case["calls"]
    for call in calls:
        schema = TOOLS[call.name]["parameters"]
        jsonschema.validate(call.arguments, schema, format_checker=jsonschema.FormatChecker())


def said(*texts):
    return [
        {"role": role, "content": text} for role, text in zip(("user", "assistant") * 9, texts, strict=False)
    ]


def called(name, arguments, result):
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": result},
    ]


WEATHER = [
    *said("What is the weather in Paris in celsius?"),
    *called("get_weather", {"location": "Paris", "unit": "celsius"}, "21 °C"),
    {"role": "assistant", "content": "It is 21 °C."},
]


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("And in Rome?", "Rome"),
        ("What about New York?", "New York"),
        ("und in Wien?", "Wien"),
        ("那上海呢？", "上海"),
    ],
)
def test_a_question_that_only_names_another_thing_repeats_the_call(question, place):
    (call,) = asked(question, ["get_weather"], WEATHER).calls
    assert call.arguments == {"location": place, "unit": "celsius"}


def test_a_question_for_the_total_adds_the_results():
    history = [
        *said("What do the pen and the book cost?"),
        *called("get_stock_price", {"ticker": "pen"}, "2.50 dollars"),
        *called("get_stock_price", {"ticker": "book"}, "12 dollars"),
        {"role": "assistant", "content": "2.50 and 12."},
    ]
    assert asked("How much was that in total?", [], history).text == "It was 14.5 in total."


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("what's 23*47+12", "1093"),
        ("What is 15% of 240?", "36"),
        ("(2 + 3)^2 / 5", "5"),
        ("What is the square root of 144?", "12"),
        ("12 mal 7", "84"),
        ("15かける3はいくつ？", "45"),
        ("7 / 0", "A division by zero has no result."),
        ("9^9^9", "This expression has no result."),
        ("Merci beaucoup", "You are welcome."),
        ("你好", "Hello! How can I help you?"),
    ],
)
def test_sums_and_sayings_have_an_answer(question, answer):
    assert asked(question, []).text == answer


def test_a_date_is_no_sum():
    assert "2014" not in asked("My dentist has time on 2026-12-03 at 14:30", []).text
