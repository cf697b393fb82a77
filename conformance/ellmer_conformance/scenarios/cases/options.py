"""Options that a caller sets for one turn: a forced call, stop sequences, JSON, another model, a cached prompt, a
limit.
"""

from __future__ import annotations

from ..case import Case, Mode, ask, case
from ..script import Answer, Call, Say, Think, Usage
from ..variations import of_rules
from ._media_and_tools import plan_trip, weather
from .tools import THINKERS, THOUGHTS

_MODES: tuple[Mode, ...] = ("sync", "stream")

#: A second model of each provider.
ANOTHER = {
    "openai": "gpt-4.1-mini",
    "deepseek": "deepseek-v4-flash",
    "anthropic": "claude-haiku-4-5",
    "google": "gemini-2.5-flash",
    "vertex": "gemini-2.5-flash",
    "bedrock": "us.anthropic.claude-haiku-4-5-20251001-v1:0",
    "ollama": "qwen3:4b",
    "mistral": "mistral-medium-latest",
    "cohere": "command-r7b-12-2024",
}
#: Models that are asked for thinking in another way than the usual ones.
_OLDER = {
    "openai-responses": "gpt-5-mini",
    "anthropic": "claude-haiku-4-5",
    "gemini": "gemini-2.5-flash",
    "bedrock": "us.anthropic.claude-haiku-4-5-20251001-v1:0",
}
#: Answers without a thought.
_THOUGHTLESS = (
    Answer((Say("You are welcome."),), usage=Usage(130, 6)),
    Answer((Say("Goodbye!"),), usage=Usage(150, 4)),
)
#: An answer that calls a tool, and one with its result.
_LOOKED_UP = (
    Answer((Call("get_weather", {"city": "Paris"}),), usage=Usage(60, 18)),
    Answer((Say("It is warm in Paris."),), usage=Usage(90, 6)),
)
_BY_ITSELF = "the provider caches prompts by itself, or not at all: a request cannot ask for it"


@case
def tool_choice_required() -> Case:
    """The caller forces a tool call."""
    return Case(
        needs=frozenset({"tool_choice"}),
        modes=_MODES,
        inexpressible={"ollama": "a request cannot demand a call"},
        tools=[weather],
        script=_LOOKED_UP,
        steps=[ask("Paris!", text="It is warm in Paris.", options={"tool_choice": "required"})],
    )


@case
def one_tool_demanded() -> Case:
    """The caller forces a call of one tool of two."""
    return Case(
        on_server=True,
        printed_alike=False,
        needs=frozenset({"named_calls"}),
        modes=_MODES,
        inexpressible=dict.fromkeys(("ollama", "cohere"), "a request cannot demand a call of one tool"),
        tools=[plan_trip, weather],
        script=_LOOKED_UP,
        steps=[ask("Paris!", text="It is warm in Paris.", options={"tool": "get_weather"})],
    )


@case
def no_call_wanted() -> Case:
    """The caller forbids calls for one turn, and offers the tool: the model answers without it, and may call in the next turn."""
    return Case(
        on_server=True,
        printed_alike=False,
        needs=frozenset({"forbidden_calls"}),
        modes=_MODES,
        inexpressible=dict.fromkeys(("ollama", "bedrock"), "a request cannot forbid a call"),
        tools=[weather],
        script=[
            Answer((Say("I would have to look."),), usage=Usage(60, 8)),
            Answer((Call("get_weather", {"city": "Paris"}),), usage=Usage(80, 18)),
            Answer((Say("It is warm in Paris."),), usage=Usage(110, 6)),
        ],
        steps=[
            ask(
                "Is it warm in Paris? Do not look.",
                text="I would have to look.",
                options={"tool_choice": "none"},
            ),
            ask("Look now.", text="It is warm in Paris."),
        ],
    )


@case
def stop_sequences() -> Case:
    """The caller sets stop sequences for one turn; the next turn has none."""
    return Case(
        needs=frozenset({"stop_sequences"}),
        modes=_MODES,
        inexpressible={"openai-responses": "Responses has no stop sequences"},
        script=[
            Answer((Say("One, two, "),), usage=Usage(20, 5)),
            Answer((Say("Three."),), usage=Usage(35, 2)),
        ],
        steps=[
            ask("Count to five.", text="One, two, ", options={"stop": ["three", "III"]}),
            ask("Go on.", text="Three."),
        ],
    )


@case
def json_mode() -> Case:
    """The caller asks for JSON without a schema: the text is the model's, unchanged."""
    return Case(
        needs=frozenset({"json_mode"}),
        modes=_MODES,
        inexpressible=dict.fromkeys(("anthropic", "bedrock"), "there is no JSON without a schema"),
        script=[Answer((Say('{"city": "Paris"}'),), usage=Usage(20, 8))],
        steps=[
            ask(
                "Which city is the capital of France? Answer as JSON.",
                text='{"city": "Paris"}',
                options={"json": True},
            )
        ],
    )


@case
def another_model() -> Case:
    """One question is sent to another model; the next is sent to the chat's own model again."""
    return Case(
        needs=frozenset({"model_override"}),
        modes=_MODES,
        script=[
            Answer((Say("Yes."),), usage=Usage(20, 2)),
            Answer((Say("No."),), usage=Usage(35, 2)),
            Answer((Say("Perhaps."),), usage=Usage(50, 2)),
        ],
        steps=[
            ask("Is it warm?", text="Yes."),
            ask("Is it cold?", text="No.", options={"model": ANOTHER}),
            ask("Is it wet?", text="Perhaps."),
        ],
    )


@case
def cached_prompt() -> Case:
    """The caller asks the provider to cache a long prompt."""
    others = ("openai-chat", "openai-responses", "gemini", "ollama", "mistral", "cohere")
    return Case(
        needs=frozenset({"prompt_caching"}),
        modes=_MODES,
        inexpressible=dict.fromkeys(others, _BY_ITSELF),
        system="You know every street of Paris by heart. " * 150,
        script=[Answer((Say("Near the river."),), usage=Usage(1400, 5))],
        steps=[ask("Where is the Louvre?", text="Near the river.", options={"cache": True})],
    )


@case
def limit_of_requests() -> Case:
    """A turn may send one request, and the model calls a tool: the turn ends with an error, and the chat can
    continue.
    """
    return Case(
        needs=frozenset({"usage_limits"}),
        modes=_MODES,
        tools=[weather],
        script=[
            Answer((Call("get_weather", {"city": "Paris"}),), usage=Usage(60, 18)),
            Answer((Say("It is 21C in Paris."),), usage=Usage(90, 8)),
        ],
        steps=[
            ask("What's the weather in Paris?", outcome="refused", options={"requests": 1}),
            ask("Please go on.", text="It is 21C in Paris."),
        ],
    )


@case
def thinking_asked_for() -> Case:
    """The caller asks for thinking, and the model thinks in two turns of four: each thought comes before its text or call, and goes back
    with it, and with no other answer.
    """
    wanted = {"thinking": True}
    return Case(
        on_server=True,
        printed_alike=False,
        modes=_MODES,
        needs=frozenset({"thinking"}),
        inexpressible={"openai-chat/openai": "its thoughts are hidden"},
        models={"cohere": THINKERS["cohere"]},
        tools=[weather],
        script=[*THOUGHTS, *_THOUGHTLESS],
        steps=[
            ask("Hi!", text="Hello!", options=wanted),
            ask("Is it warm in Rome?", text="It is warm: 27C.", options=wanted),
            ask("Thanks!", text="You are welcome.", options=wanted),
            ask("Bye!", text="Goodbye!", options=wanted),
        ],
    )


@case
def older_thinker() -> Case:
    """The caller asks a model of an older family for thinking: the request has that family's own form of it, and the thoughts go back."""
    wanted = {"thinking": True}
    return Case(
        on_server=True,
        printed_alike=False,
        modes=_MODES,
        needs=frozenset({"thinking"}),
        inexpressible={
            "openai-chat": "its thoughts are hidden",
            **dict.fromkeys(("ollama", "mistral", "cohere"), "all its models are asked in one way"),
        },
        models=_OLDER,
        tools=[weather],
        script=[*THOUGHTS[1:], _THOUGHTLESS[0]],
        steps=[
            ask("Is it warm in Rome?", text="It is warm: 27C.", options=wanted),
            ask("Thanks!", text="You are welcome.", options=wanted),
        ],
    )


@case
def limited_reasoner() -> Case:
    """The caller limits the tokens of a model that reasons: Chat Completions has another field for its limit."""
    others = ("openai-responses", "anthropic", "gemini", "bedrock", "ollama", "mistral", "cohere")
    return Case(
        on_server=True,
        printed_alike=False,
        modes=_MODES,
        needs=frozenset({"output_limit"}),
        inexpressible=dict.fromkeys(others, "all its models have one field for the limit"),
        models={"openai-chat": "gpt-5-mini"},
        script=[Answer((Say("Bonjour!"),), usage=Usage(20, 30, reasoning=20))],
        steps=[ask("Say hello in French.", text="Bonjour!", options={"max_tokens": 5000})],
    )


@case
def redacted_reasoning() -> Case:
    """The reasoning of a model of Bedrock is redacted: it is opaque data, which is sent back unchanged."""
    others = ("openai-chat", "openai-responses", "anthropic", "gemini", "ollama", "mistral", "cohere")
    return Case(
        printed_alike=False,
        modes=_MODES,
        needs=frozenset({"thinking"}),
        inexpressible=dict.fromkeys(
            others, "redacted_thoughts shows it, or the format has no redacted reasoning"
        ),
        variations=of_rules("THK-002"),
        tools=[weather],
        script=THOUGHTS[1:],
        steps=[ask("Is it warm in Rome?", text="It is warm: 27C.", options={"thinking": True})],
    )


@case
def thinking_switched_off() -> Case:
    """The caller switches thinking off for a turn: the request says so where the model thinks by itself, and asks for no thinking."""
    return Case(
        on_server=True,
        printed_alike=False,
        modes=_MODES,
        needs=frozenset({"thinking_off"}),
        inexpressible={"openai-chat": "the usual model does not think"},
        models={
            "anthropic": _OLDER["anthropic"],
            "bedrock": _OLDER["bedrock"],
            "gemini": _OLDER["gemini"],
            "cohere": THINKERS["cohere"],
        },
        script=[
            Answer((Say("Hello!"),), usage=Usage(20, 2)),
            Answer((Say("You are welcome."),), usage=Usage(40, 6)),
        ],
        steps=[
            ask("Hi!", text="Hello!", options={"thinking": False}),
            ask("Thanks!", text="You are welcome.", options={"thinking": False}),
        ],
    )


@case
def thoughts_in_blocks() -> Case:
    """The model thinks twice, says something, thinks again and calls: each thought goes back in its place, by itself."""
    wanted = {"thinking": True}
    return Case(
        on_server=True,
        printed_alike=False,
        modes=_MODES,
        needs=frozenset({"thinking"}),
        inexpressible=dict.fromkeys(
            ("openai-chat", "ollama", "cohere"), "the reasoning of an answer is one text, or hidden"
        ),
        tools=[weather],
        script=[
            Answer(
                (
                    Think("It is about Rome. "),
                    Think("There is a tool."),
                    Say("Let me look. "),
                    Think("The city is its argument."),
                    Call("get_weather", {"city": "Rome"}),
                ),
                usage=Usage(40, 60, reasoning=30),
            ),
            Answer((Think("27C is warm."), Say("It is warm: 27C.")), usage=Usage(100, 22, reasoning=8)),
        ],
        steps=[ask("Is it warm in Rome?", text="It is warm: 27C.", options=wanted)],
    )
