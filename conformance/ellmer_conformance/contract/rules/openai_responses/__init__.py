"""The contract of OpenAI Responses, in the provider's order of checks, and its further providers."""

from importlib import import_module

from .. import common
from ._refusals_and_examples import book, conversation

for _part in (
    "body_and_items",
    "tools_and_format",
    "parameters",
    "shape_faults",
    "features",
    "media",
    "order",
):
    import_module(f".{_part}", __name__)
common.enter(book, conversation)

from .providers import PROVIDERS, book_of  # noqa: E402  # the books of providers are made of the whole book

__all__ = ["PROVIDERS", "book", "book_of"]
