"""DeepSeek: OpenAI's pairing rules with other error texts, text only, and reasoning that must be sent back.

https://api-docs.deepseek.com
"""

from importlib import import_module

from ._rulebook import deepseek

for _part in ("messages", "thinking", "response_format"):
    import_module(f".{_part}", __name__)

__all__ = ["deepseek"]
