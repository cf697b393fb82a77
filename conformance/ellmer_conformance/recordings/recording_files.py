"""Recordings of HTTP traffic as the rules judge them: the harness reads the files, whoever made them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from ellmer_harness import recordings
from ellmer_harness.format.compression import is_coded, undo
from ellmer_harness.recordings import SUFFIXES, Interaction, Unreadable, find

from ..contract.readers.provider_hosts import host_of

__all__ = ["SUFFIXES", "Recording", "Unreadable", "find", "read"]


@dataclass(frozen=True)
class Recording:
    """An exchange of a file. `place` is its JSON pointer there, or its line.

    `body` is None where the recorder did not keep it, `status` None where there is no answer. `response` is the
    answer's bytes, content-decoded, `answered` its headers. `when` is the day of the recording, where the file tells. `chunks` are
    the sizes in which the answer came, where the recorder kept them.
    """

    place: str
    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    status: int | None = None
    response: bytes = b""
    answered: Mapping[str, str] = field(default_factory=dict)
    when: date | None = None
    chunks: tuple[int, ...] = ()


def read(path: Path) -> Iterator[Recording] | None:
    """Yields the exchanges of a file, one after the other, so that a log may be long; None where it is no
    recording at all.

    A line of a log that is no exchange has no URL. Raises `Unreadable`, of a log in the middle, too.
    """
    found = recordings.each(path)
    return None if found is None else (_recording(it, path) if it else Recording("", "", "") for it in found)


def _recording(it: Interaction, path: Path) -> Recording:
    answered = _joined(it.headers)
    return Recording(
        place=it.place,
        method=it.method,
        url=_with_host(it.url, path),
        headers=_joined(it.sent),
        body=it.body,
        status=it.status or None,
        response=_plain(it.content or b"", answered),
        answered=answered,
        when=it.when.date() if it.when else None,
        chunks=it.chunks,
    )


def _with_host(url: str, path: Path) -> str:
    """Returns the URL; without a host, which recorders of mock servers do not keep, that of the provider a
    folder is named for.
    """
    scheme, _, rest = url.partition("://")
    if not rest.startswith("/"):
        return url
    hosts = (host_of(folder.name.lower()) for folder in path.absolute().parents)
    return f"{scheme}://{next(filter(None, hosts), 'localhost')}{rest}"


def _joined(headers: list[tuple[str, str]]) -> dict[str, str]:
    """Of several values, all."""
    found: dict[str, str] = {}
    for name, value in headers:
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def _plain(body: bytes, headers: Mapping[str, str]) -> bytes:
    """Without the content-encoding that some recorders keep, with or without the header that tells it."""
    encoding = "gzip" if body.startswith(b"\x1f\x8b") else headers.get("content-encoding", "")
    with suppress(ImportError):  # of br and zstd
        return undo(body, encoding) if is_coded(body, encoding) else body
    return body
