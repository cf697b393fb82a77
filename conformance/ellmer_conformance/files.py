"""Files that the suite reads, which may be those of others, and files that it writes: a process that is killed leaves the old or
the new content.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import IO

from ellmer_core.base.budget import SETTINGS
from ellmer_harness.format.blobs import file_bytes, replacing

__all__ = ["file_bytes", "file_text", "write_text", "writing"]


def file_text(path: Path, most: int = SETTINGS.received) -> str:
    """Returns the text of a file. Raises `OSError` or `ValueError`, also for a device, a pipe, and a file that is too large.

    Args:
        path: The file.
        most: Bytes that it may have. Default: those of a file of settings.
    """
    return file_bytes(path, most).decode("utf-8-sig")


def write_text(path: Path, text: str) -> None:
    """Writes a file at once, and its folder if there is none.

    Args:
        path: The file.
        text: The text. Half characters become escapes.
    """
    with writing(path) as file:
        file.write(text)


@contextmanager
def writing(path: Path) -> Iterator[IO[str]]:
    """Yields a file for a text, which takes the place of the old one at the end of the block, and does not after an error.

    Args:
        path: The file. A link, a device and a pipe (`/dev/stdout`) are written in place.
    """
    with path.open("wb") if path.is_symlink() else replacing(path) as staged:
        text = TextIOWrapper(staged, encoding="utf-8", errors="backslashreplace", newline="")
        yield text
        text.flush()
        text.detach()  # the file is closed by whom opened it
