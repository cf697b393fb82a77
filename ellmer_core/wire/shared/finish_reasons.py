"""The finish reasons of each format, and which of them mark an answer as complete.

A tool call is run, and a text counts as complete, only if the provider's finish reason says so. Any other reason,
including an unknown or missing one, means that the answer was cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ...contents.content import Content
from ...contents.turns import AssistantPartialTurn, AssistantTurn

__all__ = ["ANTHROPIC", "BEDROCK", "CHAT", "COHERE", "GEMINI", "OLLAMA", "RESPONSES", "Endings", "answer"]


class Endings(NamedTuple):
    """A provider's finish reasons, each with the neutral one. `sources` are the pages that list them."""

    sources: tuple[str, ...]
    whole: Mapping[str, str]
    cut: Mapping[str, str]

    def neutral(self, reason: object) -> str | None:
        """Returns the neutral reason for a finish reason, the reason itself if it is unknown, or `None` for none."""
        if not isinstance(reason, (str, type(None))):
            raise TypeError(f"a finish reason is a string, not {reason!r:.80}")
        known = self.whole if (reason or "") in self.whole else self.cut
        return known.get(reason or "", reason or None)

    def is_whole(self, reason: object) -> bool:
        """Tells whether an answer with this finish reason is complete."""
        return isinstance(reason, (str, type(None))) and (reason or "") in self.whole

    def also(
        self, source: str, *, whole: Mapping[str, str] | None = None, cut: Mapping[str, str] | None = None
    ) -> Endings:
        """Returns the table with further finish reasons of one provider."""
        return Endings((*self.sources, source), {**self.whole, **(whole or {})}, {**self.cut, **(cut or {})})


def answer(contents: Iterable[Content], *, whole: bool, **facts: Any) -> AssistantTurn:
    """Returns the turn of an answer. It is partial unless its finish reason says that it is complete."""
    if whole:
        return AssistantTurn(contents, **facts)
    return AssistantPartialTurn(contents, reason=facts["finish_reason"] or "incomplete", **facts)


ANTHROPIC = Endings(
    ("https://docs.claude.com/en/api/handling-stop-reasons",),
    whole={
        "end_turn": "success",
        "tool_use": "tool_use",
        "stop_sequence": "stop_sequence",
        "pause_turn": "pause_turn",  # the server continues if the answer is sent back unchanged
    },
    cut={
        "max_tokens": "max_tokens",
        "refusal": "content_filter",
        "model_context_window_exceeded": "context_window",
    },
)

BEDROCK = Endings(
    ("https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html",),
    whole={"end_turn": "success", "tool_use": "tool_use", "stop_sequence": "stop_sequence"},
    cut={
        "max_tokens": "max_tokens",
        "guardrail_intervened": "content_filter",
        "content_filtered": "content_filter",
        "model_context_window_exceeded": "context_window",
        "malformed_tool_use": "error",
        "malformed_model_output": "error",
    },
)

GEMINI = Endings(
    ("https://ai.google.dev/api/generate-content#FinishReason",),
    whole={"STOP": "success"},
    cut={
        "MAX_TOKENS": "max_tokens",
        "SAFETY": "content_filter",
        "RECITATION": "content_filter",
        "BLOCKLIST": "content_filter",
        "PROHIBITED_CONTENT": "content_filter",
        "SPII": "content_filter",
        "IMAGE_SAFETY": "content_filter",
        "IMAGE_PROHIBITED_CONTENT": "content_filter",
        "IMAGE_RECITATION": "content_filter",
        "MODEL_ARMOR": "content_filter",
        "LANGUAGE": "LANGUAGE",
        "OTHER": "OTHER",
        "MALFORMED_FUNCTION_CALL": "error",
        "UNEXPECTED_TOOL_CALL": "error",
        "TOO_MANY_TOOL_CALLS": "error",
        "MISSING_THOUGHT_SIGNATURE": "MISSING_THOUGHT_SIGNATURE",
        "MALFORMED_RESPONSE": "error",
        "NO_IMAGE": "NO_IMAGE",
        "IMAGE_OTHER": "IMAGE_OTHER",
        "FINISH_REASON_UNSPECIFIED": "FINISH_REASON_UNSPECIFIED",
    },
)

#: Words that servers of Chat Completions share are here, also where OpenAI has none of them: many are reached through
#: a gateway. What only one provider says stands in the provider's file.
CHAT = Endings(
    (
        "https://developers.openai.com/api/reference/resources/chat",
        "https://huggingface.github.io/text-generation-inference/ (FinishReason: length, eos_token, stop_sequence)",
        "https://docs.mistral.ai/api/endpoint/chat (model_length)",
    ),
    whole={
        "stop": "success",
        "end_turn": "success",  # recorded behind gateways
        "eos": "success",  # Together, recorded
        "eos_token": "success",  # Text Generation Inference, recorded
        "stop_sequence": "stop_sequence",
        "tool_calls": "tool_use",
        "tool_call": "tool_use",  # Azure's other models, recorded
        "function_call": "tool_use",
    },
    cut={"length": "max_tokens", "model_length": "context_window", "content_filter": "content_filter"},
)

#: A response has a status; `incomplete_details.reason` says why it is incomplete.
RESPONSES = Endings(
    ("https://developers.openai.com/api/reference/resources/responses",),
    whole={"completed": "success"},
    cut={
        "max_output_tokens": "max_tokens",
        "content_filter": "content_filter",
        "incomplete": "incomplete",
        "failed": "failed",
        "cancelled": "cancelled",
        "in_progress": "in_progress",
        "queued": "queued",
    },
)

OLLAMA = Endings(
    ("https://github.com/ollama/ollama/blob/main/llm/server.go (DoneReason)",),
    whole={"": "success", "stop": "success"},  # servers of before May 2024 say `done` and no reason
    cut={"length": "max_tokens", "load": "load", "unload": "unload"},
)

COHERE = Endings(
    ("https://docs.cohere.com/v2/reference/chat#response.body.finish_reason",),
    whole={"COMPLETE": "success", "STOP_SEQUENCE": "stop_sequence", "TOOL_CALL": "tool_use"},
    cut={"MAX_TOKENS": "max_tokens", "ERROR": "ERROR", "TIMEOUT": "TIMEOUT"},
)
