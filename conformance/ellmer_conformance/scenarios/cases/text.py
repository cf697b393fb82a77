"""Plain text: the basic conversations."""

from __future__ import annotations

from ..case import Case, ask, case
from ..script import Answer, Say, Usage


@case
def plain_text() -> Case:
    """The user asks a question, gets an answer, and asks a second question on the same history."""
    return Case(
        everywhere=True,
        script=[
            Answer((Say("Bonjour! How can I help?"),), usage=Usage(input=9, output=7)),
            Answer((Say("It means good day."),), usage=Usage(input=27, output=5)),
        ],
        steps=[
            ask("Say hello in French.", text="Bonjour! How can I help?"),
            ask("What does it mean?", text="It means good day."),
        ],
    )


@case
def system_prompt() -> Case:
    """A system prompt is sent in the format's place, once in every request."""
    return Case(
        system="You are terse. Answer in one word.",
        script=[Answer((Say("Paris"),)), Answer((Say("Oslo"),))],
        steps=[
            ask("What is the capital of France?", text="Paris"),
            ask("And of Norway?", text="Oslo"),
        ],
    )


@case
def unicode_throughout() -> Case:
    """Text beyond ASCII is sent and returned unchanged: it is not normalized, and no character is damaged."""
    words = "Zoë 👩‍👩‍👧 e\u0301 é ﬁ ① … “q” \u2028 שלום 日本 𝒳"
    return Case(
        system="Répète — 逐字.",
        script=[Answer((Say(words, pieces=tuple(words)),))],
        steps=[ask(f"Repeat: {words}", text=words)],
    )


@case
def empty_answer() -> Case:
    """The model answers without any text: the next request is valid, and the chat continues."""
    return Case(
        script=[
            Answer((), usage=Usage(input=8, output=0)),
            Answer((Say("Yes, still here."),), usage=Usage(input=15, output=5)),
        ],
        steps=[ask("Say nothing.", text=""), ask("Are you there?", text="Yes, still here.")],
    )


@case
def half_a_character() -> Case:
    """The user's text has half of a surrogate pair: the request is valid, or it is not sent."""
    return Case(
        script=[Answer((Say("I see."),), usage=Usage(12, 3))],
        steps=[ask("A torn emoji: \ud83d.", text="I see.", outcome="refused")],
    )


@case
def counted_in_parts() -> Case:
    """Most of the input comes from a cache, and a part of the output is reasoning: the counts report both."""
    return Case(
        script=[Answer((Say("Counted."),), usage=Usage(input=1200, output=60, cached=1024, reasoning=32))],
        steps=[ask("Count me.", text="Counted.")],
    )


@case
def counted_cache_writes() -> Case:
    """A part of the input was read from a cache, and another one is written to it: both are input, and each is counted once."""
    usage = Usage(input=3000, output=60, cached=1024, cache_write=1900)
    others = ("openai-chat", "gemini", "ollama", "mistral", "cohere")
    return Case(
        on_server=True,
        printed_alike=False,
        modes=("sync", "stream"),
        inexpressible=dict.fromkeys(others, "its counts do not say what was written to a cache"),
        script=[Answer((Say("Counted."),), usage=usage)],
        steps=[ask("Count me.", text="Counted.")],
    )
