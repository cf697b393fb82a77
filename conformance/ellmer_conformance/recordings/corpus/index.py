"""Reads a package index by its simple pages (PEP 503), to find an archive."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from html.parser import HTMLParser
from ssl import SSLContext, create_default_context
from urllib.parse import unquote, urljoin, urlsplit

import httpx
from packaging.utils import InvalidSdistFilename, canonicalize_name, parse_sdist_filename
from packaging.version import InvalidVersion, Version

__all__ = ["Missing", "Unreachable", "client", "files", "index_url", "newest", "refused"]

_DEFAULT = "https://pypi.org/simple"
_PAGE = 64 * 1024 * 1024  # bytes of a simple page: the largest of PyPI's have some 10 MB


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
    text = b""
    for chunk in answer.iter_bytes():
        text += chunk
        if len(text) > _PAGE:
            raise refused(str(answer.url), f"its page has more than {_PAGE} bytes")
    return text.decode("utf-8", "replace")
