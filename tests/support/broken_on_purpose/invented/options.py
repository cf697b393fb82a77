"""Adapters that ignore or misuse the caller's options of one turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from ellmer_conformance.adapters import Capabilities
from ellmer_conformance.contract.observed.exchange import Json

from ..base import BrokenAdapter


class _Sets(BrokenAdapter):
    """An adapter that declares support for these options."""

    caught_by: ClassVar[tuple[str, ...]] = ()

    def capabilities(self, wire: str, provider: str) -> Capabilities:
        usual = super().capabilities(wire, provider)
        return replace(
            usual,
            tool_choice="native",
            stop_sequences="native",
            model_override="native",
            usage_limits="native",
        )


class ForgetsTheChoice(_Sets):
    """Does not send `tool_choice`."""

    case, caught_by = "tool_choice_required", ("OPT-004",)
    on = ("openai-chat", "openai-responses", "gemini")

    def body(self, body: Json) -> Json:
        return {name: value for name, value in body.items() if name not in {"tool_choice", "toolConfig"}}


class KeepsTheStop(_Sets):
    """Sends the stop sequences of one turn with all later turns."""

    case, caught_by, on = "stop_sequences", ("OPT-004",), ("openai-chat", "anthropic")
    kept: Json | None = None

    def body(self, body: Json) -> Json:
        found: Json = {name: body[name] for name in ("stop", "stop_sequences") if name in body}
        self.kept = found or self.kept
        return body | (self.kept or {})


class KeepsToItsModel(_Sets):
    """Ignores the model that is set for one turn."""

    case, caught_by, on = "another_model", ("OPT-002",), ("openai-chat", "openai-responses", "anthropic")

    def body(self, body: Json) -> Json:
        return body | {"model": self.endpoint.model}


class GoesOnAtTheLimit(_Sets):
    """Ignores a limit of requests that is set for one turn."""

    case, caught_by, on = "limit_of_requests", ("OPT-005",), ("openai-chat", "anthropic")

    def turn_options(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        return {name: value for name, value in options.items() if name != "requests"}
