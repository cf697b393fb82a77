"""The shape of a request: required fields, optional fields, and their types.

The rules have the order of the API: model, tool_choice, tools, messages, thinking, output_config, max_tokens,
temperature, then unknown keys. Rules about the conversation come later (`order.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...exchange import Request
from ...readers.anthropic import messages
from ...readers.json_access import items_of, words
from ...rule import Finding, broken, met
from ._rulebook import ASK, IMAGE, MUST, REJECT, assistant, body, book, refused, result, use, user
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
    """The request names a model."""
    yield met("/model") if request.model else broken("", "`model` is missing")


@book.rule(
    "REQ-002",
    MUST,
    REJECT,
    source=["recorded validation errors", SDK],
    refusal=refused("{text}"),
    examples=[body(ASK)],
    counterexamples=[{"model": "claude-sonnet-4-5", "max_tokens": 5}, body()],
)
def messages_are_there(request: Request) -> Iterator[Finding]:
    """The request has at least one message."""
    if "messages" not in request.body:
        yield broken("", "`messages` is missing", text="messages: Field required")
    else:
        none = request.body["messages"] == []
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
    """A message is an object with a role and content."""
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
    """The role of a message is `user` or `assistant` (or `system`, on models that accept it)."""
    for index, (pointer, message) in enumerate(messages(request.body)):
        role, place = message.get("role"), f"{pointer}/role"
        if isinstance(role, str):
            known = role in {"user", "assistant", "system"}
            yield met(place) if known else broken(place, f"{role!r} is not a role", index=index)


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

    System messages may lack content: one that only sets the effort has none.
    """
    for index, (pointer, message) in enumerate(messages(request.body)):
        for key in ("role", "content"):
            given, place = key in message or message.get("role") == "system", f"messages.{index}.{key}"
            yield met(pointer) if given else broken(pointer, f"`{key}` is missing", place=place)
    for pointer, place, block in all_blocks(request.body):
        if "type" not in block:
            yield broken(pointer, "`type` is missing", place=f"{place.rpartition('.')[0]}.type")
        for key in NEEDS.get(str(block.get("type")), ()):
            given = key in block
            yield met(pointer) if given else broken(pointer, f"`{key}` is missing", place=f"{place}.{key}")


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
    """Content is a string or a list of blocks."""
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
    """The source of media is `base64`, `url` or `file`; a document may also use `text` or `content`."""
    for pointer, place, block in all_blocks(request.body):
        source = block.get("source")
        tags = SOURCES.get(str(block.get("type")))
        if tags and isinstance(source, dict) and isinstance(source.get("type"), str):
            kind = source["type"]
            known = kind in tags
            facts = {"place": place, "type": kind, "expected": ", ".join(f"'{tag}'" for tag in tags)}
            problem = f"{kind!r} is not a type of source"
            yield met(f"{pointer}/source") if known else broken(f"{pointer}/source", problem, **facts)
