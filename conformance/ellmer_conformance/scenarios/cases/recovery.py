"""Problems that must not stop a chat: media that cannot be sent, a malformed call, a changed prompt, a full context."""

from __future__ import annotations

from ..case import Case, ask, case
from ..messages import Image
from ..script import Answer, Call, Failure, Say, Think, Usage
from ._media_and_tools import NO_MALFORMED_ARGUMENTS, returning, weather

_CAT = Image(url="https://example.com/cat.png")
_SVG = Image(b'<svg xmlns="http://www.w3.org/2000/svg"/>', "image/svg+xml")


@case
def tool_returns_remote_image() -> Case:
    """A tool returns an image by its URL: the URL is sent, or a description if the API does not download images."""
    return Case(
        tools=[returning("find_cat", "Finds a picture of a cat.", lambda: _CAT)],
        script=[
            Answer((Call("find_cat"),), usage=Usage(30, 10)),
            Answer((Say("There is a cat."),), usage=Usage(60, 6)),
            Answer((Say("You are welcome."),), usage=Usage(75, 5)),
        ],
        steps=[ask("Find me a cat.", text="There is a cat."), ask("Thanks!", text="You are welcome.")],
    )


@case
def tool_returns_unsupported_image() -> Case:
    """A tool returns an image of a type that no provider accepts: the model is told so, and the chat can continue."""
    return Case(
        tools=[returning("draw", "Draws a picture.", lambda: ["A logo:", _SVG])],
        script=[
            Answer((Call("draw"),), usage=Usage(30, 10)),
            Answer((Say("I cannot see it."),), usage=Usage(60, 6)),
            Answer((Say("You are welcome."),), usage=Usage(75, 5)),
        ],
        steps=[ask("Draw a logo.", text="I cannot see it."), ask("Thanks!", text="You are welcome.")],
    )


@case
def malformed_call_in_history() -> Case:
    """A conversation with a malformed call is saved, loaded and continued: the next request is valid."""
    return Case(
        printed_alike=False,
        inexpressible=NO_MALFORMED_ARGUMENTS,
        tools=[weather],
        script=[
            Answer((Call("get_weather", text='{"city": Oslo}'),), usage=Usage(40, 18)),
            Answer((Say("Let me not, then."),), usage=Usage(70, 7)),
            Answer((Say("Rain, I guess."),), usage=Usage(90, 5)),
        ],
        steps=[
            ask("Weather in Oslo?", text="Let me not, then."),
            ask("Then guess.", text="Rain, I guess.", reloaded=True),
        ],
    )


@case
def changed_prompt_after_thinking() -> Case:
    """The system prompt changes after the model has thought: the chat continues, and earlier thoughts are not sent as
    if nothing had changed.
    """
    return Case(
        printed_alike=False,
        needs=frozenset({"changed_prompt"}),
        models={"anthropic": "claude-opus-5-5"},
        tools=[weather],
        script=[
            Answer(
                (Think("I should look it up."), Call("get_weather", {"city": "Rome"})),
                usage=Usage(40, 30, reasoning=8),
            ),
            Answer((Think("27C is warm."), Say("It is warm: 27C.")), usage=Usage(90, 22, reasoning=8)),
            Answer((Say("Prego."),), usage=Usage(120, 3)),
        ],
        steps=[
            ask("Is it warm in Rome?", text="It is warm: 27C."),
            ask("Thanks!", text="Prego.", instructed="Answer in Italian."),
        ],
    )


@case
def compacted_after_overflow() -> Case:
    """The conversation is longer than the context: an error says so, and after compaction the chat continues."""
    return Case(
        needs=frozenset({"compaction"}),
        script=[
            Answer((Say("Paris."),), usage=Usage(12, 3)),
            Failure("context-length"),
            Answer((Say("The user asked for a city; I named Paris."),), usage=Usage(30, 12)),
            Answer((Say("Rome."),), usage=Usage(40, 3)),
        ],
        steps=[
            ask("Name a city.", text="Paris."),
            ask("Name all others.", outcome="incomplete"),
            ask("Name one more.", text="Rome.", compacted=True),
        ],
    )
