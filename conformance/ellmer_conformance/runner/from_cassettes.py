"""Runs a case: opens the cassette, runs the adapter, and stores all observations.

*Replay* (the default) needs no server and no network. *Record* routes the provider's host to the strict server. With
a key in the environment, it uses the live API. The adapter sees the same URLs in each case.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ellmer_harness import Cassette, Refused, SecretFound, use_cassette
from ellmer_harness import Exchange as Recorded

from ..adapters import Adapter, ProviderAddress
from ..adapters.endpoints import address_for, endpoint, live_key
from ..contract import readers
from ..contract.changes.retired_models import pytest_cassette_stale
from ..contract.live_key_redaction import redacted
from ..contract.observed.exchange import Exchange
from ..contract.observed.run import Run, Trouble, Varied
from ..contract.provider_answers.answer import Told, events_of
from ..contract.provider_answers.joined_streams import folded
from ..contract.provider_answers.whole_answers import read
from ..scenarios.case import Ask, Case, Mode
from ..scenarios.script import Answer, Call, Say, Step, Stop, Think, Usage
from ..scenarios.variations import Variation
from ..scenarios.variations.applied_to_replay import framing
from .judgement import complaints, exchange, judge
from .sessions import (
    CaseRun,
    NotTestable,
    declared_refusals,
    opened,
    our_trouble,
    takes_apart,
    without_waiting,
)

# --- Live recordings -------------------------------------------------------------------------------------


_STOPS: dict[str, Stop] = {
    "length": "length",
    "max_tokens": "length",
    "MAX_TOKENS": "length",
    "max_output_tokens": "length",
    "incomplete": "length",
    "content_filter": "filter",
    "refusal": "filter",
    "SAFETY": "filter",
    "content_filtered": "filter",
    "guardrail_intervened": "filter",
    "PROHIBITED_CONTENT": "filter",
    "BLOCKLIST": "filter",
    "RECITATION": "filter",
    "SPII": "filter",
    "model_length": "length",
    "model_context_window_exceeded": "length",
}


def as_answered(run: Run) -> Run:
    """Returns the run with a script and expectations that come from the provider's real answers."""
    answers = [answer for each in run.exchanges if (answer := _answer(run.wire, each))]
    if not answers:
        return run
    return replace(run, case=replace(run.case, script=answers, steps=_steps(run.case, answers)))


def keep_or_restore(run: Run, path: Path, before: bytes | None) -> Run:
    """Keeps the redacted recording if no rule is broken. Otherwise, it restores the previous one."""
    broken = [found.rule.id for found in judge(run) if found.outcome == "fail"]
    if broken or run.trouble or run.misses:
        _restore(path, before)
        why = f"it breaks {', '.join(broken)}" if broken else "it did not run to its end"
        return replace(
            run, trouble=run.trouble or (None if broken else Trouble(f"not kept: {why}", ours=False))
        )
    if path.is_file():
        path.write_text(redacted(path.read_text("utf-8")), "utf-8")
    return run


def _restore(path: Path, before: bytes | None) -> None:
    if before is None:
        path.unlink(missing_ok=True)
    else:
        path.write_bytes(before)


def _answer(wire: str, exchange: Exchange) -> Answer | None:
    """Returns a provider's answer as a step of a script."""
    response = exchange.response
    if response is None or response.status != 200:
        return None
    if exchange.request.stream:
        told = folded(wire, events_of(wire, response.body))
    else:
        with suppress(ValueError):
            told = read(wire, json.loads(response.body))
            return as_answer(told)
        return None
    return as_answer(told)


def as_answer(told: Told) -> Answer:
    """Returns the content of an answer as a step of a script."""
    calls = tuple(
        Call(call.name, call.arguments or {}, id=call.id, text=call.text if call.arguments is None else None)
        for call in told.calls
    )
    thought = (Think(told.thinking),) if told.thinking else ()
    parts = (*thought, *(Say(text) for text in told.messages or [told.text] if text))
    stop = _STOPS.get(str(told.stop))
    return Answer((*parts, *calls), stop, Usage(int(told.input or 0), int(told.output or 0)))


def _steps(case: Case, answers: Sequence[Step]) -> list[Ask]:
    """Returns the user's side, each step with its last answer."""
    finals = _finals(answers)
    return [_step(ask, next(finals, None)) for ask in case.steps]


def _finals(answers: Sequence[Step]) -> Iterator[Answer]:
    """Yields the answers without calls, each of which ends a step."""
    yield from (step for step in answers if isinstance(step, Answer) and not step.calls)


def _step(ask: Ask, answer: Answer | None) -> Ask:
    if answer is None or ask.outcome == "refused":
        return ask
    if ask.schema is None:
        return replace(ask, text=answer.text, outcome="answered")
    try:
        return replace(ask, value=json.loads(answer.text), outcome="answered")
    except ValueError:
        return replace(ask, outcome="incomplete")


# --- A play ----------------------------------------------------------------------------------------------


def cassette_path(wire: str, provider: str, case: Case, mode: Mode) -> Path:
    """Returns `<wire>/<provider>/<case>.json`. Streamed answers differ, so they have their own file."""
    stream = ".stream" if "stream" in mode else ""
    return Path(wire, provider, f"{case.recorded_as}{stream}.json")


def play(
    adapter: Adapter,
    wire: str,
    provider: str,
    case: Case,
    mode: Mode,
    *,
    cassettes: Path,
    record: bool = False,
    server: Callable[[str], str] | None = None,
    live_url: str = "",
) -> Run:
    """Returns one run of a case with one wire format and mode. `server(case)` returns the strict server's URL for a
    recording.

    Raises NotTestable if the adapter is the reason that nothing can be judged. Other errors are the harness's.
    """
    cassette_play = _CassettePlay(
        adapter, wire, provider, case.at(provider), mode, cassettes, record, server, live_url
    )
    path = cassettes / cassette_path(wire, provider, case, mode)
    before = path.read_bytes() if record and path.is_file() else None
    run = cassette_play.play_recorded()
    if run.recorded_from == "live":
        run = as_answered(run)
        run = keep_or_restore(run, path, before) if record else run
    if record or run.refused:
        return run
    others = [variation for variation in run.variations if not variation.on_server]
    return replace(run, varied=[Varied(each, cassette_play.play_recorded(each)) for each in others])


@dataclass(frozen=True)
class _CassettePlay:
    """A case of an adapter with its cassette, which is replayed once for each variation."""

    adapter: Adapter
    wire: str
    provider: str
    case: Case
    mode: Mode
    cassettes: Path
    record: bool
    server: Callable[[str], str] | None
    live_url: str = ""

    @property
    def _path(self) -> Path:
        return cassette_path(self.wire, self.provider, self.case, self.mode)

    def play_recorded(self, variation: Variation | None = None) -> Run:
        """Returns one run of the case, with or without a variation."""
        place = address_for(self.case, self.adapter, self.wire, self.provider)
        live = self.record and live_key(place) is not None
        refused = declared_refusals(self.adapter, self.wire, self.provider, self.case)
        case_run = CaseRun(self.case, self.mode)
        where = endpoint(place, self.wire, self.provider, live=live)
        where = replace(where, max_retries=self.case.max_retries)
        sessions = opened(self.adapter, where, self.case, case_run.tools, self.case.history)
        with nullcontext() if live else without_waiting(self.adapter) as waits:
            recorded = case_run.play_recorded(
                sessions, self._cassette(place, variation, live=live, may_idle=bool(refused))
            )
        return observed(
            case_run,
            self.wire,
            self.provider,
            recorded,
            refused=refused,
            replayed=not self.record,
            misses=case_run.misses,
            unplayed=case_run.unplayed,
            cassette=self._path.as_posix(),
            recorded_from=case_run.recorded_from,
            waits=waits,
            apart=takes_apart(self.adapter, self.wire, self.provider),
            model=place.model,
        )

    def _routes(self, place: ProviderAddress, *, live: bool) -> dict[str, str] | None:
        """Returns the route of the provider's host in a recording: to the strict server, or to `--base-url`."""
        if live:
            return {place.origin: _beside(place, self.live_url)} if self.live_url else None
        return {place.origin: f"{self.server(self.case.name)}@{self.provider}"} if self.server else None

    def _cassette(
        self, place: ProviderAddress, variation: Variation | None, *, live: bool, may_idle: bool
    ) -> AbstractContextManager[Cassette]:
        """Returns the cassette. Under a variation, the conversation may end before all of it is replayed."""
        wire, provider, case = self.wire, self.provider, self.case
        return use_cassette(
            self.cassettes / self._path,
            mode="rewrite" if self.record else "replay",
            blobs=self.cassettes / "blobs",
            routes=self._routes(place, live=live),
            recorded_from="live" if live else "strict-server",
            judge=lambda sent: [*complaints(wire, provider, sent)],
            policies=[pytest_cassette_stale],
            allow_idle=may_idle or variation is not None,  # a refusal may come before any request
            allow_unused=variation is not None,
            framing=framing(variation, wire) if variation else None,
            rerecord=f"conformance record --wire {wire} --provider {provider} --case {case.recorded_as}",
        )


def _beside(place: ProviderAddress, url: str) -> str:
    """Returns the route of the provider's host if a recording uses another base URL with the provider's own path."""
    return url.rstrip("/").removesuffix(place.path)


def observed(case_run: CaseRun, wire: str, provider: str, recorded: Sequence[Recorded], **more: Any) -> Run:
    """Returns a run of recorded exchanges as a value for the rules."""
    chats = (each for each in recorded if not readers.is_beside(each.sent.method, each.sent.url))
    return case_run.observed(wire, provider, [exchange(wire, provider, each) for each in chats], **more)


def attempt(adapter: Adapter, wire: str, provider: str, case: Case, mode: Mode, **where: Any) -> Run:
    """Works as `play()`, but errors that prevent a judgement become part of the run. A refused recording still
    raises.
    """
    if case.on_server:
        from .against_server import play_alone  # noqa: PLC0415 - replay needs no server

        return play_alone(adapter, wire, provider, case, mode)
    try:
        return play(adapter, wire, provider, case, mode, **where)
    except (Refused, SecretFound):
        raise
    except NotTestable as error:
        trouble = Trouble(str(error), ours=False)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is ours, and one play's
        trouble = our_trouble(error)
    return Run(case, wire, provider, mode, trouble=trouble)
