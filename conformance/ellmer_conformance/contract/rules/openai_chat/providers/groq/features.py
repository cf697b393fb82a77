"""Groq: kinds of tools, and features that some of its models refuse."""

from __future__ import annotations

from collections.abc import Iterator

from .....exchange import Request
from .....readers.json_access import object_of
from .....readers.openai_chat import tools
from .....rule import Finding, broken, met
from .....rulebook import RuleBook
from ...._refused_features import Lack, enter
from ..._features import functions, option
from ..._rulebook import ASK, MUST, REJECT, TOOL, body
from ._rulebook import refused

#: Recorded by others, in public.
_TESTS = (
    "https://github.com/maruel/genai/blob/66b63e62283f032dc40f348b3a9885221bad394e/providers/"
    "groq/testdata/TestClient/Scoreboard/"
)
__all__ = ["add"]
_KINDS = {"function", "mcp", "browser_search", "code_interpreter"}


def add(book: RuleBook) -> None:
    """Adds the rules to Groq's book."""
    book.rule(
        "REQ-046",
        MUST,
        REJECT,
        source=(
            "recorded refusals (compound, compound-mini, gpt-oss-20b, gpt-oss-120b, llama-3.1-8b-instant)",
            f"{_TESTS}openai/gpt-oss-120b_thinking/GenSync-Tools-WebFetch.yaml",
        ),
        refusal=refused(
            "code=400, message=tools[{index}].type must be one of [function, mcp], type=invalid_request_error"
        ),
        formerly=[refused("tools[{index}].type must be one of [function, mcp]")],
        examples=[body(ASK, tools=[TOOL])],
        counterexamples=[body(ASK, tools=[{"type": "visit_website"}])],
    )(tools_are_of_a_known_kind)
    enter(book, _LACKS)


def tools_are_of_a_known_kind(request: Request) -> Iterator[Finding]:
    """A tool is a function, an MCP server, or a tool that Groq runs itself.

    Fix: enable the tools of `groq/compound` under `compound_custom`.
    """
    known = {"function", "mcp"} if request.model.startswith("groq/compound") else _KINDS
    for index, (pointer, tool) in enumerate(tools(request.body)):
        kind, place = tool.get("type"), f"{pointer}/type"
        yield met(place) if kind in known else broken(place, f"{kind!r} is not a type of tool", index=index)


_JSON = {"type": "json_object"}
_ASKED = {"role": "user", "content": "Answer in JSON."}


def _json_and_tools(request: Request) -> str | None:
    """Finds a format of the answer together with functions."""
    kind = object_of(request.body.get("response_format")).get("type")
    both = kind in {"json_object", "json_schema"} and request.body.get("tools")
    return "/response_format" if both else None


_LACKS = [
    Lack(
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
    ),
    Lack(
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
    ),
    Lack(
        "REQ-064",
        "The effort of Qwen 3 is `none` or `default`.",
        ("qwen/qwen3*",),
        refused("`reasoning_effort` must be one of `none` or `default`"),
        ("https://github.com/earendil-works/pi/issues/1745 (qwen/qwen3-32b)",),
        option("reasoning_effort", "low", "medium", "high"),
        body(ASK, model="qwen/qwen3-32b", reasoning_effort="default"),
        body(ASK, model="qwen/qwen3-32b", reasoning_effort="high"),
    ),
    Lack(
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
    ),
]
