"""Makes a pin for a package, a folder of archives or a URL: finds the recordings and counts them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from email.parser import HeaderParser
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from urllib.parse import urldefrag, urlsplit

import httpx

from . import index
from .archive import extract
from .download import Corrupt, digest, download
from .pins import FILES, Pin
from .survey import Survey, survey

__all__ = ["counted", "of_package", "of_url", "patterns"]

_MOST = 200 << 20  # bytes of an unchecked archive
_EVERYTHING = ("*",)
_FOLDER = re.compile(r"_?(vcr|\w*cassettes?|recordings?|fixtures|testdata|__inline_snapshot__)")


def of_package(http: httpx.Client, package: str, version: str = "") -> Pin:
    """Returns the pin of a package's source distribution. Raises `Unreachable`, `Corrupt`."""
    found = index.files(http, package)
    chosen = index.newest(package, found, version)
    if chosen is None:
        raise index.Missing(f"The index has no source distribution of {package} {version}".rstrip() + ".")
    file, its = chosen
    place = urldefrag(found[file]).url
    public = re.search(r"/packages/([0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]+/[^/]+)$", place)
    return _pin(http, place, package, its, FILES + public[1] if public else place)


def of_url(http: httpx.Client, url: str) -> Pin:
    """Returns the pin of the user's own archive: a `.tar.gz` at a URL. Raises `Unreachable`, `Corrupt`."""
    stem = PurePosixPath(urlsplit(url).path).name.removesuffix(".tar.gz").removesuffix(".tgz")
    name, _, version = stem.rpartition("-")
    return _pin(http, url, name or stem, version if name else "0", url)


def _pin(http: httpx.Client, place: str, package: str, version: str, public: str) -> Pin:
    with TemporaryDirectory() as folder:
        archive, inside = Path(folder, PurePosixPath(urlsplit(place).path).name), Path(folder, "inside")
        download(http, place, archive, most=_MOST)
        size, sha = archive.stat().st_size, digest(archive)
        pin = Pin(package, version, public, sha, size, "", _EVERYTHING)
        extract(archive, inside, lambda member: member == "PKG-INFO" or pin.takes(member))
        found = survey([inside])
        if not found.wires:
            raise Corrupt(f"{archive.name} contains no recording of a chat.")
        members = patterns(path.relative_to(inside).as_posix() for path in found.files)
        narrow = replace(pin, members=members, licence=_licence(inside / "PKG-INFO"))
        kept = [path for path in found.files if narrow.takes(path.relative_to(inside).as_posix())]
        return counted(narrow, survey(kept), set())


def counted(pin: Pin, found: Survey, known: set[str]) -> Pin:
    """Returns the pin with the counts of its recordings; `known` are the chats of the earlier pins."""
    days = sorted(found.days)
    return replace(
        pin,
        files=len(found.files),
        interactions=found.interactions,
        distinct=len(found.chats - known),
        first=str(days[0]) if days else "",
        last=str(days[-1]) if days else "",
        holds=dict(sorted(found.wires.items())),
    )


def patterns(members: Iterable[str]) -> tuple[str, ...]:
    """Returns patterns for paths: up to a folder with a usual name for recordings, or else the folder of the files."""
    return tuple(sorted({_pattern(PurePosixPath(member).parent) for member in members}))


def _pattern(folder: PurePosixPath) -> str:
    for at, part in enumerate(folder.parts):
        if _FOLDER.fullmatch(part):
            return "/".join((*folder.parts[: at + 1], "*"))
    return f"{folder}/*"


def _licence(info: Path) -> str:
    """Returns the licence in the package's metadata."""
    if not info.is_file():
        return "not told"
    told = HeaderParser().parsestr(info.read_text("utf-8", "replace"))
    classified = [
        c.rpartition(":: ")[2] for c in told.get_all("Classifier", []) if c.startswith("License ::")
    ]
    named = told.get("License-Expression") or ", ".join(classified) or (told.get("License") or "")
    return named.splitlines()[0].strip() if named.strip() else "not told"
