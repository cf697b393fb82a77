"""Chat Completions: definitions of tools, the format of the answer, the choice of a tool, and parameters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ...observed.exchange import Json, Request
from ...readers.json_access import object_of
from ...readers.openai_chat import calls_of, messages, tools
from ...rule import Finding, broken, met
from .._openai.refusals import (
    OUT_OF_RANGE,
    TOO_LONG,
    WORDED,
    enter_client_keys,
    enter_flex,
    enter_metadata,
    listed,
    misfits,
    ranges,
    refused,
    too_long,
)
from .._openai.schemas import (
    ARRAYS,
    CLOSED,
    OPEN,
    ROOTS,
    SCHEMA,
    STRICT,
    arrays_say_of_what,
    form_findings,
    names_are_plain,
    one_property,
    parameters_are_an_object,
    strict_findings,
    strict_tools_are_closed,
)
from ._refusals_and_examples import ADAPTERS, ASK, MUST, REJECT, TOOL, body, book, result

# --- definitions of tools --------------------------------------------------------------------------------


FUNCTION_SPEC = "https://github.com/openai/openai-openapi (FunctionObject)"


def _tool(**function: Any) -> Json:
    return {"type": "function", "function": {"name": "add", **function}}


def _named_choice(name: str) -> Json:
    return {"type": "function", "function": {"name": name}}


def _calls(name: str) -> Json:
    tool_call = {"id": "a", "type": "function", "function": {"name": name, "arguments": "{}"}}
    return {"role": "assistant", "tool_calls": [tool_call]}


def _functions(request: Json) -> Iterator[tuple[str, Json]]:
    for pointer, tool in tools(request):
        if isinstance(tool.get("function"), dict):
            yield f"{pointer}/function", tool["function"]


def _named(request: Json) -> Iterator[tuple[str, Json]]:
    """Yields the declared functions, and those of earlier calls."""
    yield from _functions(request)
    for pointer, message in messages(request):
        for i, tool_call in enumerate(calls_of(message)):
            if isinstance(tool_call.get("function"), dict):
                yield f"{pointer}/tool_calls/{i}/function", tool_call["function"]


book.rule(
    "SCH-002",
    MUST,
    REJECT,
    source=FUNCTION_SPEC,
    refusal=WORDED,
    examples=[body(ASK, tools=[TOOL])],
    counterexamples=[
        body(ASK, tools=[_tool(name="add numbers")]),
        body(ASK, tools=[_tool(name="")]),
        body(ASK, _calls("math.add"), result("a")),
    ],
)(names_are_plain(_named))


@book.rule(
    "SCH-009",
    MUST,
    REJECT,
    source=FUNCTION_SPEC,
    refusal=TOO_LONG,
    examples=[body(ASK, tools=[TOOL])],
    counterexamples=[body(ASK, tools=[_tool(name="a" * 65)])],
)
def names_are_short(request: Request) -> Iterator[Finding]:
    """The name of a function has at most 64 characters, in its declaration and in every call.

    Fix: shorten longer names, and map them back when the model calls the function.
    """
    for pointer, function in _named(request.body):
        yield from too_long(function.get("name"), f"{pointer}/name", 64)


@book.rule(
    "SCH-025",
    MUST,
    REJECT,
    source=[
        "https://github.com/FoundationAgents/OpenManus/issues/1162",
        "https://github.com/maltekuhr/laravel-gpt/issues/8",
        "https://github.com/BerriAI/litellm/pull/34237 (types in capitals, in a list)",
    ],
    refusal=SCHEMA,
    examples=[body(ASK, tools=[TOOL])],
    counterexamples=[
        body(ASK, tools=[_tool(parameters=[])]),
        body(ASK, tools=[_tool(parameters={"type": "object", "properties": {"x": {"type": "str"}}})]),
        body(ASK, tools=[_tool(parameters={"type": "object", "properties": {"x": {"type": ["STRING"]}}})]),
        body(
            ASK,
            tools=[
                _tool(
                    parameters={"type": "object", "properties": {"x": {"type": "number", "required": True}}}
                )
            ],
        ),
    ],
)
def parameters_are_a_schema(request: Request) -> Iterator[Finding]:
    """The `parameters` of a function are a JSON Schema: its types are those of JSON, and `required` is a list.

    Fix: write `string` for `str`, and list the required properties in their object.
    """
    for pointer, function in _functions(request.body):
        yield from form_findings(function.get("name"), function.get("parameters"), f"{pointer}/parameters")


book.rule(
    "SCH-001",
    MUST,
    REJECT,
    source="recorded refusals (gpt-4o-mini, gpt-3.5-turbo)",
    refusal=SCHEMA,
    examples=[body(ASK, tools=[TOOL, _tool(), _tool(parameters={"type": "object", "properties": {}})])],
    counterexamples=[
        body(ASK, tools=[_tool(parameters={"type": "object"})]),
        body(ASK, tools=[_tool(parameters={"x": {"type": "number"}})]),
    ],
)(parameters_are_an_object(_functions))


book.rule(
    "SCH-020",
    MUST,
    REJECT,
    source=ARRAYS,
    refusal=SCHEMA,
    examples=[body(ASK, tools=[_tool(parameters=one_property({"type": "array", "items": {}}))])],
    counterexamples=[body(ASK, tools=[_tool(parameters=one_property({"type": "array"}))])],
)(arrays_say_of_what(_functions))


book.rule(
    "SCH-003",
    MUST,
    REJECT,
    source=[
        "recorded refusals (gpt-4o-mini, gpt-4-turbo, gpt-4)",
        (
            "https://github.com/openai/openai-dotnet/blob/b3b4bbbc31cebef0f4978071d586856360173c89/tests/SessionRecords/ChatToolTests/"
            "StructuredOutputs(WithoutSchema,Strict,FailureExpected).json (no parameters, gpt-4o)"
        ),
        "https://github.com/crewAIInc/crewAI/pull/6628 (a required name without a property)",
        *STRICT,
    ],
    refusal=SCHEMA,
    examples=[body(ASK, tools=[_tool(parameters=CLOSED, strict=True), _tool(parameters=OPEN)])],
    counterexamples=[
        body(ASK, tools=[_tool(strict=True)]),
        body(ASK, tools=[_tool(parameters=OPEN, strict=True)]),
        body(ASK, tools=[_tool(parameters={**CLOSED, "required": []}, strict=True)]),
        body(
            ASK, tools=[_tool(parameters={**CLOSED, "required": [*CLOSED["required"], "title"]}, strict=True)]
        ),
        body(ASK, tools=[_tool(parameters=one_property({"oneOf": [OPEN]}), strict=True)]),
        body(ASK, tools=[_tool(parameters=one_property({"const": 5}), strict=True)]),
        body(ASK, tools=[_tool(parameters=one_property({"type": "string", "format": "uri"}), strict=True)]),
    ],
)(strict_tools_are_closed(_functions))


# --- the format of the answer ----------------------------------------------------------------------------


GUIDE = (
    " Learn more about supported models at the Structured Outputs guide: "
    "https://platform.openai.com/docs/guides/structured-outputs"
)


def _format(schema: Json, *, strict: bool = True) -> Json:
    return {"type": "json_schema", "json_schema": {"name": "sum", "schema": schema, "strict": strict}}


@book.rule(
    "STO-008",
    MUST,
    REJECT,
    source=["recorded refusal (gpt-4o-mini)", ROOTS, *STRICT],
    refusal=refused("Invalid schema for response_format '{name}': {reason}", param="response_format"),
    examples=[
        body(ASK, response_format=_format(CLOSED)),
        body(ASK, response_format=_format(OPEN, strict=False)),
    ],
    counterexamples=[
        body(ASK, response_format=_format(OPEN)),
        body(ASK, response_format=_format({"type": "array", "items": {"type": "string"}})),
        body(ASK, response_format=_format(one_property({"type": "string"}) | {"required": []})),
        body(ASK, response_format=_format(one_property({"description": "A sum."}))),
        body(ASK, response_format=_format(one_property({"type": "string", "format": "uri"}))),
        body(ASK, response_format=_format(one_property({"$ref": "#", "description": "A sum."}))),
    ],
)
def strict_answers_are_closed(request: Request) -> Iterator[Finding]:
    """In a strict response format, the root is an object, and every object sets `additionalProperties: false` and
    requires all its properties.

    A `$ref` has no description, default or title beside it, and no string has the format `uri`. Fix: close every object
    of the schema before you send it, and make optional properties nullable; or set `strict: false`.
    """
    format = request.body.get("response_format")
    schema = format.get("json_schema") if isinstance(format, dict) else None
    if isinstance(schema, dict) and schema.get("strict") is True:
        place = "/response_format/json_schema/schema"
        yield from strict_findings(schema.get("name"), schema.get("schema"), place)


@book.rule(
    "STO-001",
    MUST,
    REJECT,
    source=[
        "recorded refusals",
        f"{ADAPTERS}/json/cassettes/test_json_output/test_async%5Bopenai-openai-o1-mini%5D.yaml",
    ],
    refusal=refused(
        "Invalid parameter: 'response_format' of type '{type}' is not supported with this model.{more}",
        param="{param}",
    ),
    models=["gpt-audio*", "gpt-3.5*", "gpt-4", "gpt-4-*", "o1-mini*"],
    examples=[
        body(ASK, model="gpt-audio", modalities=["text", "audio"]),
        body(
            {"role": "user", "content": "JSON"}, model="gpt-4-turbo", response_format={"type": "json_object"}
        ),
    ],
    counterexamples=[
        body(ASK, model="gpt-audio", modalities=["text", "audio"], response_format={"type": "json_object"}),
        body(ASK, model="gpt-4-turbo", response_format=_format(CLOSED)),
    ],
)
def some_models_have_no_format(request: Request) -> Iterator[Finding]:
    """Audio models do not support structured output. Models before GPT-4o do not support `json_schema`. The first
    GPT-4 and o1-mini do not support `json_object`.

    Fix: offer the schema as a tool, or ask for JSON in words.
    """
    kind = object_of(request.body.get("response_format")).get("type")
    model, schema = request.model, kind == "json_schema"
    unknown = schema or (
        kind == "json_object"
        and (model.startswith(("gpt-audio", "o1-mini")) or model in {"gpt-4", "gpt-4-0613", "gpt-4-0314"})
    )
    if not unknown:
        yield met("/response_format")
        return
    facts = {"type": kind, "more": GUIDE if schema else "", "param": None if schema else "response_format"}
    yield broken("/response_format", f"this model does not support {kind}", **facts)


@book.rule(
    "STO-007",
    MUST,
    REJECT,
    source=[
        "https://github.com/ultimatejimmy/xray.koplugin/issues/33 (gpt-4o)",
        "https://github.com/StefanBratanov/jvm-openai/issues/15",
        "the Responses API refuses the same, recorded",
    ],
    refusal=refused(
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
        param="messages",
    ),
    examples=[body({"role": "user", "content": "Answer in JSON."}, response_format={"type": "json_object"})],
    counterexamples=[body(ASK, response_format={"type": "json_object"})],
)
def json_mode_is_asked_for(request: Request) -> Iterator[Finding]:
    """If the response format is `json_object`, the messages contain the word "json".

    Fix: write into the system prompt that the answer is JSON.
    """
    if object_of(request.body.get("response_format")).get("type") == "json_object":
        fine = "json" in json.dumps(request.body.get("messages")).lower()
        yield met("/response_format") if fine else broken("/messages", 'no message has the word "json"')


# --- the choice of a tool --------------------------------------------------------------------------------


@book.rule(
    "SCH-008",
    MUST,
    REJECT,
    source=[
        "https://github.com/continuedev/continue/issues/3370 (gpt-4o, 2024)",
        "https://github.com/dnakov/anon-kode/issues/20 (2025)",
        "https://github.com/vllm-project/vllm/issues/39741 (2026)",
    ],
    refusal=refused(
        "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        code="empty_array",
        param="tools",
    ),
    examples=[body(ASK, tools=[TOOL])],
    counterexamples=[body(ASK, tools=[])],
)
def no_tools_is_no_list(request: Request) -> Iterator[Finding]:
    """A request without tools has no `tools` field.

    The refusal is in reports of three years, and in no recording. OpenAI's document of the API has a smallest length
    for `messages` and `functions`, and none for `tools`. Others report that OpenAI takes an empty list by now:
    https://github.com/earendil-works/pi/pull/3650 (April 2026), https://github.com/evalstate/fast-agent/issues/781 (May
    2026), https://github.com/local-inference-lab/vllm/pull/193 (July 2026: Xcode sends it). One recording would decide.
    The Responses API takes it: https://github.com/DataDog/dd-trace-py (test_simple_agent_streamed.yaml). Fix: add the
    key only if there are tools.
    """
    if isinstance(request.body.get("tools"), list):
        yield met("/tools") if request.body["tools"] else broken("/tools", "the list of tools is empty")


@book.rule(
    "REQ-012",
    MUST,
    REJECT,
    source=[
        "https://github.com/RageAgainstThePixel/OpenAI-DotNet/issues/479",
        "https://github.com/writer/writer-framework/pull/1013",
    ],
    refusal=refused(
        "Invalid value for '{key}': '{key}' is only allowed when 'tools' are specified.", param="{key}"
    ),
    examples=[body(ASK, tools=[TOOL], tool_choice="required")],
    counterexamples=[body(ASK, tool_choice="required"), body(ASK, parallel_tool_calls=False)],
)
def a_choice_has_tools(request: Request) -> Iterator[Finding]:
    """`tool_choice` and `parallel_tool_calls` require `tools`.

    Fix: add these options only together with tools.
    """
    for key in ("tool_choice", "parallel_tool_calls"):
        if request.body.get(key) not in (None, "none"):
            problem = f"`{key}` without tools"
            yield met(f"/{key}") if request.body.get("tools") else broken(f"/{key}", problem, key=key)


@book.rule(
    "REQ-146",
    MUST,
    REJECT,
    providers=("openai",),
    source="https://github.com/run-llama/llama_index/pull/20825",
    refusal=refused(
        "Invalid type for 'parallel_tool_calls': expected a boolean, but got null instead.",
        code="invalid_type",
        param="parallel_tool_calls",
    ),
    examples=[body(ASK, tools=[TOOL], parallel_tool_calls=False)],
    counterexamples=[body(ASK, tools=[TOOL], parallel_tool_calls=None)],
)
def parallel_calls_are_not_null(request: Request) -> Iterator[Finding]:
    """`parallel_tool_calls` is true or false, and not null.

    Fix: leave the field out. Other fields may be null.
    """
    if "parallel_tool_calls" in request.body:
        place, null = "/parallel_tool_calls", request.body["parallel_tool_calls"] is None
        yield broken(place, "`parallel_tool_calls` is null") if null else met(place)


@book.rule(
    "REQ-071",
    MUST,
    REJECT,
    source=[
        "https://github.com/PlexPt/chatgpt-java/issues/150",
        "https://github.com/Azure-Samples/azure-search-openai-demo/pull/1175",
    ],
    refusal=refused(
        "Invalid value for 'function_call': 'function_call' is only allowed when 'functions' are specified.",
        param="function_call",
    ),
    examples=[body(ASK, functions=[TOOL["function"]], function_call="auto")],
    counterexamples=[body(ASK, function_call="auto"), body(ASK, function_call={"name": "add"}, tools=[TOOL])],
)
def a_function_call_has_functions(request: Request) -> Iterator[Finding]:
    """`function_call` requires `functions`. `tools` do not count.

    Fix: send `tools` and `tool_choice`.
    """
    if request.body.get("function_call") is not None:
        declared, place = request.body.get("functions"), "/function_call"
        yield met(place) if declared else broken(place, "the request has `function_call` and no `functions`")


@book.rule(
    "REQ-072",
    MUST,
    REJECT,
    source="https://github.com/kangminlee-maker/local-OAuth-CLI-API-adapter/blob/"
    "732d5a3d62f8196a0c25f0505ed73b6d9a43d77c/spec/declared-divergences.json (asked of the API, gpt-5.6-terra)",
    refusal=refused(
        "Invalid value for 'function_call': no function named '{name}' was specified in the 'functions' parameter.",
        param="function_call",
    ),
    formerly=[
        refused(
            "Invalid value for 'tool_choice': no function named '{name}' was specified in the 'tools' parameter.",
            param="tool_choice",
        )
    ],
    examples=[body(ASK, tools=[TOOL], tool_choice=_named_choice(TOOL["function"]["name"]))],
    counterexamples=[body(ASK, tools=[TOOL], tool_choice=_named_choice("multiply"))],
)
def the_choice_is_declared(request: Request) -> Iterator[Finding]:
    """A function in `tool_choice` is one of the declared functions.

    Fix: check the name against the declared functions, and raise an error that lists them.
    """
    name = object_of(object_of(request.body.get("tool_choice")).get("function")).get("name")
    declared = {function.get("name") for _, function in _functions(request.body)}
    if isinstance(name, str) and declared:
        place, problem = "/tool_choice", f"{name!r} is not declared"
        yield met(place) if name in declared else broken(place, problem, name=name)


# --- parameters ------------------------------------------------------------------------------------------


REQUEST_SPEC = "https://github.com/openai/openai-openapi (CreateChatCompletionRequest)"
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
    source=REQUEST_SPEC,
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
    objects.

    Fix: convert values that come from configuration files and environment variables before you send them.
    """
    yield from misfits(request.body, KINDS)


@book.rule(
    "REQ-036",
    MUST,
    REJECT,
    source=REQUEST_SPEC,
    refusal=refused(
        "Invalid value: '{value}'. Supported values are: {known}.", code="invalid_value", param="{path}"
    ),
    examples=[body(ASK, tools=[TOOL], tool_choice="required", response_format={"type": "text"})],
    counterexamples=[body(ASK, tools=[TOOL], tool_choice="any"), body(ASK, response_format={"type": "json"})],
)
def choices_are_known(request: Request) -> Iterator[Finding]:
    """The tool choice, the type of the response format and the verbosity are known values.

    Why: `any` is the value of Anthropic, Mistral and Gemini for `required`. Fix: map your own names to these, such as
    `any` to `required`.
    """
    for where, choices in CHOICES.items():
        outer, _, inner = where.partition(".")
        value, place = request.body.get(outer), f"/{where.replace('.', '/')}"
        value = object_of(value).get(inner) if inner else value
        if isinstance(value, str):
            facts = {"value": value, "known": listed(choices), "path": where}
            yield met(place) if value in choices else broken(place, f"there is no choice {value!r}", **facts)


@book.rule(
    "REQ-035",
    MUST,
    REJECT,
    source=["https://github.com/vishalmysore/Tools4AI/issues/16", REQUEST_SPEC],
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
    """A request has at most 128 tools and 4 stop sequences.

    Fix: raise an error before the request, or let the caller choose which tools are sent.
    """
    for key, limit in LONGEST.items():
        value = request.body.get(key)
        if isinstance(value, list):
            facts = {"path": key, "limit": limit, "length": len(value)}
            fine, problem = len(value) <= limit, f"it has {len(value)} elements and may have {limit}"
            yield met(f"/{key}") if fine else broken(f"/{key}", problem, **facts)


enter_client_keys(book, body, ASK)
enter_metadata(book, body, ASK)
enter_flex(book, body, ASK)


@book.rule(
    "REQ-037",
    MUST,
    REJECT,
    source=["https://github.com/BerriAI/litellm/issues/5803", REQUEST_SPEC],
    refusal=refused("The '{key}' parameter is only allowed when '{other}' is enabled.", param="{key}"),
    examples=[
        body(ASK, stream=True, stream_options={"include_usage": True}),
        body(ASK, logprobs=True, top_logprobs=2),
    ],
    counterexamples=[body(ASK, stream_options={"include_usage": True}), body(ASK, top_logprobs=2)],
)
def options_come_with_what_they_refine(request: Request) -> Iterator[Finding]:
    """`stream_options` requires `stream`, and `top_logprobs` requires `logprobs`.

    Fix: set the two options together, and leave both out otherwise.
    """
    for key, other in (("stream_options", "stream"), ("top_logprobs", "logprobs")):
        if request.body.get(key):
            problem, on = f"`{key}` without `{other}`", request.body.get(other) is True
            yield met(f"/{key}") if on else broken(f"/{key}", problem, key=key, other=other)


@book.rule(
    "REQ-013",
    MUST,
    REJECT,
    source=["recorded refusal of temperature 99 (gpt-4o)", REQUEST_SPEC],
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

    A token limit is at least 1. GPT-5.6 allows `n` up to 8. Fix: check the caller's value before the request, and name
    the range in your error.
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
    """A request sets `max_tokens` or `max_completion_tokens`, not both.

    Fix: send only `max_completion_tokens`, which all newer models take.
    """
    old, new = request.body.get("max_tokens"), request.body.get("max_completion_tokens")
    if old is not None or new is not None:
        both = old is not None and new is not None
        yield broken("/max_tokens", "there are two token limits") if both else met("/max_tokens")
