"""Downloads an archive with a limit of size, and checks its hash."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import httpx

from .index import refused

__all__ = ["Corrupt", "digest", "download"]


class Corrupt(ValueError):
    """An archive is damaged or not the pinned one. `str()` is a sentence."""


def download(
    http: httpx.Client, url: str, to: Path, *, most: int, on_bytes: Callable[[int], None] = lambda _: None
) -> None:
    """Writes the content of a URL, at most `most` bytes. Raises `Unreachable`, `Corrupt`."""
    got = 0
    try:
        with http.stream("GET", url) as answer, to.open("wb") as out:
            answer.raise_for_status()
            for chunk in answer.iter_raw():
                got += len(chunk)
                if got > most:
                    raise Corrupt(f"{to.name} has more than the {most} bytes that it should have.")
                out.write(chunk)
                on_bytes(len(chunk))
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise refused(url, error) from error


def digest(path: Path) -> str:
    """Returns the SHA-256 of a file, in hexadecimal."""
    found = sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            found.update(chunk)
    return found.hexdigest()
