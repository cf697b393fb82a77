"""The tools of a recording, as they were declared, with the recorded results."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from typing import Any

from ...contract.exchange import Json, Request
from ...contract.observed_run import call_key
from ...contract.readers import gemini
from ...contract.readers.json_access import elements, object_of, text_of
from ...scenarios.messages import Tool

__all__ = ["RecordedResults", "ToolFailed", "declared"]

NO_RESULT = "ok"  # of a call at the end of a recording


class ToolFailed(Exception):
    """The recorded result says that the tool failed. The message is its text."""


class RecordedResults:
    """The results of the recorded calls, in the order of the calls."""

    def __init__(self) -> None:
        self._by_call: dict[str, deque[Any]] = defaultdict(deque)

    def add(self, name: str, arguments: Mapping[str, Any], value: Any) -> None:
        """Adds the result of a call."""
        self._by_call[call_key(name, arguments)].append(value)

    def of(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Returns the value of the next equal call. Raises ToolFailed if the tool failed."""
        left = self._by_call[call_key(name, arguments)]
        value = left.popleft() if left else NO_RESULT
        if isinstance(value, ToolFailed):
            raise value
        return value

    def tool(self, name: str, description: str, parameters: Json) -> Tool:
        """Returns the declared tool."""

        def run(**arguments: Any) -> Any:
            return self.of(name, arguments)

        return Tool(name, description, run, _as_object(parameters))


def declared(request: Request, results: RecordedResults) -> list[Tool]:
    """Returns the declared function tools of a request, in order."""
    return [results.tool(*each) for each in _declared(request) if each[0]]


def _declared(request: Request) -> Iterator[tuple[str, str, Json]]:
    body = request.body
    match request.wire:
        case "anthropic":
            found = [
                (tool, "input_schema")
                for _, tool in elements(body.get("tools"), "")
                if "input_schema" in tool
            ]
        case "bedrock":
            specs = elements(object_of(body.get("toolConfig")).get("tools"), "")
            found = [(object_of(spec.get("toolSpec")), "inputSchema") for _, spec in specs]
        case "gemini":
            found = [(tool, "parameters") for _, tool in gemini.declarations(body)]
        case "openai-responses":
            found = [
                (t, "parameters") for _, t in elements(body.get("tools"), "") if t.get("type") == "function"
            ]
        case _:
            found = [(object_of(t.get("function")), "parameters") for _, t in elements(body.get("tools"), "")]
            found += [(tool, "parameters") for _, tool in elements(body.get("functions"), "")]
    for tool, place in found:
        yield text_of(tool.get("name")), text_of(tool.get("description")), _schema(tool, place)


def _schema(tool: Json, place: str) -> Json:
    for key in ("parametersJsonSchema", "parameters_json_schema"):
        if isinstance(tool.get(key), dict):
            return object_of(tool[key])
    found = object_of(tool.get(place))
    return object_of(found.get("json")) if place == "inputSchema" else _lower(found)


def _lower(value: Any) -> Any:
    """Returns the schema with type names in lower case, as JSON Schema has them. Gemini's are in capitals."""
    if isinstance(value, list):
        return [_lower(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: each.lower() if name == "type" and isinstance(each, str) else _lower(each)
        for name, each in value.items()
    }


def _as_object(schema: Json) -> Json:
    return {"type": "object", "properties": {}, "required": []} | schema
