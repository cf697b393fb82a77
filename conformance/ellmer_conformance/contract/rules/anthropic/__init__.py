"""The contract of Anthropic Messages, in the provider's order of checks, and its further providers."""

from importlib import import_module

from .. import common
from ._refusals_and_examples import book, conversation

for _part in (
    "versions_and_betas",
    "tools.declared",
    "tools.schemas",
    "tools.strict",
    "body_structure",
    "content",
    "media",
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

from .providers import PROVIDERS, book_of  # noqa: E402  # the books of providers are made of the whole book

__all__ = ["PROVIDERS", "book", "book_of"]
