"""A journal of the requests and answers of each conversation. It is bounded, thread-safe and free of keys."""

from __future__ import annotations

import json
import re
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from ellmer_core.base.budget import remembered

from ..contract.observed.exchange import Exchange, Request, Response
from ..contract.rule import Refusal, Verdict, Violation
from ..contract.scope import api_version, named_betas
from ..scenarios.canary_keys import is_canary
from .http.messages import Reply

#: Headers whose value is stored: those that clients, servers and rules need and that contain no key.
_PUBLIC = re.compile(
    r"accept|accept-(charset|encoding|language)|age|allow|anthropic-(beta|version|dangerous-.*|ratelimit-.*)|cache-control"
    r"|connection|content-(disposition|encoding|language|length|type)|date|etag|expect|expires|host|idempotency-replayed"
    r"|keep-alive|openai-(beta|processing-ms|version)|pragma|request-id|retry-after(-ms)?|server|te|transfer-encoding|upgrade"
    r"|user-agent|vary|via|x-amz(n)?-(date|content-sha256|errortype|requestid|target)|x-amzn-bedrock-.*|x-conformance-.*"
    r"|x-forwarded-(host|proto)|x-goog-(api-client|upload-.*)|x-ratelimit-.*|x-request-id|x-should-retry"
    r"|x-stainless-(arch|async|helper-method|lang|os|package-version|raw-response|read-timeout|retry-count|runtime"
    r"|runtime-version|stream-helper|timeout)"
)
_SCHEMES = {"apikey", "aws4-hmac-sha256", "basic", "bearer", "digest", "key", "token"}
_BESIDE = 2000  # bytes that an entry takes beside the bodies, about


@dataclass(eq=False)
class Entry:
    """One exchange of a conversation, with the verdicts on the request.

    Args:
        case: Name of the case.
        nonce: The nonce of the conversation.
        request: The request.
        answer: The answer; `None` (default) if none was sent.
        verdicts: The verdicts of the rules. Default: none.
        left: Number of bytes that were written when the client disconnected early; `None` (default) if it stayed.
        number: Number of the entry, from 1. The journal sets it. Default: 0.
        at: Unix time of the entry. The journal sets it. Default: 0.
        matched: The entry of the server's script that answered, such as `answers.0`; empty (default) if none did.

    Examples:
        >>> Entry("hello", "1", Request("openai-chat", "openai", {})).violations
        []
    """

    case: str
    nonce: str
    request: Request
    answer: Reply | Response | None = None
    verdicts: Sequence[Verdict] = ()
    left: int | None = None
    number: int = 0
    at: float = 0.0
    matched: str = ""

    @property
    def exchange(self) -> Exchange:
        """The request and the answer."""
        answer = self.answer
        return Exchange(self.request, answer.response if isinstance(answer, Reply) else answer)

    @property
    def violations(self) -> list[Violation]:
        """Every broken rule, including SHOULD rules and previews."""
        if getattr(self.verdicts, "fine", False):
            return []
        return [v for verdict in self.verdicts for v in verdict.violations]

    def report(self) -> dict[str, Any]:
        """Returns the entry as JSON.

        Examples:
            >>> Entry("hello", "1", Request("openai-chat", "openai", {})).report()["request"]["wire"]
            'openai-chat'
        """
        request, response = self.request, self.exchange.response
        return {
            "number": self.number,
            "at": self.at,
            "request": {
                "wire": request.wire,
                "provider": request.provider,
                "model": request.model,
                "stream": request.stream,
                "method": request.method,
                "url": request.url,
                "api_version": api_version(request),
                "betas": named_betas(request),
                "headers": dict(request.headers),
                "body": request.body,
            },
            "response": _response(response),
            "client_left_after": self.left,
            "violations": [_violation(v) for v in self.violations],
            "matched": self.matched,
        }


def _response(response: Response | None) -> dict[str, Any] | None:
    if response is None:
        return None
    return {
        "status": response.status,
        "headers": dict(response.headers),
        "body": response.body.decode("utf-8", "replace"),
        "ended": response.ended,
    }


def _violation(violation: Violation) -> dict[str, Any]:
    rule = violation.rule
    return {
        "rule": rule.id,
        "full_id": rule.full_id,
        "level": rule.level.value,
        "kind": rule.kind.value,
        "preview": rule.preview,
        "pointer": violation.pointer,
        "message": violation.message,
        "sentence": rule.sentence,
        "provider": _provider(violation.refusal),
    }


def _provider(refusal: Refusal | None) -> dict[str, Any] | None:
    return {"status": refusal.status, "message": refusal.message} if refusal else None


@dataclass
class Journal:
    """The last exchanges, at most `entries` of them and about `size` bytes of memory."""

    entries: int = 10_000
    size: int = 256 * 1024 * 1024
    _kept: deque[tuple[Entry, int]] = field(default_factory=deque)
    _of_case: dict[str, deque[Entry]] = field(default_factory=dict)
    _bytes: int = 0
    _count: int = 0
    _lock: Lock = field(default_factory=Lock)

    def add(self, entry: Entry, asked: int) -> None:
        """Adds an exchange; `asked` is the memory of the request's body in bytes. The oldest entries are dropped."""
        headers = entry.request.headers
        head = sum(map(len, headers)) + sum(map(len, headers.values()))
        size = _BESIDE + head + len(entry.request.url) + asked + (entry.answer.size if entry.answer else 0)
        with self._lock:
            self._count += 1
            entry.number, entry.at = self._count, time.time()
            self._kept.append((entry, size))
            self._of_case.setdefault(entry.case, deque()).append(entry)
            self._bytes += size
            while len(self._kept) > self.entries or (self._bytes > self.size and len(self._kept) > 1):
                self._forget_oldest()

    def _forget_oldest(self) -> None:
        entry, size = self._kept.popleft()
        self._bytes -= size
        of_case = self._of_case[entry.case]
        of_case.popleft()
        if not of_case:
            del self._of_case[entry.case]

    def of(self, case: str, nonce: str | None = None) -> Iterator[Entry]:
        """Yields the entries of a conversation, or of every conversation of a case, oldest first."""
        with self._lock:
            entries = list(self._of_case.get(case, ()))
        return (entry for entry in entries if nonce in {None, entry.nonce})

    def all(self) -> tuple[list[Entry], int]:
        """Returns all stored entries, oldest first, and the number of all entries."""
        with self._lock:
            return [entry for entry, _ in self._kept], self._count

    def report(self, case: str, nonce: str | None, last: int = 0) -> bytes:
        """Returns the entries as JSON text, or only the `last` exchanges unless 0."""
        found = list(self.of(case, nonce))
        report = {
            "case": case,
            "nonce": nonce,
            "violations": sum(len(entry.violations) for entry in found),
            "exchanges": [{"nonce": entry.nonce, **entry.report()} for entry in found[-last:]],
        }
        return _json(report)

    def everything(self, last: int = 0) -> bytes:
        """Returns all stored entries as JSON text, or only the `last` ones unless 0."""
        entries, count = self.all()
        rows = [{"case": entry.case, "nonce": entry.nonce, **entry.report()} for entry in entries[-last:]]
        return _json({"entries": count, "requests": rows})

    def index(self, script: Mapping[str, Any] | None = None) -> bytes:
        """Returns the conversations as JSON text, the latest first.

        Args:
            script: The script of the server, if it has one.
        """
        with self._lock:
            entries = [entry for entry, _ in self._kept]
        found: dict[tuple[str, str], list[Entry]] = {}
        for entry in entries:
            found.setdefault((entry.case, entry.nonce), []).append(entry)
        latest = sorted(found.values(), key=lambda entries: -entries[-1].number)
        conversations = [_summary(entries) for entries in latest]
        more = {"script": script} if script else {}
        return _json({"entries": self._count, "conversations": conversations, **more})


def _summary(entries: list[Entry]) -> dict[str, Any]:
    last = entries[-1]
    wires = {entry.request.wire: None for entry in entries}
    return {
        "case": last.case,
        "nonce": last.nonce,
        "wires": [wire for wire in wires if wire],
        "exchanges": len(entries),
        "violations": sum(len(entry.violations) for entry in entries),
        "last": last.number,
        "left": sum(entry.left is not None for entry in entries),
        "at": last.at,
    }


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace")


def without_secrets(headers: Mapping[str, str]) -> dict[str, str]:
    """Returns the headers without secrets: known harmless headers are unchanged, and the values of others are
    replaced by their kind. Canaries stay visible.
    """
    return {
        name: value if _is_public(name) or is_canary(value) else _kind(value)
        for name, value in headers.items()
    }


@remembered(1024)
def _is_public(name: str) -> bool:
    return _PUBLIC.fullmatch(name.lower()) is not None


def _kind(value: str) -> str:
    scheme, space, _ = value.partition(" ")
    return f"{scheme} ***" if space and scheme.lower() in _SCHEMES else "***"
