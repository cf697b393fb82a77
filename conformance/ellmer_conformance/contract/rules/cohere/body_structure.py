"""Fields, parts and formats, and features that some models lack. Refusals are recorded unless a rule says
otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from ...observed.exchange import Json, Request
from ...readers.cohere import messages
from ...readers.json_access import elements, object_of
from ...rule import Finding, Refusal, broken, met
from ._refusals_and_examples import ASK, ERRORS, IMAGE, MUST, REJECT, SCHEMA, TOOL, body, book, refused, user

#: Fields of v1 that v2 does not have.
OLD = {
    "message",
    "chat_history",
    "preamble",
    "conversation_id",
    "prompt_truncation",
    "connectors",
    "search_queries_only",
    "tool_results",
    "force_single_step",
    "citation_quality",
    "raw_prompting",
}
AYA = ("c4ai-aya*",)


def _format(schema: Json) -> Json:
    return {"type": "json_object", "json_schema": schema}


@book.rule(
    "EMP-012",
    MUST,
    REJECT,
    source="https://docs.cohere.com/reference/chat",
    refusal=refused("{reason}"),
    preview=True,  # no refusal of an empty list is on record; one of an empty `documents` is, at another endpoint
    examples=[body(ASK)],
    counterexamples=[body()],
)
def there_is_a_message(request: Request) -> Iterator[Finding]:
    """A request has at least one message.

    Fix: send the question as a message.
    """
    if isinstance(request.body.get("messages"), list):
        place, problem = "/messages", "the list of messages is empty"
        yield met(place) if request.body["messages"] else broken(place, problem, reason=problem)


@book.rule(
    "REQ-004",
    MUST,
    REJECT,
    source="recorded refusal of `connectors` (c4ai-aya-vision-8b)",
    refusal=Refusal(
        "unknown field: parameter '{key}' is not a valid field. "
        "For proper usage, please refer to https://docs.cohere.com/reference/chat",
        422,
    ),
    examples=[body(ASK, temperature=0.3, documents=[])],
    counterexamples=[
        body(ASK, connectors=[{"id": "web-search"}]),
        body(ASK, preamble="Be brief."),
        {"model": "command-a-03-2025", "message": "Hi"},
    ],
)
def fields_are_of_v2(request: Request) -> Iterator[Finding]:
    """The request has no field of version 1 of the API.

    Fix: use `messages` instead of `message`, `chat_history`, `preamble` and `tool_results`, and a tool
    instead of `connectors`.
    """
    old = [key for key in request.body if key in OLD]
    for key in old:
        yield broken(f"/{key}", f"`{key}` is a field of version 1", key=key)
    if not old:
        yield met("")


@book.rule(
    "REQ-014",
    MUST,
    REJECT,
    source="recorded refusal (command-r)",
    refusal=refused("document at index {index} cannot be empty"),
    examples=[body(ASK, documents=[{"data": {"text": "2 + 3 = 5"}}, "3 + 4 = 7"])],
    counterexamples=[body(ASK, documents=[{"id": "doc-0", "data": {}}])],
)
def documents_say_something(request: Request) -> Iterator[Finding]:
    """A document in `documents` is not empty.

    Fix: leave empty documents out.
    """
    documents = request.body.get("documents")
    for i, document in enumerate(documents if isinstance(documents, list) else []):
        data = document.get("data") if isinstance(document, dict) else document
        place = f"/documents/{i}"
        yield met(place) if data else broken(place, "the document is empty", index=i)


@book.rule(
    "REQ-022",
    MUST,
    REJECT,
    source="recorded refusal (command-r7b)",
    refusal=refused("image content is not supported for this model"),
    models=["command-r*", "command-light*", "command-a-03-2025", "command-a-reasoning*", "!*vision*"],
    examples=[body(user({"type": "text", "text": "Hi"}), model="command-r7b-12-2024")],
    counterexamples=[body(user(IMAGE), model="command-r7b-12-2024")],
)
def images_go_to_models_that_see(request: Request) -> Iterator[Finding]:
    """Images are sent only to vision models.

    Fix: raise an error that names the model, or write a text in the image's place.
    """
    for pointer, message in messages(request.body):
        parts = [
            place for place, part in elements(message.get("content"), f"{pointer}/content") if _shows(part)
        ]
        yield broken(parts[0], "an image is sent") if parts else met(pointer)


@book.rule(
    "REQ-020",
    MUST,
    REJECT,
    source="recorded refusal (command-light)",
    refusal=refused("tool use is not supported by the provided model: {model}."),
    models=["command-light*"],
    examples=[body(ASK, model="command-light")],
    counterexamples=[body(ASK, tools=[TOOL], model="command-light")],
)
def some_models_have_no_tools(request: Request) -> Iterator[Finding]:
    """Tools are sent only to models that support them.

    Fix: leave `tools` out, or raise an error that names the model.
    """
    tools = request.body.get("tools")
    yield broken("/tools", "tools", model=request.model) if tools else met("/model")


@book.rule(
    "REQ-021",
    MUST,
    REJECT,
    source=(
        "https://github.com/maruel/genai/blob/526f6fa8fc15d190e725008367fe12b5ef9c2aab/providers/cohere/"
        "testdata/TestClient/Scoreboard/command-light/GenSync-TopLogprobs.yaml"
    ),
    refusal=refused("invalid request: logprobs is not supported with the specified model."),
    models=["command-light*"],
    until=date(2025, 9, 15),  # the last day of the model
    examples=[body(ASK, model="command-light")],
    counterexamples=[body(ASK, logprobs=True, model="command-light")],
)
def some_models_have_no_logprobs(request: Request) -> Iterator[Finding]:
    """Log probabilities are requested only from models that return them.

    Fix: leave `logprobs` out for these models.
    """
    asked = request.body.get("logprobs") is True
    yield broken("/logprobs", "log probabilities") if asked else met("/model")


@book.rule(
    "REQ-023",
    MUST,
    REJECT,
    source=(
        "https://github.com/langchain-ai/langchain-cohere/blob/7b118ff9d2895e79ebc57b500faf21c324aff299/libs/cohere/"
        "tests/integration_tests/cassettes/test_streaming_tool_call.yaml"
    ),
    refusal=Refusal(
        "unknown field: parameter name is not a valid field. "
        "For proper usage, please refer to https://docs.cohere.com/reference/chat",
        422,
    ),
    examples=[body(ASK, tools=[TOOL])],
    counterexamples=[body(ASK, tools=[{"name": "add", "description": "Adds.", "parameter_definitions": {}}])],
)
def tools_are_of_v2(request: Request) -> Iterator[Finding]:
    """A tool is a function, not a tool of version 1 of the API, which has its `name` outside of a function.

    Fix: write `{"type": "function", "function": {"name": …, "parameters": …}}`.
    """
    for pointer, tool in elements(request.body.get("tools"), "/tools"):
        old = "name" in tool and "function" not in tool
        yield broken(f"{pointer}/name", "the tool has the form of version 1") if old else met(pointer)


@book.rule(
    "REQ-012",
    MUST,
    REJECT,
    source="recorded refusal (c4ai-aya-vision-8b)",
    refusal=refused("tool_choice is not supported for this model"),
    models=AYA,
    examples=[body(ASK, model="c4ai-aya-vision-8b")],
    counterexamples=[body(ASK, tools=[TOOL], tool_choice="REQUIRED", model="c4ai-aya-vision-8b")],
)
def some_models_have_no_choice(request: Request) -> Iterator[Finding]:
    """A tool choice is sent only to models that support it.

    Fix: leave `tool_choice` out for these models, and say in the prompt that a tool is to be called.
    """
    asked = request.body.get("tool_choice") is not None
    yield broken("/tool_choice", "a tool choice is set") if asked else met("/model")


@book.rule(
    "STO-001",
    MUST,
    REJECT,
    source="recorded refusal (c4ai-aya-vision-8b)",
    refusal=refused("response_format is not supported by the provided model."),
    models=[*AYA, "command-light*"],
    examples=[body(ASK, response_format={"type": "text"}, model="c4ai-aya-vision-8b")],
    counterexamples=[body(ASK, response_format={"type": "json_object"}, model="c4ai-aya-vision-8b")],
)
def some_models_have_no_format(request: Request) -> Iterator[Finding]:
    """A response format is sent only to models that support it.

    Fix: leave `response_format` out for these models, and ask for JSON in words.
    """
    kind = object_of(request.body.get("response_format")).get("type", "text")
    yield (
        met("/model")
        if kind == "text"
        else broken("/response_format", f"the model does not support the format {kind}")
    )


@book.rule(
    "STO-008",
    MUST,
    REJECT,
    source="recorded refusal (command-r7b)",
    refusal=refused(
        "response_format validation: invalid 'json_schema' provided: missing required field 'type'"
    ),
    examples=[body(ASK, response_format=_format(SCHEMA))],
    counterexamples=[body(ASK, response_format=_format({"properties": {"x": {"type": "number"}}}))],
)
def answers_have_a_type(request: Request) -> Iterator[Finding]:
    """The root of a response schema has a `type`.

    Fix: write `"type": "object"` at the root of the schema.
    """
    schema = object_of(request.body.get("response_format")).get("json_schema")
    if isinstance(schema, dict):
        place = "/response_format/json_schema"
        yield met(place) if "type" in schema else broken(place, "the schema has no type")


@book.rule(
    "REQ-015",
    MUST,
    REJECT,
    source=ERRORS,
    refusal=refused("{key} must be between 0 and 1 inclusive."),
    examples=[body(ASK, presence_penalty=0.1), body(ASK, frequency_penalty=1)],
    counterexamples=[body(ASK, presence_penalty=1.5), body(ASK, frequency_penalty=-0.5)],
)
def penalties_are_between_0_and_1(request: Request) -> Iterator[Finding]:
    """A presence or frequency penalty is between 0 and 1.

    Fix: check the caller's value before the request, and name the range in your error.
    """
    for key in ("presence_penalty", "frequency_penalty"):
        value = request.body.get(key)
        if isinstance(value, int | float):
            fits = 0 <= value <= 1
            yield met(f"/{key}") if fits else broken(f"/{key}", f"it is {value}", key=key)


@book.rule(
    "STO-010",
    MUST,
    REJECT,
    source=ERRORS,
    refusal=refused("response_format is not supported with RAG."),
    examples=[body(ASK, response_format=_format(SCHEMA)), body(ASK, documents=["2 + 3 = 5"])],
    counterexamples=[body(ASK, response_format=_format(SCHEMA), documents=["2 + 3 = 5"])],
)
def documents_are_answered_in_text(request: Request) -> Iterator[Finding]:
    """A request has documents or a JSON response format, not both.

    Fix: send the documents in a message's text, or leave the format out.
    """
    if request.body.get("documents"):
        kind = object_of(request.body.get("response_format")).get("type", "text")
        place = "/response_format"
        yield (
            met(place)
            if kind == "text"
            else broken(place, f"the request has documents and the format {kind}")
        )


def _shows(part: Json) -> bool:
    return part.get("type") == "image_url"
