"""The answer to each request of a run, which is found in the cassette, recorded, or missing."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..errors import CassetteError
from ..exchange.chunking import framed
from ..exchange.messages import Exchange, Sent
from ..exchange.reply import Reply
from ..faults import Schedule
from ..interception import httpx_transports
from ..interception.request_in_flight import RequestInFlight
from ..secrets.redaction import masked
from .matching.request_key import RequestKey
from .recording_routes import routed, target
from .tape_state import TapeState

if TYPE_CHECKING:
    from .matching.cassette_index import CassetteIndex

__all__ = ["RequestLookup"]


@dataclass(eq=False, repr=False)
class RequestLookup(TapeState):
    """The part of a tape that intercepted clients call for each request."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._recording: ModuleType
        self._schedule = Schedule(self.faults)
        self._pending: dict[int, tuple[RequestInFlight, int]] = {}

    def begin(self, http: Any, request: Any, body: bytes) -> RequestInFlight:
        """Finds the answer to a request that a client is about to send, or adds a place for its recording.

        Args:
            http: The client library of the request (its exceptions and classes).
            request: The client's own request object.
            body: The bytes of its body.

        Returns:
            The request in flight; it has the recorded reply, if there is one.

        Raises:
            Miss: If the request was not recorded, and this mode does not record.
        """
        headers = httpx_transports.lowered(request.headers.raw)
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
        """Tells whether the cassette has an answer for a request, used or not.

        Args:
            request: The client's own request object.
            body: The bytes of its body.
        """
        if self.index is None:
            return False
        ask = self.index.ask(self._clean(request, body))
        return self.index.find(ask) is not None or bool(self.index.played(ask))

    def routed(self, http: Any, request: Any) -> Any:
        """Returns the request that is really sent while recording. `routes` may change its host.

        Args:
            http: The client library of the request.
            request: The client's own request object.
        """
        return routed(http, request, self.routes or {}, self.accept_encoding)

    def target(self, url: str) -> str:
        """Returns the URL that a request really goes to while recording.

        Args:
            url: The URL that the client asked for.
        """
        return target(url, self.routes or {})

    def _clean(self, request: Any, body: bytes) -> Any:
        """Returns the request in the form of the lookup."""
        headers = httpx_transports.lowered(request.headers.raw)
        return self._recording.redacted_exchange.request(
            self.scrub, request.method, str(request.url), headers, body, normalize=self.normalize
        )

    def _place(self, take: RequestInFlight, clean: Any, index: CassetteIndex) -> None:
        """Finds the answer in the index, or adds a place for it there."""
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
        """Sets the reply of a request in flight. Returns False if there is none."""
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
            kept = self._recording.redacted_exchange.response(
                self.scrub, take.seen(), live=live, masking=self.masking
            )
            self.index.answer(place, kept)
