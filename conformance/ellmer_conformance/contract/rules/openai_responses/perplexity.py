"""Perplexity's Agent API: it refuses every field that it does not know.

The fields are those of its migration guide and of its SDK, https://pypi.org/project/perplexityai/0.46.1/
(`ResponseCreateParams`, `InputItemParam`).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...observed.exchange import Request
from ...readers.json_access import object_of
from ...readers.openai_responses import items, parts, tools, type_of
from ...rule import Finding, Refusal, broken, met
from .._openai.refusals import coded_error_body
from ._refusals_and_examples import ASK, MUST, OWN, REJECT, TOOL, body, book, call, output

_GUIDE = (
    "https://github.com/perplexityai/api-platform-developers/blob/228c88d1f9cde21a2cc3ff53ebd1699230f43ee0/skills/"
    "migrate-sonar-to-agent-api/references/"
)
_REQUESTS, _STYLES = f"{_GUIDE}request-mapping.md", f"{_GUIDE}integration-styles.md"


PERPLEXITY = book.extend(
    "perplexity", only=[], without=(*OWN, "REQ-001", "REQ-024", "REQ-045"), error_body=coded_error_body
)

_KEYS = {
    "background", "input", "instructions", "language_preference", "max_output_tokens", "max_steps", "max_tool_calls",
    "metadata", "model", "models", "parallel_tool_calls", "preset", "previous_response_id", "reasoning", "response_format",
    "skills", "store", "stream", "stream_options", "temperature", "text", "tool_choice", "tools", "top_p", "truncation",
}  # fmt: skip
#: Fields that are accepted without effect, or that its answers repeat: whether a request may have them is not known.
_UNDECIDED = {"logprobs", "top_logprobs", "prompt_cache_key", "safety_identifier", "service_tier", "user"}
_UNKNOWN = Refusal('invalid request body: json: unknown field "{key}"', type="invalid_request", param="{key}")


@PERPLEXITY.rule(
    "REQ-140",
    MUST,
    REJECT,
    source=[_REQUESTS, "https://github.com/anomalyco/opencode/issues/32108"],
    refusal=_UNKNOWN,
    examples=[body(ASK, max_output_tokens=99, preset="low", response_format={"type": "json_schema"})],
    counterexamples=[
        body(ASK, include=["reasoning.encrypted_content"]),
        body(ASK, stop=["x"]),
        body(ASK, text={"format": {"type": "json_object"}}),
    ],
)
def fields_are_known(request: Request) -> Iterator[Finding]:
    """The request has no field that the Agent API does not know, and `text` has no `format`.

    Fix: send structured output as `response_format`, as in Chat Completions. `stop`, `top_k`, `seed`, `include` and penalties have
    no equivalent.
    """
    for key in request.body.keys() - _UNDECIDED:
        yield met(f"/{key}") if key in _KEYS else broken(f"/{key}", f"`{key}` is not a field", key=key)
    if "format" in object_of(request.body.get("text")):
        yield broken("/text/format", "`text` has a `format`", key="format")


_ITEMS = {
    "message": frozenset({"type", "role", "content"}),
    "function_call": frozenset({"type", "call_id", "name", "arguments", "thought_signature"}),
    "function_call_output": frozenset({"type", "call_id", "output", "name", "thought_signature"}),
}
_PART = frozenset({"type", "text", "image_url"})


@PERPLEXITY.rule(
    "REQ-141",
    MUST,
    REJECT,
    source=[_REQUESTS, "https://pypi.org/project/perplexityai/0.46.1/ (InputItemParam)"],
    refusal=_UNKNOWN,
    preview=True,  # the guide says so of every nested field; no refusal of one of these is on record
    examples=[body(ASK, call("a", thought_signature="x"), output("a", name="add"))],
    counterexamples=[
        body({"role": "assistant", "id": "msg_1", "content": "5"}, ASK),
        body(ASK, call("a", id="fc_1", status="completed"), output("a")),
    ],
)
def items_have_no_fields_of_answers(request: Request) -> Iterator[Finding]:
    """An item of the input has only the fields of an input item: no `id`, `status` or `annotations`.

    Fix: send the text of an answer, and of a call its `call_id`, `name` and `arguments`.
    """
    for pointer, item in items(request.body):
        for place, found, known in [
            (pointer, item, _ITEMS.get(type_of(item))),
            *((place, part, _PART) for place, part in parts(item, pointer)),
        ]:
            for key in found if known else ():
                where = f"{place}/{key}"
                yield met(where) if key in (known or ()) else broken(where, "an input has none", key=key)


_RESERVED = {
    "web_search", "search_web", "people_search", "search_people", "fetch_url", "finance_search", "sandbox",
}  # fmt: skip


@PERPLEXITY.rule(
    "REQ-142",
    MUST,
    REJECT,
    source=_STYLES,
    refusal=Refusal("function name '{name}' is reserved", type="invalid_request"),
    preview=True,  # the guide says so; the words of the refusal are not on record
    examples=[body(ASK, tools=[TOOL, {"type": "web_search"}])],
    counterexamples=[body(ASK, tools=[{**TOOL, "name": "web_search"}])],
)
def functions_have_names_of_their_own(request: Request) -> Iterator[Finding]:
    """A function has another name than the provider's own tools.

    Fix: rename it, such as `my_web_search`.
    """
    for pointer, tool in tools(request.body):
        if tool.get("type") == "function":
            name = tool.get("name")
            taken = name in _RESERVED
            yield broken(f"{pointer}/name", "the name is reserved", name=name) if taken else met(pointer)


@PERPLEXITY.rule(
    "REQ-143",
    MUST,
    REJECT,
    source=_REQUESTS,
    refusal=Refusal("max_output_tokens is required when using Anthropic models", type="invalid_request"),
    models=["anthropic/*"],
    examples=[body(ASK, model="anthropic/claude-sonnet-4-5", max_output_tokens=99)],
    counterexamples=[body(ASK, model="anthropic/claude-sonnet-4-5")],
)
def claude_has_a_limit(request: Request) -> Iterator[Finding]:
    """A request to a model of Anthropic has `max_output_tokens`.

    Fix: set `max_output_tokens`, for example to the model's own limit.
    """
    place = "/max_output_tokens"
    yield (
        met(place) if request.body.get("max_output_tokens") else broken("", "`max_output_tokens` is missing")
    )
