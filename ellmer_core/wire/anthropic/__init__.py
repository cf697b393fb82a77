"""Anthropic Messages, `POST {base_url}/messages`. https://docs.claude.com/en/api/messages"""

from .request import AnthropicMessages

__all__ = ["AnthropicMessages"]
