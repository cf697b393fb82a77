"""Options: their types, their ranges, and their dependencies."""

from __future__ import annotations

from collections.abc import Iterator

from ...exchange import Request
from ...readers.json_access import object_of
from ...rule import Finding, broken, met
from .._openai.client_keys import enter_client_keys, enter_metadata
from .._openai.refusals import (
    OUT_OF_RANGE,
    WORDED,
    listed,
    misfits,
    ranges,
    refused,
)
from ._rulebook import ASK, MUST, REJECT, TOOL, body, book

SPEC = "https://github.com/openai/openai-openapi (CreateChatCompletionRequest)"
KINDS = {
    "max_tokens": "an integer",
    "max_completion_tokens": "an integer",
    "n": "an integer",
    "temperature": "a decimal",
    "top_p": "a decimal",
    "presence_penalty": "a decimal",
    "frequency_penalty": "a decimal",
    "logprobs": "a boolean",
    "top_logprobs": "an integer",
    "user": "a string",
    "seed": "an integer",
    "stream": "a boolean",
    "store": "a boolean",
    "tools": "an array of objects",
    "response_format": "an object",
}  # in the order in which the API looks
CHOICES = {
    "tool_choice": ("none", "auto", "required"),
    "response_format.type": ("json_object", "json_schema", "text"),
    "verbosity": ("low", "medium", "high"),
}
LONGEST = {"tools": 128, "stop": 4}


@book.rule(
    "REQ-034",
    MUST,
    REJECT,
    source=SPEC,
    refusal=WORDED,
    examples=[body(ASK, temperature=1, seed=1, n=None)],
    counterexamples=[
        body(ASK, temperature="0.5"),
        body(ASK, seed=1.5),
        body(ASK, stream="yes"),
        body(ASK, response_format="json_object"),
    ],
)
def options_have_their_types(request: Request) -> Iterator[Finding]:
    """Every option has its declared type: numbers are not strings, counts are whole numbers, and formats are
    objects."""
    yield from misfits(request.body, KINDS)


@book.rule(
    "REQ-036",
    MUST,
    REJECT,
    source=SPEC,
    refusal=refused(
        "Invalid value: '{value}'. Supported values are: {known}.", code="invalid_value", param="{path}"
    ),
    examples=[body(ASK, tools=[TOOL], tool_choice="required", response_format={"type": "text"})],
    counterexamples=[body(ASK, tools=[TOOL], tool_choice="any"), body(ASK, response_format={"type": "json"})],
)
def choices_are_known(request: Request) -> Iterator[Finding]:
    """The tool choice, the type of the response format and the verbosity are known values.

    Why: `any` is the value of Anthropic, Mistral and Gemini for `required`.
    """
    for where, known in CHOICES.items():
        outer, _, inner = where.partition(".")
        value, place = request.body.get(outer), f"/{where.replace('.', '/')}"
        value = object_of(value).get(inner) if inner else value
        if isinstance(value, str):
            facts = {"value": value, "known": listed(known), "path": where}
            yield met(place) if value in known else broken(place, f"there is no {value!r}", **facts)


@book.rule(
    "REQ-035",
    MUST,
    REJECT,
    source=["https://github.com/vishalmysore/Tools4AI/issues/16", SPEC],
    refusal=refused(
        "Invalid '{path}': array too long. "
        "Expected an array with maximum length {limit}, but got an array with length {length} instead.",
        code="array_above_max_length",
        param="{path}",
    ),
    examples=[body(ASK, tools=[TOOL] * 128, stop=["a", "b", "c", "d"])],
    counterexamples=[body(ASK, tools=[TOOL] * 129), body(ASK, stop=["a", "b", "c", "d", "e"])],
)
def lists_are_short(request: Request) -> Iterator[Finding]:
    """A request has at most 128 tools and 4 stop sequences."""
    for key, limit in LONGEST.items():
        value = request.body.get(key)
        if isinstance(value, list):
            facts = {"path": key, "limit": limit, "length": len(value)}
            fine, problem = len(value) <= limit, f"it has {len(value)} elements and may have {limit}"
            yield met(f"/{key}") if fine else broken(f"/{key}", problem, **facts)


enter_client_keys(book, body, ASK)
enter_metadata(book, body, ASK)


@book.rule(
    "REQ-037",
    MUST,
    REJECT,
    source=["https://github.com/BerriAI/litellm/issues/5803", SPEC],
    refusal=refused("The '{key}' parameter is only allowed when '{other}' is enabled.", param="{key}"),
    examples=[
        body(ASK, stream=True, stream_options={"include_usage": True}),
        body(ASK, logprobs=True, top_logprobs=2),
    ],
    counterexamples=[body(ASK, stream_options={"include_usage": True}), body(ASK, top_logprobs=2)],
)
def options_come_with_what_they_refine(request: Request) -> Iterator[Finding]:
    """`stream_options` requires `stream`, and `top_logprobs` requires `logprobs`."""
    for key, other in (("stream_options", "stream"), ("top_logprobs", "logprobs")):
        if request.body.get(key):
            problem, on = f"`{key}` without `{other}`", request.body.get(other) is True
            yield met(f"/{key}") if on else broken(f"/{key}", problem, key=key, other=other)


@book.rule(
    "REQ-013",
    MUST,
    REJECT,
    source=["recorded refusal of temperature 99 (gpt-4o)", SPEC],
    refusal=OUT_OF_RANGE,
    examples=[body(ASK, temperature=2, top_p=1.0, n=1)],
    counterexamples=[
        body(ASK, temperature=99.0),
        body(ASK, top_p=-0.1),
        body(ASK, max_tokens=0),
        body(ASK, model="gpt-5.6-terra", n=9),
    ],
)
def numbers_are_in_range(request: Request) -> Iterator[Finding]:
    """Numeric options are in range: `temperature` 0 to 2, `top_p` 0 to 1, penalties -2 to 2, `n` 1 to 128,
    `top_logprobs` 0 to 20.

    A token limit is at least 1. GPT-5.6 allows `n` up to 8.
    """
    bounds: dict[str, tuple[float, float]] = {
        "max_tokens": (1, 2**31),
        "max_completion_tokens": (1, 2**31),
        "temperature": (0.0, 2.0),
        "top_p": (0.0, 1.0),
        "presence_penalty": (-2.0, 2.0),
        "frequency_penalty": (-2.0, 2.0),
        "n": (1, 8 if request.model.startswith("gpt-5.6") else 128),
        "top_logprobs": (0, 20),
    }
    yield from ranges(request.body, bounds)


@book.rule(
    "REQ-014",
    MUST,
    REJECT,
    source="recorded refusal (gpt-5-chat-latest)",
    refusal=refused(
        "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
        code="invalid_parameter_combination",
        param="max_tokens",
    ),
    examples=[body(ASK, max_tokens=5)],
    counterexamples=[body(ASK, max_tokens=5, max_completion_tokens=5)],
)
def one_token_limit(request: Request) -> Iterator[Finding]:
    """A request sets `max_tokens` or `max_completion_tokens`, not both."""
    old, new = request.body.get("max_tokens"), request.body.get("max_completion_tokens")
    if old is not None or new is not None:
        both = old is not None and new is not None
        yield broken("/max_tokens", "there are two token limits") if both else met("/max_tokens")
