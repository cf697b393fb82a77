"""The contract of OpenAI Chat Completions, in the provider's order of checks, and its further providers."""

from importlib import import_module

from .. import common
from ._refusals_and_examples import book, conversation

for _part in (
    "messages",
    "tools_and_options",
    "shape_faults",
    "models",
    "features",
    "media",
    "tool_results",
):
    import_module(f".{_part}", __name__)
common.enter(book, conversation)

from .providers import PROVIDERS, book_of  # noqa: E402  # the books of providers are made of the whole book

__all__ = ["PROVIDERS", "book", "book_of"]
