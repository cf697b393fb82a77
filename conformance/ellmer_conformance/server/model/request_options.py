"""What a request demands of the model, in neutral terms: tools, a choice of them, a schema, limits, reasoning.

The model reads these fields after the rules have judged the request. In `observe` mode a body may have any shape, so a
value of another type counts as missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import orjson

from ellmer_core.base.budget import remembered

from ...contract.observed.exchange import Json, Request
from ...contract.readers.gemini import declarations, get
from ...contract.readers.json_access import items_of, object_of, parsed, text_of
from .meanings import content_words

ANY_OBJECT: Json = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}


@dataclass(frozen=True)
class Tool:
    """An offered tool. `schema` is the JSON Schema of its arguments."""

    name: str
    description: str
    schema: Json

    @cached_property
    def name_words(self) -> frozenset[str]:
        """The words of the name."""
        return content_words(self.name)

    @cached_property
    def name_parts(self) -> frozenset[str]:
        """The words of a name of several words, also those without a meaning of their own."""
        parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_-]", " ", self.name).lower().split()
        return frozenset(parts) if len(parts) > 1 else frozenset()

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the description."""
        return content_words(self.description)


@dataclass(frozen=True)
class Options:
    """What a request demands of the answer.

    `forced` says that a tool must be called, and `schema` is the schema of the answer, or `None` for text. `limit` is the
    maximum number of tokens. `parallel` says whether several calls at once are allowed. `shows` has what else the answer may
    have: `image`, `audio`, `search`, `code`.
    """

    tools: Sequence[Tool] = ()
    forced: bool = False
    schema: Json | None = None
    limit: int | None = None
    stops: Sequence[str] = ()
    thinks: bool = False
    parallel: bool = True
    shows: frozenset[str] = frozenset()


#: Fields of a request that demand nothing.
_CONVERSATION = {"model", "messages", "input", "contents", "system", "stream"}
_NOTHING = Options()


def options_of(request: Request) -> Options:
    """Returns the demands of a request in any wire format."""
    if request.body.keys() <= _CONVERSATION:
        return _NOTHING
    options, shows = _options_of(request), _shows(request)
    return replace(options, shows=shows) if shows else options


def _options_of(request: Request) -> Options:
    body = request.body
    match request.wire:
        case "anthropic":
            return _anthropic(body)
        case "bedrock":
            return _bedrock(body)
        case "gemini":
            return _gemini(body)
        case "openai-responses":
            return _responses(body)
        case "ollama":
            return _ollama(body)
        case _:
            return _chat_completions(body, request.wire)


_OWN_TOOLS = {
    "image_generation": "image",
    "web_search": "search",
    "web_search_preview": "search",
    "google_search": "search",
    "googleSearch": "search",
    "code_interpreter": "code",
    "code_execution": "code",
    "codeExecution": "code",
}


_MODALITIES = {"modalities", "generationConfig", "generation_config"}


def _shows(request: Request) -> frozenset[str]:
    """Returns what an answer may have besides text and calls: by its modalities, and by the tools of the provider."""
    body = request.body
    if not body.get("tools") and _MODALITIES.isdisjoint(body):
        return frozenset()
    modalities = body.get("modalities") or get(get(body, "generationConfig"), "responseModalities")
    found = {text_of(each).lower() for each in items_of(modalities)} & {"image", "audio"}
    if request.wire in {"openai-responses", "anthropic", "gemini"}:
        for tool in map(object_of, items_of(body.get("tools"))):
            names = (
                [text_of(tool.get("type")), *tool]
                if request.wire == "gemini"
                else [text_of(tool.get("type"))]
            )
            plain = [re.sub(r"_20\d{6}$|_preview_.*$", "", name) for name in names]
            found |= {_OWN_TOOLS[name] for name in plain if name in _OWN_TOOLS}
    return frozenset(found)


# chat completions, and the formats that resemble them ---------------------------------------------------


def _chat_completions(body: Json, wire: str) -> Options:
    tools = [*_functions(body.get("tools")), *map(_function, items_of(body.get("functions")))]
    choice = body.get("tool_choice", body.get("function_call"))
    mode, names = _choice(choice)
    return Options(
        *_allowed(tools, mode, names),
        _response_schema(object_of(body.get("response_format"))),
        _limit(body.get("max_completion_tokens") or body.get("max_tokens")),
        _texts(body.get("stop_sequences" if wire == "cohere" else "stop")),
        _reasons(body),
        body.get("parallel_tool_calls") is not False,
    )


def _choice(choice: Any) -> tuple[str, Sequence[str]]:
    """Returns the mode of a choice (`auto`, `none` or `required`) and the names of the tools that it allows."""
    match choice:
        case str():
            mode = choice.lower()
            return ("required" if mode == "any" else mode), ()
        case {"type": "allowed_tools", **rest}:
            allowed = object_of(rest.get("allowed_tools")) or rest
            names = [_function(tool).name for tool in items_of(allowed.get("tools"))]
            return text_of(allowed.get("mode")) or "auto", names
        case {"type": "any"}:
            return "required", ()
        case {"type": "auto" | "none" as mode}:
            return mode, ()
        case dict() if name := _function(choice).name:
            return "required", [name]
    return "auto", ()


def _allowed(tools: Sequence[Tool], mode: str, names: Sequence[str]) -> tuple[Sequence[Tool], bool]:
    """Returns the tools that may be called, and whether one must be."""
    if mode == "none":
        return (), False
    offered = [tool for tool in tools if not names or tool.name in names]
    return offered, mode == "required" and bool(offered)


def _functions(tools: Any) -> Sequence[Tool]:
    """Returns the functions among tools, which are the same in each request of a program."""
    if not tools:
        return ()
    try:
        return _remembered(orjson.dumps(tools))
    except TypeError:  # half a surrogate pair, or a number beyond 64 bits
        return _read_functions(tools)


@remembered(64, longest=100_000)
def _remembered(tools: bytes) -> Sequence[Tool]:
    return _read_functions(orjson.loads(tools))


def _read_functions(tools: Any) -> Sequence[Tool]:
    """Returns the functions among tools. Tools that the provider runs itself have another type."""
    return [
        _function(tool)
        for tool in items_of(tools)
        if isinstance(tool, dict) and tool.get("type", "function") in {"function", "custom"}
    ]


def _function(tool: Any) -> Tool:
    """Returns a function, which has its fields under its type or beside it."""
    outer = object_of(tool)
    fields = object_of(outer.get("function") or outer.get("custom")) or outer
    schema = object_of(fields.get("parameters") or fields.get("input_schema"))
    if outer.get("type") == "custom" and "input_schema" not in fields and not schema:
        schema = _one_text(object_of(fields.get("format")))
    return Tool(text_of(fields.get("name")), text_of(fields.get("description")), schema)


def _one_text(form: Json) -> Json:
    """Returns the schema for the text of a custom tool of OpenAI, which may have to match a pattern."""
    grammar = object_of(form.get("grammar")) or form
    pattern = text_of(grammar.get("definition")) if grammar.get("syntax") == "regex" else ""
    text = {"type": "string", "pattern": pattern} if pattern else {"type": "string"}
    return {"type": "object", "properties": {"input": text}, "required": ["input"]}


def _response_schema(form: Json) -> Json | None:
    if form.get("type") == "json_schema":
        return object_of(object_of(form.get("json_schema")).get("schema"))
    if form.get("type") == "json_object":
        return object_of(form.get("json_schema") or form.get("schema")) or ANY_OBJECT
    return None


def _reasons(body: Json) -> bool:
    effort = body.get("reasoning_effort") or object_of(body.get("reasoning")).get("effort")
    kind = object_of(body.get("thinking")).get("type")
    return (
        (isinstance(effort, str) and effort not in {"none", "minimal"})
        or kind in {"enabled", "adaptive"}
        or body.get("prompt_mode") == "reasoning"
    )


# the other formats --------------------------------------------------------------------------------------


def _responses(body: Json) -> Options:
    mode, names = _choice(body.get("tool_choice"))
    form = object_of(object_of(body.get("text")).get("format"))
    schema = object_of(form.get("schema")) if form.get("type") == "json_schema" else _response_schema(form)
    return Options(
        *_allowed(_functions(body.get("tools")), mode, names),
        schema,
        _limit(body.get("max_output_tokens")),
        (),
        _reasons(body),
        body.get("parallel_tool_calls") is not False,
    )


def _anthropic(body: Json) -> Options:
    choice = object_of(body.get("tool_choice"))
    tools = [
        _function(tool)
        for tool in items_of(body.get("tools"))
        if isinstance(tool, dict) and tool.get("type", "custom") == "custom"
    ]
    names = [text_of(choice.get("name"))] if choice.get("type") == "tool" else []
    mode = {"any": "required", "tool": "required", "none": "none"}.get(text_of(choice.get("type")), "auto")
    form = object_of(object_of(body.get("output_config")).get("format") or body.get("output_format"))
    return Options(
        *_allowed(tools, mode, names),
        object_of(form.get("schema")) if form.get("type") == "json_schema" else None,
        _limit(body.get("max_tokens")),
        _texts(body.get("stop_sequences")),
        _reasons(body),
        choice.get("disable_parallel_tool_use") is not True,
    )


def _bedrock(body: Json) -> Options:
    config, settings = object_of(body.get("toolConfig")), object_of(body.get("inferenceConfig"))
    choice = object_of(config.get("toolChoice"))
    names = [text_of(object_of(choice["tool"]).get("name"))] if "tool" in choice else []
    tools = [
        _tool_spec(object_of(tool)["toolSpec"])
        for tool in items_of(config.get("tools"))
        if "toolSpec" in tool
    ]
    form = object_of(object_of(body.get("outputConfig")).get("textFormat"))
    schema = object_of(object_of(form.get("structure")).get("jsonSchema")).get("schema")
    more = object_of(body.get("additionalModelRequestFields"))
    return Options(
        *_allowed(tools, "required" if names or "any" in choice else "auto", names),
        object_of(parsed(schema)) if form.get("type") == "json_schema" else None,
        _limit(settings.get("maxTokens")),
        _texts(settings.get("stopSequences")),
        _reasons(more) or _reasons({"thinking": more.get("reasoning_config")}),
    )


def _tool_spec(fields: Any) -> Tool:
    spec = object_of(fields)
    schema = object_of(object_of(spec.get("inputSchema")).get("json"))
    return Tool(text_of(spec.get("name")), text_of(spec.get("description")), schema)


def _gemini(body: Json) -> Options:
    config = get(body, "generationConfig")
    calling = object_of(get(get(body, "toolConfig"), "functionCallingConfig"))
    mode = {"ANY": "required", "NONE": "none"}.get(text_of(calling.get("mode")).upper(), "auto")
    tools = [_declaration(fields) for _, fields in declarations(body)]
    thinking = object_of(get(config, "thinkingConfig"))
    return Options(
        *_allowed(tools, mode, _texts(get(calling, "allowedFunctionNames"))),
        _gemini_schema(config),
        _limit(get(config, "maxOutputTokens")),
        _texts(get(config, "stopSequences")),
        get(thinking, "includeThoughts") is True,
    )


def _declaration(fields: Json) -> Tool:
    schema = get(fields, "parametersJsonSchema") or get(fields, "parameters")
    return Tool(text_of(fields.get("name")), text_of(fields.get("description")), object_of(schema))


def _gemini_schema(config: Any) -> Json | None:
    if get(config, "responseMimeType") != "application/json":
        return None
    schema = get(config, "responseJsonSchema") or get(config, "responseSchema")
    return object_of(schema) or ANY_OBJECT


def _ollama(body: Json) -> Options:
    form, settings = body.get("format"), object_of(body.get("options"))
    return Options(
        _functions(body.get("tools")),
        schema=ANY_OBJECT if form == "json" else form if isinstance(form, dict) else None,
        limit=_limit(settings.get("num_predict")),
        stops=_texts(settings.get("stop")),
        thinks=bool(body.get("think")),
    )


# values of any type -------------------------------------------------------------------------------------


def _limit(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _texts(value: Any) -> list[str]:
    return [text for text in _listed(value) if isinstance(text, str) and text]


def _listed(value: Any) -> Iterator[Any]:
    yield from value if isinstance(value, list) else [value]
