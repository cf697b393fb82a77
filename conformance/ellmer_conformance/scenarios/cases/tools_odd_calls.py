"""Tool calls that are odd in themselves: large numbers, nested arguments, arguments that are no JSON, ids that come twice."""

from __future__ import annotations

from ..case import Case, ask, case
from ..messages import Tool
from ..script import Answer, Call, Say, Usage
from ._media_and_tools import weather


@case
def large_numbers() -> Case:
    """Arguments that not every JSON reader keeps: 2^53 + 1, -0.0, a long fraction."""
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
    """A tool whose arguments are objects in lists, with enums, descriptions and names beyond ASCII."""
    stop = {
        "type": "object",
        "description": "One stop.",
        "properties": {
            "città": {"type": "string", "description": "Where to, 都市."},
            "by": {"type": "string", "enum": ["train", "bus"], "description": "How."},
        },
        "required": ["città", "by"],
    }
    properties = {"stops": {"type": "array", "description": "In order.", "items": stop}}
    schema = {"type": "object", "properties": properties, "required": ["stops"]}
    plan = Tool("plan_trip", "Plans a trip.", lambda stops: f"{len(stops)} stops, 7 hours", schema)
    stops = [{"città": "Roma", "by": "train"}, {"città": "Forlì", "by": "bus"}]
    return Case(
        tools=[plan],
        script=[
            Answer((Call("plan_trip", {"stops": stops}),), usage=Usage(90, 40)),
            Answer((Say("It takes 7 hours."),), usage=Usage(150, 7)),
        ],
        steps=[ask("Rome by train, then Forlì by bus.", text="It takes 7 hours.")],
    )


@case
def malformed_arguments() -> Case:
    """Arguments that are no JSON: the model gets an error result, and the turn is not lost.

    Formats whose arguments are objects send none instead, so the transcripts differ.
    """
    return Case(
        printed_alike=False,
        inexpressible={
            "gemini": "arguments are objects; what is none ends the answer as MALFORMED_FUNCTION_CALL"
        },
        tools=[weather],
        script=[
            Answer((Call("get_weather", text='{"city": Oslo}'),), usage=Usage(40, 18)),
            Answer((Say("Let me not, then."),), usage=Usage(70, 7)),
        ],
        steps=[ask("Weather in Oslo?", text="Let me not, then.")],
    )


@case
def calls_with_one_id() -> Case:
    """Two calls in one answer share an id: both are run and answered, or the answer is refused; neither is lost."""
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
