"""The book of OpenAI Chat Completions (the body of its errors is in `_openai/refusals.py`), and helpers for the bodies of its examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....scenarios.messages import Turn
from ...observed.exchange import Json
from ...rule import Kind, Level
from ...rulebook import RuleBook
from .._media import PNG
from .._openai.refusals import error_body
from .._samples import FUNCTION, QUESTION, messages_of, said_in_parts

MUST, SHOULD = Level.MUST, Level.SHOULD
REJECT, LOSS = Kind.REJECT, Kind.LOSS

book = RuleBook("openai-chat", "openai", error_body(4))

ASK = QUESTION
TOOL = FUNCTION
#: Parameters of Azure's own (https://learn.microsoft.com/azure/ai-services/openai/reference-preview); `dataSources` and
#: `enhancements` are of 2023.
AZURE_KEYS = frozenset({"dataSources", "data_sources", "enhancements", "user_security_context"})
#: Recorded by others, in public.
ADAPTERS = (
    "https://github.com/withmartian/llm-adapters/blob/5c6dc2ad3f8d88187f3146b884fff18ef84ddfb5/tests/adapters"
)
IMAGE: Json = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}


def body(*messages: Any, **more: Any) -> Json:
    """Returns a request with these messages."""
    return {"model": "gpt-4.1-mini", "messages": list(messages), **more}


def call(*ids: str, **more: Any) -> Json:
    """Returns an assistant message that calls `add` once for each id."""
    calls = [
        {"id": id, "type": "function", "function": {"name": "add", "arguments": '{"x": 2, "y": 3}'}}
        for id in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls, **more}


def result(id: str, content: Any = "5") -> Json:
    """Returns a tool message."""
    return {"role": "tool", "tool_call_id": id, "content": content}


def conversation(turns: Sequence[Turn]) -> Json:
    """Returns a request with a conversation in neutral terms."""
    return body(*messages_of(turns, call, result, said_in_parts))
