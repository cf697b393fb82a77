"""AWS event stream: length, headers, payload, and a checksum for each half.

https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html#streaming-event-stream
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from zlib import crc32

__all__ = ["message"]

_STRING = 7  # the type of a header's value; the others are not used here


def message(headers: Mapping[str, str], payload: bytes) -> bytes:
    """Returns one message in its final bytes. The numbers are unsigned, 32 bits, big-endian."""
    head = b"".join(_header(name, value) for name, value in headers.items())
    prelude = struct.pack(">II", 16 + len(head) + len(payload), len(head))
    body = prelude + struct.pack(">I", crc32(prelude)) + head + payload
    return body + struct.pack(">I", crc32(body))


def _header(name: str, value: str) -> bytes:
    key, text = name.encode(), value.encode()
    return struct.pack("B", len(key)) + key + struct.pack(">BH", _STRING, len(text)) + text
