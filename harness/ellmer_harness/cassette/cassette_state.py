"""The state of a cassette in use: its options, its files, the requests, the misses; and when a recording is too old.

`Cassette` runs it. The verdict, the staleness check and saving only read this state.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from ..errors import CassetteError, Miss
from ..exchange.messages import Exchange, Sent
from ..exchange.reply import Reply
from ..faults import Fault
from ..interception.network_guard import is_local
from ..interception.open_cassettes import Clock
from ..secrets.redaction import Scrub
from ..store import Store
from ..store.local_copies import shared
from .miss_explanation import command, nearest, shortened
from .request_key import Match, Repeat, RequestKey

if TYPE_CHECKING:
    from ..secrets.placeholders import Masking
    from .cassette_index import CassetteIndex
    from .partial_replay import Divergence, Part, PartialReplay
    from .verify_mode import LiveCheck

# --- Options ---------------------------------------------------------------------------------------------


Mode = Literal["replay", "record", "rewrite", "update", "append", "verify", "live"]
MODES: tuple[Mode, ...] = ("replay", "record", "rewrite", "update", "append", "verify", "live")
_OF_VCRPY = {"once": "record", "new_episodes": "append", "none": "replay", "all": "rewrite"}
#: What to do here with the options of vcrpy that have another name.
_OPTIONS_OF_VCRPY = {
    "record_mode": "mode= (once is 'record', none 'replay', new_episodes 'append', all 'rewrite')",
    "match_on": "match=",
    "filter_headers": "not needed: only listed headers are written",
    **dict.fromkeys(("filter_query_parameters", "filter_post_data_parameters"), "secrets={'NAME': value}"),
    "before_record_request": "normalize=",
    "before_record_response": "before_save=",
    "allow_playback_repeats": "on_repeat='last'",
    "ignore_localhost": "allow_hosts=('localhost', '127.0.0.1')",
    "ignore_hosts": "allow_hosts=",
    "decode_compressed_response": "not needed: bodies are stored decoded",
}
Judge = Callable[[list[Sent]], list[str]]
_default: list[str | None] = [None]
_run: list[str] = [""]


def chosen_mode(mode: str | None) -> Mode:
    """Returns the mode. The default is the pytest option, then the environment variable CASSETTE_MODE, then
    `replay`. Raises `CassetteError` for an unknown mode.
    """
    mode = mode or _default[0] or os.environ.get("CASSETTE_MODE") or "replay"
    for candidate in MODES:
        if candidate == mode:
            return candidate
    ours = _OF_VCRPY.get(mode)
    hint = f" ({mode!r} of vcrpy is {ours!r})" if ours else ""
    raise CassetteError(f"{mode!r} is not a cassette mode; the modes are {', '.join(MODES)}{hint}")


def set_default_mode(mode: str | None) -> str | None:
    """Sets the default mode, for the pytest plugin; returns the previous value."""
    before, _default[0] = _default[0], mode
    return before


def set_default_run(run: str) -> str:
    """Sets the id of the run for cassettes that are opened without one, for the pytest plugin; returns the previous value."""
    before, _run[0] = _run[0], run
    return before


@dataclass(kw_only=True, eq=False)
class Options:
    """The keyword arguments of `use_cassette`; `Cassette` explains each.

    Two cassettes with the same options are two cassettes: they are compared by identity.
    """

    mode: Mode | None = None
    routes: Mapping[str, str] | None = None
    recorded_from: str = "live"
    judge: Judge | None = None
    store: Store | str | None = None
    root: Path | str = "."
    scrub: Scrub | None = None
    secrets: Mapping[str, str] | None = None
    not_secret: Sequence[str] = ()
    mask: bool = False
    keep_headers: Sequence[str] = ()
    match: Match = field(default_factory=Match)
    normalize: Callable[[Sent], Sent] | None = None
    before_save: Callable[[dict[str, Any]], dict[str, Any] | None] | None = None
    on_repeat: Repeat = "error"
    replay: str | Part | None = None
    diverged: Literal["ignore", "warn", "error"] | None = None
    metadata: Mapping[str, Any] | None = None
    blobs: Path | str | None = None
    faults: Sequence[Fault | tuple[Fault, ...]] = ()
    framing: str | Callable[[Reply], Reply] | None = None
    delays: Literal["real", "virtual"] | None = None
    virtual_sleep: Sequence[str] = ()
    allow_unused: bool = False
    allow_idle: bool = False
    allow_hosts: Sequence[str] = ()
    accept_encoding: str | None = "identity"
    patchers: Sequence[str] = ()
    run: str = ""
    rerecord: str | None = None
    clock: Clock = field(default_factory=Clock)
    max_age: float | None = None
    policies: Sequence[Policy] = ()
    stale: Literal["ignore", "warn", "error"] | None = None


def check_options(names: Iterable[str], where: str) -> None:
    """Raises `CassetteError` for a name that is not an option of `use_cassette`."""
    options = [each.name for each in fields(Options)]
    for name in names:
        if name not in options:
            close = get_close_matches(name, options, 1)
            hint = hint_of_vcrpy(name) or (f"Did you mean {close[0]!r}? " if close else "")
            raise CassetteError(
                f"{where} has the option {name!r}, which does not exist. {hint}The options are {', '.join(options)}."
            )


def hint_of_vcrpy(name: str) -> str:
    """Returns what to write in place of an option of vcrpy, or `""`."""
    ours = _OPTIONS_OF_VCRPY.get(name)
    return f"Here, vcrpy's {name} is {ours}. " if ours else ""


# --- Concurrent requests ---------------------------------------------------------------------------------


@dataclass
class Concurrency:
    """Whether requests are concurrent. `concurrent` is True once two threads have sent requests, or two tasks
    that were alive at the same time.

    It depends on the program, not on timing: threads count even if they do not overlap. The objects
    themselves are kept, because their ids are reused.
    """

    concurrent: bool = False
    _threads: set[threading.Thread] = field(default_factory=set)
    _tasks: list[Any] = field(default_factory=list)

    def note(self) -> None:
        """Notes that the current thread or task sends a request."""
        self._threads.add(threading.current_thread())
        task = _current_task()
        if task is not None and task not in self._tasks:
            self.concurrent |= any(not other.done() for other in self._tasks)
            self._tasks.append(task)
        self.concurrent |= len(self._threads) > 1


def _current_task() -> Any:
    asyncio = sys.modules.get("asyncio")  # a program without it has no tasks; no reason to import it
    with suppress(RuntimeError):
        return asyncio.current_task() if asyncio else None
    return None


# --- State -----------------------------------------------------------------------------------------------


_DIFFERS_BY_IT = "It was recorded with another secret. Name this one in secrets={'NAME': value}."


@dataclass(eq=False, repr=False)
class CassetteState(Options):
    """The state of one run with one cassette.

    `sent` holds the requests of this run in order, not the cassette's copies. `exchanges` holds the same
    requests with their answers.
    """

    as_vcrpy = any_message = False
    path: Path
    sent: list[Sent] = field(default_factory=list, init=False)
    exchanges: list[Exchange] = field(default_factory=list, init=False)
    misses: list[Miss] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.path, self.folder = Path(self.path), Path()
        self.mode: Mode = chosen_mode(self.mode)  # pyright: ignore[reportIncompatibleVariableOverride]  # it is chosen now
        self.clock.real |= self.delays == "real"
        self.scrub: Scrub = self.scrub or Scrub.of(self.secrets, self.keep_headers)  # pyright: ignore[reportIncompatibleVariableOverride]  # likewise
        store = os.environ.get("CASSETTE_STORE") if self.store is None else self.store
        self.shared = shared(store, Path(self.root).absolute()) if store else None
        self.before: bytes | None = None
        self.test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
        self.writer = "" if self.run else self.test
        self.run = self.run or _run[0]
        self.order: list[int] = []
        """The places of the interactions that this run has played or recorded, in order."""
        self.index: CassetteIndex | None = None
        self.replays = self.records = self.failed = self.absent = False
        self.workers = Concurrency()
        self.loosely_matched: list[tuple[int, Any, Any]] = []
        self.masking: Masking | None = None
        self.live_check: LiveCheck | None = None
        self.partial: PartialReplay | None = None
        self.named = False
        """Whether a test of pytest has named the cassette, which may be that of other tests, too. Its recordings then name their tests."""
        self.warns = True
        """Whether a divergence is a warning; the pytest plugin has a line of its summary for it."""

    @property
    def file(self) -> Path:
        """The local file of the cassette: `path`, or the copy from the store."""
        return self.shared.copy(self.path) if self.shared else self.folder / self.path

    @property
    def blob_folder(self) -> Path:
        """The folder for new media files on this machine."""
        folder = Path(self.blobs or self.path.parent / "blobs")
        return self.shared.copy(folder) if self.shared else self.folder / folder

    @property
    def name(self) -> str:
        """The name of the cassette in messages."""
        return self.shared.name(self.path) if self.shared else str(self.path)

    @property
    def only_plays(self) -> bool:
        """Whether a request that the cassette handles is replayed or a miss."""
        return self.replays and not self.records and self.mode != "verify"

    @property
    def offline(self) -> bool:
        """Whether sockets are blocked."""
        return self.only_plays and self.partial is None

    @property
    def divergences(self) -> list[Divergence]:
        """What tools returned that they had not returned in the recording, with `replay="model"`, in order."""
        return self.partial.divergences if self.partial else []

    def unused_requests(self) -> list[Any]:
        """Returns the recorded requests that this run had to send and has not sent."""
        left = self.own(self.index.unused()) if self.index is not None and self.replays else []
        return [each for each in left if self.partial is None or self.partial.replays(each)]

    @property
    def names_tests(self) -> bool:
        """Whether recordings of this run name the test."""
        return bool(self.test) and (self.allow_unused or self.named)

    def own(self, requests: list[Any]) -> list[Any]:
        """Returns the recorded requests that only this test sends, if the cassette says that other tests use it."""
        if self.index is None or self.allow_unused or not self.names_tests:
            return requests
        recorded = [getattr(request, "tests", None) for request, _ in self.index.data[: self.index.loaded]]
        if all(tests in (None, [self.test]) for tests in recorded):
            return requests
        return [each for each in requests if getattr(each, "tests", None) == [self.test]]

    def unused(self) -> list[str]:
        """Returns the recorded requests that this run has not sent yet, as `POST https://…`."""
        return [f"{request.method} {request.uri}" for request in self.unused_requests()]

    @property
    def none(self) -> str:
        """The message for a cassette that does not exist. A run that sends nothing needs none."""
        failed = self.file.with_suffix(".failed.json")
        hint = f"A run that failed left its answers in {failed.name}.\n" if failed.exists() else ""
        return f"there is no cassette {self.name}.\n{hint}{command(self.rerecord, 'record')}"

    def miss(self, ask: RequestKey, index: CassetteIndex) -> Miss:
        """Returns a miss with the request and the closest recording. It is safe to log."""
        from .cassette_index import masked_request  # noqa: PLC0415 - it imports vcrpy, which an open cassette has loaded

        shown = RequestKey(index.match, masked_request(index.match, ask.request))
        another = index.find(shown) is not None
        told = _DIFFERS_BY_IT if another else nearest(index, shown, self.file)
        if self.absent:
            return self.missed(self.none)
        asked = f"{shown.request.method} {shortened(shown.request.uri)}"
        return self.missed(
            f"{asked} is not in cassette {self.name}\n{told}\n{command(self.rerecord, 'update')}"
        )

    def plays_port(self, port: int) -> bool:
        """Tells whether the cassette has answers of a server on this port of this machine.

        Args:
            port: The port.
        """
        recorded = self.index.data if self.index is not None else ()
        return any(_is_at(uri, port) for uri in {request.uri for request, _ in recorded})

    def missed(self, text: str, kind: type[Miss] = Miss) -> Miss:
        """Returns a miss to raise, and stores it to be raised again at the end."""
        miss = kind(text)
        self.misses.append(miss)
        return miss

    def allows(self, host: str) -> bool:
        """Tells whether requests to a host bypass the cassette."""
        return host in self.allow_hosts

    @staticmethod
    def takes(protocol: str) -> bool:  # noqa: ARG004  # as the cassettes of other recorders have it
        """Returns True: our cassettes hold every protocol."""
        return True


def _is_at(uri: str, port: int) -> bool:
    with suppress(ValueError):
        parts = urlsplit(uri)
        usual = 443 if parts.scheme in ("https", "wss") else 80
        return (parts.port or usual) == port and is_local(parts.hostname or "")
    return False


@dataclass(frozen=True)
class Recording:
    """The description of a cassette for a policy. `metadata` is its own; `recorded_at` is None if it does not say."""

    path: Path
    metadata: Mapping[str, Any]
    recorded_at: datetime | None
    today: datetime
    _requests: Callable[[], Iterator[Sent]]

    @property
    def requests(self) -> Iterator[Sent]:
        """The recorded requests, and decodes their bodies one by one."""
        return self._requests()


Policy = Callable[[Recording], str | None]


def older_than(days: float) -> Policy:
    """Returns the policy of a maximum age. Repeatable recordings have no date and do not become stale."""

    def policy(recording: Recording) -> str | None:
        age = recording.today - recording.recorded_at if recording.recorded_at else None
        return f"recorded {age.days} days ago" if age and age.days > days else None

    return policy
