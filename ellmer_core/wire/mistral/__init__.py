"""Mistral chat, `POST {base_url}/chat/completions`. https://docs.mistral.ai/api/endpoint/chat"""

from .request import MistralChat

__all__ = ["MistralChat"]
