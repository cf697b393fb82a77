"""Declared functions. First the schemas of functions and answers: whether protobuf can parse them, then whether they are
consistent. Then names, the choice among the functions, and what excludes them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from ...observed.exchange import Json, Request
from ...readers.gemini import declarations, get, key_of, repeated, snake
from ...readers.json_access import items_of, object_of, words
from ...rule import Finding, broken, met
from ...scope import matches
from .._references import dangling
from .._samples import ADD
from ._proto import Problem, findings, proto, unknown_field
from ._refusals_and_examples import ASK, MUST, REJECT, TOOLS, body, book, refused

SDK = "https://github.com/googleapis/python-genai (types)"
SCHEMA = frozenset(
    words(
        "$defs $ref any_of default defs description enum example format items max_items max_length max_properties maximum min_items "
        "min_length min_properties minimum nullable pattern properties property_ordering ref required title type"
    )
)
TYPES = frozenset(words("TYPE_UNSPECIFIED STRING NUMBER INTEGER BOOLEAN ARRAY OBJECT NULL"))
CLOSED: Json = {"type": "object", "properties": {"x": {"type": "number"}}, "additionalProperties": False}


def _declared(**schema: Any) -> list[Json]:
    return [{"functionDeclarations": [{"name": "add", "parameters": {"type": "object", **schema}}]}]


@book.rule(
    "SCH-004",
    MUST,
    REJECT,
    source=[
        "recorded refusal of `additionalProperties` (gemini-3-pro)",
        "https://github.com/zed-industries/zed/issues/53919 (a list of types)",
        "https://github.com/tailcallhq/forgecode/pull/3426 (propertyNames)",
        "https://github.com/agno-agi/agno/issues/3298 (a type that is none)",
        SDK,
    ],
    refusal=refused("{text}"),
    examples=[
        body(ASK, tools=[{"functionDeclarations": [{"name": "add", "parametersJsonSchema": CLOSED}]}]),
        body(ASK, generationConfig={"responseJsonSchema": CLOSED}),
        body(
            ASK, tools=_declared(properties={"x": {"type": "NULL"}, "y": {"type": "string", "enum": ["a"]}})
        ),
    ],
    counterexamples=[
        body(ASK, tools=[{"functionDeclarations": [{"name": "add", "parameters": CLOSED}]}]),
        body(ASK, generationConfig={"responseSchema": {"$schema": "…", "type": "object"}}),
        body(
            ASK,
            tools=_declared(properties={"x": {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}}}),
        ),
        body(ASK, tools=_declared(properties={"x": {"type": ["number", "null"]}})),
        body(ASK, tools=_declared(properties={"x": {"type": "float"}})),
        body(ASK, tools=_declared(properties={"x": {"type": "integer", "enum": [0, 1]}})),
    ],
)
def schemas_can_be_read(request: Request) -> Iterator[Finding]:
    """`parameters` and `responseSchema` use only an OpenAPI subset, without `additionalProperties` and lists
    of types.

    Fix: use `parametersJsonSchema` and `responseJsonSchema`, which accept JSON Schema.
    """
    yield from findings([each for schema, at in _schemas(request.body) for each in _unreadable(schema, at)])


@book.rule(
    "SCH-015",
    MUST,
    REJECT,
    source=[
        "https://github.com/NousResearch/hermes-agent/pull/69924 (items)",
        "https://github.com/iBUHub/AIStudioToAPI/issues/154 (required)",
        "https://github.com/musistudio/claude-code-router/issues/475 (enum)",
        "https://github.com/anomalyco/opencode/issues/11889 (properties)",
        "https://github.com/browser-use/browser-use/issues/3786 (an object of an answer)",
        f"{SDK}, Schema: an apartment number is an integer with an enum",
    ],
    refusal=refused("{text}"),
    examples=[
        body(ASK, tools=TOOLS),
        body(ASK, tools=_declared(properties={"x": {"type": "array", "items": {}}})),
        body(
            ASK,
            named="gemini-3.5-flash",
            tools=_declared(properties={"x": {"type": "integer", "enum": ["1"]}}),
        ),
    ],
    counterexamples=[
        body(ASK, tools=_declared(properties={"x": {"type": "array"}})),
        body(ASK, tools=_declared(properties={}, required=["x"])),
        body(ASK, tools=_declared(properties={"x": {"type": "integer", "enum": ["1"]}})),
        body(
            ASK,
            tools=_declared(properties={"x": {"type": "string", "properties": {"y": {"type": "string"}}}}),
        ),
        body(ASK, generationConfig={"responseSchema": {"type": "object", "properties": {}}}),
    ],
)
def schemas_make_sense(request: Request) -> Iterator[Finding]:
    """In `parameters` and `responseSchema`, arrays have `items`, required names are properties, and only
    strings have an `enum`; from Gemini 3 on, integers may have one, too. An object in `responseSchema` has properties.

    Fix: use `parametersJsonSchema` and `responseJsonSchema`, which accept JSON Schema.
    """
    old = any(matches(request.model, each) for each in OLD)
    listed = {"STRING"} if old else {"STRING", "INTEGER"}
    found = [each for schema, at in _schemas(request.body) for each in _senseless(schema, at, listed)]
    yield from findings(
        [each._replace(message=f"* GenerateContentRequest.{each.message}") for each in found], end="\n"
    )


def _referring(**schema: Any) -> list[Json]:
    """Returns a function whose schema refers to the definition `X`."""
    parameters = {"type": "object", "properties": {"x": {"$ref": "#/$defs/X"}}, **schema}
    return [{"functionDeclarations": [{"name": "add", "parametersJsonSchema": parameters}]}]


@book.rule(
    "SCH-024",
    MUST,
    REJECT,
    source="https://github.com/google-gemini/gemini-cli/issues/13326",
    refusal=refused("reference to undefined schema at {place}"),
    examples=[body(ASK, tools=_referring(**{"$defs": {"X": {"type": "string"}}}))],
    counterexamples=[body(ASK, tools=_referring())],
)
def references_lead_to_definitions(request: Request) -> Iterator[Finding]:
    """In `parametersJsonSchema`, every `$ref` leads to a definition.

    Fix: send `$defs` along with the schema that refers to it.
    """
    for pointer, declaration in declarations(request.body):
        key = key_of(declaration, "parametersJsonSchema")
        schema, where = get(declaration, "parametersJsonSchema"), f"{pointer}/{key}"
        for place, name in dangling(schema):
            yield broken("/".join([where, *place]), f"{name} leads nowhere", place=".".join(place))
        if isinstance(schema, dict) and not dangling(schema):
            yield met(where)


class _At(NamedTuple):
    """The place of a schema: its JSON pointer, the path of protobuf's parser, and the path of the service."""

    pointer: str
    read: str
    named: str


def _schemas(request: Json) -> Iterator[tuple[Json, _At]]:
    """Yields every schema of the OpenAPI subset, at any depth."""
    outer = f"/{key_of(request, 'generationConfig')}"
    config = get(request, "generationConfig")
    roots = [(get(config, "responseSchema"), f"{outer}/{key_of(config, 'responseSchema')}")]
    roots += [(each.get("parameters"), f"{pointer}/parameters") for pointer, each in declarations(request)]
    for schema, pointer in roots:
        yield from _within(schema, _At(pointer, proto(pointer), proto(pointer)))


def _within(schema: Any, at: _At) -> Iterator[tuple[Json, _At]]:
    if not isinstance(schema, dict):
        return
    yield schema, at
    pointer, read, named = at
    for i, (name, inner) in enumerate(object_of(schema.get("properties")).items()):
        where = (
            f"{pointer}/properties/{name}",
            f"{read}.properties[{i}].value",
            f"{named}.properties[{name}]",
        )
        yield from _within(inner, _At(*where))
    yield from _within(schema.get("items"), _At(f"{pointer}/items", f"{read}.items", f"{named}.items"))
    for place, inner in repeated(schema, "anyOf", pointer):
        tail = f"any_of[{place.rpartition('/')[2]}]"
        yield from _within(inner, _At(place, f"{read}.{tail}", f"{named}.{tail}"))


def _unreadable(schema: Json, at: _At) -> Iterator[Problem]:
    for key in schema:
        if snake(key) not in SCHEMA:
            yield Problem(f"{at.pointer}/{key}", *unknown_field(key, at.read))
    kind, place = schema.get("type"), f"{at.pointer}/type"
    if isinstance(kind, list):
        yield Problem(
            place, *unknown_field("type", at.read, "Proto field is not repeating, cannot start list.")
        )
    elif isinstance(kind, str) and kind.upper() not in TYPES:
        enum = "type.googleapis.com/google.ai.generativelanguage.v1beta.Type"
        message = f"Invalid value at '{at.read}.type' ({enum}), {json.dumps(kind)}"
        yield Problem(place, f"{kind!r} is not a type", message)
    for i, value in enumerate(items_of(schema.get("enum"))):
        if isinstance(value, int | float):
            message = f"Invalid value at '{at.read}.enum[{i}]' (TYPE_STRING), {json.dumps(value)}"
            yield Problem(f"{at.pointer}/enum/{i}", "a value of `enum` is a number", message)


def _senseless(schema: Json, at: _At, listed: Collection[str]) -> Iterator[Problem]:
    """Yields what makes no sense in a schema. `listed` has the types that may have an `enum`."""
    kind = str(schema.get("type")).upper()
    properties = object_of(schema.get("properties"))
    if kind == "ARRAY" and schema.get("items") is None:
        yield Problem(at.pointer, "the array has no `items`", f"{at.named}.items: missing field.")
    if kind == "OBJECT":
        for i, name in enumerate(items_of(schema.get("required"))):
            if name not in properties:
                place, message = (
                    f"{at.pointer}/required/{i}",
                    f"{at.named}.required[{i}]: property is not defined",
                )
                yield Problem(place, f"{name!r} is required, and no property has this name", message)
        if not properties and "response_schema" in at.named:
            message = f"{at.named}.properties: should be non-empty for OBJECT type"
            yield Problem(at.pointer, "the object has no properties", message)
    elif kind in TYPES and properties:
        message = f"{at.named}.properties: only allowed for OBJECT type"
        yield Problem(f"{at.pointer}/properties", f"a value of type {kind} cannot have `properties`", message)
    if kind in TYPES.difference(listed) and schema.get("enum"):
        message = f"{at.named}.enum: only allowed for STRING type"
        yield Problem(f"{at.pointer}/enum", f"a value of type {kind} cannot have `enum`", message)


NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")
OLD = ("gemini-1*", "gemini-2*")
SEARCH = ("googleSearch", "googleSearchRetrieval", "urlContext")


@book.rule(
    "SCH-002",
    MUST,
    REJECT,
    source="https://github.com/googleapis/python-genai (FunctionDeclaration)",
    refusal=refused(
        "* GenerateContentRequest.tools[{tool}].function_declarations[{index}].name: [FIELD_INVALID] Invalid function "
        "name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), "
        "dots (.), colons (:), or dashes (-), with a maximum length of 128.\n"
    ),
    examples=[body(ASK, tools=TOOLS)],
    counterexamples=[body(ASK, tools=[{"functionDeclarations": [{**ADD, "name": "1+1"}]}])],
)
def names_are_plain(request: Request) -> Iterator[Finding]:
    """The name of a function starts with a letter or `_`, continues with letters, digits and `_.:-`, and has
    at most 128 characters.

    Fix: replace other characters by `_`, and map the name back when the model calls the function.
    """
    for pointer, declaration in declarations(request.body):
        name, place = declaration.get("name"), f"{pointer}/name"
        numbers = [*re.findall(r"\d+", pointer), "0", "0"]
        if isinstance(name, str):
            facts = {"tool": numbers[0], "index": numbers[1]}
            yield (
                met(place)
                if NAME.fullmatch(name)
                else broken(place, f"{name!r} is not a valid name", **facts)
            )


@book.rule(
    "SCH-010",
    MUST,
    REJECT,
    source="recorded refusal (gemini-2.5-flash)",
    refusal=refused("Duplicate function declaration found: {name}"),
    examples=[body(ASK, tools=TOOLS)],
    counterexamples=[body(ASK, tools=[{"functionDeclarations": [ADD, ADD]}])],
)
def names_are_unique(request: Request) -> Iterator[Finding]:
    """Each function has its own name.

    Fix: drop a function that is declared twice, and rename one that another source has.
    """
    seen: Counter[str] = Counter()
    for pointer, declaration in declarations(request.body):
        name = str(declaration.get("name"))
        yield broken(pointer, f"{name!r} occurs twice", name=name) if seen[name] else met(pointer)
        seen[name] += 1


@book.rule(
    "STO-010",
    MUST,
    REJECT,
    source="recorded refusal (gemini-2.5-flash)",
    refusal=refused("Function calling with a response mime type: '{type}' is unsupported"),
    models=[*OLD, "!gemini-2.0*"],  # gemini-2.0-flash is recorded as taking both
    examples=[
        body(ASK, tools=TOOLS, generationConfig={"responseMimeType": "text/plain"}),
        body(ASK, generationConfig={"responseMimeType": "application/json"}),
    ],
    counterexamples=[body(ASK, tools=TOOLS, generationConfig={"responseMimeType": "application/json"})],
)
def functions_or_json(request: Request) -> Iterator[Finding]:
    """Before Gemini 3, a request has functions or a JSON response format, not both.

    Fix: offer the schema as a function, or ask for JSON in words.
    """
    config = get(request.body, "generationConfig")
    type = get(config, "responseMimeType")
    if type and any(True for _ in declarations(request.body)):
        mode = get(get(get(request.body, "toolConfig"), "functionCallingConfig"), "mode")
        wrong = type == "application/json" and mode != "NONE"
        place = "/generationConfig/responseMimeType"
        yield (
            broken(place, "the request has functions and a JSON response format", type=type)
            if wrong
            else met(place)
        )


@book.rule(
    "REQ-012",
    MUST,
    REJECT,
    source=[
        "https://github.com/AstrBotDevs/AstrBot/pull/7407",
        "https://github.com/musistudio/claude-code-router/pull/1207",
    ],
    refusal=refused("Function calling config is set without function_declarations."),
    models=["!gemini-2.0*"],  # they are recorded as taking it
    examples=[
        body(ASK, tools=TOOLS, toolConfig={"functionCallingConfig": {"mode": "ANY"}}),
        body(ASK, tools=[{"googleSearch": {}}], toolConfig={"functionCallingConfig": {"mode": "AUTO"}}),
        body(ASK, toolConfig={"functionCallingConfig": {"mode": "NONE", "allowedFunctionNames": []}}),
    ],
    counterexamples=[body(ASK, toolConfig={"functionCallingConfig": {"mode": "ANY"}})],
)
def a_choice_has_functions(request: Request) -> Iterator[Finding]:
    """A request with a function calling config also has tools.

    The API refused requests without any tool. It accepted the config with only Google's own tools, and the mode `NONE`
    without any tool. Fix: add `toolConfig` only together with functions.
    """
    config = get(get(request.body, "toolConfig"), "functionCallingConfig")
    if config and get(config, "mode") != "NONE":
        declared = bool(get(request.body, "tools")) or any(True for _ in declarations(request.body))
        place = f"/{key_of(request.body, 'toolConfig')}"
        yield met(place) if declared else broken(place, "no functions are declared")


@book.rule(
    "REQ-020",
    MUST,
    REJECT,
    source=[
        "https://github.com/googleapis/go-genai/issues/323",
        "https://github.com/withceleste/celeste-python/issues/197",
        "https://github.com/HKUDS/nanobot/issues/1468 (in March 2026)",
    ],
    refusal=refused("Tool use with function calling is unsupported"),
    formerly=[
        refused(
            "Built-in tools ({{google_search}}) and Custom tools (Function Calling) cannot be combined in the same request. "
            "Please choose one to continue."
        )
    ],
    models=OLD,
    examples=[body(ASK, tools=[{"googleSearch": {}}])],
    counterexamples=[body(ASK, tools=[*TOOLS, {"googleSearch": {}}])],
)
def functions_or_search(request: Request) -> Iterator[Finding]:
    """Before Gemini 3, a request has functions or Google's own search tools, not both.

    Fix: send two requests, or offer the search as a function of your own.
    """
    tools = [tool for _, tool in repeated(request.body, "tools", "")]
    if any(get(tool, key) is not None for tool in tools for key in SEARCH):
        declared = any(True for _ in declarations(request.body))
        yield (
            broken("/tools", "functions and a search tool are declared together")
            if declared
            else met("/tools")
        )
