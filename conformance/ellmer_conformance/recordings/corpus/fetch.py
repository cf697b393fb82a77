"""Extracts the recordings of a pin into the cache, completely or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from . import index
from .archive import extract
from .cache import folder_of, home, seal
from .download import Corrupt, digest, download
from .pins import Pin

__all__ = ["fetch", "located"]


def fetch(http: httpx.Client, pin: Pin, on_bytes: Callable[[int], None] = lambda _: None) -> None:
    """Downloads the archive of a pin, checks its hash, and extracts its recordings. Raises `Unreachable`, `Corrupt`."""
    home().mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=home(), prefix=".fetching-") as folder:
        archive, found = Path(folder, pin.file), Path(folder, "recordings")
        download(http, located(http, pin), archive, most=pin.size, on_bytes=on_bytes)
        if digest(archive) != pin.sha256:
            raise Corrupt(f"{pin.file} does not have the SHA-256 of its pin.")
        found.mkdir()
        if not extract(archive, found, pin.takes):
            raise Corrupt(f"{pin.file} contains none of the pinned members.")
        seal(found, pin)
        shutil.rmtree(folder_of(pin), ignore_errors=True)
        found.rename(folder_of(pin))


def located(http: httpx.Client, pin: Pin) -> str:
    """Returns the URL of its archive: from the index, or from the pin if no index has it."""
    if not pin.indexed:
        return pin.archive
    found = index.files(http, pin.package)
    if pin.file not in found:
        raise index.Missing(f"The index has no {pin.file}: another version may be pinned.")
    return found[pin.file]
