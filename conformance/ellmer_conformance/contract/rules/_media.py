"""Media types and sizes of images, read from the bytes, and placeholders that a recorder wrote in place of data."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable

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


def pixels(data: bytes) -> tuple[int, int] | None:
    """Returns the width and height of a PNG, GIF, JPEG or WebP, or `None` if its first bytes do not have them.

    Examples:
        >>> pixels(b"GIF89a" + bytes([2, 1, 3, 0]))
        (258, 3)
    """
    reader = _SIZES.get(sniffed(data))
    try:
        return reader(data) if reader else None
    except struct.error:
        return None


def _of_jpeg(data: bytes) -> tuple[int, int] | None:
    place = 2
    while data[place : place + 1] == b"\xff":
        marker, length = struct.unpack_from(">BH", data, place + 1)
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", data, place + 5)
            return width, height
        place += 2 + length
    return None


def _of_webp(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8X":
            return _three(data, 24) + 1, _three(data, 27) + 1
        case b"VP8L":
            bits = int(struct.unpack_from("<I", data, 21)[0])
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
    return None


def _three(data: bytes, place: int) -> int:
    low, high = struct.unpack_from("<HB", data, place)
    return int(low) + (int(high) << 16)


#: The markers of a JPEG's frames: all of C0 to CF but those of tables.
_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
_SIZES: dict[str, Callable[[bytes], tuple[int, int] | None]] = {
    "image/png": lambda data: struct.unpack_from(">II", data, 16),
    "image/gif": lambda data: struct.unpack_from("<HH", data, 6),
    "image/jpeg": _of_jpeg,
    "image/webp": _of_webp,
}


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
