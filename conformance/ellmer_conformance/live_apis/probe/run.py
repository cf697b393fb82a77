"""Sends every question to a server, and keeps its answers."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import httpx

from ...adapters.endpoints import PROVIDER_ADDRESSES
from ...contract import rules
from ...contract.observed.exchange import Exchange, Json, Request, Response
from ...contract.observed.run import Run, Trouble
from ...contract.provider_answers.answer import Told
from ...contract.provider_answers.joined_streams import folded
from ...contract.provider_answers.whole_answers import read
from ...contract.rule import Level, objection, verdict
from ...report import Report, finished, judged
from ...report.report_json import rule_text
from ...report.repro_scripts import NO_JSON, WRONG_KEY
from ...runner.judgement import judge
from ...scenarios.case import Case
from . import open_responses
from .answers import Heard, package
from .open_responses_questions import OpenResponses
from .profiles import profiles_of
from .questions import CONVERSATIONS, MALFORMED, QUESTIONS, Question, body, headers, path
from .server_rules import book

# --- The run ---------------------------------------------------------------------------------------------


_TAKE_NOTHING = {"ollama", "bedrock"}  # Ollama loads the model; Bedrock may have the prompt elsewhere
_WRONG_MODEL = "no-such-model-0000"

#: Values that only the provider can create. A provider that checks them refuses invented ones.
_SEALED = {"signature", "thoughtSignature", "encrypted_content", "redacted_thinking", "redactedContent"}
_VERSIONED = {"anthropic_version", "anthropic_beta"}
#: Fields that name what a server has stored before.
_STORED = {"previous_response_id", "conversation", "cachedContent", "cached_content"}
_IMAGES = {"image_url", "input_image", "inlineData", "image", "images"}


@dataclass(frozen=True)
class Target:
    """The server under test. `checks_keys` says that it checks keys, so a wrong key must be refused."""

    base_url: str
    wire: str
    model: str
    key: str = "canary-key-0000"
    provider: str = ""
    name: str = ""
    checks_keys: bool = False
    timeout: float = 60.0
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def called(self) -> str:
        """Its name in the report."""
        return self.name or urlsplit(self.base_url).netloc


@dataclass
class Probe:
    """A conversation with a server: the requests and answers so far, and the features of the server."""

    target: Target
    client: httpx.Client
    able: dict[str, bool] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    heard: list[Heard] = field(default_factory=list)

    def questions(self) -> None:
        """Sends every question that the server may be able to answer."""
        for question in QUESTIONS:
            if question.needs and self.able.get(question.needs) is False:
                continue
            self._ask(self._goes_on(question) if question.after else question)
            if not any(each.status for each in self.heard):  # no server answers
                return
        texts = {each.told.text for each in self.heard if each.told and each.question.name.startswith("text")}
        self.heard = [replace(each, steady=len(texts) == 1) for each in self.heard]

    def status(self) -> int:
        """Returns the status of the answer to a plain question; 0 if no answer arrived."""
        wire, model = self.target.wire, self.target.model
        content = json.dumps(body(wire, model, Question("text"))).encode()
        response = self.sent(content, model=model, key=self.target.key).response
        return response.status if response else 0

    def mistakes(self) -> None:
        """Sends requests that every API refuses."""
        plain = Question("text")
        for name in MALFORMED:
            if name == "wrong_key" and not self.target.checks_keys:
                continue
            if name == "no_conversation" and self.target.wire in _TAKE_NOTHING:
                continue
            content = _malformed(self.target.wire, name, body(self.target.wire, self.target.model, plain))
            model = _WRONG_MODEL if name == "unknown_model" else self.target.model
            key = WRONG_KEY if name == "wrong_key" else self.target.key
            exchange = self.sent(content, model=model, key=key)
            self._note(replace(plain, name=name), exchange, kind="malformed")

    def clients(self) -> None:
        """Sends the recorded request of each well-known client of the wire format. What the provider's own API refuses for this
        model is not sent.
        """
        wire, model = self.target.wire, self.target.model
        for profile in profiles_of(wire):
            question = Question(profile.question, stream=True, tool=True)
            content = {"model": model, **profile.body}
            if self._is_refused(content, profile.headers):
                continue
            exchange = self.sent(
                json.dumps(content).encode(),
                model=model,
                key=self.target.key,
                stream=True,
                extra=profile.headers,
                query=profile.query,
            )
            self._note(question, exchange, kind="client")

    def rule_bodies(self) -> None:
        """Sends counterexamples and examples of each rule that the API enforces."""
        for rule in rules.book(self.target.wire, self.target.provider).rules.values():
            if not rule.refuses or rule.until or (rule.refusal and rule.refusal.status >= 500):
                continue
            for kind, bodies in (("rule", rule.counterexamples[:1]), ("example", rule.examples[:1])):
                for content in bodies:
                    meant = {**content, "model": self.target.model} if "model" in content else dict(content)
                    if self._is_refused(meant) is not (
                        kind == "rule"
                    ):  # by another model, perhaps, and not by this
                        continue
                    if kind == "example" and self._is_beyond(meant):
                        continue
                    exchange = self._sent_with_version(meant)
                    named = f"{'breaks' if kind == 'rule' else 'keeps'}_{rule.id}"
                    self._note(Question(named), exchange, kind=kind, rule=rule.id)

    def _sent_with_version(self, content: Json) -> Exchange:
        """Sends the body of a rule. Anthropic takes the version and the betas in headers, and other hosts in the body."""
        is_own = (self.target.provider or self.target.wire) == "anthropic"
        in_header = _VERSIONED & content.keys() if is_own else set()
        sent = {name: value for name, value in content.items() if name not in in_header}
        extra = {name.replace("_", "-"): _listed(content[name]) for name in in_header}
        return self.sent(json.dumps(sent).encode(), model=self.target.model, key=self.target.key, extra=extra)

    def _is_refused(self, content: Json, headers: Mapping[str, str] = MappingProxyType({})) -> bool:
        """Tells whether the API would refuse a body for this model."""
        target = self.target
        book = rules.book(target.wire, target.provider)
        request = Request(target.wire, target.provider, content, model=target.model, headers=headers)
        return objection(book.judge(request)) is not None

    def _is_beyond(self, content: Json) -> bool:
        """Tells whether a body needs a signature of the provider, an answer that it has stored, or images that the server
        does not accept.
        """
        refers = not _STORED.isdisjoint(content)
        blind = self.able.get("images") is False and _mentions(content, _IMAGES)
        return refers or blind or _mentions(content, _SEALED)

    # one question ------------------------------------------------------------------------------------------------

    def _goes_on(self, question: Question) -> Question:
        """Returns the messages with the previous call, or with a made-up one."""
        calls = [
            e.told.calls[0]
            for e in self.heard
            if e.told and e.told.calls and e.question.name == question.after
        ]
        call = calls[0] if calls else None
        told = ("call_00000001", "get_weather", {"city": "Paris"})
        return replace(question, told=(call.id or told[0], call.name, call.arguments or {}) if call else told)

    def _ask(self, question: Question) -> None:
        wire, target = self.target.wire, self.target
        content = json.dumps(body(wire, target.model, question)).encode()
        exchange = self.sent(content, model=target.model, key=target.key, stream=question.stream)
        self._found(question.needs, exchange)
        self._note(question, exchange)

    def keeps(self, question: Question, exchange: Exchange) -> None:
        """Keeps the answer to a question of a specification, and what it says of a feature."""
        self._found(question.needs, exchange)
        self._note(question, exchange, kind="specification")

    def _found(self, feature: str, exchange: Exchange) -> None:
        """Notes by its first answer whether the server has a feature."""
        status = exchange.response.status if exchange.response else 0
        if status and feature and feature not in self.able:
            self.able[feature] = status == _OK
            self.statuses[feature] = status

    def _note(
        self, question: Question, exchange: Exchange, *, kind: str = "question", rule: str = ""
    ) -> None:
        found = Heard(self.target.wire, question, exchange, kind, rule, able=self.able)
        if kind == "question" and found.status == 200:
            told = folded(found.wire, found.events) if question.stream else read(found.wire, found.value)
            found = replace(found, told=told, plain=self._plain(question))
        self.heard.append(found)

    def _plain(self, question: Question) -> Told | None:
        asked = [e for e in self.heard if e.question.name == question.name and not e.question.stream]
        return asked[0].told if question.stream and asked else None

    def sent(
        self,
        content: bytes,
        *,
        model: str,
        key: str,
        stream: bool = False,
        extra: Mapping[str, str] = MappingProxyType({}),
        query: str = "",
        where: str = "",
    ) -> Exchange:
        """Returns the exchange, without an answer if none arrived. `where` is another path than that of the chat."""
        target = self.target
        url = target.base_url.rstrip("/") + (where or path(target.wire, model, stream=stream))
        url += f"?{query}" if query else ""
        request = Request(target.wire, target.provider, _read(content), url, model=model, stream=stream)
        try:
            answer = self.client.post(
                url,
                content=content,
                headers=headers(target.wire, key) | dict(target.headers) | dict(extra),
            )
        except httpx.HTTPError:
            return Exchange(request)
        return Exchange(request, Response(answer.status_code, dict(answer.headers), answer.content))


def _malformed(wire: str, name: str, content: Json) -> bytes:
    """Returns the body of a plain question with an error."""
    key = CONVERSATIONS.get(wire, "messages")
    if name == "no_json":
        return NO_JSON.encode()
    if name == "no_conversation":
        content = {field: value for field, value in content.items() if field != key}
    if name == "wrong_type":
        content = content | {key: 42}
    if name == "unknown_model" and "model" in content:
        content = content | {"model": _WRONG_MODEL}
    return json.dumps(content).encode()


def _mentions(value: Any, names: Collection[str]) -> bool:
    """Tells whether a JSON value has a field, or a part of a type, with one of the names."""
    if isinstance(value, dict):
        named = [*value, str(value.get("type"))]
        return any(name in names for name in named) or any(_mentions(each, names) for each in value.values())
    return isinstance(value, list) and any(_mentions(each, names) for each in value)


def _listed(value: Any) -> str:
    """Returns the value of a header: a list is separated by commas."""
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _read(content: bytes) -> Json:
    try:
        found: Any = json.loads(content)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


# --- The report ------------------------------------------------------------------------------------------


_BROKEN = {"fail", "warn", "expected-fail"}


def probed(target: Target, *, with_rules: bool = True) -> Report:
    """Returns the report on a server: a run for each question, and for each request that must be refused or accepted."""
    with httpx.Client(timeout=target.timeout, trust_env=False) as client:
        target = _with_path(target, client)
        probe = Probe(target, client)
        probe.questions()
        if any(each.status for each in probe.heard):
            probe.clients()
            probe.mistakes()
            if target.wire == open_responses.WIRE and any(each.answered for each in probe.heard):
                OpenResponses(probe).ask()
            if with_rules and any(each.answered for each in probe.heard):
                probe.rule_bodies()
    asked = [each.status for each in probe.heard if each.kind == "question"]
    absent = bool(asked) and all(status in _NO_SUCH_ROUTE for status in asked)
    report = Report.joined(_judged(target, each, absent=absent) for each in probe.heard)
    report.named = {target.called: f"probe:{target.base_url}"}
    report.skipped += list(_skipped(target, probe))
    return _scored(finished(report))


def _with_path(target: Target, client: httpx.Client) -> Target:
    """Returns the target with the path of the API's version, if the base URL lacks it and only that path is there: clients of some APIs,
    such as Claude Code, add it to the base URL.
    """
    place = PROVIDER_ADDRESSES.get((target.wire, target.provider or rules.book(target.wire).provider))
    base = target.base_url.rstrip("/")
    if place is None or not place.path or base.endswith(place.path):
        return target
    longer = replace(target, base_url=base + place.path)
    missing = Probe(target, client).status() == _NOT_FOUND
    return longer if missing and Probe(longer, client).status() not in {0, _NOT_FOUND} else target


_NO_SUCH_ROUTE = {404, 405}
_OK, _NOT_FOUND, _BROKEN_FROM, _NOT_IMPLEMENTED = 200, 404, 500, 501


def _judged(target: Target, heard: Heard, *, absent: bool) -> Report:
    """Returns the report on one answer. A server without the API, which answers each question with 404 or 405, breaks no rule."""
    problem = f"no answer came from {heard.exchange.request.url}"
    if absent and heard.status:
        problem = f"there is no {target.wire} API, or no such model, at {heard.exchange.request.url}: the answer is {heard.status}"
    case = Case(script=(), steps=(), name=heard.question.name)
    run = Run(
        case,
        target.wire,
        target.provider or target.wire,
        "stream" if heard.question.stream else "sync",
        [heard.exchange],
        way="probe",
        trouble=None if heard.status and not absent else Trouble(problem, ours=False),
    )
    if run.trouble:
        return judged(target.called, run, judge(run))
    return judged(target.called, run, [verdict(rule, heard) for rule in book.rules.values()])


def _skipped(target: Target, probe: Probe) -> Iterator[dict[str, str]]:
    """Yields the server's supported and unsupported features, and the parts that could not be judged."""
    row = {"adapter": target.called, "wire": target.wire}
    for name, status in probe.statuses.items():
        yield {**row, "case": "*", "capability": name, "reason": _state(status)}
    asked = {each.question.name for each in probe.heard if each.kind == "client"}
    for profile in profiles_of(target.wire):
        if profile.question not in asked:
            reason = f"the provider's own API refuses what {profile.name} sends for this model"
            yield {**row, "case": profile.question, "rule": "SRV-006", "reason": reason}
    if not package(target.wire):
        yield {**row, "case": "*", "rule": "SRV-003", "reason": "the official SDK is not installed here"}


def _state(status: int) -> str:
    """Returns what the status of its first answer says of a feature."""
    if status == _OK:
        return "found"
    fails = status >= _BROKEN_FROM and status != _NOT_IMPLEMENTED
    return f"{'broken' if fails else 'not found'}: the answer is {status}"


def _scored(report: Report) -> Report:
    """Returns the report with the texts of the server rules and their score. These rules are not in a requirement set
    yet.
    """
    wires = dict.fromkeys((row.wire, row.provider) for row in report.rows)
    report.rules += [
        {**rule_text(rule, wire, provider), "preview": False}
        for wire, provider in wires
        for rule in book.rules.values()
    ]
    for name, counts in report.score.items():
        mine = [row for row in report.rows if f"{row.adapter} {row.wire}" == name and row.rule in book.rules]
        for level in Level:
            ruled = {row.rule for row in mine if row.level == level}
            broken = {row.rule for row in mine if row.level == level and row.verdict in _BROKEN}
            counts[f"{level.lower()}_applicable"] = len(ruled)
            counts[f"{level.lower()}_passed"] = len(ruled - broken)
        counts["preview_applicable"] = counts["preview_passed"] = 0
    return report
