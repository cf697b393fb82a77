"""What the engines for vcrpy's and for cassetter's cassettes have in common: the cassette that the intercepted clients ask, and the
line at the end of a run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import RLock
from typing import Any, ClassVar

from ..errors import HarnessError, Miss
from ..exchange.messages import Sent
from ..exchange.reply import Reply
from ..faults import Fault, Schedule
from ..interception.open_cassettes import Clock, RequestInFlight

_SHOWN_AS = {"played": "replayed", "passed": "passed on"}


class EngineCassette:
    """A cassette of another recorder in the form that the intercepted clients ask.

    `played`, `recorded` and `passed` count the requests that were answered from the cassette, recorded, and sent without
    being recorded.

    Args:
        path: The cassette's file.
    """

    as_vcrpy = records = True
    any_message = False
    accept_encoding: str | None = None
    miss: ClassVar[type[Miss]] = Miss
    late: ClassVar[dict[int, RequestInFlight]]
    """Answers that the client still reads although the cassette is closed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.allow_hosts: Sequence[str] = ()
        self.misses: list[Miss] = []
        self.sent: list[Sent] = []
        self.clock = Clock()
        self.played = self.recorded = self.passed = 0
        self._lock = RLock()
        self._pending: dict[int, tuple[RequestInFlight, Any]] = {}
        self._faults = Schedule(())
        self._unspent: dict[tuple[str, str, bytes], Reply] = {}

    def inject(self, *faults: Fault | tuple[Fault, ...]) -> None:
        """Applies faults to the next requests of HTTP that the cassette answers.

        Args:
            faults: Faults of `ellmer_harness.faults`, one per request in order; a tuple of faults applies to one request together.
        """
        self._faults = Schedule(faults)

    def _kept(self, sent: Sent) -> bool:
        """Tells whether a request was answered with a fault, so that its recording waits for the retry."""
        return (sent.method, sent.url, sent.body) in self._unspent

    def _play(self, take: RequestInFlight, play: Callable[[], Reply]) -> bool:
        """Sets the reply of a request: the recorded one, with the faults of this request. Tells whether it has some."""
        sent = take.exchange.sent
        key = sent.method, sent.url, sent.body
        recorded = self._unspent.pop(key, None)
        if recorded is None:
            recorded = play()
            self.played += 1
        faults = self._faults.next(sent)
        if not all(fault.spends for fault in faults):
            self._unspent[key] = recorded
        reply = Reply(200) if any(fault.answers for fault in faults) else recorded
        for fault in faults:
            reply = fault.change(reply)
        take.reply = reply
        return bool(faults)

    def routed(self, http: Any, request: Any) -> Any:  # noqa: ARG002  # as other wrappers have it
        """Returns the request, which goes where the client sends it."""
        return request

    def target(self, url: str) -> str:
        """Returns the URL, which is that of the client's request."""
        return url

    def allows(self, host: str) -> bool:  # noqa: ARG002  # likewise
        """Returns False: the recorder's filters see every request first."""
        return False

    def plays_port(self, port: int) -> bool:  # noqa: ARG002  # likewise
        """Returns False: servers of this machine may be reached."""
        return False

    def missed(self, text: str, kind: type[Miss] | None = None) -> Miss:
        """Returns a miss to raise, and keeps it."""
        miss = (kind or self.miss)(text)
        self.misses.append(miss)
        return miss

    def finish(self) -> None:
        """Ends the answers that the client has not read to their end. Those of async clients are recorded when it has."""
        for take, _ in [*self._pending.values()]:
            if take.last_words is not None or not take.exchange.status:
                take.closed()
            else:
                self.late[id(take)] = take


def inject_into(wrapper: EngineCassette | None, faults: Sequence[Fault | tuple[Fault, ...]]) -> None:
    """Applies faults to the next requests of a cassette. Raises `HarnessError` if there is no cassette."""
    if wrapper is None:
        raise HarnessError("faults need an open cassette that this engine replays")
    wrapper.inject(*faults)


def counted(counts: Mapping[str, int]) -> str:
    """Returns what an engine has done, as the end of a run shows it."""
    told = ", ".join(f"{number} {_SHOWN_AS.get(name, name)}" for name, number in counts.items())
    return re.sub(r"^1 cassettes", "1 cassette", told)
