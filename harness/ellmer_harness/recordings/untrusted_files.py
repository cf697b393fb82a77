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
from ..format.blobs import MAX_BYTES, file_bytes

__all__ = [
    "MAX_BYTES",
    "MAX_COPIES",
    "MAX_DEPTH",
    "UTF_16",
    "Unreadable",
    "explained",
    "file_bytes",
    "in_utf8",
    "modest",
    "unzipped",
]


# --- Limits ----------------------------------------------------------------------------------------------


MAX_DEPTH = (
    200  # levels of lists and objects in a YAML text: its reader uses the stack of the process for each
)
MAX_COPIES = 100_000  # values that aliases and merge keys of a YAML text stand for

_Events: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def unzipped(data: bytes) -> bytes:
    """Returns the decompressed bytes of gzip."""
    with gzip.open(BytesIO(data)) as file:
        return _within(file.read(MAX_BYTES + 1))


def _within(data: bytes) -> bytes:
    if len(data) > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES // 1024**2} MB (MAX_BYTES)")
    return data


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


@contextmanager
def explained(path: Path, place: str = "it") -> Iterator[None]:
    """Turns any error during reading into `Unreadable`, with the place in the file."""
    try:
        yield
    except Unreadable:
        raise
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
