"""Gemini, at AI Studio and Vertex AI. The first row applies to newer models."""

from __future__ import annotations

from datetime import date
from typing import Any

ROWS: list[dict[str, Any]] = [
    {
        "provider": ["Google/Gemini", "Google/Vertex"],
        "model": "",
        "exclusive": [["reasoning_effort", "reasoning_tokens"]],
        "ranges": {"temperature": [0, 2], "max_tokens": [1, 65536]},
        "thinks": True,
        "efforts": ["minimal", "low", "medium", "high"],
        "images": ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"],
        "source": "https://ai.google.dev/gemini-api/docs/thinking",
    },
    {
        "provider": ["Google/Gemini", "Google/Vertex"],
        "model": r"gemini-\d[.\d]*-pro",
        "efforts": ["low", "high"],
        "source": "https://ai.google.dev/gemini-api/docs/gemini-3",
    },
    {
        "provider": ["Google/Gemini", "Google/Vertex"],
        "model": r"gemini-3\.[1-9]-pro",
        "efforts": ["low", "medium", "high"],
        "source": "https://ai.google.dev/gemini-api/docs/gemini-3",
    },
    {
        "provider": ["Google/Gemini", "Google/Vertex"],
        "model": r"gemini-3\.[1-6]-flash|gemini-3\.\d-flash-lite",
        "source": "https://ai.google.dev/gemini-api/docs/thinking",
    },
    {
        "provider": ["Google/Gemini", "Google/Vertex"],
        "model": r"gemini-(flash-latest|3\.[7-9]-flash(?!-lite)|[4-9](\.\d)?-(?!.*lite))",
        "efforts": ["low", "medium", "high"],
        "source": "https://ai.google.dev/gemini-api/docs/generate-content/latest-model",
    },
    {
        "provider": ["Google/Gemini", "Google/Vertex"],
        "model": "gemini-4-hydrogen",
        "efforts": ["low", "medium", "high", "xhigh"],
        "source": "https://github.com/vercel/ai/blob/main/packages/google/CHANGELOG.md",
    },
    {
        "provider": ["Google/Gemini", "Google/Vertex"],
        "model": "gemini-4-neon",
        "since": date(2026, 11, 18),
        "efforts": ["low", "medium", "high", "xhigh"],
        "source": "https://apidog.com/blog/gemini-4-neon-api/",
    },
    {
        "provider": ["Google/Gemini", "Google/Vertex"],
        "model": "gemini-[12]",
        "efforts": [],
        "source": "https://ai.google.dev/gemini-api/docs/thinking",
    },
    {
        "provider": ["Google/Gemini", "Google/Vertex"],
        "model": r"gemini-2\.5-flash",
        "refuses": ["frequency_penalty", "presence_penalty"],
        "budget": [1, 24576],
        "off": {"reasoning_tokens": 0},
        "source": "https://ai.google.dev/gemini-api/docs/thinking",
    },
    {
        "provider": ["Google/Gemini", "Google/Vertex"],
        "model": r"gemini-2\.5-flash-lite",
        "budget": [512, 24576],
        "thinks": False,
        "source": "https://ai.google.dev/gemini-api/docs/thinking",
    },
    {
        "provider": ["Google/Gemini", "Google/Vertex"],
        "model": r"gemini-2\.5-pro",
        "budget": [128, 32768],
        "source": "https://ai.google.dev/gemini-api/docs/thinking",
    },
    {
        "provider": ["Google/Gemini", "Google/Vertex"],
        "model": r"gemini-(1|2\.0)|flash-image",
        "budget": [],
        "off": {},
        "thinks": False,
        "ranges": {"temperature": [0, 2], "max_tokens": [1, 8192]},
        "source": "https://ai.google.dev/gemini-api/docs/models",
    },
    {
        "provider": ["Google/Gemini", "Google/Vertex"],
        "model": r"image-generation|gemini-[\d.]+-flash(-lite)?-image",
        "tools": False,
        "structured": "words",
        "source": "https://ai.google.dev/gemini-api/docs/image-generation",
    },
    {
        "provider": ["Google/Gemini", "Google/Vertex"],
        "model": r"gemma-\d?",
        "efforts": [],
        "budget": [],
        "off": {},
        "thinks": False,
        "tools": False,
        "system": False,
        "structured": "words",
        "source": "https://ai.google.dev/gemma/docs/core/gemma_on_gemini_api",
    },
    # Its thoughts are on or off.
    {
        "provider": ["Google/Gemini", "Google/Vertex"],
        "model": "gemma-4",
        "efforts": ["minimal", "high"],
        "off": {"reasoning_effort": "minimal"},
        "levels": {"low": {"reasoning_effort": "high"}, "medium": {"reasoning_effort": "high"}},
        "source": "https://ai.google.dev/gemma/docs/core/gemma_on_gemini_api",
    },
    {
        "provider": ["Google/Gemini", "Google/Vertex"],
        "model": r"gemini-([3-9]|.*latest|2\.5-pro|2\.5-flash-lite)",
        "refuses": ["log_probs", "top_logprobs"],
        "source": "https://ai.google.dev/api/generate-content#generationconfig",
    },
    {
        "provider": ["Google/Gemini"],
        "model": r"gemini-2\.5",
        "refuses": ["frequency_penalty", "presence_penalty", "log_probs", "top_logprobs"],
        "source": "https://github.com/vercel/ai/issues/8943",
    },
    {
        "provider": ["Google/Gemini"],
        "model": r"gemini-1\.(5-(flash|pro)|0-pro)$",
        "refuses": ["frequency_penalty", "presence_penalty"],
        "source": "https://github.com/SillyTavern/SillyTavern/issues/3015",
    },
]
