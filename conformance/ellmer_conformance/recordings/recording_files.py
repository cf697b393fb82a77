"""Recordings of HTTP traffic in the form for rules. The harness reads the files of all recorders."""

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
    """An exchange of a file. `place` is its JSON pointer, or its line.

    `body` is `None` if the recorder did not store it, and `status` is `None` if there is no answer. `response` is the
    answer's decoded bytes, and `answered` its headers. `when` is the day of the recording, if the file has it.
    `chunks` are the sizes of the answer's chunks, if the recorder stored them.
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
    """Yields the exchanges of a file one by one, because a log may be long. Returns `None` if it is not a recording.

    A line of a log that is not an exchange has no URL. Raises `Unreadable`, also in the middle of a log.
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
    """Returns the URL. Recorders of mock servers store no host, so it comes from a folder with a provider's name."""
    scheme, _, rest = url.partition("://")
    if not rest.startswith("/"):
        return url
    hosts = (host_of(folder.name.lower()) for folder in path.absolute().parents)
    return f"{scheme}://{next(filter(None, hosts), 'localhost')}{rest}"


def _joined(headers: list[tuple[str, str]]) -> dict[str, str]:
    """Joins several values to one."""
    found: dict[str, str] = {}
    for name, value in headers:
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def _plain(body: bytes, headers: Mapping[str, str]) -> bytes:
    """Removes the content-encoding that some recorders keep, with or without its header."""
    encoding = "gzip" if body.startswith(b"\x1f\x8b") else headers.get("content-encoding", "")
    with suppress(ImportError):  # of br and zstd
        return undo(body, encoding) if is_coded(body, encoding) else body
    return body
