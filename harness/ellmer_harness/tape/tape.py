"""A cassette while it is in use: `with use_cassette("tests/cassettes/chat.json") as tape: …`.

The same context manager serves blocking and async code. On the way out the recording is judged, scanned and
saved, or the run is held to what was recorded: everything played, nothing missed, something intercepted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from ..errors import CassetteError, HarnessError, Miss
from ..exchange.chunking import framed
from ..exchange.messages import Exchange, Sent
from ..exchange.reply import Reply
from ..faults import Schedule
from ..faults.replaced_answers import override
from ..interception import network_guard, transports
from ..interception.request_in_flight import RequestInFlight
from ..secrets.redaction.headers_and_urls import masked
from ..store.shared import Shared
from .decorating import F, decorated
from .live_check import LiveCheck
from .matching.request_key import RequestKey
from .routing import routed, target
from .state import TapeState
from .verdict import Verdict, hold_to_account, verdict

if TYPE_CHECKING:
    from .matching.cassette_index import CassetteIndex

__all__ = ["Tape", "use_cassette"]


@dataclass(eq=False, repr=False)
class Tape(TapeState):
    """What one run does with one cassette: a context manager, for blocking and async code."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._stack = ExitStack()
        self._schedule = Schedule(self.faults)
        self._pending: dict[int, tuple[RequestInFlight, int]] = {}

    def __repr__(self) -> str:
        return f"<Tape {self.name} ({self.mode}): {len(self.sent)} sent>"

    def __call__(self, function: F) -> F:
        """As a decorator: each call of the function has the cassette opened anew."""
        return decorated(function, lambda: replace(self))

    def __enter__(self) -> Self:
        self._recording = _recording()
        if self.shared and self.mode != "live":
            self.before = self._fetched(self.shared)
        exists = self.mode != "live" and self.file.exists()
        self.absent = self.mode != "live" and not exists
        self.replays = self.mode in ("replay", "append", "verify") or (self.mode == "record" and exists)
        self.records = self.mode in ("rewrite", "append") or (self.mode == "record" and not exists)
        self.live_check = LiveCheck(self.target) if self.mode == "verify" else None
        with ExitStack() as stack:
            if self.mode != "live":
                self.index = stack.enter_context(self._recording.opened(self))
                self.masking = self._recording.Masking() if self.mask and self.records else None
            stack.enter_context(self.clock.in_place_of_sleep(self.virtual_sleep))
            network_guard.watch()
            before = transports.open_(self)
            stack.callback(lambda: transports.close(self, before))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(error)

    @property
    def verdict(self) -> Verdict:
        """What this run did with its cassette (so far)."""
        return verdict(self)

    @property
    def slept(self) -> list[float]:
        """Seconds of each pause that a client made on the virtual clock."""
        return self.clock.slept

    def close(self, error: BaseException | None = None) -> None:
        """Ends the run; `error` is what it failed with. Raises what the run has to answer for."""
        self._stack.close()
        self.failed = error is not None
        for take, _ in [*self._pending.values()]:
            take.closed()
        if self.misses and not _within(self.misses[0], error):
            raise self.misses[0] from error
        if self.records and self.index is not None:
            self._recording.save(self, error)
        if self.live_check is not None and error is None:
            self.live_check.close(self.name)
        if error is None:
            hold_to_account(self)

    def begin(self, http: Any, request: Any, body: bytes) -> RequestInFlight:
        """A request is about to leave: the answer to play, or a place for the one to come. Raises `Miss`."""
        headers = transports.lowered(request.headers.raw)
        clean = self._clean(request, body)
        sent = Sent(request.method, clean.uri, {n: masked(n, v) for n, v in headers}, body)
        take = RequestInFlight(http, request, Exchange(sent), self._done, self.clock, miss=self.missed)
        self.sent.append(sent)
        self.exchanges.append(take.exchange)
        try:
            if self.index is not None:
                self._place(take, clean, self.index)
        except CassetteError as error:  # a client would take it for trouble on the line, and try again
            told = str(error) if self.absent else f"cassette {self.name}: {error}"
            raise self.missed(told) from (None if self.absent else error)
        return take

    def holds(self, request: Any, body: bytes) -> bool:
        """Whether the cassette has an answer for this request, played already or not."""
        if self.index is None:
            return False
        ask = self.index.ask(self._clean(request, body))
        return self.index.find(ask) is not None or bool(self.index.played(ask))

    def replace(
        self,
        when: str | Callable[[Sent], bool] = "*",
        *,
        status: int | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        times: int | None = None,
    ) -> None:
        """From now on, other answers than the recorded ones: `tape.replace("*/v1/chat", status=500, body={"error": {}})`.

        `when` is a pattern of the URL, or a function of the request. `body` is bytes, text, or a value to send as JSON;
        what is not given stays as it was recorded. A request that was not recorded gets what is given, and 200.
        `times` is how many requests are answered so, None for all.
        """
        self._schedule.prefer(override(when, status, body, headers, times))

    def routed(self, http: Any, request: Any) -> Any:
        """The request as it really goes out: to another host, if there is a route."""
        return routed(http, request, self.routes or {}, self.accept_encoding)

    def target(self, url: str) -> str:
        """Where a request really goes, if it is sent."""
        return target(url, self.routes or {})

    def _clean(self, request: Any, body: bytes) -> Any:
        """The request as it is looked up."""
        headers = transports.lowered(request.headers.raw)
        return self._recording.recorded_form.request(
            self.scrub, request.method, str(request.url), headers, body, normalize=self.normalize
        )

    def _fetched(self, shared: Shared) -> bytes | None:
        """The cassette as the store has it; to record, the store has to be there."""
        if self.mode == "rewrite":
            return shared.look(self.path)
        return shared.fetch(self.path, offline=self.mode != "append")

    def _place(self, take: RequestInFlight, clean: Any, index: CassetteIndex) -> None:
        """Finds the answer in the index, or makes room for it there."""
        if self.absent and self.offline:
            raise CassetteError(self.none)
        ask = index.ask(clean)
        if self.replays and self._play(take, ask, index):
            take.exchange.played = True
        elif self.records:
            self.workers.note()
            self._pending[id(take)] = take, index.place(clean)
        else:
            raise self.miss(ask, index)

    def _play(self, take: RequestInFlight, ask: RequestKey, index: CassetteIndex) -> bool:
        """Gives the take its reply; False if there is none to be had."""
        faults, reply = self._schedule.next(take.exchange.sent), Reply(200)
        if not any(fault.answers for fault in faults):
            take.place = index.take(ask)
            if take.place is None and not any(fault.alone for fault in faults):
                return False
        if take.place is not None:
            if not self.match.body:
                self.loosely_matched.append((len(self.sent), ask.request, index.data[take.place][0]))
            reply = Reply.recorded(index.response(take.place), timed=self.delays is not None)
            reply = framed(reply, self.framing) if self.framing else reply
        if self.live_check is not None and take.place is not None:
            told = f"{take.exchange.sent.method} {take.exchange.sent.url}"
            self.live_check.ask(told, take.request, take.exchange.sent.body, reply)
        for fault in faults:
            reply = fault.change(reply)
        take.reply, take.spends = reply, all(fault.spends for fault in faults)
        return True

    def _done(self, take: RequestInFlight) -> None:
        if take.place is not None and self.index is not None:
            recorded_to_fail = "error" in self.index.response(take.place)
            if not take.spends or (take.exchange.failure and not recorded_to_fail):
                self.index.give_back(take.place)
        _, place = self._pending.pop(id(take), (None, None))
        if place is not None and self.index is not None and take.exchange.answered:
            live = self.recorded_from == "live"
            kept = self._recording.recorded_form.response(
                self.scrub, take.seen(), live=live, masking=self.masking
            )
            self.index.answer(place, kept)


use_cassette = Tape


def _within(miss: Miss, error: BaseException | None) -> bool:
    """Whether the run failed with this miss, alone or in a group."""
    if isinstance(error, BaseExceptionGroup):
        return any(_within(miss, one) for one in error.exceptions)
    return error is miss


def _recording() -> ModuleType:
    """vcrpy is imported at the first cassette, not before: it imports every HTTP client it knows."""
    try:
        from . import saving  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise HarnessError(f'{error}. Cassettes need vcrpy: pip install "ellmer-core[harness]"') from error
    return saving
