"""DeepSeek: OpenAI's pairing rules with other error texts, text only, and reasoning that must be sent back.

https://api-docs.deepseek.com
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import date

from ....observed.exchange import Json, Request
from ....readers.json_access import object_of
from ....readers.openai_chat import calls_of, messages, parts, tools
from ....rule import Finding, Refusal, broken, met
from ..._openai.refusals import error_body
from .._refusals_and_examples import ASK, IMAGE, MUST, REJECT, TOOL, body, call, result
from ..tools_and_options import json_mode_is_asked_for
from ._elsewhere import elsewhere


def refused(message: str, status: int = 400) -> Refusal:
    """Returns a refusal of DeepSeek, whose code is its type."""
    return Refusal(message, status, type="invalid_request_error", code="invalid_request_error")


def wrap(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """Returns JSON like OpenAI's, or plain text if the body was not readable."""
    if refusal.status == 422:
        return {"content-type": "text/plain; charset=utf-8"}, refusal.message.encode(
            "utf-8", "backslashreplace"
        )
    headers, body = error_body(None)(refusal)
    return headers, body


def unknown_role(roles: str, status: int = 400) -> Refusal:
    place = f"messages[{{index}}].role: unknown variant `{{role}}`, expected one of {roles}"
    return refused(
        f"Failed to deserialize the JSON body into the target type: {place} at line 1 column {{column}}",
        status,
    )


def column(request: Json, kind: str, key: str = "type") -> int:
    """Returns the column in the compact body where its parser stops: after the type, or the role."""
    text, found = json.dumps(request, separators=(",", ":")), f'"{key}":"{kind}"'
    return text.find(found) + len(found)


UNANSWERED = refused(
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "(insufficient tool messages following tool_calls message)"
)
NEEDED = {"refusal": UNANSWERED, "source": ("https://github.com/agno-agi/agno/issues/3105",)}
deepseek = elsewhere(
    "deepseek",
    error_body=wrap,
    only=["PAIR-001", "PAIR-002", "PAIR-013", "ORD-002", "ORD-003"],
    without=["IMG-037", "REQ-005", "REQ-007", "STO-001", "STO-007"],
    PAIR_001=NEEDED,
    ORD_002=NEEDED,
    ORD_003=NEEDED,
    PAIR_002={
        "refusal": refused(
            "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
        ),
        "source": ("https://github.com/FoundationAgents/OpenManus/issues/744",),
    },
    PAIR_013={
        "refusal": refused("Duplicate value for 'tool_call_id' of {id} in message[{index}]"),
        "source": (
            "https://github.com/craft-ai-agents/craft-agents-oss/issues/621",
            "https://github.com/craft-ai-agents/craft-agents-oss/issues/630",
        ),
    },
)


# --- Messages ------------------------------------------------------------------------------------------


@deepseek.rule(
    "REQ-007",
    MUST,
    REJECT,
    source="recorded refusal of an object as content (deepseek-chat)",
    refusal=refused(
        "Failed to deserialize the JSON body into the target type: messages[{index}]: data did not match any variant "
        "of untagged enum ChatCompletionRequestContent at line 1 column 96",
        status=422,
    ),
    examples=[body(ASK, model="deepseek-chat")],
    counterexamples=[body({"role": "user", "content": {"type": "text"}}, model="deepseek-chat")],
)
def content_is_text_or_a_list(request: Request) -> Iterator[Finding]:
    """Content is a string or a list of parts.

    Fix: wrap a single part in a list.
    """
    for index, (pointer, message) in enumerate(messages(request.body)):
        right, place = isinstance(message.get("content", ""), str | list | None), f"{pointer}/content"
        yield (
            met(place) if right else broken(place, "the content is neither a string nor a list", index=index)
        )


_JSON_TYPES = {"string", "number", "integer", "boolean", "object", "array", "null"}


def _typed(kind: str) -> Json:
    parameters: Json = {"type": "object", "properties": {"site": {"type": kind}}}
    return {"type": "function", "function": {"name": "fetch", "parameters": parameters}}


_ROLES = "`system`, `user`, `assistant`, `tool`"


@deepseek.rule(
    "REQ-005",
    MUST,
    REJECT,
    source=[
        "https://github.com/decolua/9router/issues/773 (deepseek-v4-pro)",
        "https://github.com/losesky/ai-auto-trading/issues/14 (deepseek-chat)",
        "https://github.com/eclipse-theia/theia/issues/15144 (2025)",
    ],
    refusal=unknown_role(f"{_ROLES}, `latest_reminder`"),
    formerly=[unknown_role(_ROLES), unknown_role(_ROLES, 422)],
    examples=[body({"role": "system", "content": "Be brief."}, ASK, model="deepseek-chat")],
    counterexamples=[body({"role": "developer", "content": "Be brief."}, ASK, model="deepseek-chat")],
)
def roles_are_known(request: Request) -> Iterator[Finding]:
    """The role of a message is `system`, `user`, `assistant` or `tool`, not `developer`.

    Fix: send the role `system` instead of `developer`.
    """
    for index, (pointer, message) in enumerate(messages(request.body)):
        role, place = message.get("role"), f"{pointer}/role"
        fine = role in {"system", "user", "assistant", "tool", "latest_reminder"}
        facts = {
            "index": index,
            "role": role,
            "column": 0 if fine else column(request.body, str(role), "role"),
        }
        yield met(place) if fine else broken(place, f"{role!r} is not a role", **facts)


@deepseek.rule(
    "SCH-029",
    MUST,
    REJECT,
    source=(
        "https://github.com/scald/ruby_llm-mcp/blob/56384bb808c6550c16389a12b3000c469e412d02/spec/fixtures/vcr_cassettes/"
        "with_stdio_with_deepseek_deepseek-chat_with_tool_can_you_a_complex_tool.yml"
    ),
    refusal=refused(
        "Invalid schema for function '{name}': \"{type}\" is not valid under any of the schemas listed in the 'anyOf' keyword"
    ),
    examples=[body(ASK, tools=[TOOL], model="deepseek-chat")],
    counterexamples=[body(ASK, tools=[_typed("union")], model="deepseek-chat")],
)
def properties_have_a_type_of_json(request: Request) -> Iterator[Finding]:
    """The type of a parameter is one of JSON Schema's.

    Fix: map other names, such as `int` or `float`, to `integer` or `number`.
    """
    for pointer, tool in tools(request.body):
        function = object_of(tool.get("function"))
        properties = object_of(object_of(function.get("parameters")).get("properties"))
        place = f"{pointer}/function/parameters/properties"
        for schema in properties.values():
            kind = object_of(schema).get("type")
            if isinstance(kind, str):
                facts = {"name": function.get("name"), "type": kind}
                yield met(place) if kind in _JSON_TYPES else broken(place, f"{kind!r} is not a type", **facts)


#: V4.1 Flash, which takes images, answers for the name of V4 Flash since this day, and four days later for V4 Pro's:
#: https://api-docs.deepseek.com/guides/vision.md
SEES = date(2026, 9, 10)


@deepseek.rule(
    "IMG-013",
    MUST,
    REJECT,
    source="recorded refusals of `image_url`, `file`, `input_audio` and `video_url` (deepseek-v4-flash)",
    refusal=refused(
        "Failed to deserialize the JSON body into the target type: messages[{index}]: unknown variant `{type}`, "
        "expected `text` at line 1 column {column}"
    ),
    models=["deepseek-v4*", "deepseek-chat", "deepseek-reasoner", "!*vision*"],
    examples=[body({"role": "user", "content": [{"type": "text", "text": "Hi"}]}, model="deepseek-chat")],
    counterexamples=[
        body({"role": "user", "content": [IMAGE]}, model="deepseek-chat"),
        body(ASK, call("a"), result("a", [IMAGE]), model="deepseek-chat"),
    ],
)
def parts_are_text(request: Request) -> Iterator[Finding]:
    """Until V4.1 Flash, every content part is text.

    Since 10 September 2026, V4.1 Flash answers to `deepseek-flash` and to the earlier names, and takes images. Fix: describe the content in words.
    """
    # What has no day is judged as V4, whose refusals are on record without one.
    later = request.when is not None and request.when >= SEES
    if request.model.startswith("deepseek-v4") and later:
        return
    for index, (pointer, message) in enumerate(messages(request.body)):
        for place, part in parts(message, pointer):
            kind = part.get("type")
            if isinstance(kind, str) and kind != "text":
                facts = {"index": index, "type": kind, "column": column(request.body, kind)}
                yield broken(place, f"a message has a part of type {kind}", **facts)
            else:
                yield met(place)


@deepseek.rule(
    "IMG-037",
    MUST,
    REJECT,
    source="https://github.com/danny-avila/LibreChat/issues/16235 (deepseek-flash)",
    refusal=refused(".messages[{index}]: file must have a file_id or file_data"),
    models=["deepseek-flash"],
    examples=[
        body(
            {"role": "user", "content": [{"type": "file", "file": {"file_id": "file-1"}}]},
            model="deepseek-flash",
        )
    ],
    counterexamples=[
        body(
            {"role": "user", "content": [{"type": "file", "file": {"filename": "a.png"}}]},
            model="deepseek-flash",
        )
    ],
)
def files_are_sent(request: Request) -> Iterator[Finding]:
    """A file part has a `file_id` or `file_data`.

    Fix: upload the file and send its id, or send its bytes as a data URL.
    """
    for index, (pointer, message) in enumerate(messages(request.body)):
        for place, part in parts(message, pointer):
            if part.get("type") == "file":
                keys = part.keys() | object_of(part.get("file")).keys()
                fine = not keys.isdisjoint({"file_id", "file_data"})
                yield met(place) if fine else broken(place, "a file has neither an id nor data", index=index)


# --- Thinking ------------------------------------------------------------------------------------------

THINKS_BY_DEFAULT = ("deepseek-v4", "deepseek-flash")


@deepseek.rule(
    "THK-005",
    MUST,
    REJECT,
    source=[
        "https://github.com/earendil-works/pi/issues/3636",
        "https://github.com/BigPizzaV3/CodexPlusPlus/issues/252",
        "https://github.com/SaladDay/cc-switch-cli/issues/170 (deepseek-v4-pro, which thinks unless told not to)",
        "https://github.com/duolahypercho/codex-router/pull/680 (deepseek-flash)",
        "https://api-docs.deepseek.com/guides/thinking_mode",
    ],
    refusal=refused("The `reasoning_content` in the thinking mode must be passed back to the API."),
    formerly=[
        refused(
            "Missing `reasoning_content` field in the assistant message at message index {index}. For more information, please "
            "refer to https://api-docs.deepseek.com/guides/thinking_mode#tool-calls"
        )
    ],
    models=["deepseek-v4*", "deepseek-flash", "deepseek-chat", "deepseek-reasoner"],
    examples=[
        body(
            ASK,
            call("a", reasoning_content=""),
            result("a"),
            thinking={"type": "enabled"},
            model="deepseek-v4-pro",
        )
    ],
    counterexamples=[
        body(ASK, call("a"), result("a"), thinking={"type": "enabled"}, model="deepseek-v4-pro"),
        body(ASK, call("a"), result("a"), model="deepseek-v4-flash"),
        body(ASK, call("a"), result("a"), model="deepseek-flash"),
    ],
)
def thoughts_come_back(request: Request) -> Iterator[Finding]:
    """With thinking enabled, an assistant message with tool calls has its `reasoning_content`, which may be empty.

    V4 and later think by default. Before V4, the reasoning of earlier user turns was not required. Fix: keep
    `reasoning_content` of each answer with calls, and send it back as a field of that message.
    """
    if _thinks(request):
        found = list(messages(request.body))
        asked = [i for i, (_, message) in enumerate(found) if message.get("role") == "user"]
        start = 0 if request.model.startswith(THINKS_BY_DEFAULT) else max(asked, default=0)
        for index, (pointer, message) in enumerate(found[start:], start):
            if calls_of(message):
                there = "reasoning_content" in message
                yield (
                    met(pointer) if there else broken(pointer, "`reasoning_content` is missing", index=index)
                )


@deepseek.rule(
    "THK-011",
    MUST,
    REJECT,
    source=[
        "recorded refusals (deepseek-v4-flash; deepseek-v4-pro, which thinks unless told not to)",
        "https://github.com/deepseek-ai/DeepSeek-V3/issues/1376 (both, by default)",
        "https://github.com/pydantic/pydantic-ai/pull/8380 (deepseek-flash, by default)",
    ],
    refusal=refused("Thinking mode does not support this tool_choice"),
    examples=[
        body(ASK, tools=[TOOL], tool_choice="auto", thinking={"type": "enabled"}, model="deepseek-v4-pro")
    ],
    counterexamples=[
        body(
            ASK, tools=[TOOL], tool_choice="required", thinking={"type": "enabled"}, model="deepseek-v4-pro"
        ),
        body(ASK, tools=[TOOL], tool_choice="required", model="deepseek-v4-flash"),
        body(ASK, tools=[TOOL], tool_choice="required", model="deepseek-flash"),
    ],
)
def thinking_is_not_forced_to_call(request: Request) -> Iterator[Finding]:
    """With thinking enabled, `tool_choice` does not force a tool.

    Fix: send `auto`, or disable thinking for this request.
    """
    if _thinks(request):
        choice = request.body.get("tool_choice")
        forced = choice == "required" or isinstance(choice, dict)
        yield broken("/tool_choice", "`tool_choice` forces a call") if forced else met("/thinking")


@deepseek.rule(
    "REQ-026",
    MUST,
    REJECT,
    source="recorded refusals of `logprobs` and a forced call (deepseek-reasoner)",
    refusal=refused("deepseek-reasoner does not support {what}"),
    models=["deepseek-reasoner"],
    examples=[body(ASK, model="deepseek-reasoner")],
    counterexamples=[
        body(ASK, logprobs=True, model="deepseek-reasoner"),
        body(ASK, tools=[TOOL], tool_choice="required", model="deepseek-reasoner"),
    ],
)
def the_reasoner_takes_less(request: Request) -> Iterator[Finding]:
    """The reasoner model does not accept log probabilities or a forced tool call.

    Fix: leave these options out for this model.
    """
    choice = request.body.get("tool_choice")
    if request.body.get("logprobs"):
        yield broken(
            "/logprobs", "this model does not support log probabilities", what="the parameter `logprobs`"
        )
    elif choice == "required" or isinstance(choice, dict):
        yield broken("/tool_choice", "`tool_choice` forces a call", what="this tool_choice")
    else:
        yield met("/model")


_MOST = 393216
_MOST_BEFORE_V4 = {"deepseek-chat": 8192, "deepseek-reasoner": 65536}
_V4 = date(2026, 4, 24)


@deepseek.rule(
    "REQ-065",
    MUST,
    REJECT,
    source=[
        "https://github.com/MoonshotAI/kimi-code/issues/509 (deepseek-v4-pro)",
        "https://github.com/MoonshotAI/kimi-code/issues/2656 (deepseek-v4-flash)",
        "https://github.com/Gitlawb/openclaude/issues/35 (deepseek-chat, before V4)",
        "https://github.com/Aider-AI/aider/pull/4125 (deepseek-reasoner, before V4)",
    ],
    refusal=refused("Invalid max_tokens value, the valid range of max_tokens is [1, {most}]"),
    models=["deepseek-v4*", "deepseek-chat", "deepseek-reasoner"],
    examples=[body(ASK, max_tokens=_MOST, model="deepseek-v4-pro")],
    counterexamples=[
        body(ASK, max_tokens=_MOST + 1, model="deepseek-v4-pro"),
        body(ASK, max_tokens=0, model="deepseek-chat"),
    ],
)
def the_token_limit_is_one_the_model_has(request: Request) -> Iterator[Finding]:
    """`max_tokens` is at least 1, and at most the output limit of the model.

    Before V4, the limit was 8192 tokens for `deepseek-chat`, and 65536 for `deepseek-reasoner`. Fix: lower `max_tokens`, or leave it out.
    """
    limit, place = request.body.get("max_tokens"), "/max_tokens"
    before = request.when is not None and request.when < _V4
    most = _MOST_BEFORE_V4.get(request.model, _MOST) if before else _MOST
    if isinstance(limit, int):
        fine = 1 <= limit <= most
        yield met(place) if fine else broken(place, f"it is {limit}, and not from 1 to {most}", most=most)


def _told_to_think(request: Request) -> bool:
    return object_of(request.body.get("thinking")).get("type") == "enabled"


def _thinks(request: Request) -> bool:
    """Tells whether thinking is enabled."""
    untold = request.body.get("thinking") is None and request.body.get("reasoning_effort") != "none"
    return _told_to_think(request) or (untold and request.model.startswith(THINKS_BY_DEFAULT))


# --- The format of the answer --------------------------------------------------------------------------

JSON: Json = {"role": "user", "content": "Answer in JSON."}


@deepseek.rule(
    "STO-001",
    MUST,
    REJECT,
    source=[
        "https://github.com/ItzCrazyKns/Vane/issues/969",
        "https://github.com/llm-exe/llm-exe/issues/662",
    ],
    refusal=refused("This response_format type is unavailable now"),
    examples=[body(JSON, response_format={"type": "json_object"}, model="deepseek-chat")],
    counterexamples=[
        body(ASK, response_format={"type": "json_schema", "json_schema": {}}, model="deepseek-chat")
    ],
)
def answers_have_no_schema(request: Request) -> Iterator[Finding]:
    """The response format is `text` or `json_object`.

    Fix: put the schema into the prompt, or into a tool.
    """
    kind, place = object_of(request.body.get("response_format")).get("type"), "/response_format"
    if kind is not None:
        yield broken(place, "there is no json_schema here") if kind == "json_schema" else met(place)


deepseek.rule(
    "STO-007",
    MUST,
    REJECT,
    source="https://github.com/browserbase/stagehand/issues/1204",
    refusal=refused(
        "Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'."
    ),
    examples=[body(JSON, response_format={"type": "json_object"}, model="deepseek-chat")],
    counterexamples=[body(ASK, response_format={"type": "json_object"}, model="deepseek-chat")],
)(json_mode_is_asked_for)
