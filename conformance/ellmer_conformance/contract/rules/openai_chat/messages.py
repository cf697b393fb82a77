"""Chat Completions: the body, its messages and their contents."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from ...observed.exchange import Json, Request
from ...readers.json_access import elements, items_of, object_of, words
from ...readers.openai_chat import all_parts, calls_of, messages, tools
from ...rule import Finding, broken, met
from ...scope import matches
from ...shapes.facts import root_fields
from .._openai.refusals import (
    LAZY,
    TOO_LONG,
    WORDED,
    absent,
    address_names_model,
    listed,
    mistyped,
    path,
    refused,
    too_long,
    type_name,
)
from ._refusals_and_examples import ASK, AZURE_KEYS, MUST, REJECT, TOOL, body, book, call, result

# --- the body --------------------------------------------------------------------------------------------


SPEC = "https://github.com/openai/openai-openapi (CreateChatCompletionRequest)"
ROLES = ("system", "assistant", "user", "function", "tool", "developer")
KEYS = root_fields("openai-chat")
# Fields that newer models no longer accept, except the models for search and audio.
DROPPED = frozenset(words("audio modalities web_search_options"))
#: The models that are recorded to refuse a search.
_BLIND = (
    "gpt-5",
    "gpt-5-2025*",
    "gpt-5-mini*",
    "gpt-5-nano*",
    "gpt-5.2-chat-latest",
    *LAZY,
    "gpt-5.5",
    "o4-mini*",
)
_SEARCH = frozenset(["web_search_options"])
_OF_PART = {"text": "text", "image_url": "image_url", "input_audio": "input_audio", "file": "file"}


@book.rule(
    "REQ-001",
    MUST,
    REJECT,
    source=[
        "https://github.com/danielmiessler/Fabric/issues/239",
        "https://github.com/lss233/kirara-ai/issues/800",
    ],
    refusal=refused("you must provide a model parameter"),
    examples=[body(ASK)],
    counterexamples=[{"messages": [ASK]}, body(ASK, model="")],
)
def a_model_is_named(request: Request) -> Iterator[Finding]:
    """The request names a model.

    Fix: set `model`. (Azure takes the model from the deployment in the URL.)
    """
    named = request.body.get("model") or address_names_model(request)
    yield met("/model") if named else broken("", "`model` is missing")


@book.rule(
    "REQ-002",
    MUST,
    REJECT,
    source=SPEC,
    refusal=refused(
        "Missing required parameter: 'messages'.", code="missing_required_parameter", param="messages"
    ),
    examples=[body(ASK)],
    counterexamples=[{"model": "gpt-4.1-mini"}, {"model": "gpt-4.1-mini", "input": "Hi"}],
)
def messages_are_there(request: Request) -> Iterator[Finding]:
    """The request has `messages`.

    Why: `input` and `prompt` belong to other endpoints. Fix: send a list of messages.
    """
    yield met("/messages") if "messages" in request.body else broken("", "`messages` is missing")


def _keys(request: Request) -> frozenset[str]:
    """Returns the parameters of a provider."""
    return KEYS | AZURE_KEYS if request.provider == "azure" else KEYS


@book.rule(
    "REQ-004",
    MUST,
    REJECT,
    source=[
        "recorded refusals of `chat`, and of `web_search_options` (gpt-5.6-luna)",
        (
            "https://github.com/maruel/genai/blob/aa47b9751581c36a786f0607f4733195a8400923/providers/openaichat/testdata/"
            "TestClient/Scoreboard/gpt-5.5/GenSync-Tools-WebSearch.yaml"
        ),
        (
            "https://github.com/maruel/genai/blob/5f224cb2b6a40ff924832ce4e2284161fcf6d458/providers/openaichat/testdata/"
            "TestClient/Scoreboard/o4-mini_thinking/GenStream-Tools-WebSearch.yaml"
        ),
        SPEC,
    ],
    refusal=refused("Unknown parameter: '{key}'.", code="unknown_parameter", param="{key}"),
    models=["gpt-5*", "o*"],
    examples=[body(ASK, model="gpt-5-mini", seed=1, service_tier="priority")],
    counterexamples=[
        body(ASK, model="gpt-5-mini", top_k=5),
        body(ASK, model="gpt-5-mini", system="Be brief."),
        body(ASK, model="gpt-5.6-luna", web_search_options={}),
        body(ASK, model="gpt-5.4-mini", web_search_options={}),
    ],
)
def keys_are_known(request: Request) -> Iterator[Finding]:
    """The request has no field that the endpoint does not know.

    Why: the API refuses a parameter of another provider instead of ignoring it. Fix: keep such parameters in
    the provider's own module.
    """
    keys = _keys(request) - (DROPPED if request.model.startswith("gpt-5.6") else set())
    keys -= _SEARCH if any(matches(request.model, pattern) for pattern in _BLIND) else set()
    for key in request.body:
        yield met(f"/{key}") if key in keys else broken(f"/{key}", f"`{key}` is not a parameter", key=key)


@book.rule(
    "REQ-024",
    MUST,
    REJECT,
    source="recorded refusal of `chat` by gpt-4.1-nano",
    refusal=refused("Unrecognized request argument{s} supplied: {keys}"),
    models=["gpt-4*", "gpt-3.5*", "chatgpt*"],
    examples=[body(ASK)],
    counterexamples=[body(ASK, chat="Hi"), body(ASK, top_k=5), body(ASK, top_k=5, chat="Hi")],
)
def arguments_are_recognized(request: Request) -> Iterator[Finding]:
    """A request to GPT-3.5 or GPT-4 has no field that the endpoint does not know.

    Why: the API refuses a parameter of another provider instead of ignoring it. Fix: keep such parameters in
    the provider's own module.
    """
    strange = sorted(request.body.keys() - _keys(request))
    facts = {"s": "s" if len(strange) > 1 else "", "keys": ", ".join(strange)}
    for key in request.body:
        yield broken(f"/{key}", f"`{key}` is not a parameter", **facts) if key in strange else met(f"/{key}")


@book.rule(
    "REQ-003",
    MUST,
    REJECT,
    source=[
        "https://github.com/CopilotKit/CopilotKit/issues/529",
        "recorded refusal of a list of strings (gpt-5)",
    ],
    refusal=WORDED,
    examples=[body(ASK)],
    counterexamples=[body(), body("Hi"), {"model": "gpt-4.1-mini", "messages": "Hi"}],
)
def messages_are_a_list_of_objects(request: Request) -> Iterator[Finding]:
    """`messages` is a list of at least one object.

    Fix: wrap a plain string as `[{"role": "user", "content": …}]`.
    """
    found = request.body.get("messages", [None])
    if not isinstance(found, list):
        yield mistyped("/messages", "an array of objects", found)
    elif not found:
        text = (
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array"
        )
        yield broken(
            "/messages", "there is no message", text=f"{text} instead.", code="empty_array", path="messages"
        )
    elif "messages" in request.body:
        for i, message in enumerate(found):
            wrong = not isinstance(message, dict)
            yield mistyped(f"/messages/{i}", "an object", message) if wrong else met(f"/messages/{i}")


@book.rule(
    "REQ-010",
    MUST,
    REJECT,
    source=[
        "recorded refusals: `content[].type`, `file.file_id`, `tools[].type`, `response_format.json_schema.name`",
        SPEC,
    ],
    refusal=refused(
        "Missing required parameter: '{path}'.", code="missing_required_parameter", param="{path}"
    ),
    examples=[body(ASK, call("call_1"), result("call_1"), tools=[TOOL])],
    counterexamples=[
        body({"content": "Hi"}),
        body({"role": "user", "content": [{"text": "Hi"}]}),
        body({"role": "user", "content": [{"type": "file", "file": {"filename": "a.pdf"}}]}),
        body(ASK, tools=[{"function": TOOL["function"]}]),
        body(ASK, tools=[{"type": "function", "name": "add"}]),
        body({"role": "developer"}, ASK),
        body(ASK, tools=[TOOL], tool_choice={"type": "function", "name": "add"}),
        body(ASK, response_format={"type": "json_schema", "json_schema": {"schema": {}}}),
    ],
)
def required_fields_are_there(request: Request) -> Iterator[Finding]:
    """Every message, part, tool and format has the fields that its type requires.

    Fix: see the path in the message. Chat Completions nests a tool under `function`; the Responses API has it flat.
    """
    for pointer, value, keys in _requirements(request.body):
        yield from absent(value, pointer, keys)


@book.rule(
    "REQ-005",
    MUST,
    REJECT,
    source=[SPEC, "https://github.com/Runfusion/Fusion/issues/1261 (a server with fewer roles)"],
    formerly=[refused("{role} is not one of ['system', 'assistant', 'user', 'tool', 'function'] - '{path}'")],
    refusal=refused(
        f"Invalid value: '{{role}}'. Supported values are: {listed(ROLES)}.",
        code="invalid_value",
        param="{path}",
    ),
    examples=[body({"role": "developer", "content": "Be brief."}, ASK)],
    counterexamples=[body({"role": "model", "content": "Hi"})],
)
def roles_are_known(request: Request) -> Iterator[Finding]:
    """The role of a message is one of `system`, `assistant`, `user`, `function`, `tool`, `developer`.

    Fix: map your own roles to these when you build the request: `model` and `ai` are `assistant`.
    """
    for pointer, message in messages(request.body):
        role, place = message.get("role"), f"{pointer}/role"
        if isinstance(role, str):
            problem = f"{role!r} is not a role"
            yield met(place) if role in ROLES else broken(place, problem, role=role, path=path(place))


def _requirements(request: Json) -> Iterator[tuple[str, Json, tuple[str, ...]]]:
    """Yields each object with its pointer and required keys."""
    for pointer, message in messages(request):
        yield pointer, message, ("role", "content") if message.get("role") == "developer" else ("role",)
        for place, tool_call in elements(message.get("tool_calls"), f"{pointer}/tool_calls"):
            yield from _tool(tool_call, place, ("id", "type"), ("name", "arguments"))
    for pointer, part in all_parts(request):
        kind = part.get("type")
        yield pointer, part, ("type", *((_OF_PART[kind],) if kind in _OF_PART else ()))
        file = part.get("file")
        if kind == "file" and isinstance(file, dict) and file.get("file_data") is None:
            yield f"{pointer}/file", file, ("file_id",)
    for place, tool in tools(request):
        yield from _tool(tool, place, ("type",), ("name",))
    choice = request.get("tool_choice")
    if isinstance(choice, dict) and choice.get("type") == "function":
        yield from _tool(choice, "/tool_choice", (), ("name",))
    yield from _format(request.get("response_format"))


def _tool(tool: Json, pointer: str, own: tuple[str, ...], inner: tuple[str, ...]) -> Iterator[Any]:
    function = tool.get("function")
    yield pointer, tool, (*own, "function") if tool.get("type") == "function" else own
    if isinstance(function, dict):
        yield f"{pointer}/function", function, inner


def _format(format: Any) -> Iterator[tuple[str, Json, tuple[str, ...]]]:
    if isinstance(format, dict):
        schema = format.get("json_schema")
        wants_schema = format.get("type") == "json_schema"
        yield "/response_format", format, ("type", "json_schema") if wants_schema else ("type",)
        if wants_schema and isinstance(schema, dict):
            yield "/response_format/json_schema", schema, ("name",)


# --- contents --------------------------------------------------------------------------------------------


PARTS = ("text", "image_url", "input_audio", "refusal", "audio", "file")


@book.rule(
    "REQ-007",
    MUST,
    REJECT,
    source=[
        "recorded refusals: an object as content (gpt-4.1-nano), null as image URL (gpt-4o-mini)",
        "an image's URL as a string: recorded as accepted in 2023 (gpt-4-vision-preview)",
    ],
    refusal=WORDED,
    examples=[body({"role": "user", "content": [{"type": "text", "text": "Hi"}]})],
    counterexamples=[
        body({"role": "user", "content": {"type": "text", "text": "Hi"}}),
        body({"role": "user", "content": 5}),
        body({"role": "developer", "content": None}, ASK),
        body({"role": "user", "content": [{"type": "text", "text": None}]}),
        body(ASK, {"role": "assistant", "content": "5", "tool_calls": "add"}, ASK),
        body({"role": "user", "content": [{"type": "image_url", "image_url": "https://example.com/a.png"}]}),
        body({"role": "user", "content": [{"type": "image_url", "image_url": {"url": None}}]}),
    ],
)
def fields_have_their_types(request: Request) -> Iterator[Finding]:
    """`content` is a string or a list of objects, `text` is a string, and `image_url` is an object with a `url`.

    Fix: put a single part into a list, and write `{"type": "image_url", "image_url": {"url": …}}`.
    """
    for pointer, message in messages(request.body):
        content, place = message.get("content", ""), f"{pointer}/content"
        calls = message.get("tool_calls")
        if message.get("role") == "assistant" and not isinstance(calls, list | None):
            yield mistyped(f"{pointer}/tool_calls", "an array of objects", calls)
        absent = content is None and message.get("role") != "developer"
        if not absent and not isinstance(content, str | list):
            yield mistyped(place, "one of a string or array of objects", content)
            continue
        yield met(place)
        for i, part in enumerate(items_of(content)):
            former = "vision" in request.model and isinstance(object_of(part).get("image_url"), str)
            yield from () if former else _part(part, f"{place}/{i}")


@book.rule(
    "REQ-009",
    MUST,
    REJECT,
    source="recorded refusal of a part of type `pdf` (gpt-4o-mini)",
    refusal=refused(
        f"Invalid value: '{{type}}'. Supported values are: {listed(PARTS)}.",
        code="invalid_value",
        param="{path}",
    ),
    examples=[body({"role": "user", "content": [{"type": "text", "text": "Hi"}]})],
    counterexamples=[
        body({"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}),
        body({"role": "user", "content": [{"type": "image", "source": {}}]}),
    ],
)
def parts_are_known(request: Request) -> Iterator[Finding]:
    """The type of a content part is text, image URL, audio, refusal or file.

    Why: the API refuses the type names of the Responses API (`input_text`) and of other providers (`image`). Fix: write
    media as `image_url`, `input_audio` or `file`, and those of a tool in a user message after its result.
    """
    for pointer, part in all_parts(request.body):
        kind, place = part.get("type"), f"{pointer}/type"
        if isinstance(kind, str):
            problem = f"{kind!r} is not a type of content part"
            yield met(place) if kind in PARTS else broken(place, problem, type=kind, path=path(place))


@book.rule(
    "REQ-011",
    MUST,
    REJECT,
    source="recorded refusal of `file.data` (gpt-4o)",
    refusal=refused("Unknown parameter: '{path}'.", code="unknown_parameter", param="{path}"),
    examples=[body({"role": "user", "content": [{"type": "file", "file": {"file_id": "file-1"}}]})],
    counterexamples=[body({"role": "user", "content": [{"type": "file", "file": {"data": "JVBERi0="}}]})],
)
def file_keys_are_known(request: Request) -> Iterator[Finding]:
    """A file part has `file_data` or `file_id`, may have a `filename`, and has no other field.

    Fix: build the part anew with these keys, and leave the media type to the data URL.
    """
    for pointer, part in all_parts(request.body):
        file = part.get("file")
        for key in file if isinstance(file, dict) else ():
            place, fine = f"{pointer}/file/{key}", key in {"file_data", "file_id", "filename"}
            yield (
                met(place)
                if fine
                else broken(place, f"a file part does not have the field `{key}`", path=path(place))
            )


@book.rule(
    "REQ-045",
    MUST,
    REJECT,
    source=[
        "https://github.com/langchain-ai/langchain/pull/20271",
        (
            "https://github.com/braintrustdata/lingua/blob/327d0b7b72e882531ab6aaefe706fe03289f2fe1/payloads/snapshots/"
            "chatCompletionsSystemCacheControlParam/chat-completions/request.json (accepted on 9 June 2026)"
        ),
    ],
    refusal=refused("Unknown parameter: '{path}'.", code="unknown_parameter", param="{path}"),
    models=["gpt-5*", "!gpt-5.6*"],  # which accept it: braintrustdata/lingua has recordings
    until=date(2026, 6, 9),
    examples=[body({"role": "user", "content": [{"type": "text", "text": "Hi"}]}, model="gpt-5")],
    counterexamples=[
        body(
            {"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": {}}]}, model="gpt-5"
        )
    ],
)
def parts_have_no_fields_of_others(request: Request) -> Iterator[Finding]:
    """Until June 2026, a content part had no `cache_control`, which is a field of Anthropic.

    Since then it is accepted. Fix: leave it out. Caching is automatic here.
    """
    for pointer, part in all_parts(request.body):
        place, marked = f"{pointer}/cache_control", "cache_control" in part
        problem = "there is no `cache_control` here"
        yield broken(place, problem, path=path(place)) if marked else met(pointer)


def _part(part: Any, pointer: str) -> Iterator[Finding]:
    if isinstance(part, str):
        yield met(pointer)  # recorded as accepted in 2025, beside an image (gpt-4.1-nano)
    elif not isinstance(part, dict):
        yield mistyped(pointer, "an object", part)
    elif part.get("type") == "text" and not isinstance(part.get("text", ""), str):
        yield mistyped(f"{pointer}/text", "a string", part["text"])
    elif part.get("type") == "image_url" and "image_url" in part:
        image, place = part["image_url"], f"{pointer}/image_url"
        if not isinstance(image, dict):
            yield mistyped(place, "an object", image)
        elif not isinstance(image.get("url", ""), str):
            yield mistyped(f"{place}/url", "a base64-encoded data URL", image["url"])
        else:
            yield met(place)


# --- calls in assistant messages -------------------------------------------------------------------------


SAYS: Json = {"role": "user", "content": "Never mind."}


@book.rule(
    "EMP-006",
    MUST,
    REJECT,
    source=[
        "https://github.com/home-assistant/core/pull/118577",
        "https://github.com/openai/openai-python/issues/2061",
    ],
    refusal=refused(
        "Invalid '{path}': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        code="empty_array",
        param="{path}",
    ),
    examples=[body(ASK, {"role": "assistant", "content": "5"}, SAYS, call("a"), result("a"))],
    counterexamples=[body(ASK, {"role": "assistant", "content": "5", "tool_calls": []}, SAYS)],
)
def no_calls_is_no_list(request: Request) -> Iterator[Finding]:
    """An assistant message without tool calls has no `tool_calls` field.

    Why: an empty list is refused even where there is content. Fix: leave out the key.
    """
    for pointer, message in messages(request.body):
        if message.get("role") == "assistant" and isinstance(message.get("tool_calls"), list):
            place = f"{pointer}/tool_calls"
            empty = not message["tool_calls"]
            yield broken(place, "the list of calls is empty", path=path(place)) if empty else met(place)


@book.rule(
    "PAIR-007",
    MUST,
    REJECT,
    source=[
        "https://github.com/vercel/ai/issues/5171",
        "https://github.com/vercel/ai/issues/8132",
        "https://github.com/vercel/ai/pull/17233 (gpt-4o-mini took 51 characters in July 2026)",
    ],
    refusal=TOO_LONG,
    models=["!gpt-4o-mini*"],
    examples=[body(ASK, call("c" * 40), result("c" * 40))],
    counterexamples=[body(ASK, call("c" * 41), result("c" * 41))],
)
def ids_are_short(request: Request) -> Iterator[Finding]:
    """The id of a tool call has at most 40 characters.

    Why: ids from other providers can be longer. Fix: map the id to a shorter one, in the call and in its result.
    """
    for pointer, message in messages(request.body):
        for i, tool_call in enumerate(calls_of(message)):
            yield from too_long(tool_call.get("id"), f"{pointer}/tool_calls/{i}/id", 40)


@book.rule(
    "PAIR-009",
    MUST,
    REJECT,
    source="https://github.com/openai/openai-openapi (ChatCompletionMessageToolCall)",
    refusal=refused(
        "Invalid type for '{path}': expected a string, but got {got} instead.",
        code="invalid_type",
        param="{path}",
    ),
    examples=[body(ASK, call("call_1"), result("call_1"))],
    counterexamples=[
        body(
            ASK,
            {
                "role": "assistant",
                "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "add", "arguments": {"x": 2}}}
                ],
            },
            result("a"),
        )
    ],
)
def arguments_are_text(request: Request) -> Iterator[Finding]:
    """The arguments of a call are sent back as the JSON text that the model wrote, not as an object.

    Fix: keep the model's text, or write the object with `json.dumps`.
    """
    for pointer, message in messages(request.body):
        for i, tool_call in enumerate(calls_of(message)):
            function = tool_call.get("function")
            if isinstance(function, dict) and "arguments" in function:
                place, value = f"{pointer}/tool_calls/{i}/function/arguments", function["arguments"]
                got = type_name(value)
                text = isinstance(value, str)
                yield (
                    met(place)
                    if text
                    else broken(place, f"the arguments are {got}, not text", path=path(place), got=got)
                )
