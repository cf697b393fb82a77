"""The shape of a request: required and optional fields."""

from __future__ import annotations

from collections.abc import Iterator

from ...exchange import Request
from ...readers.json_access import words
from ...readers.openai_responses import format_of, items, tools, type_of
from ...rule import Finding, broken, met
from .._openai.refusals import absent, refused
from ._rulebook import ASK, MUST, REJECT, SPEC, TOOL, body, book, call, output

KEYS = frozenset(
    words(
        "access_programs background background_options client_metadata context_management conversation image include input "
        "instructions max_output_tokens max_tool_calls metadata model moderation parallel_tool_calls "
        "previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention reasoning "
        "safety_identifier service_tier store stream stream_options temperature text tool_choice tools top_logprobs "
        "top_p truncation user"
    )
)
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
    source=SPEC,
    refusal=refused("Missing required parameter: 'model'.", code="missing_required_parameter", param="model"),
    preview=True,
    examples=[body(ASK)],
    counterexamples=[{"input": "Hi"}],
)
def a_model_is_named(request: Request) -> Iterator[Finding]:
    """The request names a model, or a stored prompt that names one."""
    given = request.body.get("model") or request.body.get("prompt")
    yield met("/model") if given else broken("", "`model` is missing")


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

    Why: Chat Completions has fields (`seed`, `stop`, `n`) that the Responses API does not have.
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
    """The request has `input`, or continues a response, conversation or prompt that has input."""
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
