"""Adapters that run tools when they must not, or do not run them when they must."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import replace
from typing import Any

from ellmer_conformance.scenarios.messages import Reply, Tool

from .base import BrokenAdapter


class RunsTwice(BrokenAdapter):
    """Runs each tool twice."""

    case, caught_by = "one_tool", ("PAR-005",)

    def tool(self, tool: Tool) -> Tool:
        def run(**arguments: Any) -> Any:
            tool.run(**arguments)
            return tool.run(**arguments)

        return replace(tool, run=run)


class RunsEqualCallsOnce(BrokenAdapter):
    """Runs equal calls only once."""

    case, caught_by = "equal_parallel_tools", ("PAR-005",)

    def tool(self, tool: Tool) -> Tool:
        known: dict[str, Any] = {}

        def run(**arguments: Any) -> Any:
            key = repr(arguments)
            if key not in known:
                known[key] = tool.run(**arguments)
            return known[key]

        return replace(tool, run=run)


class RunsCutCalls(BrokenAdapter):
    """Runs a call whose arguments were cut."""

    case, caught_by, mode = "cut_inside_arguments", ("STR-008",), "stream"

    def reply(self, reply: Reply) -> Reply:
        if reply.error is not None:
            self.tools[0].run(city="Paris")
        return reply


class RunsShortCalls(BrokenAdapter):
    """Runs a call that the token limit cut."""

    case, caught_by = "length_inside_arguments", ("STP-004",)
    also = ("STR-008",)
    on = ("openai-chat", "openai-responses", "anthropic")

    def reply(self, reply: Reply) -> Reply:
        self.tools[0].run(city="Paris")
        return reply


class RewritesSchemas(BrokenAdapter):
    """Makes the caller's schemas strict, in place."""

    case, caught_by = "one_tool", ("HIS-001",)

    def tool(self, tool: Tool) -> Tool:
        assert isinstance(tool.parameters, MutableMapping)
        tool.parameters["additionalProperties"] = False
        return tool
