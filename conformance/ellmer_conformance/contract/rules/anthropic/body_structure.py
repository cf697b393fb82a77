"""The shape of a request: required fields, optional fields, and their types; and cache breakpoints: their number, their
order, and the blocks that may carry one.

The rules have the order of the API: model, tool_choice, tools, messages, thinking, output_config, max_tokens,
temperature, then unknown keys. Rules about the conversation come later (`order.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...observed.exchange import Json, Request
from ...readers.anthropic import continues_thread, messages, tools
from ...readers.json_access import elements, items_of, object_of, read_once, words
from ...rule import Finding, broken, met
from ._refusals_and_examples import (
    ASK,
    IMAGE,
    MUST,
    REJECT,
    THREAD,
    TOOL,
    assistant,
    body,
    book,
    refused,
    result,
    use,
    user,
)
from ._turns import all_blocks

SDK = "https://github.com/anthropics/anthropic-sdk-python (types)"

BLOCKS = words(
    "advisor_tool_result bash_code_execution_tool_result code_execution_tool_result compaction connector_text "
    "container_upload document fallback image mcp_tool_listing mcp_tool_result mcp_tool_use redacted_thinking "
    "search_result server_tool_use text text_editor_code_execution_tool_result thinking tool_addition "
    "tool_reference tool_removal tool_result tool_search_tool_result tool_use web_fetch_tool_result "
    "web_search_result web_search_tool_result"
)
FOREIGN = frozenset(
    words(
        "input_text output_text input_image input_file image_url input_audio file refusal function_call "
        "function_call_output tool_call function inlineData functionCall functionResponse toolUse toolResult"
    )
)
NEEDS = {
    "document": ("source",),
    "image": ("source",),
    "redacted_thinking": ("data",),
    "text": ("text",),
    "thinking": ("thinking", "signature"),
    "tool_result": ("tool_use_id",),
    "tool_use": ("id", "name", "input"),
}
SOURCES = {"image": ("base64", "file", "url"), "document": ("base64", "content", "file", "text", "url")}


@book.rule(
    "REQ-001",
    MUST,
    REJECT,
    source=SDK,
    refusal=refused("model: Field required"),
    examples=[body(ASK)],
    counterexamples=[{"max_tokens": 5, "messages": [ASK]}],
)
def a_model_is_named(request: Request) -> Iterator[Finding]:
    """The request names a model.

    Fix: set `model` in every request.
    """
    yield met("/model") if request.model else broken("", "`model` is missing")


@book.rule(
    "REQ-002",
    MUST,
    REJECT,
    source=["recorded validation errors", SDK],
    refusal=refused("{text}"),
    examples=[body(ASK), body(thread=THREAD)],
    counterexamples=[{"model": "claude-sonnet-4-5", "max_tokens": 5}, body()],
)
def messages_are_there(request: Request) -> Iterator[Finding]:
    """The request has at least one message. One that continues a message thread may have none, to go on with a paused answer.

    Fix: send the question as a user message, beside the system prompt.
    """
    if "messages" not in request.body:
        yield broken("", "`messages` is missing", text="messages: Field required")
    else:
        none = request.body["messages"] == [] and not continues_thread(request.body)
        text = "messages: at least one message is required"
        yield broken("/messages", "there is no message", text=text) if none else met("/messages")


@book.rule(
    "REQ-003",
    MUST,
    REJECT,
    source="recorded refusal of a list of strings (claude-3-opus)",
    refusal=refused("messages.{index}: Input does not match the expected shape."),
    examples=[body(ASK)],
    counterexamples=[body("Hi")],
)
def messages_are_objects(request: Request) -> Iterator[Finding]:
    """A message is an object with a role and content.

    Fix: convert your own message objects to dictionaries before you send them.
    """
    found = request.body.get("messages")
    for index, message in enumerate(items_of(found)):
        place, right = f"/messages/{index}", isinstance(message, dict)
        yield met(place) if right else broken(place, "the message is not an object", index=index)


@book.rule(
    "REQ-005",
    MUST,
    REJECT,
    source=SDK,
    refusal=refused("messages.{index}.role: Input should be 'user', 'assistant' or 'system'"),
    formerly=[refused("messages.{index}.role: Input should be 'user' or 'assistant'")],
    examples=[body(ASK, assistant("5"), ASK)],
    counterexamples=[
        body({"role": "tool", "content": "5"}),
        body({"role": "developer", "content": "Be brief."}, ASK),
    ],
)
def roles_are_known(request: Request) -> Iterator[Finding]:
    """The role of a message is `user` or `assistant` (or `system`, on models that accept it).

    Fix: send results of tools as `user`, and the system prompt in `system`.
    """
    for index, (pointer, message) in enumerate(messages(request.body)):
        role, place = message.get("role"), f"{pointer}/role"
        if isinstance(role, str):
            fine = role in {"user", "assistant", "system"}
            yield met(place) if fine else broken(place, f"{role!r} is not a role", index=index)


@book.rule(
    "REQ-010",
    MUST,
    REJECT,
    source=SDK,
    refusal=refused("{place}: Field required"),
    examples=[body(ASK, assistant(use("toolu_1")), user(result("toolu_1")))],
    counterexamples=[
        body({"content": "Hi"}),
        body({"role": "user"}),
        body(user({"text": "Hi"})),
        body(ASK, assistant(use("toolu_1")), user({"type": "tool_result", "content": "5"})),
    ],
)
def required_fields_are_there(request: Request) -> Iterator[Finding]:
    """Messages, blocks, tool calls, tool results and thinking blocks have all their required fields.

    A system message may have no content if it only sets the effort. Fix: add the field that the error names; an
    unsigned thought cannot be sent back.
    """
    for index, (pointer, message) in enumerate(messages(request.body)):
        for key in ("role", "content"):
            fine, place = key in message or message.get("role") == "system", f"messages.{index}.{key}"
            yield met(pointer) if fine else broken(pointer, f"`{key}` is missing", place=place)
    for pointer, place, block in all_blocks(request.body):
        if "type" not in block:
            yield broken(pointer, "`type` is missing", place=f"{place.rpartition('.')[0]}.type")
        for key in NEEDS.get(str(block.get("type")), ()):
            fine = key in block
            yield met(pointer) if fine else broken(pointer, f"`{key}` is missing", place=f"{place}.{key}")


@book.rule(
    "REQ-007",
    MUST,
    REJECT,
    source="recorded refusal of an object as content (claude-3-5-haiku)",
    refusal=refused("messages.{index}.content: Input should be a valid array"),
    formerly=[refused("messages.{index}.content: Input should be a valid list")],
    examples=[body({"role": "user", "content": "Hi"})],
    counterexamples=[body({"role": "user", "content": {"type": "text", "text": "Hi"}})],
)
def content_is_text_or_a_list(request: Request) -> Iterator[Finding]:
    """Content is a string or a list of blocks.

    Fix: wrap a single block in a list.
    """
    for index, (pointer, message) in enumerate(messages(request.body)):
        content, place = message.get("content", ""), f"{pointer}/content"
        right = isinstance(content, str | list)
        problem = "the content is neither a string nor a list"
        yield met(place) if right else broken(place, problem, index=index)


@book.rule(
    "REQ-034",
    MUST,
    REJECT,
    source=SDK,
    refusal=refused("system: Input should be a valid array"),
    formerly=[refused("system: Input should be a valid list")],
    examples=[body(ASK, system="Be brief."), body(ASK, system=[{"type": "text", "text": "Be brief."}])],
    counterexamples=[body(ASK, system=None), body(ASK, system={"type": "text", "text": "Be brief."})],
)
def the_system_prompt_is_text_or_a_list(request: Request) -> Iterator[Finding]:
    """The system prompt is a string or a list of text blocks.

    Fix: leave the key out if there is no system prompt.
    """
    if "system" in request.body:
        right = isinstance(request.body["system"], str | list)
        yield met("/system") if right else broken("/system", "it is neither a string nor a list")


@book.rule(
    "REQ-009",
    MUST,
    REJECT,
    source=SDK,
    refusal=refused(
        "{place}: Input tag '{type}' found using 'type' does not match any of the expected tags: {expected}"
    ),
    examples=[body(user(IMAGE, "What is this?"))],
    counterexamples=[
        body(user({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}})),
        body(user({"type": "input_text", "text": "Hi"})),
    ],
)
def blocks_are_anthropics(request: Request) -> Iterator[Finding]:
    """The type of a block is one of Anthropic's, not one of another provider's.

    Fix: write `{"type": "image", "source": …}` for an image and `{"type": "text", …}` for text.
    """
    expected = ", ".join(f"'{name}'" for name in BLOCKS)
    for pointer, place, block in all_blocks(request.body):
        kind = block.get("type")
        wrong, where = kind in FOREIGN, place.rpartition(".")[0]
        problem = f"{kind!r} is another provider's type of block"
        facts = {"place": where, "type": kind, "expected": expected}
        yield broken(f"{pointer}/type", problem, **facts) if wrong else met(f"{pointer}/type")


@book.rule(
    "REQ-011",
    MUST,
    REJECT,
    source=["the same text is recorded, of `file` without its beta header (claude-sonnet-4-5)", SDK],
    refusal=refused(
        "{place}.source: Input tag '{type}' found using 'type' does not match any of the expected tags: {expected}"
    ),
    examples=[body(user(IMAGE))],
    counterexamples=[body(user({"type": "image", "source": {"type": "data_url", "data": ""}}))],
)
def sources_are_known(request: Request) -> Iterator[Finding]:
    """The source of media is `base64`, `url` or `file`; a document may also use `text` or `content`.

    Fix: write `{"type": "base64", "media_type": …, "data": …}` or `{"type": "url", "url": …}`.
    """
    for pointer, place, block in all_blocks(request.body):
        source = block.get("source")
        tags = SOURCES.get(str(block.get("type")))
        if tags and isinstance(source, dict) and isinstance(source.get("type"), str):
            kind = source["type"]
            fine = kind in tags
            facts = {"place": place, "type": kind, "expected": ", ".join(f"'{tag}'" for tag in tags)}
            problem = f"{kind!r} is not a type of source"
            yield met(f"{pointer}/source") if fine else broken(f"{pointer}/source", problem, **facts)


MARK: Json = {"cache_control": {"type": "ephemeral"}}
HOUR: Json = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
CACHED: Json = {"type": "text", "text": "Hi", **MARK}


@book.rule(
    "REQ-024",
    MUST,
    REJECT,
    source=[
        "https://github.com/griffinmartin/opencode-claude-auth/issues/121",
        "https://github.com/tghamm/Anthropic.SDK/issues/50",
    ],
    refusal=refused("A maximum of 4 blocks with cache_control may be provided. Found {count}."),
    examples=[body(*[user(CACHED)] * 4)],
    counterexamples=[body(*[user(CACHED)] * 3, tools=[{**TOOL, **MARK}], system=[CACHED])],
)
def cache_marks_are_few(request: Request) -> Iterator[Finding]:
    """At most four blocks of a request have `cache_control`, counted over tools, system prompt and messages.

    Fix: before you add marks, count those that the caller set, and drop the earliest ones of the messages.
    """
    places = [pointer for pointer, _, _ in _marked(request.body)]
    if places:
        few = len(places) <= 4
        yield (
            met(places[-1])
            if few
            else broken(places[4], f"{len(places)} blocks have `cache_control`", count=len(places))
        )


@book.rule(
    "REQ-026",
    MUST,
    REJECT,
    source=[
        "https://github.com/cnighswonger/claude-code-cache-fix/issues/44",
        "https://github.com/headroomlabs-ai/headroom/issues/2939",
    ],
    refusal=refused(
        "{place}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. "
        "Note that blocks are processed in the following order: `tools`, `system`, `messages`."
    ),
    examples=[body(user({**CACHED, **HOUR}, CACHED))],
    counterexamples=[
        body(user(CACHED, {**CACHED, **HOUR})),
        body(ASK, tools=[{**TOOL, **MARK}], system=[{**CACHED, **HOUR}]),
    ],
)
def long_marks_come_first(request: Request) -> Iterator[Finding]:
    """Cache breakpoints with a lifetime of one hour come before those with five minutes, in the order tools,
    system prompt, messages.

    Fix: give the tools and the system prompt the longer lifetime, or all marks the same one.
    """
    brief = False
    for pointer, place, mark in _marked(request.body):
        long = mark.get("ttl") == "1h"
        where, problem = f"{pointer}/cache_control", "an hour's mark behind one of five minutes"
        yield broken(where, problem, place=place) if long and brief else met(where)
        brief = brief or not long


@book.rule(
    "REQ-150",
    MUST,
    REJECT,
    source=[
        "https://github.com/NousResearch/hermes-agent/issues/89886 (behind a gateway)",
        "https://github.com/caozhiyuan/copilot-api/issues/241 (Claude at GitHub Copilot)",
    ],
    refusal=refused(
        "{place}.cache_control: cache_control may not be specified within `tool_result.content`. Instead, place it directly on "
        "`tool_result`"
    ),
    preview=True,
    examples=[body(ASK, assistant(use("a")), user(result("a", [{"type": "text", "text": "5"}], **MARK)))],
    counterexamples=[body(ASK, assistant(use("a")), user(result("a", [CACHED])))],
)
def results_are_cached_whole(request: Request) -> Iterator[Finding]:
    """A cache breakpoint is on a tool result itself, and not on a block in its content.

    A preview: both refusals came through other hosts, and none of Anthropic's own is on record.
    Fix: move `cache_control` from the last block to the result.
    """
    for pointer, place, block in all_blocks(request.body):
        if ".tool_result.content." in place:
            marked, where = "cache_control" in block, place.rpartition(".")[0]
            yield broken(pointer, "a breakpoint is in a result", place=where) if marked else met(pointer)


@book.rule(
    "EMP-010",
    MUST,
    REJECT,
    source=[
        "https://github.com/anthropics/claude-code/issues/54013",
        "https://github.com/anthropics/claude-code/issues/55302",
    ],
    refusal=refused("{place}: cache_control cannot be set for empty text blocks"),
    examples=[body(user(CACHED), system=[CACHED])],
    counterexamples=[body(user({**CACHED, "text": ""})), body(ASK, system=[{**CACHED, "text": ""}])],
)
def empty_text_is_not_cached(request: Request) -> Iterator[Finding]:
    """A text block with `cache_control` is not empty.

    Fix: leave out an empty system prompt, or set the breakpoint on the block before it.
    """
    for pointer, place, block in _texts(request.body):
        if block.get("cache_control") and isinstance(block.get("text"), str):
            yield met(pointer) if block["text"] else broken(pointer, "it is empty", place=f"{place}.text")


@read_once
def _marked(request: Json) -> Iterator[tuple[str, str, Json]]:
    """Yields every breakpoint in the order in which the API reads them: pointer of its block, the API's name of it,
    the breakpoint.
    """
    listed = [*tools(request), *elements(request.get("system"), "/system")]
    found = [(pointer, pointer.strip("/").replace("/", "."), block) for pointer, block in listed]
    found += [(pointer, place.rpartition(".")[0], block) for pointer, place, block in all_blocks(request)]
    for pointer, place, block in found:
        if block.get("cache_control"):
            yield pointer, place, object_of(block["cache_control"])


@read_once
def _texts(request: Json) -> Iterator[tuple[str, str, Json]]:
    """Yields the text blocks of the system prompt and of the messages: pointer, the API's name of the place,
    block.
    """
    for pointer, block in elements(request.get("system"), "/system"):
        yield pointer, pointer.strip("/").replace("/", "."), block
    for pointer, message in messages(request):
        for place, block in elements(message.get("content"), f"{pointer}/content"):
            if block.get("type") == "text":
                yield place, place.strip("/").replace("/", "."), block
