"""What some models of Groq refuse: images, schemas, tools, and lists as content."""

from __future__ import annotations

from collections.abc import Iterator

from .....exchange import Request
from .....readers.json_access import object_of
from .....readers.openai_chat import messages, parts
from .....rule import Finding, broken, met
from ..._rulebook import ASK, IMAGE, MUST, REJECT, TOOL, body
from .._capabilities import refusing_models
from ._rulebook import groq, refused

NO_SCHEMA = "This model does not support response format `json_schema`"
GUIDE = "https://console.groq.com/docs/structured-outputs"

# Models that see nothing; of each family one is recorded or reported.
TEXT_ONLY = [
    "groq/compound*",
    "llama-3.1-*",
    "llama-3.3-*",
    "llama3*",
    "openai/gpt-oss*",
    "gemma*",
    "mixtral*",
    *refusing_models("groq", "images", "content must be a string"),
]

# Models that the guide does not list.
UNSCHEMED = [
    "groq/compound*",
    "llama-3.1-*",
    "llama-3.3-*",
    "llama3*",
    "gemma*",
    "mixtral*",
    "qwen/qwen3-32b",
    *refusing_models("groq", "json_schema", "does not support response format `json_schema`"),
]


@groq.rule(
    "IMG-013",
    MUST,
    REJECT,
    source=[
        "recorded refusals (groq/compound, llama-3.1-8b-instant)",
        "https://github.com/sam3gp8/jarvis-aio/issues/17 (gpt-oss-120b)",
        "https://github.com/vercel/ai/issues/2837 (every model that does not see)",
    ],
    refusal=refused("messages[{index}].content must be a string", "messages[{index}].content"),
    formerly=[
        refused("messages[{index}].content must be a string"),
        refused("message[{index}].content must be a string"),
    ],
    models=TEXT_ONLY,
    examples=[body(ASK, model="llama-3.1-8b-instant")],
    counterexamples=[body({"role": "user", "content": [IMAGE]}, model="llama-3.1-8b-instant")],
)
def text_models_read_text(request: Request) -> Iterator[Finding]:
    """A text model does not accept images."""
    for index, (pointer, message) in enumerate(messages(request.body)):
        seen = any(part.get("type") == "image_url" for _, part in parts(message, pointer))
        place = f"{pointer}/content"
        yield broken(place, "this model does not accept images", index=index) if seen else met(place)


@groq.rule(
    "STO-008",
    MUST,
    REJECT,
    source=["recorded refusals (llama-3.1-8b-instant, groq/compound)", GUIDE],
    refusal=refused(f"{NO_SCHEMA}. See supported models at {GUIDE}#supported-models"),
    formerly=[refused(NO_SCHEMA)],
    models=UNSCHEMED,
    examples=[body(ASK, model="llama-3.1-8b-instant")],
    counterexamples=[body(ASK, model="llama-3.1-8b-instant", response_format={"type": "json_schema"})],
)
def small_models_have_no_schema(request: Request) -> Iterator[Finding]:
    """The smaller models do not support the response format `json_schema`."""
    asked = object_of(request.body.get("response_format")).get("type") == "json_schema"
    yield broken("/response_format", "this model does not support `json_schema`") if asked else met("/model")


@groq.rule(
    "STO-011",
    MUST,
    REJECT,
    source="recorded refusals (llama-4-maverick, gpt-oss-20b)",
    refusal=refused("json schema is required"),
    formerly=[refused("code=400, message=json schema is required, type=invalid_request_error")],
    models=[f"!{model}" for model in UNSCHEMED],
    examples=[
        body(ASK, response_format={"type": "json_schema", "json_schema": {"name": "sum", "schema": {}}})
    ],
    counterexamples=[body(ASK, response_format={"type": "json_schema"})],
)
def a_schema_is_there(request: Request) -> Iterator[Finding]:
    """A response format of type `json_schema` has a schema."""
    format = object_of(request.body.get("response_format"))
    if format.get("type") == "json_schema":
        there, place = object_of(format.get("json_schema")).get("schema") is not None, "/response_format"
        yield met(place) if there else broken(place, "there is no schema")


@groq.rule(
    "REQ-020",
    MUST,
    REJECT,
    source="recorded refusal (llama-guard-4-12b)",
    refusal=refused("`tool calling` is not supported with this model"),
    models=["*llama-guard*"],
    examples=[body(ASK, model="meta-llama/llama-guard-4-12b")],
    counterexamples=[body(ASK, model="meta-llama/llama-guard-4-12b", tools=[TOOL])],
)
def the_guard_calls_nothing(request: Request) -> Iterator[Finding]:
    """Guard models do not accept tools."""
    yield (
        broken("/tools", "this model does not support tools") if request.body.get("tools") else met("/model")
    )


@groq.rule(
    "REQ-007",
    MUST,
    REJECT,
    source="recorded refusal (qwen-qwq-32b); other models take a list",
    refusal=refused(
        "'messages.{index}' : for 'role:assistant' the following must be "
        "satisfied[('messages.{index}.content' : value must be a string)]"
    ),
    models=["qwen-qwq*"],
    examples=[body(ASK, {"role": "assistant", "content": "5"}, ASK, model="qwen-qwq-32b")],
    counterexamples=[
        body(
            ASK, {"role": "assistant", "content": [{"type": "text", "text": "5"}]}, ASK, model="qwen-qwq-32b"
        )
    ],
)
def the_assistant_speaks_plainly(request: Request) -> Iterator[Finding]:
    """The content of an assistant message for this model is a string."""
    for index, (pointer, message) in enumerate(messages(request.body)):
        if message.get("role") == "assistant":
            listed = isinstance(message.get("content"), list)
            yield broken(f"{pointer}/content", "it is a list", index=index) if listed else met(pointer)
