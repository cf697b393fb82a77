"""What bytes are, by how they begin."""

from __future__ import annotations

__all__ = ["IMAGE_TYPES", "PNG", "sniffed"]

#: One pixel, for examples.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_BEGINNINGS = {
    b"\xff\xd8\xff": "image/jpeg",
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"GIF8": "image/gif",
    b"%PDF-": "application/pdf",
}


def sniffed(data: bytes) -> str:
    """The media type of bytes, `""` where they are none of the common ones."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((type for start, type in _BEGINNINGS.items() if data.startswith(start)), "")
