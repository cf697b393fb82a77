"""Adapters that describe, call or answer tools wrongly. They were invented after the rules."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

from ellmer_conformance.scenarios.messages import Tool

from ..base import BrokenAdapter

_CHAT = ("openai-chat", "anthropic")


class DropsNulls(BrokenAdapter):
    """Drops arguments that are null."""

    case, caught_by = "odd_arguments", ("PAR-005",)

    def tool(self, tool: Tool) -> Tool:
        return replace(tool, run=lambda **told: tool.run(**{k: v for k, v in told.items() if self.keeps(v)}))

    def keeps(self, value: Any) -> bool:
        """Tells whether an argument is kept."""
        return value is not None


class DropsBlanks(DropsNulls):
    """Drops arguments that are blank."""

    caught_by, on = ("PAR-005",), _CHAT

    def keeps(self, value: Any) -> bool:
        return bool(value != "")


class MakesDates(BrokenAdapter):
    """Converts strings that look like dates."""

    case, caught_by, on = "odd_arguments", ("PAR-005",), _CHAT

    def tool(self, tool: Tool) -> Tool:
        def run(**told: Any) -> Any:
            return tool.run(**told | {"date": date.fromisoformat(told["date"])})

        return replace(tool, run=run)


class DescribesNothing(BrokenAdapter):
    """Sends tools without their descriptions."""

    case, caught_by = "one_tool", ("OPT-003",)

    def tool(self, tool: Tool) -> Tool:
        return replace(tool, description="")


class WritesRepr(BrokenAdapter):
    """Sends tool values as `str()` instead of JSON."""

    gently = True
    case, caught_by = "unlike_calls", ("PAIR-030",)

    def tool(self, tool: Tool) -> Tool:
        return replace(tool, run=lambda **arguments: str(tool.run(**arguments)))


def _ascii(value: object) -> str:
    return str(value).encode("ascii", "replace").decode()


class LosesCharacters(BrokenAdapter):
    """Replaces non-ASCII characters of tool values by question marks."""

    case, caught_by = "unicode_arguments", ("PAR-004",)

    def tool(self, tool: Tool) -> Tool:
        return replace(tool, run=lambda **told: _ascii(tool.run(**told)))


class SpellsArgumentsItsWay(BrokenAdapter):
    """Passes argument names to tools in upper case."""

    case, caught_by, on = "odd_arguments", ("PAR-005",), _CHAT

    def tool(self, tool: Tool) -> Tool:
        return replace(tool, run=lambda **told: tool.run(**{k.upper(): v for k, v in told.items()}))
