"""Runs a case again and prints the reason of a failure. Scripts of `conformance repro` call it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from ..adapters import Adapter
from ..contract.observed.exchange import Exchange
from ..contract.observed.run import PROBE, Run, unrefused
from ..scenarios import combinations
from ..scenarios.case import Case
from ..scenarios.cases import all_cases, scripts
from ..server import StrictServer
from .against_server import play_direct
from .command import Driver
from .judgement import judge
from .selection import UnknownChoice, find_adapter

_LONGEST = 2_000  # characters of a body


def play_again(adapter: str, wire: str, provider: str, case: str, mode: str, *, rule: str) -> int:
    """Runs it against a strict server, and prints the exchanges and the rule's verdict. Returns 0 if it fails again, 1 if it does not,
    and 2 if the adapter cannot be imported.
    """
    try:
        found = find_adapter(adapter)
    except UnknownChoice as error:
        print(error, file=sys.stderr)  # noqa: T201 - what a script is for
        return 2
    run = _played(found, wire, provider, combinations.case_named(case) or all_cases()[case], mode)
    judged = [verdict for verdict in judge(run) if verdict.rule.id == rule]
    broken = [(v.pointer, v.message) for verdict in judged for v in verdict.violations]
    if rule == PROBE and run.refused and not any(verdict.checked for verdict in judged):
        broken += [("/replies", problem)] if (problem := unrefused(run)) else []
    for line in _shown(run.play_at(broken[0][0]) if broken else run):
        print(line)  # noqa: T201 - as above
    for pointer, message in broken:
        print(rule, pointer, message)  # noqa: T201 - as above
    if not broken:
        print(f"{rule} is not broken in this run", file=sys.stderr)  # noqa: T201 - as above
    return int(not broken)


def _played(adapter: Adapter, wire: str, provider: str, case: Case, mode: Any) -> Run:
    with StrictServer(scripts()) as server:
        if isinstance(adapter, Driver):
            return adapter.play(wire, provider, case, mode, server=server)
        told: Any = _Telling(adapter, "adapter")
        return play_direct(told, wire, provider, case, mode, server=server)


class _Telling:
    """An adapter or a session that prints each of its calls."""

    def __init__(self, inner: object, name: str) -> None:
        self._inner, self._name = inner, name

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        return partial(self._called, name, found) if callable(found) and name not in _QUIET else found

    def _called(self, name: str, function: Callable[..., Any], *values: Any, **named: Any) -> Any:
        shown = [repr(value) for value in values] + [f"{key}={value!r}" for key, value in named.items()]
        print(f"{self._name}.{name}({', '.join(shown)})"[:_LONGEST])  # noqa: T201 - what a script is for
        found = function(*values, **named)
        return _Telling(found, "session") if name in {"session", "reloaded"} else found


#: What the suite calls, and no user of the library.
_QUIET = {"capabilities", "transcript", "close", "without_waiting"}


def _shown(run: Run) -> list[str]:
    """Returns the exchanges, the replies and the transcript, as text."""
    lines = [line for number, each in enumerate(run.exchanges) for line in _exchange(number, each)]
    replies = [f"reply {n}: {reply!r}"[:_LONGEST] for n, reply in enumerate(run.replies)]
    text = "\n".join([*lines, *replies, run.transcript])
    return text.encode("utf-8", "backslashreplace").decode().splitlines()


def _exchange(number: int, exchange: Exchange) -> list[str]:
    request, response = exchange.request, exchange.response
    body = json.dumps(request.body, ensure_ascii=False, indent=1)
    answer = response.body[:_LONGEST].decode("utf-8", "replace") if response else "no answer"
    status = response.status if response else ""
    return [
        f"--- exchange {number}: {request.method} {request.url}",
        body if len(body) <= _LONGEST else f"{body[:_LONGEST]}… ({len(body)} characters)",
        f"--- answer {number}: {status}",
        answer,
    ]
