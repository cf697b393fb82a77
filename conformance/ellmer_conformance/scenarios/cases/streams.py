"""The end of an answer: truncated, limited, failed. Most libraries report all of these as complete answers.

Without a stream, the same happens to the body: it stops in the middle, or the provider answers with an error status.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..case import Case, ask, case
from ..script import Answer, Call, Cut, Failure, Refuse, Say, Usage
from ._media_and_tools import weather

_PARIS = "What's the weather in Paris?"
_AGAIN = Answer((Say("Here again: all is well."),), usage=Usage(20, 8))
_GOES_ON = ask("And now?", text="Here again: all is well.")
_NO_FILTER: Mapping[str, str] = dict.fromkeys(
    ("cohere", "mistral", "ollama"), "it has no stop reason for a filter"
)


@case
def cut_before_the_end() -> Case:
    """All text arrives, but no end marker. The answer is not complete."""
    return Case(
        streamed_apart=True,
        script=[Cut(Answer((Say("The capital of France is"),))), _AGAIN],
        steps=[
            ask("What is the capital of France?", text="The capital of France is", outcome="incomplete"),
            _GOES_ON,
        ],
    )


@case
def cut_inside_arguments() -> Case:
    """The answer stops in the middle of a call's arguments: the tool is never run."""
    call = Answer((Say("Let me look."), Call("get_weather", {"city": "Paris"})))
    return Case(
        streamed_apart=True,
        tools=[weather],
        script=[Cut(call, at="inside-arguments"), _AGAIN],
        steps=[
            ask(_PARIS, text="Let me look.", outcome="incomplete"),
            _GOES_ON,
        ],
    )


@case
def length_inside_arguments() -> Case:
    """The token limit ends the answer inside a call's arguments: the tool is never run."""
    call = Call("get_weather", {}, text='{"city": "Pa')
    return Case(
        tools=[weather],
        script=[
            Answer((call,), stop="length", usage=Usage(40, 16)),
            Answer((Say("The limit was too low."),), usage=Usage(70, 8)),
        ],
        steps=[ask(_PARIS, text="The limit was too low.")],
        inexpressible=dict.fromkeys(
            ("gemini", "ollama"), "arguments arrive whole: a length stop leaves no part of a call"
        ),
    )


@case
def length_inside_text() -> Case:
    """The token limit ends the text: it is returned, and the stop reason is `length`."""
    return Case(
        everywhere=True,
        script=[Answer((Say("Once upon a time there was a"),), stop="length", usage=Usage(12, 7)), _AGAIN],
        steps=[
            ask("Tell me a story.", text="Once upon a time there was a"),
            _GOES_ON,
        ],
    )


@case
def error_inside_the_answer() -> Case:
    """The provider fails in the middle of an answer: the client raises a typed error and does not return a short
    answer.
    """
    return Case(
        everywhere=True,
        streamed_apart=True,
        script=[Failure("overloaded", after=Answer((Say("One moment"),))), _AGAIN],
        steps=[
            ask("Count to ten.", text="One moment", outcome="incomplete"),
            _GOES_ON,
        ],
    )


@case
def filtered_answer() -> Case:
    """A filter ends the answer: the text so far is returned, and the stop reason is `filter`."""
    return Case(
        inexpressible=_NO_FILTER,
        script=[Answer((Say("I would rather"),), stop="filter", usage=Usage(12, 4))],
        steps=[ask("Tell me a secret.", text="I would rather")],
    )


@case
def filtered_at_once() -> Case:
    """A filter blocks the prompt or the whole answer: the caller gets the stop reason or an error, and the chat can continue."""
    return Case(
        on_server=True,
        printed_alike=False,
        inexpressible=_NO_FILTER,
        script=[Answer((), stop="filter", usage=Usage(12, 0)), _AGAIN],
        steps=[ask("Tell me a secret.", outcome="incomplete"), _GOES_ON],
    )


@case
def refused_answer() -> Case:
    """The model refuses in the field that the format has for it: the caller gets the words or an error, and the chat can continue."""
    return Case(
        inexpressible=dict.fromkeys(
            ("anthropic", "gemini", "bedrock", "ollama", "mistral", "cohere", "openai-chat/deepseek"),
            "it has no field for the words of a refusal: they are the text of the answer, or there are none",
        ),
        script=[Answer((Refuse("I cannot help with that."),), usage=Usage(14, 7)), _AGAIN],
        steps=[ask("Tell me a secret.", text="I cannot help with that.", outcome="incomplete"), _GOES_ON],
    )


@case
def malformed_call() -> Case:
    """The model fails to write a call, and the answer ends without one: the caller is told, and the chat can continue."""
    return Case(
        tools=[weather],
        inexpressible=dict.fromkeys(
            ("openai-chat", "openai-responses", "anthropic", "bedrock", "ollama", "mistral", "cohere"),
            "no stop reason says that a call failed: its arguments arrive as they are",
        ),
        script=[
            Answer((Call("get_weather", {}, text='{"city": "Pa'),), usage=Usage(40, 16)),
            _AGAIN,
        ],
        steps=[ask(_PARIS, outcome="incomplete"), _GOES_ON],
    )
