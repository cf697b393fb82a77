"""Groq checks requests against a closed schema. Its text models refuse images."""

from __future__ import annotations

from typing import Any

__all__ = ["ROWS"]

ROWS: list[dict[str, Any]] = [
    {
        "provider": ["Groq"],
        "model": "",
        "refuses": ["top_k", "log_probs", "top_logprobs"],
        "efforts": [],
        "budget": [],
        "images": [],
        "pdfs": False,
        "ranges": {"temperature": [0, 2]},
        "source": "https://console.groq.com/docs/openai",
    },
    {
        "provider": ["Groq"],
        "model": "gpt-oss",
        "thinks": True,
        "efforts": ["low", "medium", "high"],
        "source": "https://console.groq.com/docs/reasoning",
    },
    {
        "provider": ["Groq"],
        "model": "qwen3|qwen-3",
        "thinks": True,
        "efforts": ["none", "default"],
        "on": {"reasoning_format": "parsed"},
        "levels": {
            "low": {"reasoning_effort": "default"},
            "medium": {"reasoning_effort": "default"},
            "high": {"reasoning_effort": "default"},
            "max": {"reasoning_effort": "default"},
        },
        "source": "https://console.groq.com/docs/reasoning",
    },
    {
        "provider": ["Groq"],
        "model": "llama-4|vision|llava",
        "images": ["image/png", "image/jpeg", "image/gif", "image/webp"],
        "source": "https://console.groq.com/docs/vision",
    },
    {
        "provider": ["Groq"],
        "model": "compound|llama-3|llama3|gemma|mixtral|guard|allam|qwen",
        "structured": "words",
        "source": "https://console.groq.com/docs/structured-outputs#supported-models",
    },
    {
        "provider": ["Groq"],
        "model": "guard|compound|allam",
        "tools": False,
        "source": "https://console.groq.com/docs/tool-use",
    },
]
