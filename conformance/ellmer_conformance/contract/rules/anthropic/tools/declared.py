"""Declared tools, their names, and the choice among them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from fnmatch import fnmatchcase

from ....observed.exchange import Json, Request
from ....readers.anthropic import continues_thread, custom, tools
from ....readers.json_access import object_of
from ....rule import Finding, broken, met
from .._refusals_and_examples import ASK, MUST, REJECT, TOOL, body, book, refused

NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_PATTERN, _LONGEST = f"match pattern '^{NAME.pattern}$'", 128
_TOO_LONG = f"have at most {_LONGEST} characters"


@book.rule(
    "REQ-012",
    MUST,
    REJECT,
    source="https://github.com/anthropics/anthropic-sdk-python (ToolChoiceParam)",
    refusal=refused("tool_choice: {text}"),
    examples=[body(ASK, tools=[TOOL], tool_choice={"type": "any"})],
    counterexamples=[
        body(ASK, tools=[TOOL], tool_choice="auto"),
        body(ASK, tools=[TOOL], tool_choice={"type": "required"}),
    ],
)
def the_choice_is_an_object(request: Request) -> Iterator[Finding]:
    """`tool_choice` is an object of type `auto`, `any`, `tool` or `none`.

    Why: other providers use strings such as `required`. Fix: send `{"type": "any"}` to force a call.
    """
    choice, tags = request.body.get("tool_choice"), "'auto', 'any', 'tool', 'none'"
    if choice is None:
        return
    if not isinstance(choice, dict):
        yield broken("/tool_choice", "it is not an object", text="Input should be an object")
    elif f"'{choice.get('type')}'" not in tags:
        message = f"Input tag '{choice.get('type')}' found using 'type' does not match any of the expected tags: {tags}"
        yield broken(
            "/tool_choice/type", f"{choice.get('type')!r} is not a type of tool choice", text=message
        )
    else:
        yield met("/tool_choice")


#: The computer tool or text editor that a model no longer takes, by a pattern of models, and what it takes instead.
OLD_TOOLS = {
    "claude-3-7-*": ("computer_20241022", "bash_20250124, computer_20250124, text_editor_20250124"),
    "claude-opus-4-6*": ("text_editor_20250429", "bash_20250124, text_editor_20250728, web_search_20250305"),
    "claude-haiku-5-5*": ("computer_20250124", "computer_toolset_20260801"),
    "claude-sonnet-5-5*": ("computer_20251124", "computer_toolset_20260801"),
}


@book.rule(
    "REQ-127",
    MUST,
    REJECT,
    source=[
        "https://github.com/UKGovernmentBEIS/inspect_ai/issues/1418 (claude-3-7-sonnet)",
        "https://github.com/UKGovernmentBEIS/inspect_ai/issues/3179 (claude-opus-4-6)",
        "https://platform.claude.com/docs/en/models/haiku-5-5/migration-guide",
        "https://platform.claude.com/docs/en/models/sonnet-5-5/whats-new-sonnet-5-5",
    ],
    refusal=refused("'{model}' does not support tool types: {type}. Did you mean one of {instead}?"),
    models=list(OLD_TOOLS),
    providers=["anthropic", "vertex"],
    examples=[body(ASK, model="claude-sonnet-5-5", tools=[{"type": "computer_toolset_20260801"}])],
    counterexamples=[
        body(ASK, model="claude-sonnet-5-5", tools=[{"type": "computer_20251124", "name": "computer"}]),
        body(
            ASK, model="claude-3-7-sonnet-20250219", tools=[{"type": "computer_20241022", "name": "computer"}]
        ),
        body(
            ASK,
            model="claude-opus-4-6",
            tools=[{"type": "text_editor_20250429", "name": "str_replace_based_edit_tool"}],
        ),
    ],
)
def computer_tools_are_of_the_models_time(request: Request) -> Iterator[Finding]:
    """A model accepts only the computer tool and the text editor of its own generation. Sonnet and Haiku 5.5 accept only the toolset.

    Amazon Bedrock still accepts the earlier tools. Fix: choose the tool's type by the model; the error lists those that
    it takes.
    """
    old, instead = next(
        (found for models, found in OLD_TOOLS.items() if fnmatchcase(request.model, models)), ("", "")
    )
    for index, tool in enumerate(request.body.get("tools") or ()):
        type, place = object_of(tool).get("type"), f"/tools/{index}/type"
        facts = {"model": request.model, "type": type, "instead": instead}
        if isinstance(type, str) and type.startswith(("computer", "text_editor")):
            yield broken(place, f"this model does not take {type}", **facts) if type == old else met(place)


@book.rule(
    "REQ-030",
    MUST,
    REJECT,
    source="https://github.com/anthropics/anthropic-sdk-python (ToolChoiceParam)",
    preview=True,  # nothing of it can be opened
    refusal=refused("tool_choice.{type} may only be specified while providing tools."),
    formerly=[refused("tool_choice may only be specified while providing tools")],
    examples=[body(ASK, tools=[TOOL], tool_choice={"type": "any"}), body(ASK, tool_choice={"type": "none"})],
    counterexamples=[
        body(ASK, tool_choice={"type": "any"}),
        body(ASK, tools=[], tool_choice={"type": "auto"}),
    ],
)
def a_choice_has_tools(request: Request) -> Iterator[Finding]:
    """A request without tools has no `tool_choice`. The tools can be those of the message thread that it continues.

    Fix: add `tool_choice` only together with tools.
    """
    choice = object_of(request.body.get("tool_choice")).get("type")
    fine = _given(request.body) or continues_thread(request.body)
    if choice in {"auto", "any", "tool"}:
        yield met("/tool_choice") if fine else broken("/tool_choice", "no tools are declared", type=choice)


@book.rule(
    "REQ-031",
    MUST,
    REJECT,
    source="https://github.com/anthropics/anthropic-sdk-python (ToolChoiceToolParam)",
    preview=True,  # nothing of it can be opened
    refusal=refused("Tool '{name}' not found in provided tools"),
    examples=[body(ASK, tools=[TOOL], tool_choice={"type": "tool", "name": "add"})],
    counterexamples=[body(ASK, tools=[TOOL], tool_choice={"type": "tool", "name": "mul"})],
)
def the_chosen_tool_is_there(request: Request) -> Iterator[Finding]:
    """A forced tool is one of the declared tools, or belongs to a declared toolset.

    Fix: check the name against the declared tools, and raise an error that lists them.
    """
    choice = object_of(request.body.get("tool_choice"))
    declared = [tool for _, tool in tools(request.body)]
    sets = any("toolset" in str(tool.get("type")) for tool in declared) or request.body.get("mcp_servers")
    if choice.get("type") == "tool" and declared and not sets:
        name, place = choice.get("name"), "/tool_choice/name"
        fine = name in [tool.get("name") for tool in declared]
        yield met(place) if fine else broken(place, f"there is no tool {name!r}", name=name)


@book.rule(
    "REQ-032",
    MUST,
    REJECT,
    source="https://github.com/dirac-run/dirac/issues/57",
    refusal=refused(
        "tools.{index}: Input tag '{type}' found using 'type' does not match any of the expected tags: "
        "'bash_20250124', 'custom', 'text_editor_20250124', 'text_editor_20250429', 'text_editor_20250728', "
        "'web_search_20250305'"
    ),
    examples=[body(ASK, tools=[{**TOOL, "type": "custom"}])],
    counterexamples=[body(ASK, tools=[{"type": "function", "function": {"name": "add", "parameters": {}}}])],
)
def tools_are_anthropics(request: Request) -> Iterator[Finding]:
    """The `type` of a tool is one of Anthropic's or absent; it is not `function`.

    Fix: send `{"name": …, "description": …, "input_schema": …}` without another provider's wrapper.
    """
    for index, (pointer, tool) in enumerate(tools(request.body)):
        kind, place = tool.get("type"), f"{pointer}/type"
        facts = {"index": index, "type": kind}
        yield broken(place, "the type is another provider's", **facts) if kind == "function" else met(place)


@book.rule(
    "SCH-002",
    MUST,
    REJECT,
    source=[
        "https://github.com/modelcontextprotocol/modelcontextprotocol/issues/1345",
        "https://github.com/anthropics/claude-code/issues/96152 (a longer name)",
    ],
    refusal=refused("tools.{index}.custom.name: String should {rule}"),
    examples=[body(ASK, tools=[TOOL])],
    counterexamples=[
        body(ASK, tools=[{**TOOL, "name": "math.add"}]),
        body(ASK, tools=[{**TOOL, "name": ""}]),
        body(ASK, tools=[{**TOOL, "name": "a" * 129}]),
    ],
)
def names_are_plain(request: Request) -> Iterator[Finding]:
    """The name of a tool has 1 to 128 letters, digits, `_` and `-`.

    Fix: replace other characters by `_`, and map the name back when the model calls the tool.
    """
    for index, pointer, tool in custom(request.body):
        name, place = tool.get("name"), f"{pointer}/name"
        if isinstance(name, str):
            problem = f"{name!r} is not a valid name"
            rule = _TOO_LONG if len(name) > _LONGEST else _PATTERN
            yield met(place) if NAME.fullmatch(name) else broken(place, problem, index=index, rule=rule)


@book.rule(
    "SCH-010",
    MUST,
    REJECT,
    source="https://github.com/danny-avila/LibreChat/issues/13162",
    refusal=refused("tools: Tool names must be unique."),
    examples=[body(ASK, tools=[TOOL])],
    counterexamples=[body(ASK, tools=[TOOL, TOOL])],
)
def names_are_unique(request: Request) -> Iterator[Finding]:
    """Each tool has its own name.

    Fix: drop a tool that is declared twice, and rename one that another source has.
    """
    seen: set[str] = set()
    for pointer, tool in tools(request.body):
        name, place = tool.get("name"), f"{pointer}/name"
        if isinstance(name, str):
            yield broken(place, f"{name!r} occurs twice") if name in seen else met(place)
            seen.add(name)


@book.rule(
    "SCH-027",
    MUST,
    REJECT,
    source=(
        "https://github.com/langchain-ai/langmem/blob/b5dbe4aa34055face022cb4a6db153edd5826377/tests/cassettes/"
        "ed2e87ca-f890-4900-9a09-dfbc12b51964.yaml"
    ),
    refusal=refused("tools.{index}.custom.description: Input should be a valid string"),
    until=date(2025, 7, 1),  # refused in January and June 2025; the SDK of 2026 declares a null
    examples=[body(ASK, tools=[TOOL])],
    counterexamples=[body(ASK, tools=[{**TOOL, "description": None}])],
)
def a_description_was_no_null(request: Request) -> Iterator[Finding]:
    """Until the middle of 2025, the description of a tool was not null.

    Fix: leave `description` out if there is none.
    """
    for index, (pointer, tool) in enumerate(tools(request.body)):
        if "description" in tool and tool.get("type") in {None, "custom"}:
            place, null = f"{pointer}/description", tool["description"] is None
            yield broken(place, "it is null", index=index) if null else met(place)


def _given(request: Json) -> bool:
    return bool(request.get("tools") or request.get("mcp_servers"))
