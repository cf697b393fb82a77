"""The fields that a request, its messages and its blocks may have: the API refuses any other."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...observed.exchange import Json, Request
from ...readers.anthropic import custom, kept_betas, messages, tools
from ...readers.json_access import text_of, words
from ...rule import Finding, broken, met
from ...shapes.facts import root_fields
from ._refusals_and_examples import (
    ASK,
    IMAGE,
    MUST,
    REJECT,
    THOUGHT,
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

KEYS = root_fields("anthropic") | {"anthropic_beta", "anthropic_version"}
MESSAGE = frozenset(words("clear_at content output_config role"))
#: The fields of blocks that are often sent with extra fields from an answer or from another provider.
BLOCKS = {
    "image": frozenset(words("cache_control source transformations type")),
    "redacted_thinking": frozenset(words("data type")),
    "text": frozenset(words("cache_control citations text type")),
    "thinking": frozenset(words("signature thinking type")),
    "tool_result": frozenset(words("cache_control content is_error tool_use_id toolset_name type")),
    "tool_use": frozenset(words("cache_control caller id input name toolset_name type")),
}
TOOL_FIELDS = frozenset(
    words(
        "allowed_callers cache_control defer_loading description eager_input_streaming input_examples input_schema name "
        "strict type"
    )
)


@book.rule(
    "REQ-004",
    MUST,
    REJECT,
    source="https://github.com/anthropics/anthropic-sdk-python (MessageCreateParams)",
    refusal=refused("{key}: Extra inputs are not permitted"),
    examples=[body(ASK, top_k=5, stop_sequences=["."])],
    counterexamples=[body(ASK, stop=["."]), body(ASK, n=1)],
)
def keys_are_known(request: Request) -> Iterator[Finding]:
    """The request has no field that the endpoint does not know.

    Why: the API refuses a parameter of another provider instead of ignoring it. Fix: send only the parameters of this
    API, and none that were meant for another one.
    """
    for key in request.body:
        yield met(f"/{key}") if key in KEYS else broken(f"/{key}", f"`{key}` is not a parameter", key=key)


@book.rule(
    "REQ-033",
    MUST,
    REJECT,
    source=[
        "https://github.com/microsoft/autogen/issues/3034",
        "https://github.com/anthropics/claude-code/issues/14135",
    ],
    refusal=refused("{place}: Extra inputs are not permitted"),
    examples=[
        body(ASK, assistant(THOUGHT, use("a")), user(result("a"), IMAGE)),
        body(user({"type": "text", "text": "Hi", "citations": None})),
    ],
    counterexamples=[
        body({**ASK, "name": "Ann"}),
        body(ASK, {**assistant("5"), "id": "msg_1"}, ASK),
        body(ASK, assistant({**use("a"), "index": 0}), user(result("a"))),
        body(ASK, assistant(use("a")), user(result("a", name="add"))),
    ],
)
def messages_and_blocks_have_no_more(request: Request) -> Iterator[Finding]:
    """A message has only a role and content, and a block has only the fields of its type.

    Why: a client sent an answer back with extra fields. Fix: build each block from its known fields.
    """
    for index, (pointer, message) in enumerate(messages(request.body)):
        for key in message:
            place = f"messages.{index}.{key}"
            problem = f"`{key}` is not a field of a message"
            yield met(pointer) if key in MESSAGE else broken(f"{pointer}/{key}", problem, place=place)
    for pointer, name, block in all_blocks(request.body):
        for key in block.keys() - BLOCKS.get(text_of(block.get("type")), block.keys()):
            problem = f"`{key}` is not a field of such a block"
            yield broken(f"{pointer}/{key}", problem, place=f"{name}.{key}")


@book.rule(
    "REQ-035",
    MUST,
    REJECT,
    source="https://github.com/BerriAI/litellm/issues/31582",
    refusal=refused("tools.{index}.custom.{key}: Extra inputs are not permitted"),
    examples=[body(ASK, tools=[{**TOOL, "strict": False}])],
    counterexamples=[body(ASK, tools=[{**TOOL, "parameters": {}}])],
)
def tools_have_no_more(request: Request) -> Iterator[Finding]:
    """A client tool has only a name, a description, an `input_schema` and the documented options.

    Fix: build the tool anew from these fields; `parameters` of other APIs is `input_schema` here.
    """
    for index, pointer, tool in custom(request.body):
        yield met(pointer)
        for key in tool.keys() - TOOL_FIELDS:
            problem = f"`{key}` is not a field of a tool"
            yield broken(f"{pointer}/{key}", problem, index=index, key=key)


VERTEX = {"anthropic_version": "vertex-2023-10-16"}
#: Fields of beta features, and what the header that allows them contains.
BETAS = {"context_management": "", "mcp_servers": "mcp-client"}


@book.rule(
    "REQ-083",
    MUST,
    REJECT,
    source="https://github.com/anthropics/claude-code/issues/14135",
    refusal=refused("{key}: Extra inputs are not permitted"),
    examples=[body(ASK)],
    counterexamples=[
        body(ASK, **VERTEX, context_management={"edits": []}),
        body(ASK, **VERTEX, mcp_servers=[]),
    ],
)
def beta_fields_have_their_header(request: Request) -> Iterator[Finding]:
    """`context_management` and `mcp_servers` require their value in the header `anthropic-beta`.

    Fix: send `anthropic-beta: context-management-2025-06-27` or `mcp-client-2025-11-20`. A recording without the
    header `anthropic-version` is not judged. API versions after 2023-06-01 are not judged either, because no refusal
    is on record for them. If the URL is that of a beta call of an SDK (`?beta=true`), a missing header was dropped by the recorder.
    """
    if not BETAS.keys() & request.body.keys():
        yield met("")
    told = _betas_told(request)
    if told is None:
        return
    for key, name in BETAS.items():
        if request.body.get(key) is not None:
            fine = bool(told) and name in told
            yield met(f"/{key}") if fine else broken(f"/{key}", "its beta header is missing", key=key)


def _betas_told(request: Request) -> str | None:
    """Returns the betas that a request of the version with refusals on record names, or `None` if a recorder may have lost them."""
    known = request.headers.get("anthropic-version") == "2023-06-01" or "anthropic_version" in request.body
    return kept_betas(request) if known else None


COMPUTER: Json = {
    "type": "computer_20250124", "name": "computer", "display_width_px": 800, "display_height_px": 600
}  # fmt: skip


@book.rule(
    "REQ-132",
    MUST,
    REJECT,
    source=[
        "https://github.com/Arize-ai/phoenix/issues/12976",
        "https://platform.claude.com/docs/en/api/beta-headers",
    ],
    refusal=refused(
        "tools.{index}: Input tag '{type}' found using 'type' does not match any of the expected tags: "
        "'bash_20250124', 'custom', 'text_editor_20250124', 'text_editor_20250429', 'text_editor_20250728', "
        "'web_search_20250305'"
    ),
    preview=True,  # the list of tags is that of an older refusal, and recordings without the header were accepted
    examples=[
        body(
            ASK, anthropic_version="2023-06-01", tools=[COMPUTER], anthropic_beta=["computer-use-2025-01-24"]
        ),
        body(ASK, anthropic_version="2023-06-01", tools=[{"type": "computer_toolset_20260801"}]),
    ],
    counterexamples=[body(ASK, **VERTEX, tools=[COMPUTER])],
)
def computer_tools_have_their_header(request: Request) -> Iterator[Finding]:
    """A `computer_…` tool of 2024 or 2025 requires a beta for computer use in the header `anthropic-beta`.

    The toolset `computer_toolset_20260801` requires none. Fix: send `anthropic-beta: computer-use-2025-11-24`, or
    the name that belongs to the type. A recording that did not keep its headers is not judged.
    """
    told = _betas_told(request)
    for index, (pointer, tool) in enumerate(tools(request.body)):
        kind, place = str(tool.get("type")), f"{pointer}/type"
        if told is not None and re.fullmatch(r"computer_202[45]\d{4}", kind):
            facts = {"index": index, "type": kind}
            fine = "computer-use-" in told
            yield met(place) if fine else broken(place, "its beta header is missing", **facts)
