"""Models of other makers on Bedrock; Claude is in anthropic.toml."""

from __future__ import annotations

from typing import Any

ROWS: list[dict[str, Any]] = [
    {
        "provider": ["AWS/Bedrock"],
        "model": "",
        "ranges": {"temperature": [0, 1]},
        "source": "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InferenceConfiguration.html",
    },
    {
        "provider": ["AWS/Bedrock"],
        "model": r"openai\.|zai\.",
        "refuses": ["stop_sequences"],
        "source": "https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html",
    },
    {
        "provider": ["AWS/Bedrock"],
        "model": r"openai\.",
        "efforts": ["low", "medium", "high"],
        "images": [],
        "pdfs": False,
        "source": "https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html",
    },
    {
        "provider": ["AWS/Bedrock"],
        "model": r"openai\.gpt-5\.6",
        "refuses": ["stop_sequences", "temperature"],
        "source": "https://github.com/activepieces/activepieces/issues/15261",
    },
    {
        "provider": ["AWS/Bedrock"],
        "model": r"xai\.grok-4",
        "refuses": ["temperature"],
        "source": "https://github.com/NousResearch/hermes-agent/issues/111043",
    },
    {
        "provider": ["AWS/Bedrock"],
        "model": r"deepseek\.|qwen\.(?!.*vl)|minimax\.|zai\.|nova-micro|nova-2-sonic|titan|mistral-7b|mixtral|mistral-large-24|moonshot\.kimi-k2-thinking",
        "images": [],
        "pdfs": False,
        "source": "https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html",
    },
    {
        "provider": ["AWS/Bedrock"],
        "model": r"google\.gemma-\d",
        "source": "https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html",
    },
    {
        "provider": ["AWS/Bedrock"],
        "model": "mistral-7b-instruct|mixtral-8x7b-instruct|titan-text",
        "system": False,
        "tools": False,
        "structured": "words",
        "source": "https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html",
    },
    {
        "provider": ["AWS/Bedrock"],
        "model": "llama3-2-[13]b",
        "tools": False,
        "structured": "words",
        "images": [],
        "pdfs": False,
        "source": "https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html",
    },
    {
        "provider": ["AWS/Bedrock"],
        "model": r"meta\.llama",
        "forced": False,
        "source": "https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html",
    },
    {
        "provider": ["AWS/Bedrock"],
        "model": r"deepseek\.r1",
        "tools": False,
        "structured": "words",
        "source": "https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html",
    },
]
