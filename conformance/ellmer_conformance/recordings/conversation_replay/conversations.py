"""Recorded conversations: exchanges of a file in which each request continues the previous one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from ...contract.exchange import Exchange, Item, Request, Response
from ...contract.previous_response_id import said
from ..recorded_requests import Skip, request_of
from ..recording_files import Recording, Unreadable, read
from ..refusals_behind_200 import identity
from .request_comparison import key

__all__ = ["Conversation", "Recorded", "conversations"]


@dataclass(frozen=True)
class Recorded:
    """A request that was recorded, and its answer."""

    request: Request
    recording: Recording

    @property
    def exchange(self) -> Exchange:
        """The exchange in the form for rules."""
        it = self.recording
        return Exchange(self.request, Response(it.status or 0, it.answered, it.response))

    @property
    def answered(self) -> bool:
        """Whether the provider answered, and the answer was stored."""
        return bool(self.recording.status and self.recording.response)


@dataclass(frozen=True)
class Conversation:
    """Exchanges in order. `name` is the file, and the place of the first exchange in it."""

    name: str
    recorded: tuple[Recorded, ...]

    @property
    def first(self) -> Request:
        """The first request."""
        return self.recorded[0].request

    @cached_property
    def said(self) -> list[list[Item]]:
        """The content of each request, with the stored content of the exchange that it continues."""
        return said(each.exchange for each in self.recorded)


def conversations(
    paths: Iterable[Path], note: Callable[[str], None] = lambda _: None, seen: set[str] | None = None
) -> Iterator[Conversation]:
    """Yields the conversations of the files. A repeated request, or one in `seen`, is used once. `note` is called
    with the reason for each exchange that is left out.
    """
    seen = set() if seen is None else seen
    for path in paths:
        try:
            found = list(read(path) or ())
        except Unreadable as error:
            note(str(error))
            continue
        kept = [one for each in found if (one := _recorded(each, note)) and _is_new(each, seen, note)]
        name = Path(*path.absolute().parts[-3:])
        yield from _grouped(name.with_suffix("").as_posix(), kept)


def _recorded(recording: Recording, note: Callable[[str], None]) -> Recorded | None:
    request = request_of(recording)
    if isinstance(request, Skip):
        note(request.reason)
        return None
    found = Recorded(request, recording)
    if not found.answered:
        note("the answer was not recorded")
        return None
    return found


def _is_new(recording: Recording, seen: set[str], note: Callable[[str], None]) -> bool:
    same = identity(recording)
    if same in seen:
        note("the same request was played already")
        return False
    seen.add(same)
    return True


def _grouped(name: str, recorded: Sequence[Recorded]) -> Iterator[Conversation]:
    """Yields each exchange with the earlier one that it continues. Clients may have several conversations at a time."""
    open_: list[Conversation] = []
    for each in recorded:
        at = next((n for n in reversed(range(len(open_))) if _goes_on(open_[n], each)), None)
        if at is None:
            open_.append(Conversation(f"{name}#{each.recording.place}", (each,)))
        else:
            open_[at] = replace(open_[at], recorded=(*open_[at].recorded, each))
    yield from open_


def _goes_on(conversation: Conversation, more: Recorded) -> bool:
    before, last = conversation.said[-1], conversation.recorded[-1]
    if (last.request.wire, last.request.provider) != (more.request.wire, more.request.provider):
        return False
    if (last.recording.status or 0) >= 300 or last.request.stream != more.request.stream:
        return False
    after = said([*(each.exchange for each in conversation.recorded), more.exchange])[-1]
    old, new = _keys(before), _keys(after)
    return len(new) > len(old) and new[: len(old)] == old


def _keys(items: Iterable[Item]) -> list[object]:
    return [key(item) for item in items if item.kind not in {"system", "thinking"}]
