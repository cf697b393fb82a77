"""Runs a case without a cassette: the session sends its requests to the strict server.

The adapter's requests are read from the server's journal, so any HTTP client can be used. The server refuses at once
what the provider refuses, in its words. Only the server may be called (`watches.py`), and every key in the
environment is a planted one.
"""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import replace
from functools import cache
from itertools import count
from urllib.parse import urlsplit

from ..adapters import Adapter, Endpoint
from ..adapters.endpoints import address_for, address_of, endpoint
from ..contract import readers
from ..contract.observed.exchange import Exchange
from ..contract.observed.raised import with_place
from ..contract.observed.run import Run, ToolRun, Trouble, Varied, all_media_of
from ..scenarios.canary_keys import about_planted_keys, planted
from ..scenarios.case import Case, Mode
from ..scenarios.cases import scripts
from ..scenarios.messages import Tool, Turn
from ..scenarios.variations import Variation
from ..server import StrictServer
from ..server.engine import PATIENCE
from ..server.journal import Entry
from .sessions import (
    CaseRun,
    NotTestable,
    close_all,
    declared_refusals,
    opened,
    our_trouble,
    takes_apart,
    without_waiting,
)
from .watches import Answers, watching, watching_loops

#: Rules that only a cassette can show.
NO_CASSETTE: dict[str, str] = dict.fromkeys(
    ("CAS-01", "CAS-02"), "the case ran against the strict server, and nothing was recorded"
)
#: Rules that a client cannot keep where it fetches an image itself: the image's address is not reached from a test.
_NOT_FETCHED = dict.fromkeys(
    ("HIS-002", "HIS-013", "PAR-001", "RUN-003", "TRM-010", "TXT-005", "UNI-001"),
    "the client itself downloads the image, and a test cannot reach its address",
)

_numbers = count(1)


class Conversation:
    """One case on the server: its URL and its exchanges."""

    def __init__(self, server: StrictServer, adapter: Adapter, wire: str, provider: str, case: Case) -> None:
        self.server, self.wire, self.provider, self.case = server, wire, provider, case.at(provider)
        self.place = address_for(case, adapter, wire, provider)
        self.nonce = f"{next(_numbers)}@{provider}"
        server.knows(case.name, case.model)
        url = server.url(case.name, self.nonce) + self.place.path
        self.endpoint: Endpoint = replace(endpoint(self.place, wire, provider), base_url=url)

    @property
    def entries(self) -> list[Entry]:
        """The exchanges with the server's notes, without requests besides the chat."""
        entries = self.server.engine.journal.of(self.case.name, self.nonce)
        return [each for each in entries if not readers.is_beside(each.request.method, each.request.url)]

    @property
    def stored(self) -> list[str]:
        """The ids of the files that were uploaded."""
        return self.server.engine.stored_files(self.case.name, self.nonce, self.wire)

    @property
    def abandoned(self) -> int:
        """The number of answers that the client did not wait for."""
        return sum(entry.left is not None for entry in self.entries)

    @property
    def exchanges(self) -> list[Exchange]:
        """The exchanges so far."""
        return [self._as_meant(entry) for entry in self.entries]

    def _as_meant(self, entry: Entry) -> Exchange:
        """Returns the exchange with its verdicts. A request to the path of another format or provider is judged
        again.
        """
        found, request = entry.exchange, entry.request
        if "uploads" not in self.case.needs:  # a case about uploads is about the ids
            request = self.server.engine.with_uploads(request, self.case.name, self.nonce)
            found = replace(found, request=request)
        if (request.wire, request.provider) == (self.wire, self.provider):
            return replace(found, verdicts=entry.verdicts)
        return replace(found, request=replace(request, wire=self.wire, provider=self.provider))

    def without_result(
        self, refused: Sequence[str], raised: Sequence[BaseException | None]
    ) -> Trouble | None:
        """Returns why the run has no result, if it has none: the client asked on for ever, or not at all."""
        return self._endless() or self._unheard(refused, raised)

    def _endless(self) -> Trouble | None:
        sent, last = len(self.entries), len(self.case.script)
        if sent <= last + PATIENCE:
            return None
        told = f"it sent {sent} requests, got the same answer since request {last}, and did not give up"
        return Trouble(told, ours=False, rule="RUN-002")

    def _unheard(self, refused: Sequence[str], raised: Sequence[BaseException | None]) -> Trouble | None:
        """Returns the error that no request was sent, unless the case allows a refusal before any request."""
        may = all(ask.outcome == "refused" for ask in self.case.steps) and all(raised)
        if self.exchanges or refused or may:
            return None
        error = next(filter(None, raised), None)
        how = f": {with_place(error)}" if error else ""
        told = f"no request reached the given base URL{how}"
        return Trouble(f"{told}{about_planted_keys(how, self.place.key_vars)}", ours=False)


def play_direct(
    adapter: Adapter, wire: str, provider: str, case: Case, mode: Mode, *, server: StrictServer
) -> Run:
    """Returns one run of a case with one wire format and mode, against the server. Errors that prevent a judgement
    are part of the run.
    """
    try:
        run = _play(adapter, Conversation(server, adapter, wire, provider, case), mode)
        if run.trouble or run.refused:
            return run
        others = [variation for variation in run.variations if not variation.timed]
        talks = [
            Conversation(server, adapter, wire, provider, under(case, variation)) for variation in others
        ]
        plays = [_play(adapter, talk, mode) for talk in talks]
        return replace(
            run, varied=[Varied(variation, play) for variation, play in zip(others, plays, strict=True)]
        )
    except NotTestable as error:
        own = address_of(adapter, wire, provider).key_vars
        trouble = Trouble(f"{error}{about_planted_keys(str(error), own)}", ours=False)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is ours, and one play's
        trouble = our_trouble(error)
    return Run(case, wire, provider, mode, trouble=trouble)


def play_alone(adapter: Adapter, wire: str, provider: str, case: Case, mode: Mode) -> Run:
    """Returns the same run, on a server of this process that is started once and stays."""
    return play_direct(adapter, wire, provider, case, mode, server=_own_server())


@cache
def _own_server() -> StrictServer:
    server = StrictServer(scripts()).__enter__()
    atexit.register(server.__exit__, None, None, None)
    return server


def under(case: Case, variation: Variation) -> Case:
    """Returns the name of the case under a variation, for the server."""
    return replace(case, name=f"{case.name}~{variation.name}")


def _play(adapter: Adapter, conversation: Conversation, mode: Mode) -> Run:
    wire, provider, case = conversation.wire, conversation.provider, conversation.case
    refused = declared_refusals(adapter, wire, provider, case)
    left = list[bool]()
    case_run = CaseRun(
        case, mode, Answers(lambda: len(conversation.entries), lambda: conversation.abandoned, left)
    )
    history = deepcopy(case.history)
    tools = [replace(tool, parameters=deepcopy(tool.parameters)) for tool in case_run.tools]
    with ExitStack() as stack:
        stack.enter_context(planted(conversation.place.key_vars))
        elsewhere = stack.enter_context(watching(conversation.server.port))
        waits = stack.enter_context(without_waiting(adapter))
        where = replace(conversation.endpoint, max_retries=case.max_retries)
        sessions = opened(adapter, where, case, tools, history)
        stack.callback(close_all, sessions)
        blocking = stack.enter_context(watching_loops())
        case_run.play_steps(sessions)
    fetched = _hosts_given(case_run.tool_runs) & set(elsewhere)
    return case_run.observed(
        wire,
        provider,
        conversation.exchanges,
        refused=refused,
        elsewhere=[place for place in elsewhere if place not in fetched],
        altered=_altered(case, history, tools),
        waits=waits,
        apart=takes_apart(adapter, wire, provider),
        model=conversation.endpoint.model,
        left=left or None,
        stored=conversation.stored or None,
        blocking=blocking if "async" in mode else None,
        unseen=NO_CASSETTE | (_NOT_FETCHED if fetched else {}),
        way="server",
        trouble=conversation.without_result(refused, [reply.error for reply in case_run.replies]),
    )


def _hosts_given(tool_runs: Sequence[ToolRun]) -> set[str | None]:
    """Returns the hosts of images that tools returned by URL."""
    return {urlsplit(media.url).hostname for run in tool_runs for media in all_media_of(run.value)}


def _altered(case: Case, history: Sequence[Turn], tools: Sequence[Tool]) -> list[str]:
    """Returns the caller's values that have been modified."""
    before = {tool.name: tool.parameters for tool in case.tools}
    changed = [f"the schema of {tool.name}" for tool in tools if tool.parameters != before.get(tool.name)]
    gone = ["the list of tools"] if len(tools) != len(case.tools) else []
    return [*(["the history"] if list(history) != list(case.history) else []), *gone, *changed]
