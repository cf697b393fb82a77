"""Scripts that send a failed request to a server under test again, with the standard library or with curl."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from pprint import pformat
from typing import Any
from urllib.parse import urlsplit

from ..contract import rules
from ..contract.counts import counted
from ..scenarios import combinations
from ..scenarios.case import Ask
from ..scenarios.cases import all_cases
from . import Report, Row
from .formats.terminal_escaping import printable

# --- Scripts of the probe --------------------------------------------------------------------------------


#: The body that is not JSON, and the wrong key.
NO_JSON = '{"model": '
WRONG_KEY = "conformance-wrong-key"

_SCRIPT = """import os
from urllib.error import HTTPError
from urllib.request import Request, urlopen

URL = {url!r}
KEY = {key}
BODY = {body!r}

headers = {{name: value.replace("$KEY", KEY) for name, value in {headers}.items()}}
print("POST", URL, BODY, sep="\\n")
try:
    with urlopen(Request(URL, BODY.encode(), headers)) as answer:
        print(answer.status, answer.headers["content-type"])
        print(answer.read().decode("utf-8", "replace"))
except HTTPError as refusal:
    print(refusal.code, refusal.headers["content-type"])
    print(refusal.read().decode("utf-8", "replace"))
"""
_KEY = 'os.environ.get("KEY", "canary-key-0000")'


def python(exchange: Mapping[str, Any], case: str) -> str:
    """Returns a script that sends the request again, with the key in the variable KEY, and prints the answer."""
    return _SCRIPT.format(
        url=exchange["url"],
        key=repr(WRONG_KEY) if case == "wrong_key" else _KEY,
        body=_body(exchange, case),
        headers=_headers(str(exchange["wire"])),
    )


def curl(exchange: Mapping[str, Any], case: str) -> str:
    """Returns one curl command that sends the request again."""
    key = WRONG_KEY if case == "wrong_key" else "$KEY"
    told = [
        f'"{name}: {value}"'.replace("$KEY", key) for name, value in _headers(str(exchange["wire"])).items()
    ]
    return " \\\n  ".join(
        [f"curl -sS -i {shlex.quote(str(exchange['url']))}"]
        + [f"-H {each}" for each in told]
        + [f"-d {shlex.quote(_body(exchange, case))}\n"]
    )


def _headers(wire: str, key: str = "$KEY") -> dict[str, str]:
    """Returns the headers with the key, and the format's other headers."""
    found = {"content-type": "application/json"}
    if wire == "anthropic":
        return found | {"x-api-key": key, "anthropic-version": "2023-06-01"}
    return found | ({"x-goog-api-key": key} if wire == "gemini" else {"authorization": f"Bearer {key}"})


def _body(exchange: Mapping[str, Any], case: str) -> str:
    return NO_JSON if case == "no_json" else json.dumps(exchange["body"], ensure_ascii=False)


# --- Scripts of a run ------------------------------------------------------------------------------------


_HEADER = '''"""{rule} at {pointer}: {sentence}

{adapter}, {wire} at {provider}, case {case}[{mode}]: {message}
Needs: pip install 'ellmer-core[conformance]'{also}
"""

'''
_REQUEST = """import json
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from ellmer_conformance.server import StrictServer

BODY = {body}

with StrictServer() as server:
    headers = {headers}
    url = server.url("any", {nonce!r}) + {path!r}
    print("POST", url, json.dumps(BODY, indent=1), sep="\\n")
    try:
        with urlopen(Request(url, json.dumps(BODY).encode(), headers)) as answer:
            print(answer.status, answer.read().decode())
    except HTTPError as refusal:
        print(refusal.code, refusal.read().decode())
    for verdict in server.verdicts("any", {nonce!r}):
        for violation in verdict.violations:
            print(violation.rule.id, violation.pointer, violation.message)
"""
_PLAY = """import sys

from ellmer_conformance.runner.reproduction import play_again

# What is called. The script prints each call, what it returned or raised, and the requests.
{calls}
sys.exit(play_again({adapter!r}, {wire!r}, {provider!r}, {case!r}, {mode!r}, rule={rule!r}))
"""
_SECRET = "canary-key-0000"  # noqa: S105 - it opens nothing


#: The ways to play a library, which is not known if only its requests were seen.
_PART = 160  # characters of one part of a message
_IN_PYTHON = {"cassette", "server"}


class NotReproducible(LookupError):
    """There is no such verdict, or its request was not stored. The message says which."""


def row_of(report: Report, id: str) -> Row:
    """Returns the verdict with this id, or the first failure of the rule with it. Raises NotReproducible with the list of failures."""
    found = {row.id: row for row in report.rows}
    if id in found:
        return found[id]
    broken = [*report.harness_errors, *report.failures]
    if of_rule := next((row for row in broken if row.rule == id.upper()), None):
        return of_rule
    failing = [row.id for row in broken]
    like = [each for each in failing if id in each] or failing
    listed = "\n".join(f"  {each}" for each in like[:10])
    more = f"\n  and {len(like) - 10} more" if len(like) > 10 else ""
    raise NotReproducible(f"there is no verdict {id!r} in this report; these fail:\n{listed}{more}")


def as_python(report: Report, row: Row, *, request_only: bool = False, with_command: bool = False) -> str:
    """Returns the script, which runs the case with the adapter. With `request_only`, or if the client is a command and not told to
    run (`with_command`), a script for a rule about requests sends the request again. So does that for a server under test.
    """
    if _is_probed(report, row):
        return _header(report, row, "") + python(_exchange(report, row), row.case)
    library = _is_python(report, row)
    raw = request_only or not (library or with_command)
    play = not raw or row.rule not in rules.book(row.wire, row.provider).rules
    also = f", and {row.adapter}" if play else ""
    head = _header(report, row, also)
    if play:
        fields = {name: getattr(row, name) for name in ("wire", "provider", "case", "mode", "rule")}
        told = calls_of(row.case, row.provider, row.mode) if library and not raw else []
        calls = "\n".join(f"#   {line}" for line in told) or "#   the program, with the case in a file"
        adapter = report.named.get(row.adapter, row.adapter)
        return head + _PLAY.format(adapter=adapter, calls=printable(calls), **fields)
    exchange = _exchange(report, row)
    return head + _REQUEST.format(
        body=pformat(exchange["body"], width=110, sort_dicts=False),
        headers=_headers(row.wire, _SECRET),
        nonce=_nonce(row),
        path=_path(exchange),
    )


def as_curl(report: Report, row: Row, *, port: int = 8087) -> str:
    """Returns a curl command with the request, for a strict server on the port. Raises NotReproducible for rules
    about conversations.
    """
    if _is_probed(report, row):
        return curl(_exchange(report, row), row.case)
    if row.rule not in rules.book(row.wire, row.provider).rules:
        raise NotReproducible(
            f"{row.rule} is about a whole conversation, which one request cannot show. Use --format python"
        )
    exchange = _exchange(report, row)
    url = f"http://127.0.0.1:{port}/c/any/{_nonce(row)}{_path(exchange)}"
    told = "".join(
        f" -H {shlex.quote(f'{name}: {value}')} \\\n " for name, value in _headers(row.wire, _SECRET).items()
    )
    body = json.dumps(exchange["body"])
    return (
        f"# {row.rule} at {printable(row.pointer)}: {printable(_first(row.message))}\n"
        f"# first, in another terminal: conformance serve --port {port}\n"
        f"curl -sS -i {shlex.quote(url)} \\\n {told} -d {shlex.quote(body)}\n"
    )


def calls_of(case: str, provider: str, mode: str) -> Iterator[str]:
    """Yields the calls of an adapter that run a case, as code.

    Examples:
        >>> list(calls_of("plain_text", "openai", "stream"))[1]
        "session.send([Text(text='Say hello in French.')], stream=True)"
    """
    played = combinations.case_named(case) or all_cases().get(case)
    if played is None:
        return
    at = played.at(provider)
    tools, turns = ", ".join(tool.name for tool in at.tools), counted(len(at.history), "turn")
    history = f"[{turns}]" if at.history else "[]"
    yield f"session = adapter.session(endpoint, system={at.system!r}, tools=[{tools}], history={history})"
    for ask in at.steps:
        yield from _calls(ask.at(provider), "a" if "async" in mode else "", stream="stream" in mode)


def _calls(ask: Ask, prefix: str, *, stream: bool) -> Iterator[str]:
    """Yields the calls of one step. A long text is cut."""
    wait = "await " if prefix else ""
    yield from ["session = session.reloaded()"] if ask.reloaded else []
    yield from [f"session.instructed({ask.instructed!r})"] if ask.instructed else []
    yield from [f"{wait}session.{prefix}compacted()"] if ask.compacted else []
    parts = ", ".join(f"{part!r}"[:_PART] for part in ask.parts)
    if ask.schema is not None:
        yield f"{wait}session.{prefix}extract([{parts}], {ask.schema!r})"
        return
    more = [
        *(["stream=True"] if stream else []),
        *([f"options={dict(ask.options)!r}"] if ask.options else []),
    ]
    left = "  # and the caller leaves in the middle" if ask.cancelled else ""
    yield f"{wait}session.{prefix}send({', '.join([f'[{parts}]', *more])}){left}"


def _is_python(report: Report, row: Row) -> bool:
    """Tells whether the client is a library that the script can call."""
    ways = {play.way for play in report.plays if play.place == row.place}
    return ways <= _IN_PYTHON and not report.named.get(row.adapter, "").startswith("command:")


def _is_probed(report: Report, row: Row) -> bool:
    return any(play.way == "probe" for play in report.plays if play.place == row.place)


def _header(report: Report, row: Row, also: str) -> str:
    texts = {(text["wire"], text["id"]): text["sentence"] for text in report.rules}
    names = ("rule", "pointer", "adapter", "wire", "provider", "case", "mode")
    sentence, message = texts.get((row.wire, row.rule), ""), _first(row.message)
    values = {**{name: getattr(row, name) for name in names}, "sentence": sentence, "message": message}
    safe = {
        name: printable(value).replace("\\", "\\\\").replace('"""', "'''") for name, value in values.items()
    }
    return _HEADER.format(also=also, **safe)


def _exchange(report: Report, row: Row) -> dict[str, Any]:
    found = report.exchanges.get(row.exchange)
    if found is None:
        raise NotReproducible(f"{row.id} is {row.verdict}: its request was not stored")
    if found["body"] is None:
        raise NotReproducible(
            f"the request of {row.id} was too large to store. Run the case: {report.run_command(row)}"
        )
    return found


def _path(exchange: dict[str, Any]) -> str:
    """Returns the provider's own path, also for a request to a case of the strict server."""
    parts = urlsplit(str(exchange["url"]))
    path = re.sub(r"^/c/[^/]+/[^/]+", "", parts.path)
    return path + (f"?{parts.query}" if parts.query else "")


def _nonce(row: Row) -> str:
    """Returns a conversation's name that names the provider."""
    return f"1@{row.provider}"


def _first(message: str) -> str:
    return message.splitlines()[0] if message else ""
