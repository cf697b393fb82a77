"""Mistral: the shapes of Chat Completions, at Mistral's own service, which has other rules and errors.

It is recognized by its host, because the path is OpenAI's. https://docs.mistral.ai/api/endpoint/chat
"""

from __future__ import annotations

from .openai_chat import messages, read

__all__ = ["PROVIDER", "WIRE", "messages", "paths", "read"]

WIRE = "mistral"
PROVIDER = "mistral"
paths: tuple[str, ...] = ()
