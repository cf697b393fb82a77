"""The contract of Gemini generateContent, in the provider's order of checks, and Vertex AI's dialect."""

from importlib import import_module

from .. import common
from ._rulebook import book, conversation

for _part in (
    "fields",
    "body_structure",
    "schemas",
    "tools",
    "media_and_options",
    "shape_faults",
    "models",
    "features",
    "thinking",
    "order",
    "results",
):
    import_module(f".{_part}", __name__)
common.enter(book, conversation)

from .providers import dialect  # noqa: E402  # dialects are made of the whole book

__all__ = ["book", "dialect"]
