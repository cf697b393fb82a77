"""Plays recorded conversations to an adapter and returns the results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from ...adapters import Adapter, Place
from ...adapters.endpoints import endpoint, place_of
from ...contract import readers
from ...contract.exchange import Request
from ...contract.observed_run import Run, Trouble
from ...contract.previous_response_id import said
from ...contract.readers.invoke_model_and_cloudflare import VERSIONS
from ...contract.rule import Kind
from ...contract.verdict import Verdict
from ...runner.judgement import judge
from ...runner.sessions import CaseRun, NotTestable, close_all, declared_refusals, opened, without_waiting
from ...runner.watches import watching
from ...scenarios.canary_keys import planted
from ...scenarios.case import Mode
from ...server import StrictServer
from .adapter_input import CannotBeGiven
from .answer_server import Playing, RecordedAnswers
from .conversations import Conversation
from .recorded_cases import RecordedCase, case_of
from .recorded_reply import fails
from .request_comparison import difference

__all__ = ["UNSEEN", "ConversationPlayer", "Outcome"]

#: Rules that a recording cannot show, and why.
UNSEEN = {
    **dict.fromkeys(("CAS-01", "CAS-02"), "recorded answers are played: no cassette is kept"),
    **dict.fromkeys(
        ("USG-001", "USG-004"), "what a recorded answer counts as input differs from service to service"
    ),
    "SYS-001": "the system prompt of the recording may have several parts",
}


_CONVERSATION = re.compile(
    r"/exchanges/\d+/request/(messages|input|contents|system\w*|instructions)\b|/(?!exchanges)"
)


@dataclass(frozen=True)
class Outcome:
    """The result of a conversation: a run with its verdicts, or the reason why it could not be played.

    `differences` holds, for each compared request, its first difference from the accepted one; `""` for none.
    """

    conversation: Conversation
    wire: str
    provider: str
    not_driven: str = ""
    run: Run | None = None
    verdicts: Sequence[Verdict] = ()
    differences: Sequence[str] = ()

    @property
    def broken(self) -> list[Verdict]:
        """The MUST rules that are broken."""
        return [each for each in self.verdicts if each.outcome == "fail"]

    @property
    def kept(self) -> bool:
        """Whether it was played and every MUST rule is kept."""
        return self.run is not None and not self.run.trouble and not self.broken


@dataclass
class ConversationPlayer:
    """Plays recordings to an adapter through a server."""

    adapter: Adapter
    server: StrictServer
    answers: RecordedAnswers
    modes: Sequence[Mode] = ("sync", "stream")
    _count: int = field(default=0)

    def play(self, conversation: Conversation) -> Outcome:
        """Returns the outcome of a conversation."""
        first = conversation.first
        outcome = Outcome(conversation, first.wire, first.provider)
        try:
            place = self._place(conversation)
            recorded = case_of(conversation)
            mode = self._mode(recorded)
            self._check_abilities(recorded)
            run, playing = self._run(recorded, replace(place, model=first.model or place.model), mode)
        except CannotBeGiven as error:
            return replace(outcome, not_driven=str(error))
        except NotTestable as error:
            return replace(outcome, not_driven=f"the adapter cannot be played: {error}")
        run, verdicts = _judged(recorded, run)
        if reason := playing.other_form or _refusal_to_send(run) or _needs_parameters(run, verdicts):
            return replace(outcome, not_driven=reason)
        return replace(outcome, run=run, verdicts=verdicts, differences=_differences(conversation, run))

    def _place(self, conversation: Conversation) -> Place:
        request = conversation.first
        if "/invoke" in request.url or "/ai/run/" in request.url:
            raise CannotBeGiven(
                "the request used another API of the provider (InvokeModel, Cloudflare's own)"
            )
        if (request.wire, request.provider) in VERSIONS.values():
            raise CannotBeGiven(f"the request used another version of the API ({request.provider})")
        return place_of(self.adapter, request.wire, self._provider(request))

    def _provider(self, request: Request) -> str:
        """Returns the adapter's provider for a recording: the recorded one, a generic compatible one, or the format's
        own.
        """
        known = self.adapter.wires.get(request.wire, ())
        choice = (request.provider, "openai_compatible", readers.MODULES[request.wire].PROVIDER)
        found = next((provider for provider in choice if provider in known), None)
        if found is None:
            raise CannotBeGiven(f"the adapter does not speak {request.wire} at {request.provider}")
        return found

    def _mode(self, recorded: RecordedCase) -> Mode:
        request = recorded.conversation.first
        able = self.adapter.capabilities(request.wire, self._provider(request)).modes
        mode = next((mode for mode in recorded.case.modes if mode in self.modes and mode in able), None)
        if mode is None:
            raise CannotBeGiven("the adapter or the selection does not have its mode")
        return mode

    def _check_abilities(self, recorded: RecordedCase) -> None:
        request = recorded.conversation.first
        if refused := declared_refusals(self.adapter, request.wire, self._provider(request), recorded.case):
            raise CannotBeGiven(f"the adapter declares {', '.join(refused)} as refused")

    def _run(self, recorded: RecordedCase, place: Place, mode: Mode) -> tuple[Run, Playing]:
        """Runs the case once with the recorded answers."""
        self._count += 1
        request, playing = recorded.conversation.first, Playing(recorded)
        nonce = f"{self._count}@{request.provider}"
        self.answers.open[nonce] = playing
        url = self.server.url("recorded", nonce) + place.path
        where = replace(endpoint(place, request.wire, self._provider(request)), base_url=url)
        case_run = CaseRun(recorded.case, mode)
        with ExitStack() as stack:
            stack.callback(self.answers.open.pop, nonce)
            stack.enter_context(planted(place.key_vars))
            elsewhere = stack.enter_context(watching(self.server.port))
            waits = stack.enter_context(without_waiting(self.adapter))
            sessions = opened(self.adapter, where, recorded.case, case_run.tools, recorded.case.history)
            stack.callback(close_all, sessions)
            case_run.play_steps(sessions)
        observed = _observed(playing, case_run, elsewhere=elsewhere, waits=waits)
        return observed, playing


def _judged(recorded: RecordedCase, run: Run) -> tuple[Run, list[Verdict]]:
    """Returns the run and its verdicts. A reply of an invalid form is an error of the run."""
    try:
        return run, _verdicts(recorded, run)
    except Exception as error:  # noqa: BLE001 - whatever an adapter hands over, the other conversations are played
        run = replace(run, trouble=Trouble(f"its result cannot be judged: {error!r}", ours=False))
        return run, judge(run)


def _verdicts(recorded: RecordedCase, run: Run) -> list[Verdict]:
    """Returns the verdicts. If the API refused the request in the recording, only the client's reaction is judged."""
    refused = [n for n, each in enumerate(recorded.conversation.recorded) if fails(each)]
    return [_without(each, refused) for each in judge(run)] if refused else judge(run)


def _without(verdict: Verdict, refused: Sequence[int]) -> Verdict:
    places = tuple(f"/exchanges/{number}/request" for number in refused)
    if not verdict.violations:
        return verdict
    kept = tuple(each for each in verdict.violations if not each.pointer.startswith(places))
    return Verdict(verdict.rule, verdict.checked if kept else 0, () if verdict.rule.id == "TXT-002" else kept)


def _observed(playing: Playing, case_run: CaseRun, **more: Any) -> Run:
    request = playing.recorded.conversation.first
    exchanges = [
        replace(each, request=replace(each.request, wire=request.wire, provider=request.provider))
        for each in playing.exchanges
    ]
    trouble = None if exchanges else _unheard(case_run)
    return Run(
        case=case_run.case,
        wire=request.wire,
        provider=request.provider,
        mode=case_run.mode,
        exchanges=exchanges,
        replies=case_run.replies,
        tool_runs=case_run.tool_runs,
        transcript=case_run.transcript,
        leaks=case_run.leaks,
        model=request.model,
        unseen=UNSEEN,
        way="recordings",
        trouble=trouble,
        **more,
    )


def _refusal_to_send(run: Run) -> str:
    """Returns the adapter's own error if it sent nothing."""
    error = next((reply.error for reply in run.replies if reply.error), None)
    return f"the adapter refuses to send it ({type(error).__name__})" if error and not run.exchanges else ""


def _needs_parameters(run: Run, verdicts: Sequence[Verdict]) -> str:
    """Returns the parameters that the model needs and that an adapter does not get: a reasoning effort, audio."""
    for verdict in verdicts:
        if verdict.outcome == "fail" and verdict.rule.kind is Kind.REJECT:
            violation = verdict.violations[0]
            if not _CONVERSATION.match(violation.pointer):
                return f"{run.model} needs parameters that an adapter does not receive ({verdict.rule.id})"
    return ""


def _unheard(case_run: CaseRun) -> Trouble:
    raised = "; ".join(f"send raised {reply.error!r}" for reply in case_run.replies if reply.error)
    return Trouble(f"no request reached the base URL that was given. {raised}".strip(), ours=False)


def _differences(conversation: Conversation, run: Run) -> list[str]:
    """Returns the first difference of each request from the accepted one in its place."""
    accepted = [
        items for items, each in zip(conversation.said, conversation.recorded, strict=True) if not fails(each)
    ]
    ours = said(run.exchanges)
    return [difference(one, other) for one, other in zip(ours, accepted, strict=False)]
