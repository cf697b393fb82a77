"""Tools that OpenAI runs: models that lack them or require them, and the choice of one."""

from __future__ import annotations

from collections.abc import Iterator

from ...exchange import Request
from ...readers import openai_responses as wire
from ...readers.json_access import object_of
from ...rule import Finding, broken, met
from .._openai.refusals import refused
from ._rulebook import ASK, MUST, REJECT, TOOL, body, book

HOSTED = ("web_search", "web_search_preview", "file_search", "image_generation", "code_interpreter")


@book.rule(
    "REQ-020",
    MUST,
    REJECT,
    source="recorded refusal (gpt-4)",
    refusal=refused("Hosted tool '{type}' is not supported with {model}.", param="tools"),
    models=["gpt-4", "gpt-4-0613"],
    examples=[body(ASK, model="gpt-4", tools=[TOOL])],
    counterexamples=[body(ASK, model="gpt-4", tools=[{"type": "file_search", "vector_store_ids": ["vs_1"]}])],
)
def old_models_have_no_hosted_tools(request: Request) -> Iterator[Finding]:
    """The first GPT-4 does not support hosted tools."""
    for pointer, tool in wire.tools(request.body):
        kind = tool.get("type")
        hosted = kind == "file_search"
        problem = f"this model has no {kind}"
        yield broken(pointer, problem, type=kind, model=request.model) if hosted else met(pointer)


@book.rule(
    "REQ-021",
    MUST,
    REJECT,
    source="recorded refusals (o3-deep-research)",
    refusal=refused("{text}", param="tools"),
    models=["*-deep-research*"],
    examples=[body(ASK, model="o3-deep-research", tools=[{"type": "web_search_preview"}])],
    counterexamples=[
        body(ASK, model="o3-deep-research"),
        body(ASK, model="o3-deep-research", tools=[{"type": "web_search_preview"}, TOOL]),
    ],
)
def research_has_sources(request: Request) -> Iterator[Finding]:
    """A request to a deep research model has a search tool and no client tools."""
    kinds = [str(tool.get("type")) for _, tool in wire.tools(request.body)]
    sources = ("web_search", "mcp", "file_search")
    if any(not kind.startswith((*sources, "code_interpreter")) for kind in kinds):
        only = "'web_search_preview', 'code_interpreter', 'mcp', and 'file_search'"
        yield broken(
            "/tools", "a tool of another kind", text=f"Deep research models only support the {only} tools."
        )
    elif not any(kind.startswith(sources) for kind in kinds):
        one = "'web_search_preview', 'mcp', or 'file_search'"
        text = f"Deep research models require at least one of {one} tools."
        yield broken("/tools", "nothing to search with", text=text)
    else:
        yield met("/tools")


@book.rule(
    "REQ-044",
    MUST,
    REJECT,
    source=[
        "https://github.com/Wei-Shaw/sub2api/issues/4767",
        "https://github.com/router-for-me/CLIProxyAPI/issues/3036",
    ],
    refusal=refused("Tool choice '{type}' not found in 'tools' parameter.", param="tool_choice"),
    examples=[body(ASK, tools=[{"type": "web_search"}], tool_choice={"type": "web_search"})],
    counterexamples=[body(ASK, tools=[TOOL], tool_choice={"type": "image_generation"})],
)
def what_is_chosen_is_there(request: Request) -> Iterator[Finding]:
    """A hosted tool in `tool_choice` is one of the declared tools.

    A stored prompt may have tools of its own; such requests are not judged.
    """
    kind = object_of(request.body.get("tool_choice")).get("type")
    if kind in HOSTED and not request.body.get("prompt"):
        family = str(kind).partition("_preview")[0]
        there = any(str(tool.get("type")).startswith(family) for _, tool in wire.tools(request.body))
        yield met("/tool_choice") if there else broken("/tool_choice", f"no tool is {kind}", type=kind)
