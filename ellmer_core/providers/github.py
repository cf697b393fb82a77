"""GitHub Models, which was retired on 30 July 2026: https://github.blog/changelog/."""

from __future__ import annotations

from typing import NoReturn, Unpack

from ..errors import UsageError
from ._construction import Options


def chat_github(system_prompt: str | None = None, **options: Unpack[Options]) -> NoReturn:  # noqa: ARG001 - as every provider's
    """Raises an error, because GitHub Models was retired on 30 July 2026 (https://github.blog/changelog/).

    Args:
        system_prompt: Not used.
        options: Not used.

    Raises:
        UsageError: Always.
    """
    raise UsageError(
        "GitHub Models was retired on 30 July 2026. Use the models' own providers (chat_openai(), chat_mistral(), …), Azure (chat_azure_openai()) or chat_openrouter() instead."
    )
