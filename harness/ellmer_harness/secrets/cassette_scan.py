"""Looks for secrets in a cassette, by value, by pattern and by name. Findings name the place, not the secret.

A finding has a fingerprint, eight hex digits of a hash, which can be used to accept it. The package `secrets`
knows the patterns and encodings of credentials.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from .detection.credential_search import search
from .redaction.headers_and_urls import MASK

__all__ = ["Finding", "fingerprint", "masks", "scan"]


@dataclass(frozen=True)
class Finding:
    """`where` is a JSON pointer or a file name, `what` the kind of secret."""

    where: str
    what: str
    fingerprint: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what} (fingerprint {self.fingerprint})"


def scan(value: Any, secrets: Iterable[tuple[str, str]] = (), where: str = "") -> Iterator[Finding]:
    """Yields the findings in a JSON value or in bytes. `secrets` are (value, name) pairs to look for."""
    known = [(secret, f"the value of {name}") for secret, name in secrets]
    hits = search(value, known, where)
    found = (Finding(at, hit.what, fingerprint(hit.secret)) for hit in hits for at in hit.pointers)
    yield from dict.fromkeys(found)


def masks(value: Any, accepted: Collection[str] = ()) -> dict[str, str]:
    """Returns the values to mask, each with its replacement, so that `scan` finds only accepted values. They
    are the secrets and the base64 that contains one.
    """
    left = {hit.holder or hit.secret for hit in search(value) if fingerprint(hit.secret) not in accepted}
    return dict.fromkeys(sorted(left, key=len, reverse=True), MASK)


def fingerprint(secret: str) -> str:
    """Returns eight hex digits that identify a secret."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()[:8]
