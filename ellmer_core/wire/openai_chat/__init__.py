"""OpenAI Chat Completions, `POST {base_url}/chat/completions`, with the extensions of other servers."""

from .to_wire import OpenAIChat

__all__ = ["OpenAIChat"]
