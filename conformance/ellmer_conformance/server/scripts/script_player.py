"""Answers requests from a script in a file: finds the first entry that fits, and makes its reply."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from random import Random
from typing import Any

from ...contract import readers
from ...contract.observed.exchange import Item, Request
from ...contract.rule import Refusal
from ...scenarios.answer_script import (
    AnswerEntry,
    AnswerScript,
    Condition,
    RawReply,
    ScriptError,
    TextCondition,
    TextMatch,
    load,
)
from ...scenarios.script import AskModel, Delivery
from ..chat_apis.base import ChatApi, compact, utf8
from ..http.messages import Reply, deliver, plain
from ..model.behaviour import question_of, results_of
from ..model.request_options import options_of
from ..replies import refuse, render

_SHOWN = 200  # entries on the page
_GARBAGE = b"\x00\xff{]garbage"


class ScriptPlayer:
    """The script of one server with the number of uses of each entry. A script in a file is read again when it changes.

    Args:
        script: The script, or the path of its file.
        strict: Whether a request that no entry fits is an error. Default: as the script says.
    """

    def __init__(self, script: AnswerScript | Path, *, strict: bool = False) -> None:
        self._path = script if isinstance(script, Path) else None
        self._strict = strict
        self._fault: str | None = None
        self._stamp = self._stamp_now()
        self._script = load(script) if isinstance(script, Path) else script
        self._entries = _Entries(self._script)
        self._uses: Counter[int] = Counter()
        self._chances: Counter[int] = Counter()

    def reply(self, api: ChatApi, number: int, session: str, headers: Mapping[str, str]) -> tuple[Reply, str]:
        """Returns the reply to the `number`-th request of a session, and the name of the entry, such as `answers.0`."""
        self._reload()
        facts = _Facts(api.ticket.request, number, session, headers)
        for index in self._entries.candidates(facts):
            entry, tests = self._entries.each[index]
            for fits in tests:
                if not fits(facts):
                    break
            else:
                if not self._spent(index, entry) and self._chance(index, entry):
                    return self._played(api, index, entry), f"answers.{index}"
        if self._strict or self._script.strict:
            return refuse(api, _unmatched(facts, len(self._script.answers))), "no entry"
        return render(api, AskModel()), ""

    def shown(self) -> dict[str, Any]:
        """Returns the script for people: its file, its fault if the latest version has one, and each entry with its uses."""
        self._reload()
        entries = [
            {
                "name": f"answers.{index}",
                "uses": self._uses[index],
                "entry": entry.model_dump(mode="json", exclude_defaults=True),
            }
            for index, entry in enumerate(self._script.answers[:_SHOWN])
        ]
        strict = self._strict or self._script.strict
        path = str(self._path) if self._path else None
        count = len(self._script.answers)
        return {"path": path, "strict": strict, "fault": self._fault, "count": count, "entries": entries}

    def _played(self, api: ChatApi, index: int, entry: AnswerEntry) -> Reply:
        self._uses[index] += 1
        step = entry.steps[min(self._uses[index], len(entry.steps)) - 1] if entry.steps else entry
        missing = api.missing(step.answer())
        return refuse(api, _inexpressible(api, index, missing)) if missing else _reply(api, step)

    def _spent(self, index: int, entry: AnswerEntry) -> bool:
        return entry.times is not None and self._uses[index] >= entry.times

    def _chance(self, index: int, entry: AnswerEntry) -> bool:
        """Throws the dice of an entry. The same seed gives the same sequence."""
        if entry.probability >= 1:
            return True
        self._chances[index] += 1
        return Random(f"{entry.seed}/{self._chances[index]}").random() < entry.probability  # noqa: S311 - a test's dice

    def _reload(self) -> None:
        """Reads the file again if it changed. A script that is not valid is reported, and the earlier one stays."""
        if self._path is None or (stamp := self._stamp_now()) == self._stamp:
            return
        self._stamp = stamp
        try:
            self._script = load(self._path)
        except ScriptError as error:
            self._fault = f"{error}; the earlier script stays"
            sys.stderr.write(f"{self._fault}\n")
            return
        self._fault = None
        self._entries = _Entries(self._script)
        self._uses.clear()
        self._chances.clear()

    def _stamp_now(self) -> tuple[int, int]:
        if self._path is None:
            return 0, 0
        try:
            found = self._path.stat()
        except OSError:  # an editor may be replacing it
            return 0, 0
        return found.st_mtime_ns, found.st_size


class _Entries:
    """The entries with the tests of their conditions. A long script is not searched entry by entry: equal texts are looked
    up, and the texts that the user's must contain are searched at once.
    """

    def __init__(self, script: AnswerScript) -> None:
        self.each = [(entry, _tests(entry.when)) for entry in script.answers]
        self._equal: dict[str, list[int]] = {}
        self._within: list[tuple[str, int]] = []
        self._other: list[int] = []
        for index, entry in enumerate(script.answers):
            user = entry.when.user
            exact = user if user is None or isinstance(user, str) else user.exact
            if exact is not None:
                self._equal.setdefault(exact, []).append(index)
            elif isinstance(user, TextMatch) and user.contains is not None:
                self._within.append((user.contains.lower(), index))
            else:
                self._other.append(index)

    def candidates(self, facts: _Facts) -> Iterable[int]:
        """Returns the numbers of the entries that may fit, in order."""
        if not self._equal and not self._within:
            return self._other
        text = facts.lower_user
        within = [index for part, index in self._within if part in text]
        return sorted([*self._equal.get(facts.user, ()), *within, *self._other])


class _Facts:
    """The facts about a request that conditions look at. Each is read once, when a condition needs it."""

    def __init__(self, request: Request, number: int, session: str, headers: Mapping[str, str]) -> None:
        self.request, self.number, self.session, self.headers = request, number, session, headers

    @cached_property
    def user(self) -> str:
        return question_of(self.request)

    @cached_property
    def lower_user(self) -> str:
        return self.user.lower()

    @cached_property
    def tools(self) -> frozenset[str]:
        return frozenset(tool.name for tool in options_of(self.request).tools)

    @cached_property
    def results(self) -> list[str]:
        """The names of the tools whose results the request adds. A result without a name has that of its call."""
        return [_tool_of(result, readers.read(self.request)) for result in results_of(self.request)]


def _tool_of(result: Item, items: list[Item]) -> str:
    same = (item.name for item in items if item.kind == "call" and item.id == result.id)
    return result.name or next(same, "")


_Test = Callable[[_Facts], bool]


def _tests(when: Condition) -> list[_Test]:
    """Returns the tests of a condition, the quick ones first. A field that is not set needs none."""
    found: list[_Test] = []
    if when.nth is not None:
        found.append(lambda facts: facts.number == when.nth)
    if when.wire is not None:
        found.append(lambda facts: facts.request.wire == when.wire)
    if when.stream is not None:
        found.append(lambda facts: facts.request.stream == when.stream)
    found += _text_test(when.model, lambda facts: facts.request.model)
    found += _text_test(when.session, lambda facts: facts.session)
    for name, condition in when.header.items():
        found += _text_test(condition, partial(_header, name.lower()))
    found += _text_test(when.user, lambda facts: facts.user)
    if when.tool is not None:
        found.append(lambda facts: when.tool in facts.tools)
    if when.result is not None:
        found.append(lambda facts: _result_fits(when.result, facts))
    return found


def _text_test(condition: TextCondition | None, text: Callable[[_Facts], str]) -> list[_Test]:
    if condition is None:
        return []
    if isinstance(condition, str):
        return [lambda facts: text(facts) == condition]
    if condition.contains is not None and condition.exact is None and condition.regex is None:
        low = condition.contains.lower()
        return [lambda facts: low in text(facts).lower()]
    return [lambda facts: condition.fits(text(facts))]


def _header(name: str, facts: _Facts) -> str:
    return facts.headers.get(name, "")


def _result_fits(condition: str | bool | None, facts: _Facts) -> bool:
    return condition in facts.results if isinstance(condition, str) else bool(facts.results) == condition


def _unmatched(facts: _Facts, count: int) -> Refusal:
    sentence = (
        f"None of the {count} entries of the script fits this request: wire {facts.request.wire}, model "
        f"{facts.request.model!r}, request {facts.number} of the session {facts.session!r}, user {facts.user[:200]!r}, tools "
        f"{sorted(facts.tools)}, results of {facts.results}. Add an entry, or start without --strict-script."
    )
    return Refusal(sentence, 404, "invalid_request_error")


def _inexpressible(api: ChatApi, index: int, missing: list[str]) -> Refusal:
    sentence = (
        f"The entry answers.{index} of the script has {' and '.join(missing)}, and the wire format {api.wire} of "
        f"{api.provider} has no place for it. Restrict the entry with `when: {{wire: …}}`, or write a raw reply."
    )
    return Refusal(sentence, 400, "invalid_request_error")


# replies ------------------------------------------------------------------------------------------------


def _reply(api: ChatApi, entry: AnswerEntry) -> Reply:
    reply = _at_once(api, entry)
    pace = entry.pace
    if pace.garbage:
        reply = replace(reply, writes=(*reply.writes, _GARBAGE), length=None)
    return replace(reply, first=pace.first) if pace.first else reply


#: The type of an error by its status, in the formats that name it: https://platform.claude.com/docs/en/api/errors,
#: https://ai.google.dev/gemini-api/docs/troubleshooting, https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
_TYPES: dict[str, Mapping[int, str]] = {
    "anthropic": {
        401: "authentication_error", 403: "permission_error", 404: "not_found_error", 413: "request_too_large",
        429: "rate_limit_error", 500: "api_error", 503: "api_error", 504: "timeout_error", 529: "overloaded_error",
    },
    "gemini": {
        401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 409: "ABORTED", 429: "RESOURCE_EXHAUSTED",
        499: "CANCELLED", 500: "INTERNAL", 501: "UNIMPLEMENTED", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
    },
    "bedrock": {
        403: "AccessDeniedException", 404: "ResourceNotFoundException", 408: "ModelTimeoutException", 424: "ModelErrorException",
        429: "ThrottlingException", 500: "InternalServerException", 503: "ServiceUnavailableException",
    },
}  # fmt: skip
_TYPES |= {wire: {429: "requests"} for wire in ("openai-chat", "openai-responses")}
_USUAL_TYPES = {"gemini": "INVALID_ARGUMENT", "bedrock": "ValidationException"}


def _type_of(api: ChatApi, status: int) -> str:
    """Returns the type that an error with a status has if the script names none."""
    wire = api.ticket.request.wire
    server = "server_error" if status >= 500 and wire.startswith("openai") else ""
    return _TYPES.get(wire, {}).get(status) or server or _USUAL_TYPES.get(wire, "invalid_request_error")


def _at_once(api: ChatApi, entry: AnswerEntry) -> Reply:
    error = entry.error
    if error and not error.kind:
        type = error.type or _type_of(api, error.status)
        refusal = Refusal(error.message, error.status, type, error.code)
        return refuse(api, refusal, tuple(error.headers.items()))
    if entry.ask_model:
        return render(api, AskModel())
    if entry.raw:
        return _raw(entry.raw, _pace_of(entry))
    reply = render(api, entry.step())
    more = error.headers if error else {}
    return replace(reply, headers=tuple((dict(reply.headers) | dict(more)).items())) if more else reply


def _pace_of(entry: AnswerEntry) -> Delivery:
    pace = entry.pace
    return Delivery(entry.answer(), tuple(pace.slices), pace.each, pace.after, pace.ending)


def _raw(raw: RawReply, delivery: Delivery) -> Reply:
    kind = "text/event-stream" if raw.events is not None else "application/json"
    headers: Mapping[str, str] = {"content-type": kind} | {
        name.lower(): value for name, value in raw.headers.items()
    }
    if raw.events is None:
        body = utf8(raw.body if isinstance(raw.body, str) else compact(raw.body))
        return deliver(plain(raw.status, tuple(headers.items()), body), delivery)
    writes = [utf8(each if isinstance(each, str) else f"data: {compact(each)}\n\n") for each in raw.events]
    return deliver(Reply(raw.status, tuple(headers.items()), writes), delivery)
