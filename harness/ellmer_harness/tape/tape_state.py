"""The state of a cassette in use: its options, its files, the requests, the misses.

`Tape` runs it. The verdict, the staleness check and saving only read this state.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import Miss
from ..exchange.messages import Exchange, Sent
from ..secrets.redaction import Scrub
from ..store.local_copies import shared
from .concurrency import Concurrency
from .matching.miss_explanation import command, nearest
from .matching.request_key import RequestKey
from .options import Mode, Options, chosen_mode

if TYPE_CHECKING:
    from ..secrets.placeholders import Masking
    from .matching.cassette_index import CassetteIndex
    from .verify_mode import LiveCheck

__all__ = ["TapeState"]

_DIFFERS_BY_IT = "It was recorded with another secret. Name this one in secrets={'NAME': value}."


@dataclass(eq=False, repr=False)
class TapeState(Options):
    """The state of one run with one cassette.

    `sent` holds the requests of this run in order, not the cassette's copies. `exchanges` holds the same
    requests with their answers.
    """

    path: Path
    sent: list[Sent] = field(default_factory=list, init=False)
    exchanges: list[Exchange] = field(default_factory=list, init=False)
    misses: list[Miss] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.path = Path(self.path)
        self.mode: Mode = chosen_mode(self.mode)
        self.clock.real |= self.delays == "real"
        self.scrub: Scrub = self.scrub or Scrub.of(self.secrets, self.keep_headers)
        store = os.environ.get("CASSETTE_STORE") if self.store is None else self.store
        self.shared = shared(store, Path(self.root).absolute()) if store else None
        self.before: bytes | None = None
        self.index: CassetteIndex | None = None
        self.replays = self.records = self.failed = self.absent = False
        self.workers = Concurrency()
        self.loosely_matched: list[tuple[int, Any, Any]] = []
        self.masking: Masking | None = None
        self.live_check: LiveCheck | None = None

    @property
    def file(self) -> Path:
        """The local file of the cassette: `path`, or the copy from the store."""
        return self.shared.copy(self.path) if self.shared else self.path

    @property
    def blob_folder(self) -> Path:
        """The folder for new media files on this machine."""
        folder = Path(self.blobs or self.path.parent / "blobs")
        return self.shared.copy(folder) if self.shared else folder

    @property
    def name(self) -> str:
        """The name of the cassette in messages."""
        return self.shared.name(self.path) if self.shared else str(self.path)

    @property
    def offline(self) -> bool:
        """Whether sockets are blocked."""
        return self.replays and not self.records and self.mode != "verify"

    def unused(self) -> list[str]:
        """Returns the recorded requests that this run has not sent yet, as `POST https://…`."""
        if self.index is None or not self.replays:
            return []
        return [f"{request.method} {request.uri}" for request in self.index.unused()]

    @property
    def none(self) -> str:
        """The message for a cassette that does not exist. A run that sends nothing needs none."""
        return f"there is no cassette {self.name}.\n{command(self.rerecord)}"

    def miss(self, ask: RequestKey, index: CassetteIndex) -> Miss:
        """Returns a miss with the request and the closest recording. It is safe to log."""
        from .matching.redacted_exchange import masked  # noqa: PLC0415 - it imports vcrpy, which an open tape has loaded

        shown = RequestKey(index.match, masked(ask.request))
        another = index.find(shown) is not None
        told = _DIFFERS_BY_IT if another else nearest(index, shown, self.file)
        if self.absent:
            return self.missed(self.none)
        asked = f"{shown.request.method} {shown.request.uri}"
        return self.missed(f"{asked} is not in cassette {self.name}\n{told}\n{command(self.rerecord)}")

    def missed(self, text: str, kind: type[Miss] = Miss) -> Miss:
        """Returns a miss to raise, and stores it to be raised again at the end."""
        miss = kind(text)
        self.misses.append(miss)
        return miss

    def allows(self, host: str) -> bool:
        """Tells whether requests to a host bypass the cassette."""
        return host in self.allow_hosts
