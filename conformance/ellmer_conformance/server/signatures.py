"""Signed blobs: what the server hands out and wants back unchanged.

A blob carries the text it stands for and a MAC over it. A client cannot alter either unnoticed, which is all
that the providers' signatures do for a client.
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
    """Returns the blob that stands for a text."""
    data = text.encode()
    return _MARK + hmac.digest(_KEY, data, "sha256") + data


def is_ours(blob: bytes) -> bool:
    """Tells whether the blob says that it came from here; it may have been changed since."""
    return blob.startswith(_MARK)


def opened(blob: bytes) -> str | None:
    """Returns the text of an unchanged blob of ours, else None."""
    mac, data = blob[len(_MARK) : len(_MARK) + _SIZE], blob[len(_MARK) + _SIZE :]
    genuine = is_ours(blob) and hmac.compare_digest(mac, hmac.digest(_KEY, data, "sha256"))
    return data.decode() if genuine else None


def encoded(blob: bytes, prefix: str = "") -> str:
    """Returns the blob in base64."""
    return prefix + b64encode(blob).decode()


def decoded(text: str) -> bytes | None:
    """Base64 in either alphabet, padded or not; None where it is neither."""
    try:
        standard = text.translate(str.maketrans("-_", "+/")).rstrip("=")
        return b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except (Error, ValueError):
        return None
