"""The contract of Ollama's /api/chat, in the server's order of checks."""

from importlib import import_module

from .. import common
from ._refusals_and_examples import book, conversation

for _part in ("body_structure", "models", "shape_faults", "results"):
    import_module(f".{_part}", __name__)
common.enter(book, conversation, out_of_reach=["TRM-009"])  # an image has no declared type

from .providers import PROVIDERS, book_of  # noqa: E402  # the books of providers are made of the whole book

__all__ = ["PROVIDERS", "book", "book_of"]
