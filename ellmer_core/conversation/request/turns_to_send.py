"""The turns of a request: the history after the caller's hooks, with downloaded images and with descriptions of
content that the model does not accept. It does no I/O.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...contents.content import ContentImageRemote
from ...contents.turns import Turn, UserTurn, not_plain
from ...errors import ConnectError, ContentError, UsageError
from ...log import warn
from ..history import History, sendable
from ..io_operations import Clock, Fetch, Loop
from ..settings import Settings
from .expired_uploads import expiring, sent_along
from .remote_images import inlined, unfetched
from .unsendable_content import Sendable, sendable_to

__all__ = ["request_turns", "warn_replaced"]


def request_turns(history: History, settings: Settings, user: UserTurn | None) -> Loop[Sendable]:
    """Returns the history and the new turn in the form for the model, and the contents that are left out."""
    turns = _said(history, settings)
    special = not_plain(turns)
    if special:
        turns = sendable(turns)
        special = not_plain(turns)
    missed = yield from _fetch_images(settings, turns, user)
    if settings.fetched:
        turns = [inlined(turn, settings.fetched) for turn in turns]
    new = user and inlined(user, settings.fetched)
    if expiring([*(turns[place] for place in special), *filter(None, [new])]):
        now: float = yield Clock(wall=True)
        turns, new = [sent_along(turn, now) for turn in turns], new and sent_along(new, now)
    sent = sendable_to(settings.wire, turns, special, new, tuple(settings.tools.values()))
    return Sendable(sent.turns, [*sent.replaced, *missed])


def _said(history: History, settings: Settings) -> list[Turn]:
    """Returns the history after the caller's hooks."""
    turns = list(history.turns)
    for change in settings.on_history:
        turns = list(change(turns))
        if wrong := next((turn for turn in turns if not isinstance(turn, Turn)), None):
            raise UsageError(f"A callback of on_history() returns turns, not {type(wrong).__name__}.")
    return turns


def _fetch_images(settings: Settings, turns: Sequence[Turn], user: UserTurn | None) -> Loop[list[str]]:
    """Fetches the images that the API does not download, each once, if the caller allows it. Returns the images that
    failed, with the reason. Raises `ContentError` for an image in the user's new message.
    """
    wanted = unfetched(settings.wire, [*turns, *filter(None, [user])]) if settings.fetch else []
    for url in wanted:
        if url not in settings.fetched:
            try:
                settings.fetched[url] = yield Fetch(url)
            except (UsageError, ConnectError) as error:
                settings.fetched[url] = str(error)
    missed = {url: why for url in wanted if isinstance(why := settings.fetched[url], str)}
    given = user.contents if user else ()
    if here := next((c.url for c in given if isinstance(c, ContentImageRemote) and c.url in missed), ""):
        raise ContentError(f"The image was not fetched: {settings.fetched.pop(here)}")
    return [f"{url} (it was not fetched: {why})" for url, why in missed.items()]


def warn_replaced(settings: Settings, replaced: Sequence[str]) -> None:
    """Warns the caller of content that the model gets only as a description, once for each chat and medium."""
    if new := [one for one in dict.fromkeys(replaced) if one not in settings.told]:
        settings.told.update(new)
        warn(
            f"{settings.wire.provider}'s {settings.wire.model} was not sent {', '.join(new)}; a description was sent instead."
        )
