"""The provider refuses or is overloaded: some requests are retried, others are not, and the caller is told."""

from __future__ import annotations

from ..case import Case, ask, case
from ..script import Answer, Call, Failure, Say, Usage
from ._media_and_tools import weather

_WELL = Answer((Say("All is well."),), usage=Usage(12, 4))
_AGAIN = Answer((Say("Here again."),), usage=Usage(20, 4))


@case
def rate_limited() -> Case:
    """There are too many requests, then an answer: the same request is sent again, not earlier than the provider
    asked.
    """
    return Case(
        max_retries=2,
        script=[Failure("rate-limit"), _WELL],
        steps=[ask("How are you?", text="All is well.")],
    )


@case
def told_not_to_retry() -> Case:
    """An error says in a header that a retry does not help: the caller gets it at once, and the chat can continue."""
    others = ("openai-chat", "openai-responses", "gemini", "bedrock", "ollama", "mistral", "cohere")
    return Case(
        on_server=True,
        printed_alike=False,
        max_retries=2,
        inexpressible=dict.fromkeys(others, "no error of it is recorded with the header"),
        script=[Failure("rate-limit", final=True), _AGAIN],
        steps=[
            ask("Summarise all of this.", outcome="incomplete"),
            ask("Then only a part of it.", text="Here again."),
        ],
    )


@case
def overloaded_after_a_tool() -> Case:
    """The provider is overloaded twice when the tool's result is sent: the tool is not run again."""
    return Case(
        max_retries=2,
        tools=[weather],
        script=[
            Answer((Call("get_weather", {"city": "Oslo"}),), usage=Usage(40, 18)),
            Failure("overloaded"),
            Failure("server-error"),
            Answer((Say("Rain."),), usage=Usage(70, 3)),
        ],
        steps=[ask("Is it raining in Oslo?", text="Rain.")],
    )


@case
def overloaded_for_good() -> Case:
    """The provider stays overloaded: the error says so, and the chat can continue."""
    return Case(
        max_retries=1,
        script=[Failure("overloaded"), Failure("overloaded"), _AGAIN],
        steps=[ask("Are you there?", outcome="incomplete"), ask("And now?", text="Here again.")],
    )


@case
def failed_after_text() -> Case:
    """The provider fails after a part of the answer reached the caller: the request is not retried silently."""
    return Case(
        modes=("stream", "async-stream"),
        max_retries=2,
        script=[Failure("overloaded", after=Answer((Say("One, two"),))), _AGAIN],
        steps=[
            ask("Count to ten.", text="One, two", outcome="incomplete"),
            ask("And now?", text="Here again."),
        ],
    )


@case
def refused_for_two_reasons() -> Case:
    """The prompt is too long, and later there are too many requests: the two errors differ, and the first is not
    retried.
    """
    return Case(
        script=[Failure("context-length"), Failure("rate-limit"), _AGAIN],
        steps=[
            ask("Summarise all of this.", outcome="incomplete"),
            ask("Then only a part of it.", outcome="incomplete"),
            ask("And now?", text="Here again."),
        ],
    )
