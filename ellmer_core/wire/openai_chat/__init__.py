"""OpenAI Chat Completions, `POST {base_url}/chat/completions`, and what other servers add to it."""

from .request import OpenAIChat

__all__ = ["OpenAIChat"]
