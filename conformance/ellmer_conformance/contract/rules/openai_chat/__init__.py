"""The contract of OpenAI Chat Completions, in the provider's order of checks, and its further providers."""

from importlib import import_module

from .. import common
from ._rulebook import book, conversation

for _part in (
    "body_structure",
    "content",
    "tools.calls",
    "tools.definitions",
    "response_format",
    "tools.choice",
    "parameters",
    "shape_faults",
    "models.reasoning",
    "models.system_prompt",
    "models.audio_and_search",
    "models.tools_and_images",
    "features",
    "media",
    "missing_content",
    "tools.result_ids",
    "tools.result_order",
):
    import_module(f".{_part}", __name__)
common.enter(book, conversation)

from .providers import book_of  # noqa: E402  # the books of providers are made of the whole book

__all__ = ["book", "book_of"]
