"""Replays one cassette many times under different variations. It is opened once, so a run takes about a millisecond."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ellmer_harness import Cassette, Miss, use_cassette
from ellmer_harness.exchange.reply import Reply

from ..adapters import Adapter
from ..adapters.endpoints import address_for, endpoint
from ..contract.observed.run import Run, Varied
from ..contract.rules.behaviour.answers.streams import difference
from ..scenarios.case import Case, Mode
from ..scenarios.variations import Variation
from ..scenarios.variations.applied_to_replay import framing
from .from_cassettes import cassette_path, observed
from .sessions import CaseRun, close, opened, without_waiting


class Replays:
    """The recording of a case, which can be replayed repeatedly inside the `with` block."""

    def __init__(
        self, adapter: Adapter, wire: str, provider: str, case: Case, mode: Mode, *, cassettes: Path
    ) -> None:
        self.adapter, self.wire, self.provider, self.case = adapter, wire, provider, case
        self.mode: Mode = mode
        self._frame: Any = None
        self._cassette = use_cassette(
            cassettes / cassette_path(wire, provider, case, mode),
            mode="replay",
            blobs=cassettes / "blobs",
            framing=self._framed,
            on_repeat="cycle",
            allow_unused=True,
            allow_idle=True,
        )
        self._endpoint = endpoint(address_for(case, adapter, wire, provider), wire, provider)

    def __enter__(self) -> Self:
        self._stack = ExitStack()
        self._stack.enter_context(self._cassette)
        self._stack.enter_context(without_waiting(self.adapter))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def play(self, variation: Variation | None = None) -> Run:
        """Returns the run of the case with its answers under a variation."""
        self._frame = framing(variation, self.wire) if variation else None
        case_run, cassette = CaseRun(self.case, self.mode), self._cassette
        _forget(cassette)
        where = replace(self._endpoint, max_retries=self.case.max_retries)
        sessions = opened(self.adapter, where, self.case, case_run.tools, self.case.history)
        try:
            case_run.play_steps(sessions)
        except Miss:  # kept by the cassette
            pass
        finally:
            for session in sessions:
                close(session)
        run = observed(
            case_run,
            self.wire,
            self.provider,
            cassette.exchanges,
            misses=[str(miss) for miss in cassette.misses],
        )
        _forget(cassette)
        return run

    def _framed(self, reply: Reply) -> Reply:
        return self._frame(reply) if self._frame else reply


def differences(replays: Replays, variations: Iterable[Variation]) -> Iterator[tuple[Varied, str]]:
    """Yields each variation with its first difference from the plain run; `""` if there is none."""
    plain = replays.play()
    for variation in variations:
        varied = Varied(variation, replays.play(variation))
        yield varied, difference(plain, varied.run)


def _forget(cassette: Cassette) -> None:
    for entries in (cassette.exchanges, cassette.sent, cassette.misses, cassette.clock.slept):
        entries.clear()
