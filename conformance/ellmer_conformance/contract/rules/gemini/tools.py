"""Declared functions: their names, the choice among them, and what excludes them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from ...exchange import Request
from ...readers.gemini import declarations, get, key_of, repeated
from ...rule import Finding, broken, met
from .._samples import ADD
from ._rulebook import ASK, MUST, REJECT, TOOLS, body, book, refused

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
    at most 128 characters."""
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
    """Each function has its own name."""
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
    models=OLD,
    examples=[
        body(ASK, tools=TOOLS, generationConfig={"responseMimeType": "text/plain"}),
        body(ASK, generationConfig={"responseMimeType": "application/json"}),
    ],
    counterexamples=[body(ASK, tools=TOOLS, generationConfig={"responseMimeType": "application/json"})],
)
def functions_or_json(request: Request) -> Iterator[Finding]:
    """Before Gemini 3, a request has functions or a JSON response format, not both."""
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
    examples=[
        body(ASK, tools=TOOLS, toolConfig={"functionCallingConfig": {"mode": "ANY"}}),
        body(ASK, tools=[{"googleSearch": {}}], toolConfig={"functionCallingConfig": {"mode": "AUTO"}}),
    ],
    counterexamples=[body(ASK, toolConfig={"functionCallingConfig": {"mode": "ANY"}})],
)
def a_choice_has_functions(request: Request) -> Iterator[Finding]:
    """A request with a function calling config also has tools.

    The refusals on record are of requests without any tool. With Google's own tools only, such a config is accepted.
    """
    config = get(get(request.body, "toolConfig"), "functionCallingConfig")
    if config:
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
    ],
    refusal=refused("Tool use with function calling is unsupported"),
    models=OLD,
    examples=[body(ASK, tools=[{"googleSearch": {}}])],
    counterexamples=[body(ASK, tools=[*TOOLS, {"googleSearch": {}}])],
)
def functions_or_search(request: Request) -> Iterator[Finding]:
    """Before Gemini 3, a request has functions or Google's own search tools, not both."""
    tools = [tool for _, tool in repeated(request.body, "tools", "")]
    if any(get(tool, key) is not None for tool in tools for key in SEARCH):
        declared = any(True for _ in declarations(request.body))
        yield (
            broken("/tools", "functions and a search tool are declared together")
            if declared
            else met("/tools")
        )
