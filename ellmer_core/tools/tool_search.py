"""Deferred tools: the model sees them when it has searched for them.

Where the provider has a search of its own (`Profile.tool_search`), it gets all definitions, marked. Elsewhere the model gets a
tool of ours, `search_tools`, and from the next request on the tools that it found. Which ones these are stands in the history, so
that a restored chat goes on with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..contents.content import ContentToolResult, ToolDef
from ..contents.turns import Turn
from ..errors import UsageError
from ..schemas.type_functions import type_object, type_string

__all__ = ["SEARCH", "offered", "with_search"]

SEARCH = "search_tools"
MOST = 5  # tools that one search finds
_NAMED = 50  # tools that the description names
_ENDING = re.compile(r"(?<=...)(?:ies|es|s|y|e|ing|ed)$")


@dataclass(frozen=True)
class _Search:
    """The function of `search_tools`."""

    tools: Mapping[str, ToolDef]

    def __call__(self, query: str) -> list[dict[str, str]]:
        asked = _stems(query)
        points = {name: _points(tool, asked) for name, tool in self.tools.items()}
        best = sorted((name for name, count in points.items() if count), key=lambda name: -points[name])
        return [{"name": name, "description": self.tools[name].description} for name in best[:MOST]]


def with_search(tools: Mapping[str, ToolDef]) -> Mapping[str, ToolDef]:
    """Returns the tools, and `search_tools` beside them if one of them is deferred.

    Args:
        tools: The tools by name.

    Returns:
        The tools by name.

    Raises:
        UsageError: A tool of the caller's own has that name.
    """
    deferred = {name: tool for name, tool in tools.items() if tool.deferred}
    if not deferred:
        return tools
    if SEARCH in tools:
        raise UsageError(
            f"With deferred tools, your tools cannot have the name {SEARCH!r}, because the library's search has it."
        )
    query = type_string("What the tool should do, in a few words.")
    return {
        **tools,
        SEARCH: ToolDef(_Search(deferred), SEARCH, _description(deferred), type_object(query=query)),
    }


def offered(tools: Mapping[str, ToolDef], turns: Iterable[Turn], *, native: bool) -> tuple[ToolDef, ...]:
    """Returns the tools that a request has.

    Args:
        tools: All tools by name, those of `with_search()`.
        turns: The conversation.
        native: Whether the provider searches itself.

    Returns:
        Without deferred tools, all. With a search of the provider's, all but `search_tools`. Else those that are not deferred, and
        after them those that a search found, so that a request begins as the one before.
    """
    search = tools.get(SEARCH)
    if search is None or not isinstance(search.function, _Search):
        return tuple(tools.values())
    if native:
        return tuple(tool for tool in tools.values() if tool is not search)
    found = dict.fromkeys(_found(turns))
    usual = [tool for tool in tools.values() if not tool.deferred]
    return (*usual, *(tools[name] for name in found if name in tools and tools[name].deferred))


def _found(turns: Iterable[Turn]) -> Iterable[str]:
    """Yields the names that the results of earlier searches have."""
    for turn in turns:
        for content in turn.contents:
            if isinstance(content, ContentToolResult) and content.request and content.request.name == SEARCH:
                rows = content.value if isinstance(content.value, list) else ()
                yield from (str(row.get("name")) for row in rows if isinstance(row, Mapping))


def _description(deferred: Mapping[str, ToolDef]) -> str:
    names = ", ".join(list(deferred)[:_NAMED]) + (", …" if len(deferred) > _NAMED else "")
    return f"Finds further tools by what they do. You can call those that it finds afterwards. There are: {names}."


def _points(tool: ToolDef, asked: set[str]) -> int:
    """Returns how well a tool fits: three points for a word in its name, one for each in its description and arguments."""
    other = [tool.description, *tool.arguments.properties]
    return 3 * len(asked & _stems(tool.name)) + sum(len(asked & _stems(text)) for text in other)


def _stems(text: Any) -> set[str]:
    """Returns the words of a text without their endings. `getWeather` and `get_weather` are two words."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", str(text))
    return {_ENDING.sub("", word) for word in re.findall(r"[^\W_]+", spaced.lower()) if len(word) > 2}
