"""Replays recorded conversations to an adapter: a server answers as the API answered, and the requests are compared."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from ellmer_harness.format.sse_and_ndjson import split_events

from ...adapters import Adapter, ProviderAddress
from ...adapters.endpoints import address_of, endpoint
from ...contract import readers
from ...contract.live_key_redaction import redacted
from ...contract.observed.exchange import Exchange, Request
from ...contract.observed.run import Run, Trouble
from ...contract.provider_answers.continued_requests import sent_items
from ...contract.readers.invoke_model_and_cloudflare import VERSIONS
from ...contract.rule import Kind, Verdict
from ...files import write_text
from ...report import Report, finished, judged
from ...report.baseline import Baseline
from ...report.formats.terminal import abilities
from ...runner.judgement import judge
from ...runner.sessions import CaseRun, NotTestable, close_all, declared_refusals, opened, without_waiting
from ...runner.watches import watching
from ...scenarios.canary_keys import planted
from ...scenarios.case import MODES, Mode
from ...server import StrictServer
from ...server.chat_api_lookup import chat_api_of
from ...server.chat_apis.base import Ticket
from ...server.http.messages import HttpRequest, Reply, plain
from ...server.http.routes import route_of
from ...server.journal import without_secrets
from ...server.replies import render
from ..recorded_requests import Recording
from .conversations import (
    END,
    CannotBeGiven,
    Conversation,
    RecordedCase,
    case_of,
    conversations,
    difference,
    fails,
)

# --- The server ------------------------------------------------------------------------------------------


#: Headers of a connection, and of how a body was packed: ours are others.
_OF_THE_WAY = {"connection", "content-encoding", "content-length", "keep-alive", "transfer-encoding"}


#: Statuses of refusals. A request with another status can be repeated.
_REFUSED = {400, 404, 422}
#: Providers that refuse what a client for their wire format sends, if it was not made for them.
_NOT_GENERIC = {"codex"}


class OtherForm(Exception):
    """The client requested a whole answer for a recorded stream, or the other way round."""


@dataclass
class Playing:
    """A conversation in progress: its position, and its requests and answers."""

    recorded: RecordedCase
    exchanges: list[Exchange] = field(default_factory=list)
    other_form: str = ""

    def next(self, request: Request) -> Reply:
        """Returns the next recorded answer to a request. After the last one, it ends the conversation, or refuses again: no
        recording shows that the API accepts the refused request in another form.
        """
        number, answers = len(self.exchanges), self.recorded.conversation.recorded
        if number < len(answers) or answers[-1].recording.status in _REFUSED:
            return self._recorded(answers[min(number, len(answers) - 1)].recording, request)
        return render(chat_api_of(Ticket(request, self.recorded.case.name, number)), END)

    def _recorded(self, recording: Recording, request: Request) -> Reply:
        if request.stream != self.recorded.streamed and (recording.status or 0) < 300:
            wanted, there = (
                ("a stream", "a whole answer") if request.stream else ("a whole answer", "a stream")
            )
            self.other_form = f"the client asks for {wanted}, and {there} was recorded"
            return _plain(501, self.other_form)
        streams = request.stream and (recording.status or 0) < 300
        body = recording.response
        headers = _headers(recording, request.wire, streams=streams)
        if not streams:
            return plain(recording.status or 0, headers, body)
        return Reply(recording.status or 0, headers, _chunks(recording, request.wire))


class RecordedAnswers:
    """The handler of a server that replays recordings. Conversations are opened before and closed afterwards."""

    def __init__(self) -> None:
        self.open: dict[str, Playing] = {}

    def answer(self, request: HttpRequest) -> Reply:
        """Returns the reply to a whole request."""
        route = route_of(request.target, request.host)
        playing = self.open.get(route.nonce or "")
        if playing is None or not route.wire or request.method != "POST":
            return _plain(404, f"{request.method} {route.path} was not recorded")
        try:
            headers = without_secrets(request.headers)
            asked = readers.request(request.method, route.url, headers, request.body, route.provider)
        except (ValueError, RecursionError) as error:
            return _plain(400, str(error))
        reply = playing.next(asked)
        playing.exchanges.append(Exchange(asked, reply.response))
        return reply

    def too_large(self, request: HttpRequest) -> Reply:
        """Returns the reply to a request whose body will not be read."""
        return _plain(413, f"the body of {request.method} is too large")


def _plain(status: int, message: str) -> Reply:
    body = json.dumps({"error": {"message": message, "type": "not_recorded"}}).encode()
    return plain(status, [("content-type", "application/json")], body)


def _headers(recording: Recording, wire: str, *, streams: bool) -> Sequence[tuple[str, str]]:
    headers: Mapping[str, str] = {k: v for k, v in recording.answered.items() if k not in _OF_THE_WAY}
    named, events = (
        headers.get("content-type", ""),
        recording.response.lstrip().startswith((b"data:", b"event:")),
    )
    fits = "event-stream" in named if events else streams or "json" in named or recording.status != 200
    if named and fits:
        return tuple(headers.items())
    return tuple({**headers, "content-type": _type(recording.response, wire, streams=streams)}.items())


def _type(body: bytes, wire: str, *, streams: bool) -> str:
    """Returns the content type, if the recorder left it out."""
    if not streams or body.lstrip().startswith(b"["):
        return "application/json"
    if wire == "bedrock":
        return "application/vnd.amazon.eventstream"
    return "application/x-ndjson" if wire == "ollama" else "text/event-stream"


def _chunks(recording: Recording, wire: str) -> tuple[bytes, ...]:
    """Returns the body in its recorded chunks, or else with one event in each chunk."""
    body, sizes = recording.response, recording.chunks
    if sizes and sum(sizes) == len(body):
        starts = [sum(sizes[:n]) for n in range(len(sizes) + 1)]
        return tuple(body[a:b] for a, b in pairwise(starts) if a < b)
    if wire == "bedrock":
        return (body,)
    if wire == "ollama":
        return tuple(body.splitlines(keepends=True))
    try:
        return tuple(event.encode() for event in split_events(body.decode()))
    except UnicodeDecodeError:
        return (body,)


# --- The player ------------------------------------------------------------------------------------------


#: Rules that a recording cannot show, and why.
UNSEEN = {
    **dict.fromkeys(("CAS-01", "CAS-02"), "the answers are recorded ones, and no cassette is kept"),
    **dict.fromkeys(
        ("USG-001", "USG-004"), "services count the input tokens of a recorded answer differently"
    ),
    "SYS-001": "the system prompt of the recording may have several parts",
}


_CONVERSATION = re.compile(
    r"/exchanges/\d+/request/(messages|input|contents|system\w*|instructions)\b|/(?!exchanges)"
)


@dataclass(frozen=True)
class Outcome:
    """The result of a conversation: a run with its verdicts, or the reason why it could not be run.

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
        """Whether it was run and every MUST rule is kept."""
        return self.run is not None and not self.run.trouble and not self.broken


@dataclass
class ConversationPlayer:
    """Replays recordings to an adapter through a server."""

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
            return replace(outcome, not_driven=f"the adapter cannot be run: {error}")
        run, verdicts = _judged(recorded, run)
        if reason := playing.other_form or _refusal_to_send(run) or _needs_parameters(run, verdicts):
            return replace(outcome, not_driven=reason)
        return replace(outcome, run=run, verdicts=verdicts, differences=_differences(conversation, run))

    def _place(self, conversation: Conversation) -> ProviderAddress:
        request = conversation.first
        if "/invoke" in request.url or "/ai/run/" in request.url:
            raise CannotBeGiven(
                "the request used another API of the provider (InvokeModel, Cloudflare's own)"
            )
        if (request.wire, request.provider) in VERSIONS.values():
            raise CannotBeGiven(f"the request used another version of the API ({request.provider})")
        return address_of(self.adapter, request.wire, self._provider(request))

    def _provider(self, request: Request) -> str:
        """Returns the adapter's provider for a recording: the recorded one, a generic compatible one, or the format's
        own.
        """
        providers = self.adapter.wires.get(request.wire, ())
        choice = [request.provider]
        if request.provider not in _NOT_GENERIC:
            choice += ["openai_compatible", readers.MODULES[request.wire].PROVIDER]
        found = next((provider for provider in choice if provider in providers), None)
        if found is None:
            raise CannotBeGiven(f"the adapter does not speak {request.wire} at {request.provider}")
        return found

    def _mode(self, recorded: RecordedCase) -> Mode:
        request = recorded.conversation.first
        able = self.adapter.capabilities(request.wire, self._provider(request)).modes
        modes: Iterator[Mode] = (mode for mode in recorded.case.modes if mode in self.modes and mode in able)
        mode = next(modes, None)
        if mode is None:
            raise CannotBeGiven("no mode of this conversation is both selected and supported by the adapter")
        return mode

    def _check_abilities(self, recorded: RecordedCase) -> None:
        request = recorded.conversation.first
        if refused := declared_refusals(self.adapter, request.wire, self._provider(request), recorded.case):
            raise CannotBeGiven(f"the adapter declares {', '.join(refused)} as refused")

    def _run(self, recorded: RecordedCase, place: ProviderAddress, mode: Mode) -> tuple[Run, Playing]:
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
        return _observed(playing, case_run, elsewhere=elsewhere, waits=waits), playing


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
    violations = tuple(each for each in verdict.violations if not each.pointer.startswith(places))
    return Verdict(
        verdict.rule, verdict.checked if violations else 0, () if verdict.rule.id == "TXT-002" else violations
    )


def _observed(playing: Playing, case_run: CaseRun, **more: Any) -> Run:
    request = playing.recorded.conversation.first
    exchanges = [
        replace(each, request=replace(each.request, wire=request.wire, provider=request.provider))
        for each in playing.exchanges
    ]
    return case_run.observed(
        request.wire,
        request.provider,
        exchanges,
        model=request.model,
        unseen=UNSEEN,
        way="recordings",
        trouble=None if exchanges else _unheard(case_run),
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
        items
        for items, each in zip(conversation.sent_items, conversation.recorded, strict=True)
        if not fails(each)
    ]
    ours = sent_items(run.exchanges)
    return [difference(mine, theirs) for mine, theirs in zip(ours, accepted, strict=False)]


# --- The summary -----------------------------------------------------------------------------------------


_COLUMNS = ("recorded", "not driven", "played", "real", "same words", "requests")
_REASONS = 12  # that are printed; the file has all
_DIFFERENCES = 5


@dataclass
class Summary:
    """The outcomes of one adapter. A conversation counts as `real` if every rule is kept, and as `same` if each
    request also equals the accepted one in its place.
    """

    adapter: str
    outcomes: list[Outcome] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def counts(self) -> dict[str, dict[str, int]]:
        """Returns counts by `adapter wire`: conversations that were recorded, that were run, that kept every rule and that were the same, and judged
        requests.
        """
        found: dict[str, dict[str, int]] = {}
        for outcome in self.outcomes:
            name = f"{self.adapter} {outcome.wire}"
            counts = found.setdefault(
                name, dict.fromkeys(("recorded", "played", "kept", "same", "requests"), 0)
            )
            counts["recorded"] += 1
            if outcome.run:
                counts["played"] += 1
                counts["kept"] += outcome.kept
                counts["same"] += outcome.kept and not any(outcome.differences)
                counts["requests"] += len(outcome.run.exchanges)
        return dict(sorted(found.items()))

    def print(self, to: Console) -> None:
        """Prints the table, the reasons, and the first differences."""
        table = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
        table.add_column("wire format", no_wrap=True)
        for column in _COLUMNS:
            table.add_column(column, justify="right", no_wrap=True)
        for name, counts in self.counts().items():
            table.add_row(name.partition(" ")[2], *_cells(counts))
        to.print(
            f"{self.adapter}, run with the recorded answers of providers", style="italic", soft_wrap=True
        )
        to.print(table)
        for line in self._lines():
            to.print(line, style="dim", highlight=False, markup=False, soft_wrap=True)

    def _lines(self) -> Iterator[str]:
        reasons = Counter(outcome.not_driven for outcome in self.outcomes if outcome.not_driven)
        for reason, count in reasons.most_common(_REASONS):
            yield f"not driven {count:5}  {redacted(reason)[:200]}"
        if len(reasons) > _REASONS:
            rest = sum(count for _, count in reasons.most_common()[_REASONS:])
            yield f"not driven {rest:5}  for {len(reasons) - _REASONS} other reasons, in real.json of the report"
        for reason, count in self.left_out.most_common(_REASONS):
            yield f"not read   {count:5}  {redacted(reason)[:200]}"
        differing = [outcome for outcome in self.outcomes if any(outcome.differences)]
        for outcome in differing[:_DIFFERENCES]:
            first = next(filter(None, outcome.differences))
            yield f"other words in {outcome.conversation.name} [{outcome.wire}]: {redacted(first)}"
        if len(differing) > _DIFFERENCES:
            yield f"other words in {len(differing) - _DIFFERENCES} conversations more, in real.json of the report"

    def write(self, folder: Path) -> Path:
        """Writes `real.json`: every conversation with its outcome."""
        path = folder / "real.json"
        value = {
            "version": 1,
            "adapter": self.adapter,
            "counts": self.counts(),
            "left_out": dict(self.left_out.most_common()),
            "conversations": [_outcome(each) for each in self.outcomes],
        }
        write_text(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")
        return path


def _cells(counts: dict[str, int]) -> Sequence[str]:
    played = counts["played"]
    legal, same = f"{counts['kept']}/{played}", f"{counts['same']}/{played}"
    not_driven = counts["recorded"] - played
    return [str(counts["recorded"]), str(not_driven), str(played), legal, same, str(counts["requests"])]


def _outcome(outcome: Outcome) -> dict[str, object]:
    found: dict[str, object] = {
        "name": outcome.conversation.name,
        "wire": outcome.wire,
        "provider": outcome.provider,
    }
    if outcome.not_driven:
        return {**found, "not_driven": redacted(outcome.not_driven)}
    broken = [
        f"{v.rule.id} at {v.violations[0].pointer}: {redacted(v.violations[0].message)}"
        for v in outcome.broken
    ]
    return {**found, "broken": broken, "differences": [redacted(each) for each in outcome.differences]}


# --- The run ---------------------------------------------------------------------------------------------


def play_recordings(
    adapter: Adapter,
    asked: str,
    files: Iterable[Path],
    wanted: Mapping[str, Sequence[str]],
    *,
    baseline: Baseline | None = None,
    on_file: Callable[[Path], None] = lambda _: None,
) -> tuple[Summary, Report]:
    """Runs the selected conversations. Returns the counts and the report of the rules."""
    summary, parts = Summary(adapter.name), list[Report]()
    answers, seen = RecordedAnswers(), set[str]()
    modes: Sequence[Mode] = (
        [m for m in MODES if _matches(m, wanted["mode"])] if wanted["mode"] else ("sync", "stream")
    )
    with StrictServer(handler=answers) as server:
        player = ConversationPlayer(adapter, server, answers, modes)
        for path in files:
            on_file(path)
            for conversation in conversations([path], _noting(summary), seen):
                if conversation.first.wire not in adapter.wires:
                    summary.left_out[f"the adapter does not speak {conversation.first.wire}"] += 1
                elif _is_wanted(conversation, wanted):
                    outcome = player.play(conversation)
                    summary.outcomes.append(outcome)
                    parts += _reports(adapter, asked, outcome, baseline)
    report = Report.joined(parts)
    report.real = summary.counts()
    return summary, finished(report)


def _noting(summary: Summary) -> Callable[[str], None]:
    return lambda reason: summary.left_out.update([reason])


def _is_wanted(conversation: Conversation, wanted: Mapping[str, Sequence[str]]) -> bool:
    request = conversation.first
    place = {"wire": request.wire, "provider": request.provider, "case": conversation.name}
    return all(_matches(value, wanted[name]) for name, value in place.items())


def _matches(value: str, globs: Sequence[str]) -> bool:
    return not globs or any(fnmatchcase(value, glob) for glob in globs)


def _reports(adapter: Adapter, asked: str, outcome: Outcome, baseline: Baseline | None) -> list[Report]:
    """Returns the report of one conversation, or nothing if it was not run."""
    if outcome.run is None:
        return []
    found = judged(adapter.name, outcome.run, outcome.verdicts, getattr(adapter, "differences", ()))
    found.named = {adapter.name: asked}
    if outcome.provider in adapter.wires.get(outcome.wire, ()):
        place = f"{adapter.name} {outcome.wire}/{outcome.provider}"
        found.capabilities = {place: abilities(adapter.capabilities(outcome.wire, outcome.provider))}
    found.transcripts = {}
    if baseline:
        found.rows = [baseline.expected(row) for row in found.rows]
    return [found]
