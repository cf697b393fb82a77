"""Groq: a schema with its own error texts. Whether Groq pairs calls and results is not known.

https://console.groq.com/docs/api-reference
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from ....observed.exchange import Request
from ....readers.json_access import object_of, words
from ....readers.openai_chat import messages, parts, tools
from ....rule import Finding, Refusal, broken, met
from ....rulebook import NO_TOOLS, RuleBook, UnsupportedFeature, add_feature_rules
from ....shapes import Fault
from ..._shape_faults import UNRECORDED, FaultKind, Wording, problem, types_of
from ..._shape_faults import enter as enter_shape
from .._refusals_and_examples import ASK, IMAGE, MUST, REJECT, TOOL, body, call, result
from ..features import functions, option
from ._capabilities import refusing_models
from ._elsewhere import elsewhere


def wrap(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """Returns OpenAI's error body without null fields."""
    error = {
        "message": refusal.message,
        "type": refusal.type,
        "param": refusal.param,
        "code": refusal.code,
    }
    body = {"error": {key: value for key, value in error.items() if value is not None}}
    return {"content-type": "application/json"}, json.dumps(body).encode("utf-8", "backslashreplace") + b"\n"


def refused(message: str, param: str | None = None) -> Refusal:
    """Returns a refusal with the type of all request errors of Groq."""
    return Refusal(message, type="invalid_request_error", param=param)


groq = elsewhere(
    "groq",
    error_body=wrap,
    only=["STO-007"],
    without=["REQ-007", "REQ-011", "REQ-045"],
    STO_007={"source": ("https://github.com/mem0ai/mem0/pull/4161",)},
)


# --- Required and foreign fields -----------------------------------------------------------------------

FOREIGN_OPTIONS = frozenset(
    words("verbosity reasoning thinking enable_thinking top_k min_p repetition_penalty")
)
FOREIGN = {"assistant": ("status", "reasoning_content"), "user": ("tool_calls",)}


@groq.rule(
    "ORD-014",
    MUST,
    REJECT,
    source="https://github.com/hackclub/ai/issues/22",
    refusal=refused("'messages.{index}' : for 'role:tool' the following must be satisfied[({what})]"),
    examples=[body(ASK, call("a"), result("a"))],
    counterexamples=[
        body(ASK, call("a"), {"role": "tool", "content": "5"}),
        body(ASK, call("a"), {"role": "tool", "tool_call_id": "a"}),
    ],
)
def results_are_whole(request: Request) -> Iterator[Finding]:
    """A tool message has a `tool_call_id` and content.

    Fix: send the call's id, and an empty string for a result without words.
    """
    for index, (pointer, message) in enumerate(messages(request.body)):
        if message.get("role") == "tool":
            for key in ("tool_call_id", "content"):
                what = f"'messages.{index}.{key}' : property '{key}' is missing"
                fine = message.get(key) is not None
                yield (
                    met(pointer) if fine else broken(pointer, f"`{key}` is missing", index=index, what=what)
                )


@groq.rule(
    "REQ-004",
    MUST,
    REJECT,
    source=[
        "https://github.com/CherryHQ/cherry-studio/issues/11435 (verbosity)",
        "https://github.com/musistudio/llms/pull/64 (reasoning)",
        "https://github.com/chatboxai/chatbox/issues/2083 (did you mean …)",
    ],
    refusal=refused("property '{key}' is unsupported"),
    formerly=[refused("property '{key}' is unsupported, did you mean 'stop'?")],
    examples=[body(ASK, reasoning_effort="low")],
    counterexamples=[body(ASK, verbosity="low"), body(ASK, reasoning={"effort": "low"}), body(ASK, top_k=5)],
)
def there_are_no_fields_of_others(request: Request) -> Iterator[Finding]:
    """The request has no options of other providers, such as `verbosity` and `reasoning`.

    Why: Groq checks requests against a closed schema. Fix: leave out the field that the error names.
    """
    for key in request.body:
        fine = key not in FOREIGN_OPTIONS
        yield met(f"/{key}") if fine else broken(f"/{key}", f"`{key}` is not a parameter", key=key)


@groq.rule(
    "REQ-045",
    MUST,
    REJECT,
    source=[
        "https://github.com/run-llama/llama_index/issues/14701",
        "https://github.com/julep-ai/julep/issues/885",
        "https://github.com/NousResearch/hermes-agent/issues/11089 (reasoning_content)",
    ],
    refusal=refused(
        "'messages.{index}' : for 'role:{role}' the following must be "
        "satisfied[('messages.{index}' : property '{key}' is unsupported)]"
    ),
    examples=[body(ASK, call("a"), result("a"))],
    counterexamples=[
        body(ASK, {"role": "assistant", "content": "5", "status": "completed"}, ASK),
        body(ASK, {"role": "assistant", "content": "5", "reasoning_content": "2 + 3 …"}, ASK),
        body({**ASK, "tool_calls": []}),
    ],
)
def messages_have_no_fields_of_others(request: Request) -> Iterator[Finding]:
    """An assistant message has no `status` and no `reasoning_content`, and a user message has no `tool_calls`.

    Why: Groq checks messages against a closed schema. Fix: send only the fields of the format, and do not
    send whole answers back.
    """
    for index, (pointer, message) in enumerate(messages(request.body)):
        role = message.get("role")
        for key in FOREIGN.get(str(role), ()):
            facts = {"index": index, "role": role, "key": key}
            problem, foreign = f"`{key}` is none of its fields", message.get(key) is not None
            yield broken(f"{pointer}/{key}", problem, **facts) if foreign else met(pointer)


# --- Models --------------------------------------------------------------------------------------------

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
    """A text model does not accept images.

    Fix: raise an error that names the model, or write a text in the image's place.
    """
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
    """The smaller models do not support the response format `json_schema`.

    Fix: use `json_object`, and describe the schema in the prompt.
    """
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
    """A response format of type `json_schema` has a schema.

    Fix: write `"json_schema": {"name": …, "schema": …}`.
    """
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
    """Guard models do not accept tools.

    Fix: leave `tools` out for these models.
    """
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
    """The content of an assistant message for this model is a string.

    Fix: join the texts of an assistant message to one string.
    """
    for index, (pointer, message) in enumerate(messages(request.body)):
        if message.get("role") == "assistant":
            listed = isinstance(message.get("content"), list)
            yield broken(f"{pointer}/content", "it is a list", index=index) if listed else met(pointer)


# --- Shape faults --------------------------------------------------------------------------------------


def _say(fault: Fault, request: Request) -> Mapping[str, str]:
    """Returns a sentence about a place. An error in a message names its role."""
    place = ".".join(str(step) for step in fault.path)
    match fault.kind:
        case FaultKind.UNKNOWN_FIELD:
            text = f"property '{fault.key}' is unsupported"
            place = place.rpartition(".")[0]
        case FaultKind.MISSING_FIELD:
            text, place = f"property '{fault.key}' is missing", f"{place}.{fault.key}".strip(".")
        case FaultKind.WRONG_TYPE:
            text = f"value must be {_kinds(fault)}"
        case _:
            text = f"{problem(fault)}{UNRECORDED}"
    sentence = f"'{place}' : {text}" if place else text
    if len(fault.path) > 2 and fault.path[0] == "messages" and isinstance(fault.path[1], int):
        index, role = fault.path[1], request.body["messages"][fault.path[1]].get("role")
        sentence = f"'messages.{index}' : for 'role:{role}' the following must be satisfied[({sentence})]"
    return {"text": sentence}


def _kinds(fault: Fault) -> str:
    return " or ".join(f"{'an' if name[0] in 'aio' else 'a'} {name}" for name in types_of(fault.expected))


enter_shape(
    groq,
    Wording(
        "groq",
        _say,
        dict.fromkeys(FaultKind, refused("{text}")),
        body(ASK, call("a"), result("a"), tools=[TOOL]),
        {
            FaultKind.UNKNOWN_FIELD: [body(ASK, store_all=True), body({**ASK, "timestamp": 5})],
            FaultKind.MISSING_FIELD: [body({"role": "user"})],
            FaultKind.WRONG_TYPE: [body(ASK, temperature="hot"), body({"role": "user", "content": 5})],
            FaultKind.WRONG_VARIANT: [body({"role": "bogus", "content": "Hi"})],
            FaultKind.UNKNOWN_VALUE: [body(ASK, reasoning_effort="bogus")],
        },
    ),
)


# --- Kinds of tools, and features that some models refuse ----------------------------------------------

#: Recorded by others, in public.
_TESTS = (
    "https://github.com/maruel/genai/blob/66b63e62283f032dc40f348b3a9885221bad394e/providers/"
    "groq/testdata/TestClient/Scoreboard/"
)
_KINDS = {"function", "mcp", "browser_search", "code_interpreter"}
#: The models without Groq's own tools, as recorded.
_WITHOUT_OWN = (
    "groq/compound",
    "deepseek-r1-distill-llama",
    "llama-3.",
    "meta-llama/llama-4",
    "moonshotai/kimi-k2",
    "qwen/qwen3-32b",
)


def add(book: RuleBook) -> None:
    """Adds the rules to Groq's book."""
    book.rule(
        "REQ-046",
        MUST,
        REJECT,
        source=(
            "recorded refusals (compound, compound-mini, gpt-oss-20b, gpt-oss-120b, llama-3.1-8b-instant)",
            f"{_TESTS}openai/gpt-oss-120b_thinking/GenSync-Tools-WebFetch.yaml",
            (
                "https://github.com/maruel/genai/blob/ee139845ad740677523c985de99551c2881d3a18/providers/groq/testdata/"
                "TestClient/Scoreboard/qwen/qwen3-32b_thinking/GenSync-Tools-WebSearch.yaml"
            ),
        ),
        refusal=refused(
            "code=400, message=tools[{index}].type must be one of [function, mcp], type=invalid_request_error"
        ),
        formerly=[refused("tools[{index}].type must be one of [function, mcp]")],
        examples=[body(ASK, tools=[TOOL])],
        counterexamples=[
            body(ASK, tools=[{"type": "visit_website"}]),
            body(ASK, model="qwen/qwen3-32b", tools=[{"type": "browser_search"}]),
        ],
    )(tools_are_of_a_known_kind)
    add_feature_rules(book, _UNSUPPORTED)


def tools_are_of_a_known_kind(request: Request) -> Iterator[Finding]:
    """A tool is a function, an MCP server, or a tool that Groq runs itself.

    Fix: enable the tools of `groq/compound` under `compound_custom`.
    """
    kinds = {"function", "mcp"} if request.model.startswith(_WITHOUT_OWN) else _KINDS
    for index, (pointer, tool) in enumerate(tools(request.body)):
        kind, place = tool.get("type"), f"{pointer}/type"
        yield met(place) if kind in kinds else broken(place, f"{kind!r} is not a type of tool", index=index)


_JSON = {"type": "json_object"}
_ASKED = {"role": "user", "content": "Answer in JSON."}


def _json_and_tools(request: Request) -> str | None:
    """Finds a format of the answer together with functions."""
    kind = object_of(request.body.get("response_format")).get("type")
    both = kind in {"json_object", "json_schema"} and request.body.get("tools")
    return "/response_format" if both else None


_UNSUPPORTED = [
    UnsupportedFeature(
        "STO-018",
        "A request has tools or a JSON response format, not both.",
        ("!groq/compound*",),
        refused("json mode cannot be combined with tool/function calling"),
        (
            "https://github.com/vercel/ai/pull/16540",
            "https://github.com/agno-agi/agno/issues/1065 (the earlier text)",
        ),
        _json_and_tools,
        body(_ASKED, model="openai/gpt-oss-20b", tools=[TOOL]),
        body(_ASKED, model="openai/gpt-oss-20b", tools=[TOOL], response_format=_JSON),
        (refused("response_format` json_object cannot be combined with tool/function calling"),),
        fix="ask for the JSON in a request of its own, without tools.",
    ),
    UnsupportedFeature(
        "REQ-063",
        "A reasoning effort is sent only to reasoning models.",
        ("llama-3.1-*", "llama-3.3-*", "llama3*", "meta-llama/llama-4*", "gemma*"),
        refused("`reasoning_effort` is not supported with this model"),
        (
            "https://github.com/iamsrikanthnani/pluely/issues/242 (llama-3.1-8b-instant)",
            "https://github.com/brendanlong/lion-reader/pull/1325 (llama-4-scout)",
        ),
        option("reasoning_effort"),
        body(ASK, model="llama-3.1-8b-instant"),
        body(ASK, model="llama-3.1-8b-instant", reasoning_effort="low"),
        fix="leave `reasoning_effort` out for these models.",
    ),
    UnsupportedFeature(
        "REQ-064",
        "The effort of Qwen 3 is `none` or `default`.",
        ("qwen/qwen3*",),
        refused("`reasoning_effort` must be one of `none` or `default`"),
        ("https://github.com/earendil-works/pi/issues/1745 (qwen/qwen3-32b)",),
        option("reasoning_effort", "low", "medium", "high"),
        body(ASK, model="qwen/qwen3-32b", reasoning_effort="default"),
        body(ASK, model="qwen/qwen3-32b", reasoning_effort="high"),
        fix="map `low`, `medium` and `high` to `default`.",
    ),
    UnsupportedFeature(
        "REQ-047",
        "Groq's compound systems do not accept functions.",
        ("groq/compound*",),
        refused("`tool calling` is not supported with this model", "tool calling"),
        (
            "recorded refusal (groq/compound)",
            f"{_TESTS}groq/compound_thinking/GenSync-Tools-SquareRoot-1.yaml",
        ),
        functions(),
        body(ASK, model="groq/compound"),
        body(ASK, model="groq/compound", tools=[TOOL]),
        fix=NO_TOOLS,
    ),
]


add(groq)
