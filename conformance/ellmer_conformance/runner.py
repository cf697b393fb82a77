"""Plays a case: opens the cassette, drives the adapter, and keeps everything that was observed.

*Replay* (the default) has no server and no network. *Record* routes the vendor's host to the strict server,
or, with a key in the environment, goes live. The adapter sees the same URLs each time.
"""

from __future__ import annotations

import asyncio
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from ellmer_harness import (
    CassetteError,
    Miss,
    NotIntercepted,
    Refused,
    SecretFound,
    Sent,
    Tape,
    Unused,
    use_cassette,
)
from ellmer_harness import Exchange as Taped

from . import rules, wires
from .adapters import Adapter, Endpoint, Session, Structured
from .cancel import Answers, given_up
from .case import Ask, Case, Mode
from .endpoints import endpoint, live_key, place_of
from .exchange import Exchange, Request, Response
from .neutral import Reply, Tool, Turn
from .retired import pytest_cassette_stale
from .rule import Verdict, verdict
from .rules import behaviour
from .run import Run, ToolRun, Trouble, Varied
from .travel import framing

__all__ = [
    "NotTestable",
    "Show",
    "attempt",
    "cassette_path",
    "close",
    "close_all",
    "declared_refusals",
    "faults",
    "judge",
    "observed",
    "opened",
    "our_trouble",
    "play",
]


class NotTestable(Exception):
    """The adapter cannot be put to this test: it broke outside of `send`, or sent nothing that could be seen."""


def cassette_path(wire: str, vendor: str, case: Case, mode: Mode) -> Path:
    """`<wire>/<vendor>/<case>.json`; streamed answers, being other answers, have a file of their own."""
    stream = ".stream" if "stream" in mode else ""
    return Path(wire, vendor, f"{case.recorded_as}{stream}.json")


def play(
    adapter: Adapter,
    wire: str,
    vendor: str,
    case: Case,
    mode: Mode,
    *,
    cassettes: Path,
    record: bool = False,
    server: Callable[[str], str] | None = None,
) -> Run:
    """One case, one wire format, one mode. `server(case)` gives the strict server's URL to record from.

    Raises NotTestable where the adapter is why there is nothing to judge; other errors are the harness's.
    """
    place = place_of(adapter, wire, vendor)
    live = record and live_key(place) is not None
    where = cassette_path(wire, vendor, case, mode)
    refused = declared_refusals(adapter, wire, vendor, case)
    options: dict[str, Any] = {
        "mode": "rewrite" if record else "replay",
        "blobs": cassettes / "blobs",
        "routes": {place.origin: f"{server(case.name)}@{vendor}"} if server and not live else None,
        "recorded_from": "live" if live else "strict-server",
        "judge": lambda sent: [*_complaints(wire, vendor, sent)],
        "policies": [pytest_cassette_stale],
        "allow_idle": bool(refused),  # a refusal may come before any request
        "rerecord": f"conformance record --wire {wire} --vendor {vendor} --case {case.recorded_as}",
    }

    def perform(**more: Any) -> Run:
        show = Show(case, mode)
        where_to = replace(endpoint(place, wire, vendor, live=live), max_retries=case.max_retries)
        sessions = opened(adapter, where_to, case, show.tools, case.history)
        with ExitStack() as stack:
            waits = list[float]()
            virtual = None if live else getattr(adapter, "without_waiting", None)
            if virtual:
                stack.enter_context(virtual(waits.append))
            taped = show.perform(sessions, use_cassette(cassettes / where, **options | more))
        return observed(
            show,
            wire,
            vendor,
            taped,
            refused=refused,
            replayed=not record,
            misses=show.misses,
            unplayed=show.unplayed,
            cassette=where.as_posix(),
            recorded_from=show.recorded_from,
            waits=waits if virtual else None,
        )

    run = perform()
    return run if record or refused else replace(run, varied=_varied(run, perform))


def _varied(run: Run, perform: Callable[..., Run]) -> list[Varied]:
    """The same under each variation of the case."""
    return [
        Varied(one, perform(framing=framing(one, run.wire), allow_unused=True, allow_idle=True))
        for one in run.variations
    ]


def observed(show: Show, wire: str, vendor: str, taped: Sequence[Taped], **more: Any) -> Run:
    """A performance as a value for the rules."""
    return Run(
        case=show.case,
        wire=wire,
        vendor=vendor,
        mode=show.mode,
        reloaded=show.reloaded,
        exchanges=[_exchange(wire, vendor, exchange) for exchange in taped],
        replies=show.replies,
        tool_runs=show.tool_runs,
        transcript=show.transcript,
        **more,
    )


def opened(
    adapter: Adapter, endpoint: Endpoint, case: Case, tools: Sequence[Tool], history: Sequence[Turn]
) -> list[Session]:
    """A session for each conversation of the case."""
    with faults("session"):
        return [
            adapter.session(endpoint, system=case.system, tools=tools, history=history) for _ in case.speakers
        ]


def attempt(adapter: Adapter, wire: str, vendor: str, case: Case, mode: Mode, **where: Any) -> Run:
    """`play`; what prevents a judgement is the run's trouble. A recording that is refused is still raised."""
    if case.on_server:
        from .direct import play_alone  # noqa: PLC0415 - replay needs no server

        return play_alone(adapter, wire, vendor, case, mode)
    try:
        return play(adapter, wire, vendor, case, mode, **where)
    except (Refused, SecretFound):
        raise
    except NotTestable as error:
        trouble = Trouble(str(error), ours=False)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is ours, and one play's
        trouble = our_trouble(error)
    return Run(case, wire, vendor, mode, trouble=trouble)


def our_trouble(error: Exception) -> Trouble:
    """A fault of the suite or the harness, with the place it comes from."""
    if isinstance(error, CassetteError):
        return Trouble(str(error), ours=True)
    frames = traceback.format_exception(error)[-3:]
    return Trouble(f"{type(error).__name__}: {error}\n{''.join(frames)}", ours=True)


def judge(run: Run) -> list[Verdict]:
    """What every rule says: of each request, added up, and of the whole run; of a run in trouble, only that."""
    if run.trouble:
        return [verdict(behaviour.book.rules["RUN-001"], run)]
    book = rules.book(run.wire, run.vendor)
    found: dict[str, list[Verdict]] = defaultdict(list)
    for index, exchange in enumerate(run.exchanges):
        for one in book.judge(exchange.request):
            found[one.rule.id].append(_placed(one, index))
    return [_summed(each) for each in found.values()] + [
        verdict(rule, run) if rule.id not in run.unseen else Verdict(rule, 0, ())
        for rule in behaviour.book.rules.values()
    ]


class Show:
    """One performance: the tools under watch, and what came of it so far, also when it breaks off."""

    def __init__(self, case: Case, mode: Mode, answers: Answers | None = None) -> None:
        self.case, self.mode, self.answers = case, mode, answers
        self.reloaded = False
        self.tool_runs: list[ToolRun] = []
        self.tools = [_watched(tool, self.tool_runs) for tool in case.tools]
        self.replies: list[Reply] = []
        self.misses: list[str] = []
        self.unplayed: list[str] = []
        self.transcript = self.recorded_from = ""

    def perform(self, sessions: list[Session], tape: AbstractContextManager[Tape]) -> list[Taped]:
        """Plays all steps; returns the exchanges."""
        taped: list[Taped] = []
        try:
            with tape as opened, ExitStack() as stack:
                stack.callback(close_all, sessions)
                taped = opened.exchanges
                self.recorded_from = opened.recorded_from
                self.converse(sessions)
        except Miss as miss:
            if isinstance(miss.__context__, CassetteError):  # the recording is broken, not the request
                raise miss.__context__ from None
            self.misses.append(str(miss))
        except NotIntercepted as error:
            raised = "".join(f"\nsend raised {reply.error!r}" for reply in self.replies if reply.error)
            raise NotTestable(f"{error}{raised}") from error
        except Unused as unused:
            self.unplayed.append(str(unused))
        return taped

    def converse(self, sessions: list[Session]) -> None:
        """All steps, each with its reply; then what is printed."""
        if "async" in self.mode:
            asyncio.run(self._converse_async(sessions))
        else:
            for ask in self.case.steps:
                self.replies.append(self._send(self._ready(sessions, ask), ask))
        with faults("transcript"):
            self.transcript = "\n".join(filter(None, (session.transcript() for session in sessions)))

    def _send(self, session: Session, ask: Ask) -> Reply:
        try:
            if ask.schema is not None:
                return cast("Structured", session).extract(ask.parts, ask.schema)
            return session.send(ask.parts, stream=self.mode == "stream")
        except Exception as error:  # noqa: BLE001 - whatever the library raises is its reply
            return Reply(error=error)

    async def _converse_async(self, sessions: list[Session]) -> None:
        for asks in rounds(self.case.steps):
            sending = [self._asend(self._ready(sessions, ask), ask) for ask in asks]
            self.replies += await asyncio.gather(*sending)

    def _ready(self, sessions: list[Session], ask: Ask) -> Session:
        """The session of a step; one that goes on from what was saved, where the step has it and the adapter can."""
        session = sessions[ask.who]
        reload = getattr(session, "reloaded", None) if ask.reloaded else None
        if reload:
            with faults("reloaded"):
                sessions[ask.who] = reload()
            close(session)
            self.reloaded = True
        return sessions[ask.who]

    async def _asend(self, session: Session, ask: Ask) -> Reply:
        if ask.cancelled and self.answers:
            return await given_up(session.asend(ask.parts, stream=self.mode == "async-stream"), self.answers)
        try:
            if ask.schema is not None:
                return await cast("Structured", session).aextract(ask.parts, ask.schema)
            return await session.asend(ask.parts, stream=self.mode == "async-stream")
        except Exception as error:  # noqa: BLE001 - whatever the library raises is its reply
            return Reply(error=error)


def rounds(steps: Sequence[Ask]) -> list[list[Ask]]:
    """The steps that can be taken at the same time: those of different conversations in a row."""
    found: list[list[Ask]] = []
    for ask in steps:
        if found and ask.who not in {other.who for other in found[-1]}:
            found[-1].append(ask)
        else:
            found.append([ask])
    return found


def close_all(sessions: Sequence[Session]) -> None:
    """Closes every session."""
    for session in sessions:
        close(session)


def close(session: Session) -> None:
    """Closes the session; what that raises is the adapter's fault."""
    with faults("close"):
        session.close()


@contextmanager
def faults(method: str) -> Iterator[None]:
    """What is raised inside is the adapter's fault. (What `send` raises is a reply.)"""
    try:
        yield
    except NotTestable:
        raise
    except Exception as error:
        raise NotTestable(f"{method}() raised {type(error).__name__}: {error}") from error


def declared_refusals(adapter: Adapter, wire: str, vendor: str, case: Case) -> list[str]:
    """Which of the capabilities that the case needs the adapter declares as refused."""
    with faults("capabilities"):
        able = adapter.capabilities(wire, vendor)
        for need in case.needs:
            if getattr(able, need) not in {"native", "pointer", "refused"}:
                raise NotTestable(
                    f"{need} is declared as {getattr(able, need)!r}: say native, pointer or refused"
                )
        return able.refused(case.needs)


def _watched(tool: Tool, runs: list[ToolRun]) -> Tool:
    """The tool, with every call of it noted."""

    def run(**arguments: Any) -> Any:
        try:
            value = tool.run(**arguments)
        except Exception as error:
            runs.append(ToolRun(tool.name, arguments, error=error))
            raise
        runs.append(ToolRun(tool.name, arguments, value))
        return value

    return replace(tool, run=run)


def _exchange(wire: str, vendor: str, taped: Taped) -> Exchange:
    response = Response(taped.status, dict(taped.headers), taped.content, ended=taped.ended == "eof")
    return Exchange(_request(wire, vendor, taped.sent), response if taped.status else None)


def _request(wire: str, vendor: str, sent: Sent) -> Request:
    """The request as rules see it; one that went to no chat endpoint is judged as an empty one."""
    try:
        return wires.request(sent.method, sent.url, sent.headers, sent.body, vendor)
    except ValueError:
        return Request(wire, vendor, {}, sent.url, sent.method, sent.headers)


def _complaints(wire: str, vendor: str, sent: Sequence[Sent]) -> Iterator[str]:
    """The MUST rules that what is about to be saved breaks, for the harness to refuse."""
    for number, one in enumerate(sent):
        for found in rules.book(wire, vendor).judge(_request(wire, vendor, one)):
            if found.outcome == "fail":
                violation = found.violations[0]
                yield f"request {number}: {found.rule.id} at {violation.pointer}: {violation.message}"


def _placed(found: Verdict, index: int) -> Verdict:
    """The verdict with pointers that lead into the run."""
    place = f"/exchanges/{index}/request"
    return replace(found, violations=tuple(replace(v, pointer=place + v.pointer) for v in found.violations))


def _summed(found: Sequence[Verdict]) -> Verdict:
    """One rule's verdicts on all requests of the run as one."""
    violations = tuple(violation for one in found for violation in one.violations)
    return Verdict(found[0].rule, sum(one.checked for one in found), violations)
