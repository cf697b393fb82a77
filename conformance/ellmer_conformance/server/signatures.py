"""Signed blobs, which the server sends and expects back unchanged, and digests of what they are bound to.

A blob contains its text and a MAC of it, so that a client cannot change either unnoticed. The providers' signatures
have the same effect for a client.
"""

from __future__ import annotations

import hmac
import json
from base64 import b64decode, b64encode
from binascii import Error
from functools import lru_cache
from hashlib import sha256
from typing import Any

import orjson

__all__ = ["LONG", "decoded", "digest", "is_ours", "opened", "sign"]

_MARK = b"\x0a\x11strict-conformance"
_KEY = b"the same for everyone: two recordings must be equal"
_SIZE = sha256().digest_size
LONG = 16_384  # characters of a signature that is not remembered
_REMEMBERED, _SHORT = 16_384, 1024  # digests, and the bytes of a value that is remembered itself
_DIGESTS: dict[bytes, str] = {}
_UNSAID = frozenset({"cache_control", "cachePoint"})


def sign(text: str) -> bytes:
    """Returns the blob of a text."""
    data = text.encode()
    return _MARK + hmac.digest(_KEY, data, "sha256") + data


def is_ours(blob: bytes) -> bool:
    """Tells whether the blob was made here. It may have been changed since."""
    return blob.startswith(_MARK)


def opened(blob: bytes) -> str | None:
    """Returns the text of an unchanged blob of ours, or `None`."""
    mac, data = blob[len(_MARK) : len(_MARK) + _SIZE], blob[len(_MARK) + _SIZE :]
    genuine = is_ours(blob) and hmac.compare_digest(mac, hmac.digest(_KEY, data, "sha256"))
    return data.decode() if genuine else None


def encoded(blob: bytes, prefix: str = "") -> str:
    """Returns the blob in base64."""
    return prefix + b64encode(blob).decode()


def decoded(text: str) -> bytes | None:
    """Decodes base64 in either alphabet, padded or not. Returns `None` for other text."""
    return (_decoded if len(text) < LONG else _decoded.__wrapped__)(text)


@lru_cache(1024)
def _decoded(text: str) -> bytes | None:
    try:
        standard = text.translate(str.maketrans("-_", "+/")).rstrip("=")
        return b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except (Error, ValueError):
        return None


def digest(value: Any) -> str:
    """Returns the digest of a value. A client sends the same values with each request, so the latest are remembered."""
    try:
        text = orjson.dumps(value)
    except TypeError:  # half a surrogate pair, or a number beyond 64 bits
        return _new_digest(value)
    if b"null" in text:  # which may be a NaN
        return _new_digest(value)
    key = text if len(text) < _SHORT else sha256(text).digest()
    found = _DIGESTS.get(key)
    if found is None:
        found = _DIGESTS[key] = _new_digest(value)
        if len(_DIGESTS) > _REMEMBERED:
            _DIGESTS.pop(next(iter(_DIGESTS)), None)
    return found


def _new_digest(value: Any) -> str:
    return sha256(json.dumps(_compared(value), sort_keys=True).encode()).hexdigest()[:12]


def _compared(value: Any, key: str = "") -> Any:
    """Returns a value without ignored parts: cache markers, nulls, and signatures of URLs."""
    if isinstance(value, dict):
        return {
            name: _compared(one, name)
            for name, one in value.items()
            if name not in _UNSAID and one is not None
        }
    if isinstance(value, list | tuple):
        return [_compared(one) for one in value]
    return value.partition("?")[0] if key == "url" and isinstance(value, str) else value
