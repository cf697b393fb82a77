"""What happened, conversation by conversation: bounded, safe to read from other threads, free of keys."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from ..canary import is_canary
from ..exchange import Exchange
from ..rule import Verdict, Violation

__all__ = ["Entry", "Journal", "without_secrets"]

_SECRET = {
    "authorization",
    "x-api-key",
    "x-goog-api-key",
    "api-key",
    "x-amz-security-token",
    "cookie",
    "proxy-authorization",
}


@dataclass(frozen=True)
class Entry:
    """One exchange of a conversation and what the rules said of the request."""

    case: str
    nonce: str
    exchange: Exchange
    verdicts: tuple[Verdict, ...] = ()

    @property
    def violations(self) -> list[Violation]:
        """Every broken rule, SHOULD and previews included."""
        return [v for verdict in self.verdicts for v in verdict.violations]

    def report(self) -> dict[str, Any]:
        """The entry as JSON."""
        request, response = self.exchange.request, self.exchange.response
        assert response is not None
        return {
            "request": {
                "method": request.method,
                "url": request.url,
                "headers": dict(request.headers),
                "body": request.body,
            },
            "response": {
                "status": response.status,
                "headers": dict(response.headers),
                "body": response.body.decode("utf-8", "replace"),
                "ended": response.ended,
            },
            "violations": [_violation(v) for v in self.violations],
        }


def _violation(violation: Violation) -> dict[str, Any]:
    rule = violation.rule
    return {
        "rule": rule.id,
        "level": rule.level.value,
        "kind": rule.kind.value,
        "preview": rule.preview,
        "pointer": violation.pointer,
        "message": violation.message,
        "sentence": rule.sentence,
    }


@dataclass
class Journal:
    """The last exchanges, at most `entries` of them and about `size` bytes of bodies."""

    entries: int = 10_000
    size: int = 256 * 1024 * 1024
    _kept: deque[tuple[Entry, int]] = field(default_factory=deque)
    _bytes: int = 0
    _lock: Lock = field(default_factory=Lock)

    def add(self, entry: Entry, size: int) -> None:
        """Enters an exchange; `size` is about what it takes, in bytes. The oldest make room."""
        with self._lock:
            self._kept.append((entry, size))
            self._bytes += size
            while len(self._kept) > self.entries or (self._bytes > self.size and len(self._kept) > 1):
                self._bytes -= self._kept.popleft()[1]

    def of(self, case: str, nonce: str | None = None) -> Iterator[Entry]:
        """The entries of a conversation, or of every conversation of a case, oldest first."""
        with self._lock:
            kept = list(self._kept)
        return (e for e, _ in kept if e.case == case and nonce in {None, e.nonce})

    def report(self, case: str, nonce: str | None) -> bytes:
        """The same as JSON text."""
        found = list(self.of(case, nonce))
        report = {
            "case": case,
            "nonce": nonce,
            "violations": sum(len(entry.violations) for entry in found),
            "exchanges": [{"nonce": entry.nonce, **entry.report()} for entry in found],
        }
        return json.dumps(report, ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace")


def without_secrets(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers with every credential replaced by its kind. A canary is none: it is there to be seen."""
    return {
        name: _kind(value) if name in _SECRET and not is_canary(value) else value
        for name, value in headers.items()
    }


def _kind(value: str) -> str:
    scheme, space, _ = value.partition(" ")
    return f"{scheme} ***" if space else "***"
