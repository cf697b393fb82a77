"""The contract of Gemini generateContent, in the provider's order of checks, and Vertex AI."""

from importlib import import_module

from .. import common
from ._refusals_and_examples import book, conversation

for _part in (
    "body_structure",
    "tools",
    "media_and_options",
    "shape_faults",
    "models",
    "thinking",
    "order",
):
    import_module(f".{_part}", __name__)
common.enter(book, conversation)

from .providers import PROVIDERS, book_of  # noqa: E402  # the books of providers are made of the whole book

__all__ = ["PROVIDERS", "book", "book_of"]
