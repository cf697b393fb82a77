"""Reads files that are untrusted: limits of their size, because a few bytes can expand to gigabytes, and errors that name the
place of the damage.
"""

from __future__ import annotations

import codecs
import gzip
import json
import zlib
from binascii import Error as Base64Error
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import yaml

from ..errors import CassetteError
from ..format.blobs import MAX_BYTES, TooLarge, file_bytes

__all__ = [
    "MAX_BYTES",
    "MAX_COPIES",
    "MAX_DEPTH",
    "UTF_16",
    "Oversized",
    "TooLarge",
    "Unreadable",
    "explained",
    "file_bytes",
    "in_utf8",
    "modest",
    "plain_bytes",
    "unzipped",
]


# --- Limits ----------------------------------------------------------------------------------------------


MAX_DEPTH = (
    200  # levels of lists and objects in a YAML text: its reader uses the stack of the process for each
)
MAX_COPIES = 100_000  # values that aliases and merge keys of a YAML text stand for

_Events: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


_PIECE = 1024 * 1024  # bytes that are unpacked at a time, to learn how large the rest is


def plain_bytes(path: Path, most: int = MAX_BYTES) -> bytes:
    """Returns the bytes of a file, decompressed if it is gzip. Raises as `file_bytes()`, also for too many bytes."""
    data = file_bytes(path, most)
    return unzipped(data, most) if data.startswith(b"\x1f\x8b") else data


def unzipped(data: bytes, most: int = MAX_BYTES) -> bytes:
    """Returns the decompressed bytes of gzip. Raises `TooLarge` for more than `most` bytes, before any are kept."""
    size = 0
    with gzip.open(BytesIO(data)) as file:
        while piece := file.read(_PIECE):
            size += len(piece)
            if size > most:
                raise TooLarge(f"it is larger than {most // 1024**2} MB when it is unpacked")
    return gzip.decompress(data)


UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # how it begins, as PowerShell writes it


def in_utf8(data: bytes) -> bytes:
    """Returns a text of UTF-16 in UTF-8, and other bytes as they are."""
    return data.decode("utf-16", "replace").encode() if data.startswith(UTF_16) else data


def modest(text: str) -> str:
    """Returns a YAML text of acceptable size. Raises `ValueError` if it nests too deeply, or if aliases and
    merge keys would expand it without limit.
    """
    depth, copies = 0, 0
    sizes: dict[str | None, int] = {}
    open_: list[tuple[str | None, int]] = [(None, 0)]
    for event in yaml.parse(text, Loader=_Events):
        match event:
            case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                open_.append((event.anchor, 1))
                depth += 1
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                anchor, size = open_.pop()
                depth -= 1
                sizes[anchor] = size
                open_[-1] = (open_[-1][0], open_[-1][1] + size)
            case yaml.AliasEvent():
                size = sizes.get(event.anchor, 1)
                copies += size
                open_[-1] = (open_[-1][0], open_[-1][1] + size)
            case yaml.ScalarEvent():
                sizes[event.anchor] = 1
                open_[-1] = (open_[-1][0], open_[-1][1] + 1)
        if depth > MAX_DEPTH:
            raise ValueError(f"it nests deeper than {MAX_DEPTH} levels (MAX_DEPTH)")
        if copies > MAX_COPIES:
            raise ValueError(f"its aliases expand to more than {MAX_COPIES:,} values (MAX_COPIES)")
    return text


# --- Errors ----------------------------------------------------------------------------------------------


class Unreadable(CassetteError):
    """A file cannot be read.

    Args:
        path: The file.
        problem: What is wrong with it, as a clause.

    Examples:
        >>> from ellmer_harness.recordings import find, Unreadable
        >>> try:
        ...     list(find(["nothing.yaml"]))
        ... except Unreadable as error:
        ...     print(error)
        nothing.yaml: there is no such file or folder
    """

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path, self.problem = path, problem


class Oversized(Unreadable):
    """A file, or a line of a log, is larger than its reader takes. Whether it is a recording is not known."""


@contextmanager
def explained(path: Path, place: str = "it") -> Iterator[None]:
    """Turns any error during reading into `Unreadable`, with the place in the file."""
    try:
        yield
    except Unreadable:
        raise
    except TooLarge as error:
        raise Oversized(path, str(error)) from error
    except (OSError, EOFError) as error:
        raise Unreadable(path, f"{place} cannot be read: {error}") from error
    except UnicodeDecodeError as error:
        problem = f"{place} is not valid UTF-8: {error.reason} at byte {error.start}"
        raise Unreadable(path, problem) from error
    except (json.JSONDecodeError, yaml.YAMLError) as error:
        message = " ".join(str(error).split())[:200]
        raise Unreadable(path, f"{place} is damaged or truncated: {message}") from error
    except RecursionError as error:
        raise Unreadable(path, f"{place} is nested too deeply") from error
    except (CassetteError, Base64Error, zlib.error, AttributeError, TypeError, KeyError, ValueError) as error:
        problem = f"{place} looks like a recording, but is inconsistent: {error}"
        raise Unreadable(path, problem) from error
