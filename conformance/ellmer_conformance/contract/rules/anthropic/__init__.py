"""The contract of Anthropic Messages, in the provider's order of checks, and its providers' dialects."""

from importlib import import_module

from .. import common
from ._rulebook import book, conversation

for _part in (
    "tools.declared",
    "tools.schemas",
    "tools.strict",
    "body_structure",
    "caching",
    "content",
    "media",
    "parameters.models",
    "parameters.options",
    "thinking.modes",
    "parameters.sampling",
    "fields",
    "shape_faults",
    "order",
    "pairing",
    "tools.server_tools",
    "thinking.sent_back",
):
    import_module(f".{_part}", __name__)
common.enter(book, conversation)

from .providers import dialect  # noqa: E402  # dialects are made of the whole book

__all__ = ["book", "dialect"]
