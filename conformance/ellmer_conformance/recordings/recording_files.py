"""The recorded exchanges of a file, as the rules see them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from ellmer_harness.bulk.sources import Source
from ellmer_harness.format.compression import is_coded, undo
from ellmer_harness.recordings import Interaction, Unreadable, format_detection
from ellmer_harness.recordings.format_detection import seems_recorded
from ellmer_harness.recordings.untrusted_files import MAX_BYTES, Oversized, TooSlow, time_limit

from ..contract.readers import host_of


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
    found = opened(path)
    return found and found[1]


def each_recording(source: Source, most: int, use: Callable[[Recording], None]) -> str | None:
    """Calls a function with each exchange of a file, here or in a store. Returns the reason if the file could not be read to its
    end, also if it takes too long: one file's trouble is that file's line, and the others are read.
    """
    local = nullcontext(source) if isinstance(source, Path) else source.local(most)
    try:
        with local as path, time_limit():
            for recording in _of_acceptable_size(path, most):
                use(recording)
    except Unreadable as error:
        return error.problem
    except TooSlow as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - whatever a recording makes a reader do
        return f"it cannot be judged: {error!r:.200}"
    return None


def _of_acceptable_size(path: Path, most: int) -> Iterator[Recording]:
    """Yields the exchanges of a file. Raises `Oversized` only for what seems to be a recording."""
    count = 0
    try:
        found = opened(path, most)
        for count, recording in enumerate(found[1] if found else (), 1):  # noqa: B007 - the handler asks for it
            yield recording
    except Oversized:
        if count or seems_recorded(path):
            raise


def opened(path: Path, most: int = MAX_BYTES) -> tuple[str, Iterator[Recording]] | None:
    """Returns the name of a file's format with the same exchanges. Raises `Oversized` for a file, or a line of a log, of more
    than `most` bytes.
    """
    found = format_detection.opened(path, most)
    if found is None:
        return None
    return found[0], (_recording(it, path) if it else Recording("", "", "") for it in found[1])


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
