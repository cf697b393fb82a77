"""Media types, and options: the temperature, cached content, and search beside functions."""

from __future__ import annotations

from collections.abc import Iterator

from ...observed.exchange import Request
from ...readers.gemini import contents, declarations, get, key_of, parts, repeated
from ...rule import Finding, broken, met
from .._media import PNG
from ._refusals_and_examples import (
    ASK,
    IMAGE,
    MUST,
    REJECT,
    TOOLS,
    answer,
    body,
    book,
    call,
    model,
    refused,
    user,
)
from .tools import OLD, SEARCH


@book.rule(
    "IMG-006",
    MUST,
    REJECT,
    source=[
        "recorded refusals (gemini-2.5-flash-lite)",
        "https://github.com/google/adk-python/issues/5693 (SVG)",
        "https://github.com/charmbracelet/crush/issues/995 (`png`)",
    ],
    refusal=refused("Unsupported MIME type: {type}"),
    examples=[
        body(user({"inlineData": {"mimeType": "image/gif", "data": PNG}}), named="gemini-2.5-flash-lite"),
        body(user({"inlineData": {"mimeType": "image/gif", "data": PNG}})),
    ],
    counterexamples=[
        body(
            user({"inlineData": {"mimeType": "text/plain; charset=utf-8", "data": "SGk="}}),
            named="gemini-2.5-flash-lite",
        ),
        body(user({"inlineData": {"mimeType": "image/svg+xml", "data": PNG}})),
        body(user({"inlineData": {"mimeType": "png", "data": PNG}})),
    ],
)
def media_types_are_taken(request: Request) -> Iterator[Finding]:
    """Inline media have a complete media type that the model accepts. SVG is not accepted, and gemini-2.5-flash-lite
    accepts no parameters after the type.

    Fix: convert the image, send SVG as text, and write `text/plain` without `; charset=…`.
    """
    strict = request.model.startswith("gemini-2.5-flash-lite")
    for pointer, content in contents(request.body):
        for place, part in parts(content, pointer):
            type = get(get(part, "inlineData"), "mimeType")
            if isinstance(type, str):
                wrong = "svg" in type or "/" not in type or (strict and "charset" in type)
                yield broken(place, f"{type} is not accepted", type=type) if wrong else met(place)


@book.rule(
    "REQ-013",
    MUST,
    REJECT,
    source=[
        "https://ai.google.dev/api/generate-content",
        "Vertex AI's recorded refusal; the wording of the Gemini API is not known",
    ],
    refusal=refused(
        "* GenerateContentRequest.generation_config.temperature: temperature must be in the range [0.0, 2.0].\n"
    ),
    preview=True,
    examples=[body(ASK, generationConfig={"temperature": 2})],
    counterexamples=[body(ASK, generationConfig={"temperature": 3})],
)
def the_temperature_is_in_range(request: Request) -> Iterator[Finding]:
    """`temperature` is between 0 and 2.

    Fix: check the caller's value before the request, and name the range in your error.
    """
    config = get(request.body, "generationConfig")
    value = get(config, "temperature")
    if isinstance(value, int | float):
        place = f"/{key_of(request.body, 'generationConfig')}/temperature"
        yield met(place) if 0 <= value <= 2 else broken(place, f"the temperature is {value}", value=value)


@book.rule(
    "TRM-003",
    MUST,
    REJECT,
    source="https://github.com/google-gemini/gemini-cli/issues/19436 (Vertex AI); not seen at the Gemini API",
    refusal=refused(
        "Unable to submit request because `function_response.parts` is not supported for this model. Learn more: "
        "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling"
    ),
    models=OLD,
    preview=True,
    examples=[body(ASK, model(call()), user(answer()), user(IMAGE))],
    counterexamples=[body(ASK, model(call()), user(answer(parts=[IMAGE])))],
)
def old_models_take_no_media_in_responses(request: Request) -> Iterator[Finding]:
    """Before Gemini 3, a function response has no media. Media follow in a user content of their own.

    Fix: write into the response that the media follow, and send them in the next user content.
    """
    for pointer, content in contents(request.body):
        for place, part in parts(content, pointer):
            if isinstance(response := get(part, "functionResponse"), dict):
                nested = bool(response.get("parts"))
                yield broken(place, "a function response has media") if nested else met(place)


@book.rule(
    "REQ-027",
    MUST,
    REJECT,
    source=[
        "https://github.com/vercel/ai/issues/3333",
        "https://github.com/langchain-ai/langchain-google/issues/978",
    ],
    refusal=refused(
        "CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config.\n\n"
        "Proposed fix: move those values to CachedContent from GenerateContent request."
    ),
    examples=[body(ASK, cachedContent="cachedContents/x")],
    counterexamples=[
        body(ASK, cachedContent="cachedContents/x", tools=TOOLS),
        body(ASK, cachedContent="cachedContents/x", systemInstruction={"parts": [{"text": "Be brief."}]}),
    ],
)
def the_cache_has_the_tools(request: Request) -> Iterator[Finding]:
    """A request with `cachedContent` does not set tools, a tool config or a system instruction; the cache
    contains them.

    Fix: put these into the cache when you make it, and leave them out of its requests.
    """
    if get(request.body, "cachedContent"):
        place = f"/{key_of(request.body, 'cachedContent')}"
        beside = [key for key in ("systemInstruction", "tools", "toolConfig") if get(request.body, key)]
        yield broken(place, f"it is set together with `{beside[0]}`") if beside else met(place)


@book.rule(
    "REQ-028",
    MUST,
    REJECT,
    source=[
        "https://github.com/googleapis/js-genai/issues/1425",
        "recorded as accepted: functions beside `codeExecution`",
    ],
    refusal=refused(
        "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling."
    ),
    models=["gemini-3*"],
    preview=True,
    examples=[
        body(
            ASK,
            named="gemini-3-flash-preview",
            tools=[*TOOLS, {"googleSearch": {}}],
            toolConfig={"includeServerSideToolInvocations": True},
        )
    ],
    counterexamples=[body(ASK, named="gemini-3-flash-preview", tools=[*TOOLS, {"googleSearch": {}}])],
)
def functions_and_search_are_asked_for(request: Request) -> Iterator[Finding]:
    """From Gemini 3 on, a request with functions and Google's own search tools explicitly enables both.

    This rule is a preview because the date from which it holds is not known. Fix: set
    `toolConfig.includeServerSideToolInvocations` to true.
    """
    tools = [tool for _, tool in repeated(request.body, "tools", "")]
    searches = any(get(tool, key) is not None for tool in tools for key in SEARCH)
    if searches and any(True for _ in declarations(request.body)):
        both = get(get(request.body, "toolConfig"), "includeServerSideToolInvocations")
        yield met("/tools") if both else broken("/tools", "functions and a search tool are declared together")
