"""Media files beside the cassettes. Each file is named by the sha256 of its content.

An image that twenty requests contain is one file. A file is written once and never changed, so that workers
can share a folder. Each read checks the content against the name.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..errors import CassetteError
from .files import file_bytes, replace_file

__all__ = ["Blobs", "inside", "outside"]

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
        kind = next((ext for magic, ext in _MAGIC.items() if data.startswith(magic)), "bin")
        name = f"{sha256(data).hexdigest()}.{kind}"
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
                f"{name[:80]!r} is not the name of a blob: a SHA-256 and the kind of its file"
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
    return value.get("before", "") + encode(blobs.get(value["$blob"])).decode()


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
