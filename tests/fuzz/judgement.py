"""What no file may do to its reader, whatever it contains."""

import os
import re
import sys
import time
from collections.abc import Callable
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir, gettempprefix
from typing import Any

from .mutations import SECRET

LONGEST = 8.0  # seconds of the processor; milliseconds are usual
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_COMMAND = re.compile(r"(?m)^\s*(?:::[a-z]|##\[)")
_FORBIDDEN = ("/etc/passwd", "/dev/zero")
_SEEN: list[str] = []
_WATCHED: list[Path] = []


@dataclass(frozen=True)
class Reader:
    """A reader of one file: its name, legal contents, and the function that reads it and returns all that a person sees."""

    file: str
    seeds: Callable[[], list[bytes]]
    read: Callable[[Path], str]
    quotes: bool = False
    """Whether it shows a body as it is, in which a line may look like a command."""


class Found(AssertionError):
    """A file did what none may do."""


def judge(reader: Reader, data: bytes, folder: Path) -> None:
    """Reads the data in a folder `work` of `folder`. Raises `Found`, or whatever the reader raised."""
    work = folder / "work"
    work.mkdir(exist_ok=True)
    (folder / SECRET).parent.mkdir(exist_ok=True)
    (folder / SECRET).write_text("secret-of-another-file", "utf-8")
    (work / reader.file).write_bytes(data)
    _watch(folder)
    begun = time.process_time()
    try:
        with chdir(work):
            shown = reader.read(work / reader.file)
    finally:
        _WATCHED.clear()
    if (took := time.process_time() - begun) > LONGEST:
        raise Found(f"it took {took:.1f} s")
    _said(shown, quotes=reader.quotes)
    if _SEEN:
        raise Found(f"it touched {_SEEN}")


def _said(shown: str, *, quotes: bool) -> None:
    if "secret-of-another-file" in shown or "root:x:" in shown:
        raise Found("it shows another file")
    if found := _CONTROL.search(shown):
        raise Found(f"it shows {found[0]!r} in {shown[max(0, found.start() - 80) : found.end() + 20]!r}")
    if not quotes and (found := _COMMAND.search(shown)):
        raise Found(f"it shows a command: {shown[found.start() : found.start() + 80]!r}")


def _watch(folder: Path) -> None:
    _SEEN.clear()
    _WATCHED[:] = [folder]


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not _WATCHED:
        return
    if event == "open" and isinstance(arguments[0], str | bytes):
        _opened(os.fsdecode(arguments[0]), arguments[2])
    elif event in {"os.system", "subprocess.Popen", "os.exec", "os.posix_spawn"}:
        _SEEN.append(f"{event} {arguments[0]!r}")
    elif event == "socket.connect" and arguments[1][0] != "127.0.0.1":
        _SEEN.append(f"{event} {arguments[1]!r}")


def _opened(name: str, flags: int) -> None:
    folder, path = _WATCHED[0], os.path.realpath(name)
    writes = bool(flags & (os.O_WRONLY | os.O_RDWR)) and not path.endswith((".pyc", "/dev/null"))
    inside = path.startswith(f"{folder.resolve()}{os.sep}work{os.sep}") or _is_of_its_own(path, folder)
    if path.endswith(SECRET) or name in _FORBIDDEN or (writes and not inside and ".pyc." not in path):
        _SEEN.append(f"open {name!r}")


def _is_of_its_own(path: str, folder: Path) -> bool:
    """Tells whether a file is in a temporary folder that the reader has made, and that is gone afterwards."""
    made = f"{os.path.realpath(gettempdir())}{os.sep}{gettempprefix()}"
    return path.startswith(made) and not path.startswith(str(folder.resolve()))


sys.addaudithook(_audit)
