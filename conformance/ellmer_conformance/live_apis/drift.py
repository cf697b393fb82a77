"""The live API beside the strict server: the same cases run against both, and the fields of their answers compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from ..adapters.endpoints import address_of
from ..contract.error_texts.error_bodies import read_error
from ..contract.live_key_redaction import redacted
from ..contract.observed.exchange import Request, Response
from ..contract.observed.run import Run
from ..contract.provider_answers.answer import events_of
from ..contract.rule import Verdict
from ..runner.from_cassettes import attempt
from ..runner.judgement import judge
from ..runner.selection import Play
from ..scenarios.canary_keys import CANARY
from ..scenarios.case import Case
from ..scenarios.script import Answer, AnswerByMedia, Script, StructuredAnswer
from ..server.engine import Engine
from ..server.http.messages import HttpRequest

# --- Fields of an answer ---------------------------------------------------------------------------------


_NAMES = {
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    type(None): "null",
    list: "list",
    dict: "object",
}
#: Objects that the model writes: their keys are not fields of the API.
_THE_MODELS = {"input", "args", "arguments", "parsed"}


def fields_of(wire: str, response: Response, *, stream: bool) -> dict[str, set[str]]:
    """Returns the types at each path. For a stream, they are grouped by event."""
    found: dict[str, set[str]] = {}
    for place, kind in _stream(wire, response) if stream else _whole(response):
        found.setdefault(place, set()).add(kind)
    return found


def _whole(response: Response) -> Iterator[tuple[str, str]]:
    try:
        yield from _paths(json.loads(response.body), "")
    except ValueError:
        yield "", "no JSON"


def _stream(wire: str, response: Response) -> Iterator[tuple[str, str]]:
    for event in events_of(wire, response.body):
        name = event.name or str(event.data.get("type") or "data")
        yield from _paths(event.data, name) if event.data else [(name, "text")]


def _paths(value: Any, place: str) -> Iterator[tuple[str, str]]:
    yield place, _NAMES.get(type(value), "?")
    if isinstance(value, dict) and place.rpartition(".")[2] not in _THE_MODELS:
        for key, each in value.items():
            yield from _paths(each, f"{place}.{key}" if place else key)
    elif isinstance(value, list):
        for each in value:
            yield from _paths(each, f"{place}[]")


# --- The comparison --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """A difference. `place` is a path in the answer, or `""` for the whole answer."""

    kind: Literal["status", "type", "text", "field"]
    live: str
    strict: str
    place: str = ""

    @property
    def sentence(self) -> str:
        """The difference as a sentence."""
        at = f" at {self.place}" if self.place else ""
        return f"{self.kind}{at}: live {self.live}, the strict server {self.strict}"


def differences(request: Request, live: Response, strict: Response) -> Iterator[Difference]:
    """Yields every difference in the answers to one request."""
    if live.status != strict.status:
        yield Difference("status", _status_and_message(live), _status_and_message(strict))
    elif live.status >= 300:
        yield from _errors(live, strict)
    else:
        yield from _fields(request, live, strict)


def _errors(live: Response, strict: Response) -> Iterator[Difference]:
    first, second = (read_error(r.status, r.body, r.headers) for r in (live, strict))
    if first.type != second.type:
        yield Difference("type", repr(first.type), repr(second.type))
    if first.stable != second.stable:
        yield Difference("text", repr(first.message), repr(second.message))


def _fields(request: Request, live: Response, strict: Response) -> Iterator[Difference]:
    first, second = (fields_of(request.wire, r, stream=request.stream) for r in (live, strict))
    for place in sorted(first.keys() | second.keys()):
        if _parent(place) not in first.keys() & second.keys() | {""}:
            continue  # it was said of the object that this is a field of
        got, ours = first.get(place, set()), second.get(place, set())
        if not got or not ours or not got & ours:
            yield Difference("field", _kinds(got), _kinds(ours), place)


def _parent(place: str) -> str:
    return place.removesuffix("[]") if place.endswith("[]") else place.rpartition(".")[0]


def _kinds(kinds: set[str]) -> str:
    return " or ".join(sorted(kinds)) if kinds else "nothing"


def _status_and_message(response: Response) -> str:
    if response.status < 300:
        return str(response.status)
    return f"{response.status} {read_error(response.status, response.body, response.headers).message!r}"


# --- A play of both --------------------------------------------------------------------------------------


_HEADERS = ("anthropic-version", "anthropic-beta", "content-type", "openai-beta")


@dataclass(frozen=True)
class Checked:
    """One case that was run live: the verdicts and, by request, the differences of the strict server."""

    play: Play
    run: Run
    verdicts: Sequence[Verdict]
    differences: Sequence[Sequence[Difference]]

    @property
    def broken(self) -> list[Verdict]:
        """The MUST rules that are broken."""
        return [each for each in self.verdicts if each.outcome == "fail"]


def can_go_live(case: Case) -> bool:
    """Tells whether a case can be run live. A provider's failures and truncated answers cannot be requested."""
    return not case.on_server and all(
        isinstance(step, Answer | AnswerByMedia | StructuredAnswer) for step in case.script
    )


def play_live(plays: Iterable[Play], cassettes: Path, base_url: str = "") -> Iterator[Checked]:
    """Replays each case with the real key, and keeps the recordings without violations."""
    for play in plays:
        where = {"cassettes": cassettes, "record": True, "live_url": base_url}
        run = attempt(play.adapter, play.wire, play.provider, play.case, play.mode, **where)
        yield Checked(play, run, judge(run), [*_compared(play, run)])


def _compared(play: Play, run: Run) -> Iterator[list[Difference]]:
    """Yields the differences for each request. The strict server gives the live provider's content, as far as it can."""
    engine = Engine({run.case.name: Script(run.case.script)})
    base = urlsplit(address_of(play.adapter, play.wire, play.provider).origin).path
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


# --- The report ------------------------------------------------------------------------------------------


def drifted(checked: Sequence[Checked]) -> bool:
    """Tells whether the strict server differs from the live API."""
    return any(any(each.differences) for each in checked)


def markdown(checked: Sequence[Checked]) -> str:
    """Returns the report: a line of counts, then each difference once, with its cases."""
    found = _by_sentence(checked)
    requests = sum(len(each.differences) for each in checked)
    lines = [
        "# Drift report",
        "",
        f"{len(checked)} cases were run live, with {requests} requests; the strict server disagrees in {len(found)} points.",
    ]
    for place, sentences in _grouped(found):
        lines += ["", f"## {place}", ""]
        lines += [f"- {sentence} ({', '.join(cases)})" for sentence, cases in sentences]
    broken = [line for each in checked for line in _broken(each)]
    lines += ["", "## Rules that were not kept", "", *broken] if broken else []
    return redacted("\n".join(lines)) + "\n"


def _by_sentence(checked: Sequence[Checked]) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for each in checked:
        for number, some in enumerate(each.differences):
            for difference in some:
                key = (f"{each.play.wire} at {each.play.provider}", difference.sentence)
                found.setdefault(key, []).append(f"{each.play.case.name}[{each.play.mode}] request {number}")
    return found


def _grouped(found: dict[tuple[str, str], list[str]]) -> Iterator[tuple[str, list[tuple[str, list[str]]]]]:
    for place in dict.fromkeys(place for place, _ in found):
        yield place, [(sentence, cases[:3]) for (at, sentence), cases in found.items() if at == place]


def _broken(each: Checked) -> Iterator[str]:
    name = f"{each.play.id}"
    if each.run.trouble:
        yield f"- {name}: {each.run.trouble.text.splitlines()[0]}"
    elif each.broken:
        yield from (f"- {name}: {v.rule.id}: {v.violations[0].message.splitlines()[0]}" for v in each.broken)
