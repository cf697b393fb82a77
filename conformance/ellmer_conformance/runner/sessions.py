"""A run of a case: the sessions of an adapter, their steps, and the results."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from typing import Any, cast

from ellmer_harness import Cassette, CassetteError, Miss, NotIntercepted, Unused
from ellmer_harness import Exchange as Recorded

from ..adapters import Adapter, Endpoint, Session, Structured
from ..contract import readers
from ..contract.observed.exchange import Exchange
from ..contract.observed.run import Run, ToolRun, Trouble
from ..scenarios.case import Ask, Case, Mode
from ..scenarios.messages import Approve, Part, Reply, Tool, Turn, Upload
from ..scenarios.script import Delivery
from .watches import Answers, cancelled_reply, watching_prints


class NotTestable(Exception):
    """The adapter cannot be tested: it raised outside of `send`, or sent no visible request."""


class CaseRun:
    """One run: the watched tools, and the results so far, also after an error."""

    def __init__(self, case: Case, mode: Mode, answers: Answers | None = None) -> None:
        self.case, self.answers = case, answers
        self.mode: Mode = mode
        self.sent: Callable[[], int] | None = answers.begun if answers else None
        self.begun: list[int] = []
        self.reloaded = False
        self.tool_runs: list[ToolRun] = []
        self.asked: list[tuple[str, Mapping[str, Any]]] = []
        self.tools = [_watched(tool, self.tool_runs) for tool in case.tools]
        self.replies: list[Reply] = []
        self.misses: list[str] = []
        self.unplayed: list[str] = []
        self.leaks: list[str] = []
        self.transcript = self.recorded_from = ""

    def play_recorded(
        self, sessions: list[Session], cassette: AbstractContextManager[Cassette]
    ) -> list[Recorded]:
        """Runs all steps; returns the exchanges."""
        recorded: list[Recorded] = []
        try:
            with cassette as opened, ExitStack() as stack:
                stack.callback(close_all, sessions)
                recorded = opened.exchanges
                self.sent = lambda: sum(_is_chat(each) for each in recorded)
                self.recorded_from = opened.recorded_from
                self.play_steps(sessions)
        except Miss as miss:
            if isinstance(miss.__context__, CassetteError):  # the recording is broken, not the request
                raise miss.__context__ from None
            self.misses.append(str(miss))
        except NotIntercepted as error:
            raised = "".join(f"\nsend raised {reply.error!r}" for reply in self.replies if reply.error)
            raise NotTestable(f"{error}{raised}") from error
        except Unused as unused:
            self.unplayed.append(str(unused))
        return recorded

    def play_steps(self, sessions: list[Session]) -> None:
        """Runs all steps, each with its reply, and then the transcript. Keys that are printed or logged meanwhile
        are noted.
        """
        with watching_prints() as self.leaks:
            self._converse(sessions)

    def observed(self, wire: str, provider: str, exchanges: Sequence[Exchange], **more: Any) -> Run:
        """Returns the run as a value for the rules."""
        return Run(
            case=self.case,
            wire=wire,
            provider=provider,
            mode=self.mode,
            exchanges=exchanges,
            replies=self.replies,
            tool_runs=self.tool_runs,
            asked=self.asked,
            transcript=self.transcript,
            leaks=self.leaks,
            reloaded=self.reloaded,
            begun=self.begun,
            **more,
        )

    def _converse(self, sessions: list[Session]) -> None:
        if "async" in self.mode:
            asyncio.run(self._converse_async(sessions))
        else:
            for ask in self.case.steps:
                self._begin(1)
                self.replies.append(self._send(self._ready(sessions, ask), ask))
        with faults("transcript"):
            self.transcript = "\n".join(filter(None, (session.transcript() for session in sessions)))

    def _begin(self, steps: int) -> None:
        """Notes how many requests were sent before these steps."""
        if self.sent:
            self.begun += [self.sent()] * steps

    def _send(self, session: Session, ask: Ask) -> Reply:
        try:
            self._allow(session, ask)
            if ask.compacted:
                cast("Any", session).compacted()
            parts = [cast("Any", session).upload(p.file) if isinstance(p, Upload) else p for p in ask.parts]
            if ask.schema is not None:
                return cast("Structured", session).extract(parts, ask.schema)
            return session.send(parts, stream=self.mode == "stream", **_options(ask))
        except Exception as error:  # noqa: BLE001 - whatever the library raises is its reply
            return Reply(error=error)

    async def _converse_async(self, sessions: list[Session]) -> None:
        for asks in _rounds(self.case.steps):
            self._begin(len(asks))
            sending = [self._asend(self._ready(sessions, ask), ask) for ask in asks]
            self.replies += await asyncio.gather(*sending)

    def _ready(self, sessions: list[Session], ask: Ask) -> Session:
        """Returns the session of a step. It is a reloaded one if the step asks for that and the adapter supports it."""
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
            sending = session.asend(ask.parts, stream=self.mode == "async-stream", **_options(ask))
            return await cancelled_reply(sending, self.answers, _stalls_at(self.case))
        try:
            self._allow(session, ask)
            if ask.compacted:
                await cast("Any", session).acompacted()
            parts = [await _uploaded(session, part) for part in ask.parts]
            if ask.schema is not None:
                return await cast("Structured", session).aextract(parts, ask.schema)
            return await session.asend(parts, stream=self.mode == "async-stream", **_options(ask))
        except Exception as error:  # noqa: BLE001 - whatever the library raises is its reply
            return Reply(error=error)

    def _allow(self, session: Session, ask: Ask) -> None:
        """Applies the caller's settings before a step: another prompt, an approver, permission for web searches."""
        if ask.instructed:
            cast("Any", session).instructed(ask.instructed)
        if self.case.approve:
            cast("Any", session).approving(_noted(self.case.approve, self.asked))
        if self.case.searching:
            cast("Any", session).searching()


def _stalls_at(case: Case) -> int:
    """Returns the number of answers before the one that stalls, in which the caller leaves."""
    stalled = (isinstance(step, Delivery) and step.ending == "stall" for step in case.script)
    return next((index for index, stalls in enumerate(stalled) if stalls), 0)


def _is_chat(recorded: Recorded) -> bool:
    return not readers.is_beside(recorded.sent.method, recorded.sent.url)


async def _uploaded(session: Session, part: Part) -> Any:
    """Returns the part. A file to upload becomes the session's reference to it."""
    return await cast("Any", session).aupload(part.file) if isinstance(part, Upload) else part


def _noted(approve: Approve, asked: list[tuple[str, Mapping[str, Any]]]) -> Approve:
    """Returns a function with the same answers that notes every question."""

    def noting(name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any] | None:
        asked.append((name, dict(arguments)))
        return approve(name, arguments)

    return noting


def _options(ask: Ask) -> dict[str, Any]:
    """Returns the further arguments of `send`: none if the step has no options."""
    return {"options": ask.options} if ask.options else {}


def _rounds(steps: Sequence[Ask]) -> list[list[Ask]]:
    """Returns the steps in groups that can run concurrently: consecutive steps of different conversations."""
    found: list[list[Ask]] = []
    for ask in steps:
        if found and ask.who not in {other.who for other in found[-1]}:
            found[-1].append(ask)
        else:
            found.append([ask])
    return found


def opened(
    adapter: Adapter, endpoint: Endpoint, case: Case, tools: Sequence[Tool], history: Sequence[Turn]
) -> list[Session]:
    """Returns a session for each conversation of the case."""
    with faults("session"):
        return [
            adapter.session(endpoint, system=case.system, tools=tools, history=history) for _ in case.speakers
        ]


def close_all(sessions: Sequence[Session]) -> None:
    """Closes every session."""
    for session in sessions:
        close(session)


def close(session: Session) -> None:
    """Closes the session. An exception is the adapter's fault."""
    with faults("close"):
        session.close()


@contextmanager
def faults(method: str) -> Iterator[None]:
    """Treats exceptions inside the block as the adapter's fault. (An exception of `send` is a reply.)"""
    try:
        yield
    except NotTestable:
        raise
    except Exception as error:
        raise NotTestable(f"{method}() raised {type(error).__name__}: {error}") from error


@contextmanager
def without_waiting(adapter: Adapter) -> Iterator[list[float] | None]:
    """Notes pauses before retries instead of waiting. It is `None` if the adapter does not support it."""
    virtual = getattr(adapter, "without_waiting", None)
    if virtual is None:
        yield None
        return
    waits = list[float]()
    with virtual(waits.append):
        yield waits


def takes_apart(adapter: Adapter, wire: str, provider: str) -> bool:
    """Tells whether the adapter declares that its API has no order between texts and media."""
    return getattr(adapter.capabilities(wire, provider), "interleaved_parts", "native") == "refused"


def declared_refusals(adapter: Adapter, wire: str, provider: str, case: Case) -> list[str]:
    """Returns the capabilities of the case that the adapter declares as refused."""
    with faults("capabilities"):
        able = adapter.capabilities(wire, provider)
        for need in case.needs:
            if getattr(able, need) not in {"native", "pointer", "refused"}:
                raise NotTestable(
                    f"{need} is declared as {getattr(able, need)!r}: use native, pointer or refused"
                )
        return able.refused(case.needs)


def _watched(tool: Tool, runs: list[ToolRun]) -> Tool:
    """Returns the tool, with every call noted."""

    def run(**arguments: Any) -> Any:
        try:
            value = tool.run(**arguments)
        except Exception as error:
            runs.append(ToolRun(tool.name, arguments, error=error))
            raise
        runs.append(ToolRun(tool.name, arguments, value))
        return value

    return replace(tool, run=run)


def our_trouble(error: Exception) -> Trouble:
    """Returns an error of the suite or the harness, with its place."""
    if isinstance(error, CassetteError):
        return Trouble(str(error), ours=True)
    frames = traceback.format_tb(error.__traceback__)[-2:]
    return Trouble(f"{type(error).__name__}: {error}\n{''.join(frames)}", ours=True)
