"""Describes images by their size and main colour, and documents (PDF, Word, Excel, PowerPoint) by their words."""

from __future__ import annotations

import html
import re
import zlib
from collections import Counter
from collections.abc import Callable
from functools import lru_cache, wraps
from io import BytesIO
from typing import TypeVar
from zipfile import BadZipFile, ZipFile, ZipInfo

from ellmer_core.base.budget import SERVER

from ...contract.observed.exchange import Media

#: The colours that have a name, as red, green and blue.
COLOURS = {
    "black": (0, 0, 0),
    "white": (255, 255, 255),
    "grey": (128, 128, 128),
    "red": (220, 20, 30),
    "green": (20, 150, 50),
    "blue": (30, 60, 220),
    "yellow": (250, 220, 30),
    "orange": (250, 130, 20),
    "purple": (130, 30, 150),
    "pink": (250, 130, 190),
    "brown": (120, 70, 30),
    "cyan": (30, 210, 230),
}
_PIXELS = 16_000_000  # of an image whose colours are read
_PAGE = re.compile(rb"/Type\s*/Page\b")
_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)
#: The parts of a document of Office that have its words, and a text or a number in them.
_OFFICE = re.compile(
    r"word/document\.xml|xl/sharedStrings\.xml|xl/worksheets/sheet\d{1,4}\.xml|ppt/slides/slide\d{1,4}\.xml"
)
_XML_TEXT = re.compile(r"<(?:\w{1,3}:)?t(?: [^<>]{0,100})?>([^<]*)<|<c (?![^<>]*t=\"s\")[^<>]*><v>([^<]*)<")
_SHOWN = re.compile(rb"\(((?:[^()\\]|\\.)*)\)")
_SHOWS = re.compile(rb"T[jJ]|'")
_WORDS = 12  # of a document that a description quotes
_STREAM_SIZE = 4_000_000  # bytes of a decompressed stream
_MOST_WORDS = 20_000  # of a document; the others are not counted
_KEPT = 1_000_000  # bytes of a medium that is read once only
T = TypeVar("T")


def _kept(read: Callable[[bytes], T]) -> Callable[[bytes], T]:
    """Keeps what was read of the last media, because a conversation repeats them. A large one is read again, not kept."""
    cached = lru_cache(64)(read)
    return wraps(read)(lambda data: cached(data) if len(data) <= _KEPT else read(data))


def described(media: Media) -> str:
    """Returns a description of an image or a document: `a red image of 8 by 8 pixels`."""
    main = media.type.partition("/")[0].lower()
    if not media.data:
        return f"{'an image' if main == 'image' else 'a file'} at {media.url[:200]}"
    if main == "image":
        return _image(media.data)
    if media.data.startswith(b"%PDF"):
        return _pdf(media.data)
    if main in {"audio", "video"}:
        return f"{'an' if main == 'audio' else 'a'} {main} file of {len(media.data):,} bytes"
    return _office(media.data) if media.data.startswith(b"PK\x03\x04") else _file(media.data)


def _file(data: bytes) -> str:
    if b"\0" in data[:_STREAM_SIZE]:
        return f"a file of {len(data):,} bytes"
    words = data[:_STREAM_SIZE].decode("utf-8", "replace").split()[:_MOST_WORDS]
    return f"a file of {_count(len(words), 'word')}{_beginning(words)}"


def colour_of(media: Media) -> str:
    """Returns the main colour of an image, or an empty text if it cannot be read."""
    return _size_and_colour(media.data)[1]


@_kept
def _size_and_colour(data: bytes) -> tuple[tuple[int, int] | None, str]:
    """Returns the size of an image in pixels, and the name of the colour that most of it has."""
    from PIL import Image  # noqa: PLC0415 - it takes long to import, and few requests have images

    try:
        with Image.open(BytesIO(data)) as image:
            size = image.size
            if size[0] * size[1] > _PIXELS:
                return size, ""
            pixels = image.convert("RGBA").resize((16, 16), Image.Resampling.NEAREST)
            backed = Image.alpha_composite(Image.new("RGBA", pixels.size, "white"), pixels).convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None, ""
    names = Counter(_nearest(colour) for count, colour in backed.getcolors(256) or () for _ in range(count))
    return size, names.most_common(1)[0][0]


@lru_cache(4096)
def _nearest(colour: tuple[int, int, int]) -> str:
    return min(
        COLOURS, key=lambda name: sum((a - b) ** 2 for a, b in zip(COLOURS[name], colour, strict=True))
    )


def _image(data: bytes) -> str:
    size, colour = _size_and_colour(data)
    if size is None:
        return f"an image that cannot be read, of {len(data):,} bytes"
    article = "an" if not colour or colour[0] in "aeiou" else "a"
    return f"{article} {f'{colour} image'.strip()} of {size[0]} by {size[1]} pixels"


def _pdf(data: bytes) -> str:
    words = document_words(data)
    pages = len(_PAGE.findall(data)) or 1
    return f"a PDF of {_count(pages, 'page')} and {_count(len(words), 'word')}{_beginning(words)}"


@_kept
def document_words(data: bytes) -> list[str]:
    """Returns the words that the content streams of a PDF show as plain strings."""
    words: list[str] = []
    left = SERVER.unpacked
    for match in _STREAM.finditer(data, 0, data.rfind(b"\nendstream") + len("\nendstream")):
        content = _inflated(match[1])
        left -= len(content)
        if _SHOWS.search(content):
            shown = b" ".join(text.replace(b"\\", b"") for text in _SHOWN.findall(content))
            words += shown.decode("latin-1").split()
        if left < 0 or len(words) > _MOST_WORDS:
            break
    return words[:_MOST_WORDS]


def _office(data: bytes) -> str:
    words = office_words(data)
    return (
        f"a document of {_count(len(words), 'word')}{_beginning(words)}"
        if words
        else f"a file of {len(data):,} bytes"
    )


@_kept
def office_words(data: bytes) -> list[str]:
    """Returns the words of a document of Word, Excel or PowerPoint. A file that cannot be read has none."""
    words: list[str] = []
    left = SERVER.unpacked
    try:
        with ZipFile(BytesIO(data)) as archive:
            for info in sorted(filter(_is_text, archive.infolist()), key=lambda each: each.filename):
                with archive.open(info) as part:
                    content = part.read(min(left, _STREAM_SIZE)).decode("utf-8", "replace")
                left -= len(content)
                shown = (text or number for text, number in _XML_TEXT.findall(content))
                words += html.unescape(" ".join(shown)).split()
                if left <= 0 or len(words) > _MOST_WORDS:
                    break
    except (BadZipFile, NotImplementedError, RuntimeError, OSError, zlib.error, EOFError, ValueError):
        return words[:_MOST_WORDS]
    return words[:_MOST_WORDS]


def _is_text(part: ZipInfo) -> bool:
    return _OFFICE.fullmatch(part.filename) is not None


def _inflated(stream: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(stream, _STREAM_SIZE)
    except zlib.error:
        return stream


def _beginning(words: list[str]) -> str:
    quoted = " ".join(words[:_WORDS])
    return f": “{quoted}{' …' if len(words) > _WORDS else ''}”" if words else ""


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
