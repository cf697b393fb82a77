"""Removes content-encodings, and restores them if the result has the same bytes.

gzip and deflate are always supported; br and zstd need the packages `brotli` and `zstandard`.
"""

from __future__ import annotations

import gzip
import importlib
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import BytesIO
from typing import Any, TypeVar

from ellmer_core.base.budget import RECORDING

Recipe = dict[str, Any]
_STEP = 256  # bytes
_PIECE = 65536
_STEP_OF_BROTLI = 16  # of which ten can make 16 MB
B = TypeVar("B", bytes, bytearray)
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f]")


def undo(body: bytes, encoding: str) -> bytes:
    """Returns the decompressed bytes. A truncated body gives its readable part, and an unknown encoding gives
    the body unchanged.
    """
    names = [part.strip().lower() for part in encoding.split(",") if part.strip()]
    for name in reversed(names[: RECORDING.files]):
        decompress = _UNDO.get(name)
        if decompress is None:
            return body
        body = decompress(body)
    return body


def is_coded(body: bytes, encoding: str) -> bool:
    """Tells whether the bytes have the encoding that the header names. Some recorders decompress the body and
    keep the header.
    """
    name = encoding.rpartition(",")[2].strip().lower()
    if name not in _LOOKS:
        return name not in ("", "identity")
    with suppress(Exception):  # the codec's own error
        return _LOOKS[name](body)
    return False


def _deflate(body: bytes) -> bool:
    if len(body) > 1 and body[0] & 15 == 8 and int.from_bytes(body[:2]) % 31 == 0:  # the header of RFC 1950
        return bool(zlib.decompressobj(15).decompress(body, _STEP))
    engine = zlib.decompressobj(-15)  # which has no header: JSON looks like it, too, but for its end
    _within(engine.decompress(body, RECORDING.unpacked + 1))
    return engine.eof and not engine.unused_data


def _brotli(body: bytes) -> bool:
    try:
        engine = _module("brotli").Decompressor()
    except ImportError:
        return not _is_text(body)
    size = 0
    for at in range(0, len(body), _STEP_OF_BROTLI):
        size += len(engine.process(body[at : at + _STEP_OF_BROTLI]))
        if size > RECORDING.unpacked:
            return True
    # Some single characters give nothing: `3` is a body, and no server codes an empty one.
    return size > 0 and bool(engine.is_finished())


def _is_text(body: bytes) -> bool:
    try:
        return not _BINARY.search(body) and bool(body.decode())
    except UnicodeDecodeError:
        return False


def recipe(body: bytes, encoding: str) -> tuple[bytes, Recipe] | None:
    """Returns the decompressed bytes and the settings that compress them to exactly `body`, or `None` if
    there are none.
    """
    name = encoding.strip().lower()
    with suppress(Exception):  # any codec's own error: the body is then kept as it came
        plain = undo(body, name)
        for candidate in _RECIPES.get(name, _none)(body):
            if plain != body and redo(plain, candidate) == body:
                return plain, candidate
    return None


def redo(plain: bytes, how: Recipe) -> bytes:
    """Returns the compressed bytes."""
    match how["coding"]:
        case "gzip":
            header = bytes.fromhex(how["header"])
            trailer = zlib.crc32(plain).to_bytes(4, "little") + (len(plain) % 2**32).to_bytes(4, "little")
            return header + _deflated(plain, how["level"], -15) + trailer
        case "deflate":
            return _deflated(plain, how["level"], 15)
        case "br":
            return bytes(_module("brotli").compress(plain, quality=how["level"]))
        case coding:
            assert coding == "zstd", coding
            return bytes(_module("zstandard").ZstdCompressor(level=how["level"]).compress(plain))


def _deflated(plain: bytes, level: int, bits: int) -> bytes:
    engine = zlib.compressobj(level, zlib.DEFLATED, bits)
    return engine.compress(plain) + engine.flush()


def _inflate(body: bytes) -> bytes:
    for width in (15, -15):
        with suppress(zlib.error):
            return _within(zlib.decompressobj(width).decompress(body, RECORDING.unpacked + 1))
    return body


def _gunzip(body: bytes) -> bytes:
    engine = zlib.decompressobj(31)
    with suppress(zlib.error):
        plain = _within(engine.decompress(body, RECORDING.unpacked + 1))
        if not engine.unused_data:
            return plain
    return _within(unzipped_part(body, RECORDING.unpacked + 1)) or body


def unzipped_part(body: bytes, most: int) -> bytes:
    """Returns the first bytes of what all members of gzip contain, up to where they are damaged.

    Args:
        body: The bytes.
        most: The number of bytes after which it stops.
    """
    plain = bytearray()
    with suppress(OSError, EOFError, zlib.error), gzip.open(BytesIO(body)) as file:
        while len(plain) < most and (piece := file.read1(min(_PIECE, most - len(plain)))):
            plain += piece
    return bytes(plain)


def archived_part(archive: bytes, most: int) -> bytes:
    """Returns the first bytes of what the files of a ZIP archive contain, one after another, up to where it is damaged.

    Args:
        archive: The bytes.
        most: The number of bytes after which it stops.
    """
    plain = bytearray()
    with (
        suppress(
            OSError, EOFError, ValueError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError
        ),
        zipfile.ZipFile(BytesIO(archive)) as files,
    ):
        for each in files.infolist():
            with files.open(each) as file:
                while len(plain) < most and (piece := file.read(min(_PIECE, most - len(plain)))):
                    plain += piece
            plain += b"\n"
    return bytes(plain)


def _unbrotli(body: bytes) -> bytes:
    engine, plain = _module("brotli").Decompressor(), bytearray()
    for at in range(0, len(body), _STEP_OF_BROTLI):
        plain += engine.process(body[at : at + _STEP_OF_BROTLI])
        _within(plain)
    return bytes(plain)


def _unzstd(body: bytes) -> bytes:
    module, plain = _module("zstandard"), bytearray()
    engine = module.ZstdDecompressor().decompressobj(read_across_frames=True)
    for at in range(0, len(body), _STEP):
        plain += engine.decompress(body[at : at + _STEP])
        _within(plain)
    return bytes(plain)


def _within(plain: B) -> B:
    if len(plain) > RECORDING.unpacked:
        raise ValueError(f"a body is larger than {RECORDING.unpacked // 1024**2} MB when it is unpacked")
    return plain


def _module(name: str) -> Any:
    return importlib.import_module(name)


def _gzip_recipes(body: bytes) -> Iterator[Recipe]:
    # Only the plain ten-byte header: one with a file name in it is kept as it came.
    for level in (6, 9, 1, 5, 4, 3, 2, 7, 8):
        yield {"coding": "gzip", "level": level, "header": body[:10].hex()}


def _levels(coding: str, *levels: int) -> Callable[[bytes], Iterator[Recipe]]:
    return lambda _: ({"coding": coding, "level": level} for level in levels)


def _none(_: bytes) -> Iterator[Recipe]:
    return iter(())


_UNDO: dict[str, Callable[[bytes], bytes]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _inflate,
    "br": _unbrotli,
    "zstd": _unzstd,
    "identity": bytes,
}
_RECIPES: dict[str, Callable[[bytes], Iterator[Recipe]]] = {
    "gzip": _gzip_recipes,
    "deflate": _levels("deflate", 6, 9, 1),
    "br": _levels("br", 11, 4, 5, 6),
    "zstd": _levels("zstd", 3, 1),
}
_LOOKS: dict[str, Callable[[bytes], bool]] = {
    "gzip": lambda body: body.startswith(b"\x1f\x8b"),
    "x-gzip": lambda body: body.startswith(b"\x1f\x8b"),
    "zstd": lambda body: body.startswith(b"\x28\xb5\x2f\xfd"),
    "deflate": _deflate,
    "br": _brotli,
}
