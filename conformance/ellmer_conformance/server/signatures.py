"""Signed blobs, which the server sends and expects back unchanged.

A blob contains its text and a MAC of it, so that a client cannot change either unnoticed. The providers' signatures
have the same effect for a client.
"""

from __future__ import annotations

import hmac
from base64 import b64decode, b64encode
from binascii import Error
from hashlib import sha256

__all__ = ["decoded", "is_ours", "opened", "sign"]

_MARK = b"\x0a\x11strict-conformance"
_KEY = b"the same for everyone: two recordings must be equal"
_SIZE = sha256().digest_size


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
    try:
        standard = text.translate(str.maketrans("-_", "+/")).rstrip("=")
        return b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except (Error, ValueError):
        return None
