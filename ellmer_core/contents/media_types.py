"""What bytes are: the media type by their first bytes, for the types that every provider accepts, and their text."""

from __future__ import annotations

import re
from base64 import b64decode
from codecs import BOM_UTF16_BE, BOM_UTF16_LE

# --- media types -----------------------------------------------------------------------------------------


SEARCHED = 1024  # readers accept a PDF whose header comes this late
SIGNATURES = {
    "image/png": rb"\x89PNG\r\n\x1a\n",
    "image/jpeg": rb"\xff\xd8\xff",
    "image/gif": rb"GIF8[79]a",
    "image/webp": rb"RIFF.{4}WEBP",
    "application/pdf": rb".{0,%d}%%PDF-" % SEARCHED,
}


def sniffed(data: bytes) -> str | None:
    """Returns the media type of some bytes, or `None` for an unknown type."""
    return _first(SIGNATURES, data)


AUDIO = {
    "audio/wav": rb"RIFF.{4}WAVE",
    "audio/mpeg": rb"ID3|\xff[\xe2-\xe5\xf2-\xf5\xfa-\xfd]",
    "audio/flac": rb"fLaC",
    "audio/ogg": rb"OggS",
}


def sniffed_audio(data: bytes) -> str | None:
    """Returns the media type of the bytes of audio, or `None` for an unknown type."""
    return _first(AUDIO, data)


def audio_type(data: str) -> str:
    """Returns the media type of audio in standard base64, or that of raw samples if it is unknown."""
    try:
        start = b64decode(data[:64], validate=True)
    except ValueError:
        start = b""
    return sniffed_audio(start) or "audio/pcm"


def media_type(data: str) -> str | None:
    """Returns the media type of bytes in standard base64, or `None` for an unknown type or invalid base64."""
    try:
        return sniffed(b64decode(data, validate=True))
    except ValueError:
        return None


def fault(type: str, data: str) -> str:
    """Returns what is wrong with a medium's data in base64, as a clause; `""` if they are the bytes that `type` names."""
    if not data:
        return "its data is empty"
    try:
        bytes = b64decode(data, validate=True)
    except ValueError:
        return "its data is not standard base64"
    known = {**SIGNATURES, **AUDIO}.keys()
    actual = sniffed(bytes) or sniffed_audio(bytes)
    if type.lower() not in known or actual == type.lower():
        return ""
    return f"its bytes are {actual}, not {type}" if actual else f"its bytes are not {type}"


def _first(signatures: dict[str, bytes], data: bytes) -> str | None:
    return next((type for type, start in signatures.items() if re.match(start, data, re.DOTALL)), None)


# --- text ------------------------------------------------------------------------------------------------


_CONTROLS = re.compile("[\\x00-\\x08\\x0e-\\x1a\\x1c-\\x1f]")


def decoded(data: bytes) -> str | None:
    """Returns text in UTF-8, or in UTF-16 with a byte order mark."""
    return _text(data, "utf-16" if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig")


def decoded_as_windows(data: bytes) -> str | None:
    """Returns text in Windows-1252, which browsers also assume for text that is not UTF-8."""
    return _text(data, "cp1252")


def is_utf8(data: bytes) -> bool:
    """Tells whether the bytes are text in UTF-8."""
    return _text(data, "utf-8") is not None


def _text(data: bytes, encoding: str) -> str | None:
    """Returns the text, or `None` if it is empty or has control characters."""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if not text or _CONTROLS.search(text) else text
