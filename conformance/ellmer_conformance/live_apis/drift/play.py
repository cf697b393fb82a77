"""Plays cases live, keeps the recordings, and sends the same requests to the strict server."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ...adapters.endpoints import place_of
from ...contract.exchange import Request, Response
from ...contract.observed_run import Run
from ...contract.verdict import Verdict
from ...runner.from_cassettes import attempt
from ...runner.judgement import judge
from ...runner.selection import Play
from ...scenarios.canary_keys import CANARY
from ...scenarios.case import Case
from ...scenarios.script import Answer, Fills, Script, Sees
from ...server.engine import Engine
from ...server.http.http_request import HttpRequest
from .compare import Difference, differences

__all__ = ["Checked", "can_go_live", "play_live"]

_HEADERS = ("anthropic-version", "anthropic-beta", "content-type", "openai-beta")


@dataclass(frozen=True)
class Checked:
    """One case that was played live: the verdicts and, by request, the differences of the strict server."""

    play: Play
    run: Run
    verdicts: Sequence[Verdict]
    differences: Sequence[Sequence[Difference]]

    @property
    def broken(self) -> list[Verdict]:
        """The MUST rules that are broken."""
        return [each for each in self.verdicts if each.outcome == "fail"]


def can_go_live(case: Case) -> bool:
    """Tells whether a case can be played live. A provider's failures and truncated answers cannot be requested."""
    return not case.on_server and all(isinstance(step, Answer | Sees | Fills) for step in case.script)


def play_live(plays: Iterable[Play], cassettes: Path, base_url: str = "") -> Iterator[Checked]:
    """Plays each case with the real key, and keeps the recordings without violations."""
    for play in plays:
        where = {"cassettes": cassettes, "record": True, "live_url": base_url}
        run = attempt(play.adapter, play.wire, play.provider, play.case, play.mode, **where)
        yield Checked(play, run, judge(run), [*_compared(play, run)])


def _compared(play: Play, run: Run) -> Iterator[list[Difference]]:
    """Yields the differences for each request. The strict server gives the live provider's content, as far as it can."""
    engine = Engine({run.case.name: Script(run.case.script)})
    base = urlsplit(place_of(play.adapter, play.wire, play.provider).origin).path
    for exchange in run.exchanges:
        if exchange.response is not None:
            strict = _strict(engine, run, exchange.request, base)
            yield [*differences(exchange.request, exchange.response, strict)]


def _strict(engine: Engine, run: Run, request: Request, base: str) -> Response:
    """Returns the strict server's answer to the same request."""
    parts = urlsplit(request.url)
    path = parts.path.removeprefix(base) + (f"?{parts.query}" if parts.query else "")
    headers = {name: value for name, value in request.headers.items() if name.lower() in _HEADERS}
    keys = {"authorization": f"Bearer {CANARY}", "x-api-key": CANARY, "x-goog-api-key": CANARY}
    target = f"/c/{run.case.name}/1@{run.provider}{path}"
    body = json.dumps(request.body, ensure_ascii=False).encode()
    return engine.answer(HttpRequest("POST", target, {**headers, **keys, "host": "localhost"}, body)).response
