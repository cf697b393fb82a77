"""The rules that DeepSeek shares with OpenAI, with other error texts."""

from __future__ import annotations

from .._elsewhere import elsewhere
from ._refusals import refused, wrap

UNANSWERED = refused(
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "(insufficient tool messages following tool_calls message)"
)
NEEDED = {"refusal": UNANSWERED, "source": ("https://github.com/agno-agi/agno/issues/3105",)}
deepseek = elsewhere(
    "deepseek",
    envelope=wrap,
    only=["PAIR-001", "PAIR-002", "PAIR-013", "ORD-002", "ORD-003"],
    without=["REQ-005", "REQ-007", "STO-001", "STO-007"],
    PAIR_001=NEEDED,
    ORD_002=NEEDED,
    ORD_003=NEEDED,
    PAIR_002={
        "refusal": refused(
            "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
        ),
        "source": ("https://github.com/FoundationAgents/OpenManus/issues/744",),
    },
    PAIR_013={
        "refusal": refused("Duplicate value for 'tool_call_id' of {id} in message[{index}]"),
        "source": (
            "https://github.com/craft-ai-agents/craft-agents-oss/issues/621",
            "https://github.com/craft-ai-agents/craft-agents-oss/issues/630",
        ),
    },
)
