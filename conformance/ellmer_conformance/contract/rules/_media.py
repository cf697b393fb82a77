"""Media types detected from the first bytes, and placeholders that a recorder wrote in place of data."""

from __future__ import annotations

import re
import struct
import zlib

#: One pixel, for examples.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_BEGINNINGS = {
    b"\xff\xd8\xff": "image/jpeg",
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"GIF8": "image/gif",
    b"%PDF-": "application/pdf",
}
_REDACTED = re.compile(
    r"redacted|scrubbed|omitted|truncated|filtered|placeholder|<\w+>|\.\.\.", re.IGNORECASE
)


def redacted(text: str) -> bool:
    """Tells whether the value is a recorder's placeholder. The original data is then unknown and cannot be judged."""
    return bool(_REDACTED.search(text[:200]))


def sniffed(data: bytes) -> str:
    """Returns the media type of bytes, or `""` for an uncommon type."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((type for start, type in _BEGINNINGS.items() if data.startswith(start)), "")


def is_garbled(data: bytes) -> bool:
    """Tells whether the pixels of a PNG cannot be unpacked. It looks at the first 64 KiB of them."""
    unpacking, place = zlib.decompressobj(), 8
    while data[place + 4 : place + 8] not in {b"", b"IEND"}:
        size = struct.unpack(">I", data[place : place + 4])[0]
        if data[place + 4 : place + 8] == b"IDAT":
            try:
                return not unpacking.decompress(data[place + 8 : place + 8 + size], 1 << 16)
            except zlib.error:
                return True
        place += 12 + size
    return False
