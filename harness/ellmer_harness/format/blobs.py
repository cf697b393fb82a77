"""The files of cassettes: names that every file system accepts, atomic writes, where a reader never sees half a file, and reads
that neither wait for a pipe nor read a device; and the media files beside the cassettes.

Each media file is named by the sha256 of its content. An image that twenty requests contain is one file. A file is written
once and never changed, so that workers can share a folder. Each read checks the content against the name.
"""

from __future__ import annotations

import errno
import os
import re
from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG
from time import time
from typing import Any, BinaryIO, TypeVar
from uuid import uuid4

from ellmer_core.base.budget import RECORDING

from ..errors import CassetteError

T = TypeVar("T", str, bytes)

# --- Files -----------------------------------------------------------------------------------------------


_MORE = 65536  # bytes by which a file may grow while it is read
_READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # a pipe is not waited for


class TooLarge(ValueError):
    """A file has more bytes than its reader takes."""


_left: ContextVar[list[int] | None] = ContextVar("bytes_left_for_bodies", default=None)


@contextmanager
def bounded_bodies(most: int = RECORDING.unpacked) -> Iterator[None]:
    """Limits the bytes of all bodies of a recording that are compressed or in other files, because a short recording can name
    a large file many times.
    """
    token = _left.set(_left.get() or [most])
    try:
        yield
    finally:
        _left.reset(token)


def taken(body: T) -> T:
    """Returns a body that was unpacked or read from another file. Raises `TooLarge` if the bodies of the recording are too many."""
    if (left := _left.get()) is not None:
        left[0] -= len(body)
        if left[0] < 0:
            raise TooLarge("its unpacked bodies are too large in total")
    return body


def file_bytes(path: Path, most: int = RECORDING.received) -> bytes:
    """Returns the bytes of a file. Raises `OSError` or `ValueError`, also for a device, a pipe, and a file
    that is too large, which is not read.
    """
    with os.fdopen(os.open(path, _READING), "rb") as file:
        about = os.fstat(file.fileno())
        if not S_ISREG(about.st_mode):
            raise ValueError("it is a device or a pipe")
        room = (
            about.st_size + _MORE
        )  # a buffer of all that is allowed would be a quarter of a gigabyte for each file
        data = file.read(min(room, most + 1)) if about.st_size <= most else b""
        if len(data) == room:
            data += file.read(most + 1 - room)
    if max(about.st_size, len(data)) > most:  # it may have grown
        raise TooLarge(f"it is larger than {most // 1024**2} MB")
    return data


def replace_file(path: Path, data: str | bytes) -> None:
    """Writes a file so that readers find either the old or the new content, even after a crash."""
    with replacing(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Yields a file that takes the place of another one at the end of the block. An error leaves the other one.

    Args:
        path: The file. A device and a pipe (`/dev/stdout`) are written in place; it is an error if nobody reads a pipe.
    """
    if path.exists() and not path.is_file():
        opened = os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
        os.set_blocking(opened, True)
        with os.fdopen(opened, "wb") as file:
            yield file
        return
    staged = path.with_name(f".{path.name[:100]}.{uuid4().hex}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with staged.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        staged.replace(path)
    except OSError as error:
        if error.errno in _NO_ROOM and _UNCHANGED not in str(error):  # of a file within this block
            raise OSError(error.errno, f"{error.strerror}. {_UNCHANGED}", str(path)) from error
        raise
    finally:
        with suppress(OSError):  # of a disk that became read-only
            staged.unlink(missing_ok=True)


_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
_UNCHANGED = "What was there is unchanged. Make room, or write to another folder"
_UNFINISHED = 60  # seconds after which nobody is still writing
_MARK = re.compile(r"[0-9a-f]{32}")


def forget_unfinished(path: Path) -> None:
    """Deletes what programs that were killed have left beside a file while they wrote it."""
    begun = f".{path.name[:100]}."
    for left in path.parent.iterdir() if path.parent.exists() else ():
        if left.name.startswith(begun) and _MARK.fullmatch(left.name.removeprefix(begun)):
            with suppress(OSError):  # another program has deleted it
                if left.stat().st_mtime < time() - _UNFINISHED:
                    left.unlink()


_LONGEST = 100
#: Devices of Windows, also with a suffix: https://learn.microsoft.com/en-us/windows/win32/fileio/naming-a-file
_DEVICE = re.compile(r"(?i:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")


def file_name(test: str) -> str:
    """Returns a name that every file system accepts. Different tests have different names."""
    slug = re.sub(r"[^\w.-]+", "-", test, flags=re.ASCII).strip("-")
    if _DEVICE.fullmatch(slug):
        slug = f"_{slug}"
    if slug == test and len(slug) <= _LONGEST:
        return slug
    return f"{slug[:_LONGEST]}-{sha256(test.encode(errors='surrogatepass')).hexdigest()[:8]}"


# --- Blobs -----------------------------------------------------------------------------------------------


_NAME = re.compile(r"[0-9a-f]{64}\.\w+")
AT_LEAST = 4096  # shorter strings and bodies stay in the cassette
_MAGIC = {
    b"\x89PNG": "png",
    b"\xff\xd8\xff": "jpg",
    b"GIF8": "gif",
    b"RIFF": "webp",
    b"%PDF": "pdf",
    b"ID3": "mp3",
    b"OggS": "ogg",
    b"PK\x03\x04": "zip",
}


def kind_of(data: bytes) -> str:
    """Returns the suffix of a media file by its first bytes; `bin` for any other."""
    return next((suffix for magic, suffix in _MAGIC.items() if data.startswith(magic)), "bin")


_ALPHABETS: dict[str, tuple[Callable[[str], bytes], Callable[[bytes], bytes]]] = {
    "base64": (lambda text: b64decode(text, validate=True), b64encode),
    "base64url": (urlsafe_b64decode, urlsafe_b64encode),
}


@dataclass
class Blobs:
    """A folder of blobs. New blobs stay in memory until `save()`; `used` holds the names of the blobs that
    were read or added.
    """

    folder: Path
    fresh: dict[str, bytes] = field(default_factory=dict, repr=False)
    used: set[str] = field(default_factory=set, repr=False)
    _read: dict[str, bytes] = field(default_factory=dict, repr=False)

    def put(self, data: bytes) -> str:
        """Stores the data and returns its name."""
        name = f"{sha256(data).hexdigest()}.{kind_of(data)}"
        self.used.add(name)
        self.fresh[name] = data
        return name

    def add(self, other: Blobs) -> None:
        """Adds the blobs of another folder."""
        self.fresh |= other.fresh
        self.used |= other.used

    def get(self, name: str) -> bytes:
        """Returns the data of a name. Raises `CassetteError` if the file is missing or does not match its
        name.
        """
        self.used.add(name)
        if name not in self._read:
            self._read[name] = self.fresh[name] if name in self.fresh else self._load(name)
        return self._read[name]

    def preload(self, *forms: Any) -> None:
        """Reads the blobs of some bodies in advance. A blob that cannot be read raises an error when it is
        used.
        """
        left: list[Any] = [form for form in forms if form and ("blob" in form or "blobs" in form)]
        while left:
            value = left.pop()
            if isinstance(value, dict):
                name = value.get("$blob") or value.get("blob")
                if isinstance(name, str) and _NAME.fullmatch(name):
                    with suppress(CassetteError):
                        self.get(name)
                left += value.values()
            elif isinstance(value, list):
                left += value

    def save(self) -> None:
        """Writes new blobs. Existing files are not changed."""
        for name, data in self.fresh.items():
            if not (self.folder / name).exists():
                replace_file(self.folder / name, data)

    def _load(self, name: str) -> bytes:
        if not _NAME.fullmatch(name):
            raise CassetteError(
                f"{name[:80]!r} is not the name of a blob, which is a SHA-256 and the kind of its file"
            )
        path = self.folder / name
        try:
            data = file_bytes(path)
        except (OSError, ValueError) as error:
            raise CassetteError(
                f"blob {path} cannot be read ({error}); restore it from version control, or record again"
            ) from error
        if sha256(data).hexdigest() != name.partition(".")[0]:
            raise CassetteError(f"blob {path} does not match its hash; restore it from version control")
        return data


def outside(value: Any, blobs: Blobs) -> Any:
    """Returns a JSON value with its long base64 strings replaced by blobs: `{"$blob": name, "as": alphabet,
    "before": …}`.

    Raises `ValueError` if the value has a key `$blob` of its own.
    """
    if isinstance(value, dict):
        if "$blob" in value:
            raise ValueError("the body has a key $blob of its own")
        return {key: outside(item, blobs) for key, item in value.items()}
    if isinstance(value, list):
        return [outside(item, blobs) for item in value]
    if isinstance(value, str) and len(value) >= AT_LEAST:
        return _taken_out(value, blobs)
    return value


def inside(value: Any, blobs: Blobs) -> Any:
    """Returns the JSON value with the strings of its blobs restored."""
    if isinstance(value, list):
        return [inside(item, blobs) for item in value]
    if not isinstance(value, dict):
        return value
    if "$blob" not in value:
        return {key: inside(item, blobs) for key, item in value.items()}
    _, encode = _ALPHABETS[value.get("as", "base64")]
    return value.get("before", "") + taken(encode(blobs.get(value["$blob"])).decode())


def _taken_out(text: str, blobs: Blobs) -> Any:
    comma = text.find(",", 0, 200) + 1 if text.startswith("data:") else 0
    before, coded = text[:comma], text[comma:]
    for name, (decode, encode) in _ALPHABETS.items():
        try:
            data = decode(coded)
        except (Error, ValueError):
            continue
        if encode(data).decode() == coded:
            found = {"$blob": blobs.put(data), "as": name, "before": before}
            return {key: item for key, item in found.items() if item not in ("", "base64")}
    return text
