"""The body of a request: required and optional fields, the items of the input, and their parts."""

from __future__ import annotations

from collections.abc import Iterator

from ...observed.exchange import Json, Request
from ...readers.json_access import words
from ...readers.openai_responses import format_of, items, parts, tools, type_of
from ...rule import Finding, broken, met
from ...shapes.facts import root_fields
from .._openai.refusals import (
    TOO_LONG,
    absent,
    address_names_model,
    listed,
    path,
    refused,
    too_long,
    type_name,
)
from ._refusals_and_examples import ASK, IMAGE, MUST, REJECT, SPEC, TOOL, body, book, call, output

KEYS = root_fields("openai-responses")
MOVED = {
    "messages": "input",
    "response_format": "text.format",
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
    "reasoning_effort": "reasoning.effort",
    "verbosity": "text.verbosity",
}
ELSEWHERE = ("previous_response_id", "prompt", "conversation")  # where a request can have its input from


@book.rule(
    "REQ-001",
    MUST,
    REJECT,
    source="https://github.com/mattermost/mattermost-plugin-agents/issues/476",
    refusal=refused("Missing required parameter: 'model'.", code="missing_required_parameter", param="model"),
    examples=[body(ASK)],
    counterexamples=[{"input": "Hi"}],
)
def a_model_is_named(request: Request) -> Iterator[Finding]:
    """The request names a model, or a stored prompt that names one.

    Fix: set `model` in every request, also in one that continues a response.
    """
    fine = request.body.get("model") or request.body.get("prompt") or address_names_model(request)
    yield met("/model") if fine else broken("", "`model` is missing")


@book.rule(
    "REQ-024",
    MUST,
    REJECT,
    source="recorded refusal of `response_format` (gpt-4.1-nano)",
    refusal=refused(
        "Unsupported parameter: '{key}'. In the Responses API, this parameter has moved to '{moved}'. Try again with "
        "the new parameter. See the API documentation for more information: "
        "https://platform.openai.com/docs/api-reference/responses/create.",
        code="unsupported_parameter",
    ),
    examples=[body(ASK, text={"format": {"type": "text"}})],
    counterexamples=[
        body(ASK, response_format={"type": "text"}),
        {"model": "gpt-4.1-mini", "messages": [ASK]},
    ],
)
def nothing_has_moved(request: Request) -> Iterator[Finding]:
    """The request has no Chat Completions parameter that has another name in the Responses API.

    Fix: use the name in the error message.
    """
    for key in request.body:
        moved = MOVED.get(key)
        yield (
            broken(f"/{key}", f"`{key}` is `{moved}` here", key=key, moved=moved) if moved else met(f"/{key}")
        )


@book.rule(
    "REQ-004",
    MUST,
    REJECT,
    source=SPEC,
    refusal=refused("Unknown parameter: '{key}'.", code="unknown_parameter", param="{key}"),
    examples=[body(ASK, store=False)],
    counterexamples=[body(ASK, top_k=5), body(ASK, seed=1)],
)
def keys_are_known(request: Request) -> Iterator[Finding]:
    """The request has no field that the endpoint does not know.

    Why: Chat Completions has fields (`seed`, `stop`, `n`) that the Responses API does not have. Fix: send only the
    parameters of this API; `max_tokens` is `max_output_tokens` here, and `seed`, `stop` and `n` do not exist.
    """
    for key in [key for key in request.body if key not in MOVED]:
        yield met(f"/{key}") if key in KEYS else broken(f"/{key}", f"`{key}` is not a parameter", key=key)


@book.rule(
    "REQ-002",
    MUST,
    REJECT,
    source=["recorded refusal (gpt-4)", SPEC],
    refusal=refused("{text}", code="missing_required_parameter", param="{param}"),
    examples=[body(ASK), {"model": "gpt-4.1-mini", "previous_response_id": "resp_1"}],
    counterexamples=[{"model": "gpt-4"}, body(), {"model": "gpt-4.1-mini", "input": ""}],
)
def there_is_input(request: Request) -> Iterator[Finding]:
    """The request has `input`, or continues a response, conversation or prompt that has input.

    Fix: send the user's message as `input`, and not as `messages`.
    """
    if request.body.get("input") or any(request.body.get(key) for key in ELSEWHERE):
        yield met("/input")
    elif "input" not in request.body:
        text = "Missing required parameter: 'input'."
        yield broken("", "`input` is missing", text=text, param="input")
    else:
        text = "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be provided."
        yield broken("/input", "the input is empty", text=text, param="input")


@book.rule(
    "REQ-010",
    MUST,
    REJECT,
    source=[
        "recorded refusals: `input[].content`, `tools[].name`, `tools[].vector_store_ids`, `text.format.name`",
        "https://github.com/lidge-jun/opencodex/pull/4673 (`input[].summary` of a thought)",
        SPEC,
    ],
    refusal=refused(
        "Missing required parameter: '{path}'.", code="missing_required_parameter", param="{path}"
    ),
    examples=[
        body(ASK, call("a"), output("a"), tools=[TOOL]),
        body(ASK, {"id": "msg_1"}),  # a reference: the official types do not require its type
        body(ASK, {"type": "function_call_output", "output": "5"}),  # nor the `call_id` here
    ],
    counterexamples=[
        body(ASK, {"role": "assistant"}),
        body(ASK, tools=[{"type": "function", "function": TOOL}]),
        body(ASK, tools=[{"type": "file_search"}]),
        body(ASK, text={"format": {"type": "json_schema", "schema": {}}}),
        body(ASK, {"type": "function_call", "name": "add", "arguments": "{}"}),
        body(ASK, {"type": "reasoning", "encrypted_content": "gAAAA"}, {"role": "assistant", "content": "5"}),
    ],
)
def required_fields_are_there(request: Request) -> Iterator[Finding]:
    """Every item, tool and format has the fields that its type requires.

    Fix: see the path in the message. A tool is flat here; Chat Completions nests it under `function`.
    """
    needs = {
        "": ("content",),  # what has no type is a message
        "message": ("content",),
        "function_call": ("call_id", "name", "arguments"),
        "function_call_output": ("output",),
        "reasoning": ("summary",),
    }
    for pointer, item in items(request.body):
        yield from absent(item, pointer, needs.get(type_of(item), ()))
    of_tool = {"function": ("name",), "file_search": ("vector_store_ids",)}
    for pointer, tool in tools(request.body):
        yield from absent(tool, pointer, ("type", *of_tool.get(str(tool.get("type")), ())))
    format = format_of(request.body)
    if format.get("type") == "json_schema":
        yield from absent(format, "/text/format", ("name", "schema"))


ROLES = ("assistant", "system", "developer", "user")
ITEMS = words(
    "code_interpreter_call computer_call computer_call_output file_search_call function_call function_call_output "
    "image_generation_call item_reference local_shell_call local_shell_call_output message reasoning "
    "web_search_call"
)  # as the refusal lists them; more are known by now, and more will be
FOREIGN = frozenset(
    words(
        "text image image_url input_text input_image input_file output_text file tool tool_use tool_result user "
        "assistant system"
    )
)
PARTS = (
    "input_text",
    "input_image",
    "output_text",
    "refusal",
    "input_file",
    "computer_screenshot",
    "summary_text",
)
FOREIGN_PARTS = frozenset(words("text image image_url file tool_use tool_result document"))


@book.rule(
    "REQ-009",
    MUST,
    REJECT,
    source=[
        "recorded refusals of parts as items (gpt-4o-mini)",
        "https://github.com/openclaw/openclaw/issues/90570 (an empty type, at Azure)",
    ],
    refusal=refused(
        f"Invalid value: '{{type}}'. Supported values are: {listed(ITEMS)}.",
        code="invalid_value",
        param="{path}",
    ),
    examples=[body(ASK, call("a"), output("a"))],
    counterexamples=[
        body({"type": "text", "text": "Hi"}),
        body({"type": "image", "image_url": "https://x.test/a.png"}),
        body(ASK, {"type": "", "id": "rs_1", "summary": []}),
    ],
)
def items_are_known(request: Request) -> Iterator[Finding]:
    """An input item has a known type, such as message, call or output; a bare content part is not an item.

    Fix: put content parts into a message.
    """
    for pointer, item in items(request.body):
        kind = item.get("type")
        wrong = kind == "" or kind in FOREIGN
        problem = f"{kind!r} is not a type of item"
        yield broken(pointer, problem, type=kind, path=path(pointer)) if wrong else met(pointer)


@book.rule(
    "REQ-045",
    MUST,
    REJECT,
    source=[
        "https://github.com/pydantic/pydantic-ai/issues/3653",
        "https://github.com/openai/openai-python/issues/2720",
    ],
    refusal=refused("Unknown parameter: '{path}'.", code="unknown_parameter", param="{path}"),
    examples=[body({**ASK, "id": "msg_1", "status": "completed"})],
    counterexamples=[
        body(ASK, {"role": "assistant", "content": "5", "tool_calls": []}, ASK),
        body({**ASK, "name": "alice"}),
        body({"role": "user", "content": [{"type": "input_text", "text": "Hi", "cache_control": {}}]}),
    ],
)
def messages_have_no_fields_of_others(request: Request) -> Iterator[Finding]:
    """A message has no `tool_calls` and no `name`, and its parts have no `cache_control`.

    Why: the API refuses unknown fields instead of ignoring them. Fix: send a call as an item of its own.
    Caching is automatic.
    """
    for pointer, item in items(request.body):
        if type_of(item) == "message":
            yield from _foreign(item, pointer, ("tool_calls", "tool_call_id", "name", "cache_control"))
            for place, part in parts(item, pointer):
                yield from _foreign(part, place, ("cache_control",))


@book.rule(
    "REQ-005",
    MUST,
    REJECT,
    source="recorded refusal of `tool` (o1-pro)",
    refusal=refused(
        f"Invalid value: '{{role}}'. Supported values are: {listed(ROLES)}.",
        code="invalid_value",
        param="{path}",
    ),
    examples=[body({"role": "developer", "content": "Be brief."}, ASK)],
    counterexamples=[body(ASK, {"role": "tool", "content": "5", "tool_call_id": "a"})],
)
def roles_are_known(request: Request) -> Iterator[Finding]:
    """The role of a message is `assistant`, `system`, `developer` or `user`.

    Fix: send a tool result as an item of type `function_call_output`.
    """
    for pointer, item in items(request.body):
        role = item.get("role")
        if isinstance(role, str) and type_of(item) == "message":
            problem = f"{role!r} is not a role"
            yield met(pointer) if role in ROLES else broken(pointer, problem, role=role, path=path(pointer))


@book.rule(
    "REQ-007",
    MUST,
    REJECT,
    source=["recorded refusals of other types of part (gpt-4o-mini-audio-preview)", SPEC],
    refusal=refused("{text}", code="invalid_value", param="{path}"),
    examples=[body({"role": "user", "content": [{"type": "input_text", "text": "Hi"}, IMAGE]})],
    counterexamples=[
        body({"role": "user", "content": [{"type": "text", "text": "Hi"}]}),
        body(ASK, {"role": "assistant", "content": [{"type": "input_text", "text": "5"}]}, ASK),
    ],
)
def parts_are_known(request: Request) -> Iterator[Finding]:
    """A content part has a type of this API, such as `input_text` for the user and `output_text` for the assistant.

    Why: `text` and `image_url` are types of Chat Completions. Fix: write `input_text`, `input_image` and `input_file`
    for the user, and `output_text` for the assistant.
    """
    for pointer, item in items(request.body):
        for place, part in parts(item, pointer):
            kind = part.get("type")
            mine = item.get("role") == "assistant" and kind in {"input_text", "input_image", "input_file"}
            if mine:
                text = f"Invalid value: '{kind}'. Supported values are: 'output_text' and 'refusal'."
                yield broken(place, f"the assistant has no {kind}", text=text, path=path(place))
            elif kind in FOREIGN_PARTS and type_of(item) == "message":
                text = f"Invalid value: '{kind}'. Supported values are: {listed(PARTS)}."
                yield broken(
                    f"{place}/type",
                    f"{kind!r} is not a part of this message",
                    text=text,
                    path=path(f"{place}/type"),
                )
            else:
                yield met(place)


@book.rule(
    "REQ-022",
    MUST,
    REJECT,
    source="recorded refusal (gpt-4o-mini-audio-preview)",
    refusal=refused(
        f"Invalid value: 'input_audio'. Supported values are: {listed(PARTS)}.",
        code="invalid_value",
        param="{path}",
    ),
    models=["*-audio-preview*"],
    examples=[body({"role": "user", "content": [IMAGE]}, model="gpt-4o-audio-preview")],
    counterexamples=[
        body({"role": "user", "content": [{"type": "input_audio"}]}, model="gpt-4o-audio-preview")
    ],
)
def audio_goes_to_chat(request: Request) -> Iterator[Finding]:
    """Audio models of the first generation are available only in Chat Completions.

    Fix: send these models' requests to Chat Completions.
    """
    for pointer, item in items(request.body):
        for place, part in parts(item, pointer):
            heard, where = part.get("type") == "input_audio", f"{place}/type"
            yield (broken(where, "the input has audio", path=path(where)) if heard else met(where))


@book.rule(
    "PAIR-009",
    MUST,
    REJECT,
    source=SPEC,
    refusal=refused(
        "Invalid type for '{path}': expected a string, but got {got} instead.",
        code="invalid_type",
        param="{path}",
    ),
    examples=[body(ASK, call("a"), output("a"))],
    counterexamples=[body(ASK, call("a", arguments={"x": 2}), output("a"))],
)
def arguments_are_text(request: Request) -> Iterator[Finding]:
    """The arguments of a call are sent back as the JSON text that the model wrote, not as an object.

    Fix: keep the model's text, or write the object with `json.dumps`.
    """
    for pointer, item in items(request.body):
        if type_of(item) == "function_call" and "arguments" in item:
            place, got = f"{pointer}/arguments", type_name(item["arguments"])
            text = isinstance(item["arguments"], str)
            yield (
                met(place)
                if text
                else broken(place, f"the arguments are {got}, not text", path=path(place), got=got)
            )


@book.rule(
    "PAIR-007",
    MUST,
    REJECT,
    source="https://github.com/openai/openai-openapi (FunctionCallOutputItemParam)",
    refusal=TOO_LONG,
    examples=[body(ASK, call("c" * 64), output("c" * 64))],
    counterexamples=[body(ASK, call("c" * 65), output("c" * 65))],
)
def calls_have_short_ids(request: Request) -> Iterator[Finding]:
    """A `call_id` has at most 64 characters.

    Fix: map a longer id of another provider to a short one, in the call and in its output.
    """
    for pointer, item in items(request.body):
        yield from too_long(item.get("call_id"), f"{pointer}/call_id", 64)


@book.rule(
    "PAIR-018",
    MUST,
    REJECT,
    source="https://github.com/BigPizzaV3/CodexPlusPlus/issues/315",
    refusal=refused(
        "Invalid '{path}': empty string. Expected a string with minimum length 1, but got an empty string instead.",
        code="empty_string",
        param="{path}",
    ),
    examples=[body(ASK, call("c"), output("c"))],
    counterexamples=[body(ASK, call(""), output(""))],
)
def calls_have_ids(request: Request) -> Iterator[Finding]:
    """A `call_id` is not empty.

    Fix: send the `call_id` of the call, which is another field than the `id` of its item.
    """
    for pointer, item in items(request.body):
        if isinstance(item.get("call_id"), str):
            place = f"{pointer}/call_id"
            yield met(place) if item["call_id"] else broken(place, "the id is empty", path=path(place))


@book.rule(
    "PAIR-019",
    MUST,
    REJECT,
    source=[
        "https://github.com/AnswerDotAI/fastllm/issues/45",
        "https://github.com/decolua/9router/issues/393",
    ],
    refusal=TOO_LONG,
    examples=[body(ASK, call("a", id="fc_" + "1" * 61), output("a"))],
    counterexamples=[body(ASK, call("a", id="fc_" + "1" * 62), output("a"))],
)
def items_have_short_ids(request: Request) -> Iterator[Finding]:
    """An item's `id` has at most 64 characters.

    Fix: leave `id` out unless it came from OpenAI.
    """
    for pointer, item in items(request.body):
        yield from too_long(item.get("id"), f"{pointer}/id", 64)


@book.rule(
    "PAIR-020",
    MUST,
    REJECT,
    source=[
        "https://github.com/langchain-ai/langchainjs/issues/11044",
        "https://github.com/mweinbach/open-grok/pull/23",
    ],
    refusal=refused(
        "Invalid '{path}': ''. Expected an ID that contains letters, numbers, underscores, or dashes, but this value "
        "contained additional characters.",
        code="invalid_value",
        param="{path}",
    ),
    examples=[body(ASK, call("a", id="fc_1"), output("a")), body(ASK, call("a"), output("a"))],
    counterexamples=[body(ASK, call("a", id=""), output("a"))],
)
def items_have_ids_or_none(request: Request) -> Iterator[Finding]:
    """The `id` of an item, if sent, is not empty.

    Fix: leave `id` out if the answer had none.
    """
    for pointer, item in items(request.body):
        if isinstance(item.get("id"), str):
            place = f"{pointer}/id"
            yield met(place) if item["id"] else broken(place, "the id is empty", path=path(place))


def _foreign(value: Json, pointer: str, keys: tuple[str, ...]) -> Iterator[Finding]:
    found = [key for key in keys if key in value]
    for key in found:
        place = f"{pointer}/{key}"
        yield broken(place, f"there is no `{key}` here", path=path(place))
    if not found:
        yield met(pointer)
