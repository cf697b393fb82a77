"""What the bytes of media show: their type, the width and height of an image, and whether its file can be read to its end."""

from __future__ import annotations

import re
import zlib
from base64 import b64decode
from collections.abc import Mapping

SEARCHED = 1024  # readers accept a PDF whose header comes this late
SIGNATURES = {
    "image/png": rb"\x89PNG\r\n\x1a\n",
    "image/jpeg": rb"\xff\xd8\xff",
    "image/gif": rb"GIF8[79]a",
    "image/webp": rb"RIFF.{4}WEBP",
    "application/pdf": rb".{0,%d}%%PDF-" % SEARCHED,
}


def sniffed(data: bytes, signatures: Mapping[str, bytes] = SIGNATURES) -> str | None:
    """Returns the media type of some bytes, or `None` for an unknown type."""
    return next((type for type, start in signatures.items() if re.match(start, data, re.DOTALL)), None)


AUDIO = {
    "audio/wav": rb"RIFF.{4}WAVE",
    "audio/mpeg": rb"ID3|\xff[\xe2-\xe5\xf2-\xf5\xfa-\xfd]",
    "audio/flac": rb"fLaC",
    "audio/ogg": rb"OggS",
}


def audio_type(data: str) -> str:
    """Returns the media type of audio in standard base64, or that of raw samples if it is unknown."""
    try:
        start = b64decode(data[:64], validate=True)
    except ValueError:
        start = b""
    return sniffed(start, AUDIO) or "audio/pcm"


def media_type(data: str) -> str | None:
    """Returns the media type of bytes in standard base64, or `None` for an unknown type or invalid base64."""
    try:
        return sniffed(b64decode(data, validate=True))
    except ValueError:
        return None


#: The markers of a JPEG's frames: all of C0 to CF but those of tables.
_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
_CHUNKS = 100_000  # of a PNG that are looked at


def image_size(type: str, data: bytes) -> tuple[int, int] | None:
    """Returns the width and height of a PNG, GIF, JPEG or WebP in pixels, or `None` if its bytes do not tell.

    Args:
        type: Media type of the bytes.
        data: The bytes of the file.

    Returns:
        The width and the height.

    Examples:
        >>> image_size("image/gif", b"GIF89a" + bytes([2, 1, 3, 0]))
        (258, 3)
    """
    match type:
        case "image/png":
            return _big(data, 16, 4), _big(data, 20, 4)
        case "image/gif":
            return _little(data, 6, 2), _little(data, 8, 2)
        case "image/jpeg":
            return _of_jpeg(data)
        case "image/webp":
            return _of_webp(data)
    return None


def picture_fault(type: str, data: bytes) -> str:
    """Returns what is wrong with the picture of a PNG or WebP, as a clause, or `""`. A download that broke off has the right first
    bytes, and APIs refuse it ("Please make sure your image is valid").

    Args:
        type: Media type of the bytes.
        data: The bytes of the file.

    Returns:
        The clause.

    Examples:
        >>> picture_fault("image/webp", b"RIFF" + bytes([9, 0, 0, 0]) + b"WEBP")
        'its file is cut off'
    """
    if type == "image/webp":
        return "its file is cut off" if len(data) < 8 + _little(data, 4, 4) else ""
    kind, place, pixels = b"", 8, b""
    for _ in range(_CHUNKS if type == "image/png" else 0):
        if kind == b"IEND" or place >= len(data):
            break
        size, kind = int.from_bytes(data[place : place + 4], "big"), data[place + 4 : place + 8]
        if len(data) < place + 12 + size:
            return "its file is cut off"
        pixels = pixels or (data[place + 8 : place + 8 + size] if kind == b"IDAT" else b"")
        place += 12 + size
    try:
        zlib.decompressobj().decompress(pixels, 1 << 16)
    except zlib.error:
        return "its pixels cannot be unpacked"
    return ""


def _of_jpeg(data: bytes) -> tuple[int, int] | None:
    """Looks for the first frame, behind the segments before it."""
    at = 2
    while data[at : at + 1] == b"\xff" and at + 9 <= len(data):
        if _big(data, at + 1, 1) in _FRAMES:
            return _big(data, at + 7, 2), _big(data, at + 5, 2)
        at += 2 + _big(data, at + 2, 2)
    return None


def _of_webp(data: bytes) -> tuple[int, int] | None:
    """Reads the first chunk: with a canvas, without loss, or with loss."""
    match data[12:16]:
        case b"VP8X":
            return _little(data, 24, 3) + 1, _little(data, 27, 3) + 1
        case b"VP8L":
            bits = _little(data, 21, 4)
            return bits % 2**14 + 1, (bits >> 14) % 2**14 + 1
        case b"VP8 ":
            return _little(data, 26, 2) % 2**14, _little(data, 28, 2) % 2**14
    return None


def _big(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "big")


def _little(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little")
