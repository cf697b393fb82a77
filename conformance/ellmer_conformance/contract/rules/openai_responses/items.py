"""The items of the input, and their parts."""

from __future__ import annotations

from collections.abc import Iterator

from ...exchange import Json, Request
from ...readers.json_access import words
from ...readers.openai_responses import items, parts, type_of
from ...rule import Finding, broken, met
from .._openai.refusals import TOO_LONG, listed, path, refused, too_long, type_name
from ._rulebook import ASK, IMAGE, MUST, REJECT, SPEC, body, book, call, output

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
    source="recorded refusals of parts as items (gpt-4o-mini)",
    refusal=refused(
        f"Invalid value: '{{type}}'. Supported values are: {listed(ITEMS)}.",
        code="invalid_value",
        param="{path}",
    ),
    examples=[body(ASK, call("a"), output("a"))],
    counterexamples=[
        body({"type": "text", "text": "Hi"}),
        body({"type": "image", "image_url": "https://x.test/a.png"}),
    ],
)
def items_are_known(request: Request) -> Iterator[Finding]:
    """An input item has a known type, such as message, call or output; a bare content part is not an item.

    Fix: put content parts into a message.
    """
    for pointer, item in items(request.body):
        kind = item.get("type")
        wrong = kind in FOREIGN
        problem = f"{kind!r} is no type of item"
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

    Why: `text` and `image_url` are types of Chat Completions.
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
                    f"{place}/type", f"{kind!r} is no part here", text=text, path=path(f"{place}/type")
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
    """Audio models of the first generation are available only in Chat Completions."""
    for pointer, item in items(request.body):
        for place, part in parts(item, pointer):
            heard, where = part.get("type") == "input_audio", f"{place}/type"
            yield broken(where, "no audio here", path=path(where)) if heard else met(where)


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
    """The arguments of a call are sent back as the JSON text that the model wrote, not as an object."""
    for pointer, item in items(request.body):
        if type_of(item) == "function_call" and "arguments" in item:
            place, got = f"{pointer}/arguments", type_name(item["arguments"])
            text = isinstance(item["arguments"], str)
            yield met(place) if text else broken(place, f"{got}, not text", path=path(place), got=got)


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
    """A `call_id` has at most 64 characters."""
    for pointer, item in items(request.body):
        yield from too_long(item.get("call_id"), f"{pointer}/call_id", 64)


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


def _foreign(value: Json, pointer: str, keys: tuple[str, ...]) -> Iterator[Finding]:
    found = [key for key in keys if key in value]
    for key in found:
        place = f"{pointer}/{key}"
        yield broken(place, f"there is no `{key}` here", path=path(place))
    if not found:
        yield met(pointer)
