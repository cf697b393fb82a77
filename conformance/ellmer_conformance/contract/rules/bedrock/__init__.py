"""The contract of Bedrock Converse, in the provider's order of checks, and its providers' dialects."""

from importlib import import_module

from .. import common
from ._rulebook import book

for _part in (
    "service_model_constraints",
    "content",
    "shape_faults",
    "order",
    "documents",
    "media",
    "tools",
    "families",
    "claude",
    "sampling",
):
    import_module(f".{_part}", __name__)
common.enter(book)

from .providers import dialect  # noqa: E402  # dialects are made of the whole book

__all__ = ["book", "dialect"]
