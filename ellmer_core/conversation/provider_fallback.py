"""Continues with the next provider if one is overloaded or unavailable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..contents.turns import AssistantTurn, UserTurn
from ..errors import ConnectError, EllmerError, IncompleteResponseError, RateLimitError, ServerError
from ..log import logger
from .history import History
from .io_operations import Loop
from .settings import Settings

__all__ = ["answered"]

#: Errors that another provider may not have. The caller has to correct a refused request or key.
OUTAGES = (RateLimitError, ServerError, ConnectError, IncompleteResponseError)

Ask = Callable[[History, Settings, UserTurn | None], Loop[AssistantTurn]]


def answered(
    ask: Ask, history: History, settings: Settings, user: UserTurn | None
) -> Loop[tuple[AssistantTurn, Settings]]:
    """Returns the answer of the first provider that gives one, and the provider to continue with. After a part of an
    answer was shown, no other provider is asked.
    """
    while True:
        before = len(history.turns)
        try:
            return (yield from ask(history, settings, user)), settings
        except OUTAGES as error:
            if not settings.fallbacks or len(history.turns) > before:
                raise
            settings = _next(settings, error)


def _next(settings: Settings, error: EllmerError) -> Settings:
    following, *rest = settings.fallbacks
    logger.warning(
        "%s/%s: %s; continuing with %s/%s",
        *(settings.wire.provider, settings.wire.model, type(error).__name__),
        *(following.wire.provider, following.wire.model),
    )
    return replace(
        settings,
        wire=following.wire,
        provider=following.provider,
        max_tries=following.max_tries,
        written=following.written,
        fallbacks=rest,
    )
