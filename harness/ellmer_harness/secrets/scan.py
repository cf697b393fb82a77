"""Looks for secrets in a cassette, by value, by pattern and by name, and says where without saying what.

Every string is looked at as it is and unwrapped: URL-decoded, JSON-unescaped, base64-decoded at any offset,
decompressed. A finding carries a fingerprint, eight hex digits of a hash, by which it can be accepted.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from urllib.parse import unquote_plus

from ..format.compression import undo
from .credentials import named, patterned, under
from .scrub import MASK

__all__ = ["Finding", "masks", "scan"]

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")


@dataclass(frozen=True)
class Finding:
    """`where` is a JSON pointer or a file name, `what` the kind of secret."""

    where: str
    what: str
    fingerprint: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what} (fingerprint {self.fingerprint})"


def scan(value: Any, secrets: Iterable[tuple[str, str]] = (), where: str = "") -> Iterator[Finding]:
    """The findings in a JSON value or in bytes. `secrets` are (value, name) pairs to look for."""
    known = [(secret, f"the value of {name}") for secret, name in secrets]
    seen = set()
    for pointer, key, text in _strings(value, where, ""):
        for what, secret, _ in _found(text, key, known):
            finding = Finding(pointer, what, _fingerprint(secret))
            if finding not in seen:
                seen.add(finding)
                yield finding


def masks(value: Any, accepted: Collection[str] = ()) -> dict[str, str]:
    """What is to be masked so that `scan` finds nothing but what is accepted, each with what to write in its place:
    the secrets, and the base64 that hides one."""
    left = {
        holder or secret
        for _, key, text in _strings(value, "", "")
        for _, secret, holder in _found(text, key, [])
        if _fingerprint(secret) not in accepted
    }
    return dict.fromkeys(sorted(left, key=len, reverse=True), MASK)


def _fingerprint(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()[:8]


def _strings(value: Any, pointer: str, key: str) -> Iterator[tuple[str, str, str]]:
    """Every string with its pointer and the nearest key above it."""
    if isinstance(value, str):
        yield pointer, key, value
    elif isinstance(value, bytes):
        parsed = _parsed(value)
        yield from _strings(value.decode("latin-1") if parsed is None else parsed, pointer, key)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield pointer, "", name
            yield from _strings(item, f"{pointer}/{name}", name)
    elif isinstance(value, list):
        if key == "text" and all(isinstance(line, str) for line in value):
            value = ["".join(value)]  # as a cassette has a text of several lines
        for index, item in enumerate(value):
            yield from _strings(item, f"{pointer}/{index}", key)


def _parsed(body: bytes) -> Any:
    """The value of a body of JSON; None for any other."""
    try:
        return json.loads(body) if body[:1] in {b"{", b"["} else None
    except (ValueError, RecursionError):
        return None


def _found(text: str, key: str, known: list[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    """What it is, the secret, and the base64 that hides it, if any does."""
    for form, holder in _unwrapped(text):
        yield from ((what, secret, holder) for secret, what in known if secret in form)
        yield from ((what, secret, holder) for what, secret in patterned(form))
        yield from ((what, secret, holder) for what, secret in named(form))
    yield from ((what, secret, "") for what, secret in under(key, text))


def _unwrapped(text: str) -> Iterator[tuple[str, str]]:
    """The string, and what it may be hiding, with the base64 that hides it."""
    if len(text) < 8:
        return
    yield text, ""
    if "%" in text:
        yield unquote_plus(text), ""
    if "\\" in text:
        yield re.sub(r"\\(.)", r"\1", text), ""
    for token in _BASE64.findall(text):
        yield from ((form, token) for form in _decoded(token))


def _decoded(token: str) -> Iterator[str]:
    plain = token.rstrip("=").replace("-", "+").replace("_", "/")
    for offset in range(4):
        part = plain[offset:]
        data = b64decode(
            part[: len(part) // 4 * 4] + (part[len(part) // 4 * 4 :] + "==")[:4] * (len(part) % 4 > 1)
        )
        yield data.decode("latin-1")
        if data[:2] == b"\x1f\x8b":
            yield undo(data, "gzip").decode("latin-1")
