"""The contract of Cohere v2, in the order of checks as far as it is known, and its further providers."""

from importlib import import_module

from .. import common
from ._refusals_and_examples import book, conversation

for _part in ("body_structure", "shape_faults", "order"):
    import_module(f".{_part}", __name__)
common.enter(book, conversation)

from .providers import PROVIDERS, book_of  # noqa: E402  # the books of providers are made of the whole book

__all__ = ["PROVIDERS", "book", "book_of"]
