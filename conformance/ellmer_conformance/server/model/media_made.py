"""Images and sounds that the model makes: an image of one colour, and silence that carries its words."""

from __future__ import annotations

import re
import struct
import zlib

from ellmer_core.base.budget import remembered

from .media_description import COLOURS

_SIDE = 64  # pixels of an image
_RATE = 24_000  # samples of a second: https://developers.openai.com/api/docs/guides/text-to-speech
_SECONDS = 0.06  # of silence for each word
_MOST_WORDS = 1000  # for which there is silence: a word of one letter is 3 KB of it
_COMMENT = b"ICMT"  # the place for a comment in the list of a WAV file


@remembered(64)
def picture(prompt: str) -> bytes:
    """Returns a PNG of 64 by 64 pixels in the colour that a prompt names, or in grey.

    Args:
        prompt: What the image should show.
    """
    named = (word for word in re.findall(r"[a-z]+", prompt.lower()) if word in COLOURS)
    colour = bytes(COLOURS[next(named, "grey")])
    rows = (b"\0" + colour * _SIDE) * _SIDE
    head = struct.pack(">IIBBBBB", _SIDE, _SIDE, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*each) for each in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


@remembered(64, longest=200)
def sound(words: str) -> bytes:
    """Returns a WAV file of silence, with the words as its comment.

    Args:
        words: What is said.
    """
    samples = bytes(2 * int(_RATE * _SECONDS * max(1, min(len(words.split()), _MOST_WORDS))))
    text = words.encode("utf-8", "replace")[:4000] + b"\0"
    text += b"\0" * (len(text) % 2)
    comment = b"INFO" + _COMMENT + struct.pack("<I", len(text)) + text
    form = struct.pack("<HHIIHH", 1, 1, _RATE, 2 * _RATE, 2, 16)
    body = b"WAVE" + b"".join(
        kind + struct.pack("<I", len(data)) + data
        for kind, data in ((b"fmt ", form), (b"LIST", comment), (b"data", samples))
    )
    return b"RIFF" + struct.pack("<I", len(body)) + body


def words_of_sound(data: bytes) -> str:
    """Returns the words of a sound that `sound` made, or an empty text.

    Args:
        data: The bytes of a file.
    """
    place = data.find(_COMMENT, 0, 20_000)
    if place < 0 or len(data) < place + 8:
        return ""
    (size,) = struct.unpack("<I", data[place + 4 : place + 8])
    return data[place + 8 : place + 8 + size].rstrip(b"\0").decode("utf-8", "replace")
