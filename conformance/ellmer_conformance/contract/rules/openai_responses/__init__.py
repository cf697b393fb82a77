"""The contract of OpenAI Responses, in the provider's order of checks, and its providers' dialects."""

from importlib import import_module

from .. import common
from ._rulebook import book, conversation

for _part in (
    "body_structure",
    "items",
    "tool_definitions",
    "response_format",
    "hosted_tools",
    "parameters",
    "shape_faults",
    "features",
    "media",
    "order",
):
    import_module(f".{_part}", __name__)
common.enter(book, conversation)

from .providers import dialect  # noqa: E402  # dialects are made of the whole book

__all__ = ["book", "dialect"]
