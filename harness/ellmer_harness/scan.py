"""Looks for secrets in a cassette, by value, by pattern and by name, and says where without saying what.

Every string is looked at as it is and unwrapped: URL-decoded, JSON-unescaped, base64-decoded at any offset,
decompressed. A finding carries a fingerprint, eight hex digits of a hash, by which it can be accepted.
"""

from __future__ import annotations

import math
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from urllib.parse import unquote_plus

from .compression import undo
from .scrub import MASK

__all__ = ["Finding", "masks", "scan"]

_NAME = (
    r"(?:api[-_]?key|access[-_]?key|secret[-_]?key|private[-_]?key|client[-_]?secret|access[-_]?token|refresh[-_]?token"
    r"|secret|password|passwd|authorization|x-api-key|credential)"
)
# What it is, some of the text that every such secret has (looked for first: it is quick), and all of it.
_PATTERNS: list[tuple[str, tuple[str, ...], re.Pattern[str]]] = [
    (what, literals, re.compile(pattern, re.ASCII))
    for what, literals, pattern in (
        ("an Anthropic key", ("sk-ant-",), r"sk-ant-[\w-]{16,}"),
        ("an API key (sk-…)", ("sk-",), r"\bsk-(?!ant-)[\w-]{20,}"),
        ("a Google API key", ("AIza",), r"AIza[\w-]{30,}"),
        ("a Google OAuth token", ("ya29.",), r"ya29\.[\w-]{20,}"),
        ("a Groq key", ("gsk_",), r"gsk_\w{20,}"),
        ("an xAI key", ("xai-",), r"\bxai-\w{20,}"),
        ("a Hugging Face token", ("hf_",), r"\bhf_[A-Za-z]{20,}\b"),
        ("a GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_\w{30,}"),
        ("a GitHub token", ("github_pat_",), r"github_pat_\w{30,}"),
        ("an AWS access key id", ("AKIA", "ASIA"), r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
        ("a Slack token", ("xox",), r"xox[abprs]-[\w-]{10,}"),
        ("a JSON web token", ("eyJ",), r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"),
        ("a private key", ("PRIVATE KEY",), r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
        ("a Cloudflare cookie", ("__cf_bm=",), r"__cf_bm=[\w.-]{20,}"),
        ("a bearer token", ("earer",), r"\b[Bb]earer\s+[\w.~+/-]{20,}"),
    )
]
_NAMED = re.compile(rf"(?i)\b{_NAME}[\"']?\s*[:=]\s*[\"']?([^\s\"'&,<>]{{16,}})")
_SECRET_KEY = re.compile(rf"(?i)^(?:.*[-_.])?{_NAME}$")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_RANDOM = 3.2  # bits a character; words and placeholders stay below, keys of any alphabet above


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
        for what, secret in _found(text, key, known):
            finding = Finding(pointer, what, _fingerprint(secret))
            if finding not in seen:
                seen.add(finding)
                yield finding


def masks(value: Any, accepted: Collection[str] = ()) -> dict[str, str]:
    """The secrets that `scan` finds in a value, but for the accepted ones, each with what to write in its place."""
    found = {secret for _, key, text in _strings(value, "", "") for _, secret in _found(text, key, [])}
    left = (secret for secret in found if _fingerprint(secret) not in accepted)
    return dict.fromkeys(sorted(left, key=len, reverse=True), MASK)


def _fingerprint(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()[:8]


def _strings(value: Any, pointer: str, key: str) -> Iterator[tuple[str, str, str]]:
    """Every string with its pointer and the nearest key above it."""
    if isinstance(value, str):
        yield pointer, key, value
    elif isinstance(value, bytes):
        yield pointer, key, value.decode("latin-1")
    elif isinstance(value, dict):
        for name, item in value.items():
            yield pointer, "", name
            yield from _strings(item, f"{pointer}/{name}", name)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strings(item, f"{pointer}/{index}", key)


def _found(text: str, key: str, known: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for form in _unwrapped(text):
        yield from ((what, secret) for secret, what in known if secret in form)
        yield from _patterns(form)
        yield from (("a value named like a credential", m[1]) for m in _NAMED.finditer(form) if _random(m[1]))
    if _SECRET_KEY.match(key) and len(text) >= 16 and _random(text):
        yield "a value named like a credential", text


def _patterns(text: str) -> Iterator[tuple[str, str]]:
    for what, literals, pattern in _PATTERNS:
        if any(literal in text for literal in literals):
            for found in pattern.findall(text):
                if what == "a private key" or _random(found.rpartition(" ")[2]):
                    yield what, found


def _unwrapped(text: str) -> Iterator[str]:
    """The string, and what it may be hiding."""
    if len(text) < 8:
        return
    yield text
    if "%" in text:
        yield unquote_plus(text)
    if "\\" in text:
        yield re.sub(r"\\(.)", r"\1", text)
    for token in _BASE64.findall(text):
        yield from _decoded(token)


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


def _random(text: str) -> bool:
    """Whether a string looks drawn by lot: many different characters, and not the letters of plain words only."""
    if (
        " " in text
        or text.isdigit()
        or not (re.search(r"\d", text) or text not in (text.lower(), text.upper()))
    ):
        return False
    counts = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values()) >= _RANDOM
