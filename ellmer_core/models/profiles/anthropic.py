"""Claude. A later row has priority over an earlier one. The first row applies to unknown, newer models."""

from __future__ import annotations

from datetime import date
from typing import Any

ROWS: list[dict[str, Any]] = [
    {
        "provider": ["Anthropic", "AWS/Bedrock", "Posit"],
        "model": "claude",
        "refuses": ["temperature", "top_p", "top_k"],
        "refuses_thinking": ["temperature", "top_p", "top_k"],
        "exclusive": [["temperature", "top_p"]],
        "ranges": {"temperature": [0, 1], "max_tokens": [1, 128000]},
        "max_tokens": 32000,
        "thinks": True,
        "efforts": ["low", "medium", "high", "xhigh", "max"],
        "budget": [],
        "forced": False,
        "forced_thinking": False,
        "images": ["image/png", "image/jpeg", "image/gif", "image/webp"],
        "source": "https://platform.claude.com/docs/en/models/fable-5-1/migration-guide",
    },
    {
        "provider": ["Anthropic", "AWS/Bedrock", "Posit"],
        "model": "claude",
        "pixels": 8000,
        "source": "https://platform.claude.com/docs/en/build-with-claude/vision.md",
    },
    {
        "provider": ["Anthropic", "Posit"],
        "model": "claude",
        "on": {"thinking": {"display": "summarized"}},
        "fields": {
            "thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
        },
        "headers": {"anthropic-beta": "thinking-binding-controls-2026-08-01"},
        "source": "https://platform.claude.com/docs/en/build-with-claude/preserved-thinking",
    },
    {
        "provider": ["AWS/Bedrock"],
        "model": "claude",
        "fields": {
            "additionalModelRequestFields": {
                "thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}},
                "anthropic_beta": ["thinking-binding-controls-2026-08-01"],
            }
        },
        "source": "https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-thinking-block-binding.html",
    },
    {
        "provider": ["Anthropic", "Posit"],
        "model": r"claude-(opus|sonnet|haiku)-4-[5-9]|claude-[a-z]+-([5-9]|\d\d)",
        "tool_search": True,
        "source": "https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool#model-compatibility",
    },
    {
        "provider": ["Anthropic", "Posit"],
        "model": r"claude-((opus|sonnet)-4-[6-9]|[a-z]+-([5-9]|\d\d)|mythos-preview)",
        "compacts": [50_000, 1_000_000],
        "source": "https://platform.claude.com/docs/en/build-with-claude/compaction-threshold",
    },
    {
        "provider": ["Anthropic"],
        "model": "",
        "version": r"^202[6-9]-|^20[3-9]\d-",
        "since": date(2026, 10, 21),
        "gone": ["temperature", "top_p", "top_k"],
        "source": "https://platform.claude.com/docs/en/api/migration-2026-10-21",
    },
    # They hide their thoughts unless a request asks to see them, as at Anthropic.
    {
        "provider": ["AWS/Bedrock"],
        "model": r"claude-(opus-4-[7-9]|[a-z]+-([5-9]|\d\d))",
        "on": {"additionalModelRequestFields": {"thinking": {"display": "summarized"}}},
        "source": "https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-adaptive-thinking.html",
    },
    # Before preserved thinking.
    {
        "provider": ["Anthropic", "AWS/Bedrock", "Posit"],
        "model": r"claude-([a-z]+-4|[a-z]+-5(?!-[1-9](?!\d)|\.)|3|2|instant)",
        "fields": {},
        "headers": {},
        "source": "https://platform.claude.com/docs/en/build-with-claude/preserved-thinking",
    },
    {
        "provider": ["Anthropic", "AWS/Bedrock", "Posit"],
        "model": r"claude-([a-z]+-4|[a-z]+-5(?!-[1-9](?!\d)|\.)|3|2|instant)",
        "forced": True,
        "source": "https://platform.claude.com/docs/en/models/fable-5-1/migration-guide",
    },
    {
        "provider": ["Anthropic", "Posit"],
        "model": r"claude-(opus|sonnet|haiku)-(4|5(?!-[1-9](?!\d)|\.))",
        "off": {"thinking": {"type": "disabled"}},
        "source": "https://platform.claude.com/docs/en/models/opus-5/migration-guide",
    },
    {
        "provider": ["AWS/Bedrock"],
        "model": r"claude-(opus|sonnet|haiku)-(4|5(?!-[1-9](?!\d)|\.))",
        "off": {"additionalModelRequestFields": {"thinking": {"type": "disabled"}}},
        "source": "https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-adaptive-thinking.html",
    },
    # `block_binding` belongs to adaptive thinking; `None` takes it out of the fields above.
    {
        "provider": ["Anthropic", "AWS/Bedrock", "Posit"],
        "model": "claude-(fable|mythos)-5-[12]|claude-opus-5-5",
        "source": "https://platform.claude.com/docs/en/models/fable-5-1/migration-guide",
    },
    {
        "provider": ["Anthropic", "Posit"],
        "model": "claude-sonnet-5-5",
        "off": {"thinking": {"type": "between_tools", "block_binding": None}},
        "source": "https://platform.claude.com/docs/en/models/sonnet-5-5/whats-new-sonnet-5-5",
    },
    {
        "provider": ["AWS/Bedrock"],
        "model": "claude-sonnet-5-5",
        "off": {
            "additionalModelRequestFields": {"thinking": {"type": "between_tools", "block_binding": None}}
        },
        "source": "https://platform.claude.com/docs/en/models/sonnet-5-5/whats-new-sonnet-5-5",
    },
    {
        "provider": ["Anthropic", "AWS/Bedrock", "Posit"],
        "model": "claude-haiku-5-5",
        "forced": True,
        "source": "https://platform.claude.com/docs/en/models/haiku-5-5/whats-new-haiku-5-5",
    },
    {
        "provider": ["Anthropic", "Posit"],
        "model": "claude-haiku-5-5",
        "off": {"thinking": {"type": "disabled", "block_binding": None}},
        "source": "https://github.com/vercel/ai/blob/main/packages/anthropic/CHANGELOG.md",
    },
    {
        "provider": ["AWS/Bedrock"],
        "model": "claude-haiku-5-5",
        "off": {"additionalModelRequestFields": {"thinking": {"type": "disabled", "block_binding": None}}},
        "source": "https://github.com/vercel/ai/blob/main/packages/anthropic/CHANGELOG.md",
    },
    # They think when they are asked to.
    {
        "provider": ["Anthropic", "AWS/Bedrock", "Posit"],
        "model": r"claude-([a-z]+-4(-\d(?!\d))?|3|2|instant)",
        "thinks": False,
        "off": {},
        "source": "https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking",
    },
    {
        "provider": ["Anthropic", "AWS/Bedrock", "Posit"],
        "model": "claude-([a-z]+-4(?!-[7-9])|3|2|instant)",
        "refuses": [],
        "source": "https://platform.claude.com/docs/en/about-claude/models/migration-guide",
    },
    {
        "provider": ["Anthropic", "AWS/Bedrock", "Posit"],
        "model": "claude-(opus|sonnet)-4-6",
        "efforts": ["low", "medium", "high", "max"],
        "budget": [1024, 100000],
        "source": "https://platform.claude.com/docs/en/build-with-claude/effort",
    },
    {
        "provider": ["Anthropic", "AWS/Bedrock", "Posit"],
        "model": "claude-([a-z]+-4(?!-[6-9])|3|2|instant)",
        "adaptive": False,
        "max_tokens": 16000,
        "efforts": [],
        "on": {},
        "budget": [1024, 48000],
        "ranges": {"temperature": [0, 1], "max_tokens": [1, 64000]},
        "source": "https://platform.claude.com/docs/en/build-with-claude/extended-thinking",
    },
    {
        "provider": ["Anthropic", "Posit"],
        "model": "claude-opus-4-5",
        "efforts": ["low", "medium", "high"],
        "levels": {
            "low": {"reasoning_effort": "low", "reasoning_tokens": 2048},
            "medium": {"reasoning_effort": "medium", "reasoning_tokens": 8192},
            "high": {"reasoning_effort": "high", "reasoning_tokens": 16384},
            "max": {"reasoning_effort": "high", "reasoning_tokens": 48000},
        },
        "source": "https://platform.claude.com/docs/en/build-with-claude/effort",
    },
    {
        "provider": ["Anthropic", "AWS/Bedrock", "Posit"],
        "model": "claude-opus-4(?!-[5-9])",
        "budget": [1024, 24000],
        "ranges": {"temperature": [0, 1], "max_tokens": [1, 32000]},
        "source": "https://platform.claude.com/docs/en/about-claude/models/overview",
    },
    {
        "provider": ["Anthropic", "AWS/Bedrock", "Posit"],
        "model": "claude-(3|2|instant|[a-z]+-4(?!-[15-9]))",
        "exclusive": [],
        "structured": "words",
        "source": "https://platform.claude.com/docs/en/build-with-claude/structured-outputs",
    },
    {
        "provider": ["Anthropic", "AWS/Bedrock", "Posit"],
        "model": "claude-(3-5|3-[a-z]+|2|instant)",
        "budget": [],
        "max_tokens": 4096,
        "ranges": {"temperature": [0, 1], "max_tokens": [1, 4096]},
        "source": "https://platform.claude.com/docs/en/about-claude/model-deprecations",
    },
    {
        "provider": ["Anthropic", "AWS/Bedrock", "Posit"],
        "model": "claude-3-5",
        "max_tokens": 8192,
        "ranges": {"temperature": [0, 1], "max_tokens": [1, 8192]},
        "source": "https://platform.claude.com/docs/en/about-claude/model-deprecations",
    },
]
