"""Fetches the archive of a pin: found in a package index, downloaded with a limit of size, checked, and extracted.

Archives are untrusted: plain files with plain paths are extracted, one by one, within limits.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from ssl import SSLContext, create_default_context
from tempfile import TemporaryDirectory
from typing import IO, Any
from urllib.parse import unquote, urljoin, urlsplit

import httpx
from packaging.utils import InvalidSdistFilename, canonicalize_name, parse_sdist_filename
from packaging.version import InvalidVersion, Version

from ellmer_core.base.budget import ARCHIVE, EXTRACTED, EXTRACTED_FILE, INDEX_PAGE

from .pins import Pin, folder_of, home, seal

# --- The package index (PEP 503) -------------------------------------------------------------------------


_DEFAULT = "https://pypi.org/simple"


class Unreachable(RuntimeError):
    """The index or the archive is unavailable. `str()` is a sentence."""


class Missing(Unreachable):
    """The index answered, but does not have the package."""


def index_url() -> str:
    """Returns the URL of the index: from the usual environment variables of uv and pip, or else PyPI."""
    named = (os.environ.get(name) for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"))
    url = next(filter(None, named), _DEFAULT)
    return re.sub(r"^[\w.-]+=(?=https?:)", "", url).rstrip("/")  # uv's indexes may have a name


@contextmanager
def client() -> Iterator[httpx.Client]:
    """Yields a client that trusts the system's certificates, or the authorities in `SSL_CERT_FILE` or `PIP_CERT`."""
    trusted = _trusted(os.environ.get("SSL_CERT_FILE") or os.environ.get("PIP_CERT"))
    with httpx.Client(verify=trusted, follow_redirects=True, timeout=60) as found:
        yield found


@cache
def _trusted(authorities: str | None) -> SSLContext:
    return create_default_context(cafile=authorities)


def refused(url: str, error: Exception | str) -> Unreachable:
    """Returns the error for a URL, without credentials in the URL."""
    parts = urlsplit(url)
    shown = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
    if isinstance(error, httpx.HTTPStatusError):
        return Missing(f"{shown} cannot be downloaded: the answer was {error.response.status_code}.")
    return Unreachable(f"{shown} cannot be reached: {str(error) or type(error).__name__}.")


def files(http: httpx.Client, package: str) -> dict[str, str]:
    """Returns the files of a package with names and URLs. Raises `Unreachable`."""
    url = f"{index_url()}/{canonicalize_name(package)}/"
    try:
        with http.stream("GET", url, headers={"accept": "text/html"}) as answer:
            answer.raise_for_status()
            page = _bounded(answer)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise refused(url, error) from error
    links = _Links()
    links.feed(page)
    found = ((urlsplit(link).path.rpartition("/")[2], link) for link in links.found)
    return {unquote(name): urljoin(str(answer.url), link) for name, link in found}


def newest(package: str, found: dict[str, str], version: str = "") -> tuple[str, str] | None:
    """Returns the source distribution of a version, or of the newest one: its file and version."""
    sdists: list[tuple[Version, str]] = []
    for file in found:
        try:
            name, its = parse_sdist_filename(file)
        except (InvalidSdistFilename, InvalidVersion):
            continue
        if name == canonicalize_name(package) and (str(its) == version or not (version or its.is_prerelease)):
            sdists.append((its, file))
    return (max(sdists)[1], str(max(sdists)[0])) if sdists else None


class _Links(HTMLParser):
    """The targets of the links on a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if tag == "a" and name == "href" and value]


def _bounded(answer: httpx.Response) -> str:
    text = bytearray()
    for chunk in answer.iter_bytes():
        text += chunk
        if len(text) > INDEX_PAGE.unpacked:
            raise refused(str(answer.url), f"its page has more than {INDEX_PAGE.unpacked} bytes")
    return text.decode("utf-8", "replace")


# --- Downloads -------------------------------------------------------------------------------------------


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


# --- Archives --------------------------------------------------------------------------------------------


class _Bounded(gzip.GzipFile):
    """A gzip stream that raises an error if it expands too much."""

    unpacked = 0

    def read(self, size: int | None = -1) -> bytes:
        """Reads on and counts the bytes."""
        data = super().read(size)
        self.unpacked += len(data)
        if self.unpacked > ARCHIVE.unpacked:
            raise Corrupt(f"The archive unpacks to more than {ARCHIVE.unpacked} bytes.")
        return data


def extract(archive: Path, to: Path, takes: Callable[[str], bool]) -> int:
    """Writes the members that `takes` selects below a folder, without the archive's top folder. Returns their number.

    Links, devices, and paths to other folders are always an error. Raises `Corrupt`.
    """
    count = total = 0
    try:
        with _Bounded(archive) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
            for path, member in _wanted(tar, takes):
                count, total = count + 1, total + member.size
                _within(member, count, total)
                _write(tar.extractfile(member), to / path)
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise Corrupt(f"{archive.name} cannot be unpacked: {error}.") from error
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise Corrupt(f"{archive.name} contains a member twice: {error}.") from error
    return count


def _wanted(
    tar: tarfile.TarFile, takes: Callable[[str], bool]
) -> Iterator[tuple[PurePosixPath, tarfile.TarInfo]]:
    for member in tar:
        path = PurePosixPath(*PurePosixPath(member.name).parts[1:])
        if member.isdir() or not takes(str(path)):
            continue
        if not member.isreg():
            raise Corrupt(f"{member.name} is not a regular file.")
        if member.name.startswith("/") or ".." in path.parts or "\\" in member.name or "\0" in member.name:
            raise Corrupt(f"{member.name} points outside the archive.")
        yield path, member


def _within(member: tarfile.TarInfo, count: int, total: int) -> None:
    if member.size > EXTRACTED_FILE.unpacked:
        raise Corrupt(
            f"{member.name} has {member.size} bytes; a recording may have at most {EXTRACTED_FILE.unpacked}."
        )
    if count > EXTRACTED.files or total > EXTRACTED.unpacked:
        raise Corrupt(
            f"The archive has more than {EXTRACTED.files} recordings, or more than {EXTRACTED.unpacked} bytes of them."
        )


def _write(source: IO[bytes] | Any, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    with to.open("xb") as out:
        while chunk := source.read(1 << 20):
            out.write(chunk)


# --- Fetching --------------------------------------------------------------------------------------------


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
    found = files(http, pin.package)
    if pin.file not in found:
        raise Missing(f"The index has no {pin.file}: pin a version that the index has.")
    return found[pin.file]
