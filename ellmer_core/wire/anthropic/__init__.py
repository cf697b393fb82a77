"""Anthropic Messages, `POST {base_url}/messages`. https://docs.claude.com/en/api/messages"""

from .to_wire import AnthropicMessages

__all__ = ["AnthropicMessages"]
