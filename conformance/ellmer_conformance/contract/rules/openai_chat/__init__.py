"""The contract of OpenAI Chat Completions, in the provider's order of checks, and its providers' dialects."""

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

from .providers import dialect  # noqa: E402  # dialects are made of the whole book

__all__ = ["book", "dialect"]
