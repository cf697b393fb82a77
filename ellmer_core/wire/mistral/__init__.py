"""Mistral chat, `POST {base_url}/chat/completions`. https://docs.mistral.ai/api/endpoint/chat"""

from .to_wire import MistralChat

__all__ = ["MistralChat"]
