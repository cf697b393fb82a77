"""Tool calls: order, pairing, parallel calls, failures, unanswered calls, and reasoning that is sent back beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..case import Case, ask, case
from ..messages import Text, Tool, ToolCall, ToolResult, Turn
from ..script import Answer, Call, Say, Think, Usage
from ._media_and_tools import NO_MALFORMED_ARGUMENTS, get_weather, plan_trip, string_argument, weather


@case
def thinking_with_tools() -> Case:
    """The model thinks, calls, thinks and answers; a second question follows on that history.

    The providers show different parts of the thoughts, so the transcripts differ.
    """
    return Case(
        everywhere=True,
        printed_alike=False,
        tools=[weather],
        script=[
            Answer(
                (
                    Think("The user wants the weather. I should look it up."),
                    Call("get_weather", {"city": "Rome"}),
                ),
                usage=Usage(40, 45, reasoning=20),
            ),
            Answer((Think("27C is warm."), Say("It is warm: 27C.")), usage=Usage(90, 22, reasoning=8)),
            Answer((Say("You are welcome."),), usage=Usage(120, 6)),
        ],
        steps=[ask("Is it warm in Rome?", text="It is warm: 27C."), ask("Thanks!", text="You are welcome.")],
    )


THOUGHTS: Sequence[Answer] = (
    Answer((Think("A greeting."), Say("Hello!")), usage=Usage(20, 12, reasoning=4)),
    Answer(
        (Think("I should look it up."), Call("get_weather", {"city": "Rome"})),
        usage=Usage(40, 45, reasoning=20),
    ),
    Answer((Think("27C is warm."), Say("It is warm: 27C.")), usage=Usage(90, 22, reasoning=8)),
)
#: Models that show their thoughts unasked, where the usual model of the suite does not.
THINKERS = {
    "bedrock": "deepseek.v3-v1:0",
    "cohere": "command-a-reasoning-08-2025",
    "mistral": "magistral-medium-latest",
}
_THINKS_ANYWAY: Mapping[str, str] = dict.fromkeys(
    ("openai-chat", "openai-responses", "anthropic", "gemini", "ollama"), "thinking_with_tools shows it"
)


@case
def thinking_unasked() -> Case:
    """A model shows its thoughts unasked, before a text and before a call: the caller gets the text alone, and the answer goes back."""
    return Case(
        on_server=True,
        printed_alike=False,
        inexpressible=_THINKS_ANYWAY,
        models=THINKERS,
        tools=[weather],
        script=THOUGHTS,
        steps=[ask("Hi!", text="Hello!"), ask("Is it warm in Rome?", text="It is warm: 27C.")],
    )


_ASKED = Turn("user", (Text("What's the weather in Paris?"),))
_CALLED = Turn("assistant", (ToolCall("call_Paris1", "get_weather", {"city": "Paris"}),))


def _calls(*cities: str, usage: Usage = Usage(input=40, output=18)) -> Answer:  # noqa: B008 - a value
    return Answer(tuple(Call("get_weather", {"city": city}) for city in cities), usage=usage)


@case
def one_tool() -> Case:
    """The model makes one call, gets one result, and answers."""
    return Case(
        everywhere=True,
        tools=[weather],
        script=[_calls("Paris"), Answer((Say("It is 21C and sunny in Paris."),), usage=Usage(70, 10))],
        steps=[ask("What's the weather in Paris?", text="It is 21C and sunny in Paris.")],
    )


@case
def text_then_tool() -> Case:
    """The model writes a text before it calls: both are sent back, in that order."""
    return Case(
        tools=[weather],
        script=[
            Answer((Say("Let me look. "), Call("get_weather", {"city": "Oslo"})), usage=Usage(40, 22)),
            Answer((Say("Rain, 9C."),), usage=Usage(75, 6)),
        ],
        steps=[ask("Is it raining in Oslo?", text="Rain, 9C.")],
    )


@case
def sequential_tools() -> Case:
    """The model makes two calls in sequence: each result is sent before the next call."""
    return Case(
        tools=[weather],
        script=[
            _calls("Paris"),
            _calls("Oslo", usage=Usage(70, 18)),
            Answer((Say("Paris is 12 degrees warmer."),), usage=Usage(100, 8)),
        ],
        steps=[ask("How much warmer is Paris than Oslo? One at a time.", text="Paris is 12 degrees warmer.")],
    )


@case
def two_parallel_tools() -> Case:
    """An answer has two calls: both results are sent in the next request, each with its own id."""
    return Case(
        everywhere=True,
        tools=[weather],
        script=[
            _calls("Paris", "Oslo"),
            Answer((Say("Paris 21C, Oslo 9C."),), usage=Usage(95, 11)),
        ],
        steps=[ask("Weather in Paris and Oslo?", text="Paris 21C, Oslo 9C.")],
    )


@case
def alternating_answer() -> Case:
    """Texts, calls and a thought alternate in one answer: they go back in that order."""
    return Case(
        on_server=True,
        printed_alike=False,
        modes=("sync", "stream"),
        inexpressible=dict.fromkeys(
            ("openai-chat", "gemini", "mistral", "ollama", "cohere"),
            "an answer has its texts, and then its calls",
        ),
        tools=[weather],
        script=[
            Answer(
                (
                    Say("First Paris. "),
                    Call("get_weather", {"city": "Paris"}),
                    Think("Now the other one."),
                    Say("Then Oslo. "),
                    Call("get_weather", {"city": "Oslo"}),
                ),
                usage=Usage(40, 48, reasoning=8),
            ),
            Answer((Say("Paris is warmer."),), usage=Usage(120, 6)),
            Answer((Say("Oslo."),), usage=Usage(140, 3)),
        ],
        steps=[
            ask("Is Paris warmer than Oslo?", text="Paris is warmer."),
            ask("And which is colder?", text="Oslo."),
        ],
    )


@case
def five_parallel_tools() -> Case:
    """An answer has five calls, and a second question follows on that history."""
    return Case(
        tools=[weather],
        script=[
            _calls("Paris", "Oslo", "Rome", "Cairo", "Quito", usage=Usage(40, 80)),
            Answer((Say("Cairo is the warmest."),), usage=Usage(180, 8)),
            Answer((Say("Oslo is the coldest."),), usage=Usage(200, 8)),
        ],
        steps=[
            ask("Which is the warmest of Paris, Oslo, Rome, Cairo, Quito?", text="Cairo is the warmest."),
            ask("And the coldest?", text="Oslo is the coldest."),
        ],
    )


@case
def equal_parallel_tools() -> Case:
    """An answer has two calls of one tool with equal arguments: both are run and both are answered."""
    return Case(
        tools=[weather],
        script=[_calls("Rome", "Rome"), Answer((Say("27C, twice."),), usage=Usage(95, 6))],
        steps=[ask("Check Rome twice.", text="27C, twice.")],
    )


@case
def tool_without_arguments() -> Case:
    """A tool without parameters is called without arguments."""
    today = Tool("today", "Today's date.", lambda: "2026-11-20")
    return Case(
        tools=[today],
        script=[
            Answer((Call("today"),), usage=Usage(30, 10)),
            Answer((Say("20 November."),), usage=Usage(50, 6)),
        ],
        steps=[ask("What day is it?", text="20 November.")],
    )


@case
def tool_error() -> Case:
    """A tool raises an exception: the model gets the error, and the result of the other call is kept."""
    return Case(
        tools=[weather],
        script=[
            _calls("Atlantis", "Oslo"),
            Answer((Say("Only Oslo is known: 9C."),), usage=Usage(95, 10)),
        ],
        steps=[ask("Weather in Atlantis and Oslo?", text="Only Oslo is known: 9C.")],
    )


@case
def unknown_tool() -> Case:
    """The model calls an unknown tool: it gets an error result, and the turn continues."""
    return Case(
        tools=[weather],
        script=[
            Answer((Call("get_forecast", {"city": "Paris"}),), usage=Usage(40, 18)),
            Answer((Say("I have no forecast."),), usage=Usage(70, 7)),
        ],
        steps=[ask("What's the forecast for Paris?", text="I have no forecast.")],
    )


@case
def async_tools() -> Case:
    """Two calls of a tool that is a coroutine function: the model gets what it returns when it is awaited."""
    return Case(
        on_server=True,
        printed_alike=False,
        modes=("async", "async-stream"),
        needs=frozenset({"async_tools"}),
        tools=[replace(weather, asynchronous=True)],
        script=[
            Answer(
                (Call("get_weather", {"city": "Paris"}), Call("get_weather", {"city": "Oslo"})),
                usage=Usage(60, 28),
            ),
            Answer((Say("21C and 9C."),), usage=Usage(95, 11)),
        ],
        steps=[ask("Weather in Paris and Oslo?", text="21C and 9C.")],
    )


@case
def empty_results() -> Case:
    """Empty results (`None`, `""`, `0`, `False`, `[]`, `{}`) are sent as results."""
    values: dict[str, object] = {"none": None, "blank": "", "zero": 0, "no": False, "list": [], "dict": {}}
    key = string_argument("key", "Which value.")
    probe = Tool("probe", "Returns a value.", lambda key: values[key], key)
    return Case(
        tools=[probe],
        script=[
            Answer(tuple(Call("probe", {"key": key}) for key in values), usage=Usage(40, 90)),
            Answer((Say("All six came back."),), usage=Usage(190, 7)),
        ],
        steps=[ask("Probe all six values.", text="All six came back.")],
    )


@case
def unicode_arguments() -> Case:
    """Arguments, property names and results with non-ASCII characters arrive unchanged."""
    cities = {"São Paulo 🌧": "雨, 19℃", "e\u0301": "combining"}
    look = Tool("look_up", "Sucht nach.", lambda ort: cities[ort], string_argument("ort", "Der Ort, 都市."))
    return Case(
        tools=[look],
        script=[
            Answer(tuple(Call("look_up", {"ort": city}) for city in cities), usage=Usage(45, 40)),
            Answer((Say("雨 в São Paulo."),), usage=Usage(110, 9)),
        ],
        steps=[ask("São Paulo?", text="雨 в São Paulo.")],
    )


@case
def result_then_text() -> Case:
    """The caller sends a result and a remark in one turn: the results come first in every format."""
    return Case(
        tools=[weather],
        history=[_ASKED, _CALLED],
        script=[Answer((Say("21C. Take a hat."),), usage=Usage(80, 8))],
        steps=[
            ask(
                "I am going out now.",
                ToolResult("call_Paris1", get_weather("Paris")),
                text="21C. Take a hat.",
            )
        ],
    )


@case
def resume_with_result() -> Case:
    """A history ends with a call, and the caller supplies its real result: this result is sent."""
    return Case(
        tools=[weather],
        history=[_ASKED, _CALLED],
        script=[Answer((Say("It is 20C: they corrected it."),), usage=Usage(80, 11))],
        steps=[
            ask(ToolResult("call_Paris1", "20C (corrected)"), text="It is 20C: they corrected it."),
        ],
    )


@case
def dangling_call() -> Case:
    """A history ends with two unanswered calls, and the user continues: the request is valid."""
    calls = (
        ToolCall("call_Paris1", "get_weather", {"city": "Paris"}),
        ToolCall("call_Rome2", "get_weather", {"city": "Rome"}),
    )
    return Case(
        needs=frozenset({"dangling_call"}),
        tools=[weather],
        history=[_ASKED, Turn("assistant", calls)],
        script=[Answer((Say("Never mind, then."),), usage=Usage(80, 6))],
        steps=[ask("Forget it. Just say never mind.", text="Never mind, then.")],
    )


@case
def large_numbers() -> Case:
    """The arguments are numbers that not every JSON parser keeps: 2^53 + 1, -0.0, a long fraction."""
    numbers = {"n": 2**53 + 1, "zero": -0.0, "part": 0.1 + 0.2}
    kinds = {"n": "integer", "zero": "number", "part": "number"}
    schema = {
        "type": "object",
        "properties": {name: {"type": kind, "description": f"A {kind}."} for name, kind in kinds.items()},
        "required": list(kinds),
    }
    echo = Tool("echo", "Says what it was told.", lambda **told: repr(told), schema)
    return Case(
        tools=[echo],
        script=[
            Answer((Call("echo", numbers),), usage=Usage(60, 30)),
            Answer((Say("All of it came back."),), usage=Usage(110, 7)),
        ],
        steps=[ask("Echo some numbers.", text="All of it came back.")],
    )


@case
def nested_schema() -> Case:
    """A tool's arguments are objects in lists, with enums, descriptions and non-ASCII names."""
    stops = [{"città": "Roma", "by": "train"}, {"città": "Forlì", "by": "bus"}]
    return Case(
        tools=[plan_trip],
        script=[
            Answer((Call("plan_trip", {"stops": stops}),), usage=Usage(90, 40)),
            Answer((Say("It takes 7 hours."),), usage=Usage(150, 7)),
        ],
        steps=[ask("Rome by train, then Forlì by bus.", text="It takes 7 hours.")],
    )


@case
def malformed_arguments() -> Case:
    """The arguments are not JSON: the model gets an error result, and the turn continues.

    Formats with objects as arguments send none instead, so the transcripts differ.
    """
    return Case(
        printed_alike=False,
        inexpressible=NO_MALFORMED_ARGUMENTS,
        tools=[weather],
        script=[
            Answer((Call("get_weather", text='{"city": Oslo}'),), usage=Usage(40, 18)),
            Answer((Say("Let me not, then."),), usage=Usage(70, 7)),
        ],
        steps=[ask("Weather in Oslo?", text="Let me not, then.")],
    )


@case
def calls_with_one_id() -> Case:
    """Two calls in one answer have the same id: both are run and answered, or the answer is refused.

    The answer is wrong on purpose, as some compatible servers send it. OpenAI's own SDK (3.54) refuses it in a stream of
    Responses ("conflicting output identities"), and reads it in Chat Completions.
    """
    calls = (
        Call("get_weather", {"city": "Paris"}, id="call_twice1"),
        Call("get_weather", {"city": "Oslo"}, id="call_twice1"),
    )
    return Case(
        inexpressible={"gemini": "calls of one name are paired by their order there, whatever their ids"},
        advisory="ids are unique in every provider's contract: only compatible servers are known to repeat one",
        tools=[weather],
        script=[Answer(calls, usage=Usage(40, 36)), Answer((Say("21C and 9C."),), usage=Usage(95, 8))],
        steps=[ask("Weather in Paris and Oslo?", text="21C and 9C.")],
    )
