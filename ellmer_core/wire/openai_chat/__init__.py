"""OpenAI Chat Completions, `POST {base_url}/chat/completions`, with the extensions of other servers."""

from .request import OpenAIChat

__all__ = ["OpenAIChat"]
