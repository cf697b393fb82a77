"""The calls that the server's model makes for questions of people, in several languages: `natural_questions.json`."""

import json
from pathlib import Path

import jsonschema
import pytest

from ellmer_conformance.contract.observed.exchange import Request
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


@pytest.mark.parametrize("question", ["How warm was it?", "Was it sunny?"])
def test_a_question_that_points_back_repeats_the_call(question):
    (call,) = asked(question, ["get_weather", "convert_units"], WEATHER).calls
    assert (call.name, call.arguments["location"]) == ("get_weather", "Paris")


def test_a_number_of_the_last_answer_is_taken():
    (call,) = asked("Convert that to fahrenheit", ["get_weather", "convert_units"], WEATHER).calls
    assert (call.name, call.arguments["value"], call.arguments["to_unit"]) == (
        "convert_units",
        21,
        "fahrenheit",
    )


def test_what_was_asked_is_remembered():
    answer = "You said: “What is the weather in Paris in celsius?”"
    assert asked("What did I ask first?", [], WEATHER).text == answer


@pytest.mark.parametrize("question", ["What is my name?", "Who am I?", "Wie heiße ich?"])
def test_a_name_is_remembered(question):
    history = said("My name is Bob and I live in Lima.", "Hello, Bob.")
    assert asked(question, [], history).text == "You said: “My name is Bob and I live in Lima.”"


def test_a_price_is_no_end_of_a_sentence():
    history = said("I bought a pen for $3 and a book for $12.50", "Good.")
    assert "12.50" in asked("What did the book cost?", [], history).text
    assert asked("How much was that in total?", [], history).text == "It was 15.5 in total."


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
        ("What is 2 to the power of 10?", "1024"),
        ("What is the sum of 4 and 5?", "9"),
        ("2,5 + 3,5", "6"),
        ("7 / 0", "A division by zero has no result."),
        ("9^9^9", "This expression has no result."),
        ("Merci beaucoup", "You are welcome."),
        ("你好", "Hello! How can I help you?"),
    ],
)
def test_sums_and_sayings_have_an_answer(question, answer):
    assert asked(question, []).text == answer


def test_a_range_is_no_sum():
    assert asked("The price rose 3-5% this year", []).text.startswith("I read your message")


def test_a_date_is_no_sum():
    assert "2014" not in asked("My dentist has time on 2026-12-03 at 14:30", []).text


def test_a_verb_within_a_sentence_is_a_name_if_it_has_a_capital_letter():
    calls = asked("What is the price of a Pen and a Book?", ["get_stock_price"]).calls
    assert [call.arguments for call in calls] == [{"ticker": "Pen"}, {"ticker": "Book"}]


@pytest.mark.parametrize(
    "odd",
    ["5 aprİl 2027", "ſunday", "ſix tickets", "١٢ + ٣", "2027-13-45", "31 Feb", "99:99", "1.2.3.4", "$"],
)
def test_odd_letters_and_dates_are_answered(odd):
    answer = asked(f"Find a flight from Rome to Oslo on {odd}", ["search_flights", "calculate"])
    assert answer.calls[0].arguments["origin"] == "Rome"
