"""The files of jobs, which say what was paid for: one call at a time uses one, and a process that is killed leaves the old or the
new content. `Journal` is the file of parallel prompts; `batch` has its own.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from .._chat.chat import Chat
from ..base.file_replacement import explained, replace_file
from ..base.regular_files import opened
from ..contents.content import ContentToolResult
from ..contents.json_serialization import contents_record, contents_replay
from ..contents.turns import Turn, UserTurn
from ..errors import UsageError

# --- One file --------------------------------------------------------------------------------------------


def read(path: Path) -> bytes:
    """Returns the bytes of a file. Raises `OSError`, also for a device or a pipe."""
    with opened(path) as file:
        return file.read()


def file_of(path: str | Path) -> Path:
    """Returns the file that a path means now, also after the program has changed its folder. A link to a file means that file."""
    here = Path(path).absolute()
    return here.resolve() if here.is_file() else here


UNSENT = "Nothing was sent. Make room, or use a path in a folder that can be written, and call again"


#: The errors of a folder that this process may only read.
_ONLY_READ = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


@contextmanager
def held(path: Path) -> Iterator[OSError | None]:
    """Holds the file of a job (`file_of()`), as long as the block runs. Raises `UsageError` if another call holds it, in any process.

    The lock is a file beside it, which is deleted at the end. The system lets go of the lock of a process that is killed. Where there can
    be no lock because the folder is only read, but a file of a job, it yields the error: what is in the file can be used.
    """
    lock, file = Path(f"{path}.lock"), None
    only_read: OSError | None = None
    try:
        with explained(path, UNSENT):
            file = _locked(lock)
    except OSError as error:
        if error.errno not in _ONLY_READ or not path.exists():
            raise
        only_read = error
    if only_read is not None:
        yield only_read
        return
    if file is None:
        raise UsageError(f"{path} is in use by another call. Wait until it has ended, or use another path.")
    try:
        yield None
    finally:
        with suppress(OSError):  # Windows deletes no open file
            lock.unlink()
        _let_go(file)
        file.close()


def _locked(lock: Path) -> IO[bytes] | None:
    """Returns the open file, or `None` if somebody else holds it."""
    while True:
        file = lock.open("a+b", buffering=0)  # to write only, a pipe would be waited for
        if not _is_free(file):
            file.close()
            return None
        with suppress(OSError):  # the one before us has deleted it, and a third one has made another
            if os.path.samestat(lock.stat(), os.fstat(file.fileno())):
                return file
        file.close()


if sys.platform == "win32":
    import msvcrt

    def _is_free(file: IO[bytes]) -> bool:
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _let_go(file: IO[bytes]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _is_free(file: IO[bytes]) -> bool:
        with suppress(OSError):  # a file system without locks
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
        return True

    def _let_go(file: IO[bytes]) -> None:
        with suppress(
            OSError
        ):  # as above; forked processes have the same lock, which closing would leave to them
            fcntl.flock(file, fcntl.LOCK_UN)


# --- The answers of parallel prompts, written as they arrive: what was paid for is not asked again -----------


VERSION = 1


class Journal:
    """The answers in one file of JSON lines. `asked` are the fingerprints that the file must have, and `prompts` those of the prompts.

    The first line is `{"version": 1, "asked": …}`, with fingerprints of the chat. Each other line is
    `{"place": …, "prompt": …, "turns": …}`, with the place of a prompt, its fingerprint, and the turns of its answer. So a job may
    go on with more prompts. A line that was cut is dropped.

    The memory has one line at a time: `lines` says where in the file the line of a place begins.
    """

    def __init__(self, path: Path, asked: Mapping[str, str], prompts: Sequence[str]) -> None:
        self.path = path
        self.prompts = prompts
        self.lines: dict[int, int] = {}
        with explained(self.path, UNSENT):
            if not self.path.exists():
                replace_file(self.path, _line({"version": VERSION, "asked": dict(asked)}))
            elif (end := self._read(asked)) < self.path.stat().st_size:
                os.truncate(self.path, end)
            self._left = _state(self.path.stat())

    def add(self, place: int, chat: Chat, begun: int) -> None:
        """Adds the turns of a fork after the first `begun`, which it began with. Raises `OSError`, also if the file is not as it was left."""
        history = chat._history  # noqa: SLF001 - of this package
        unsent = [history.reply(())] if history.results else []  # of tools whose result is the answer
        turns = contents_record([*history.turns[begun:], *unsent])
        rest = _line({"place": place, "prompt": self.prompts[place], "turns": turns})
        with self._opened(add=True) as file:
            end = file.tell()
            try:
                while rest:
                    rest = rest[file.write(rest) :]
            except BaseException:  # a part of a line would damage the next one
                file.truncate(end)
                raise
            self._left = _state(os.fstat(file.fileno()))

    @contextmanager
    def _opened(self, *, add: bool = False) -> Iterator[IO[bytes]]:
        """Opens the file, if it is as this object has left it: lines after something else could not be read again."""
        with opened(self.path, add=add) as file:
            if _state(os.fstat(file.fileno())) != self._left:
                raise OSError(errno.ESTALE, "Another program has changed it", str(self.path))
            yield file

    def restored(self, place: int, fork: Chat) -> None:
        """Adds an answer to its fork."""
        tools = list(fork.get_tools().values())
        with self._opened() as file:
            file.seek(self.lines[place])
            record = json.loads(file.readline())["turns"]
        turns = [turn for turn in contents_replay(record, tools=tools) if isinstance(turn, Turn)]
        unsent = turns.pop() if isinstance(turns[-1], UserTurn) else UserTurn()
        results = {n: each for n, each in enumerate(unsent.contents) if isinstance(each, ContentToolResult)}
        history = fork._history  # noqa: SLF001 - of this package
        history.replace([*history.turns, *turns], results)

    def _read(self, asked: Mapping[str, str]) -> int:
        """Reads the places of the answers. Returns the end of the last complete line."""
        try:
            with opened(self.path) as file:
                head = json.loads(file.readline())
                version, found = head["version"], head["asked"]
                differ = [name for name, value in asked.items() if found.get(name) != value]
                end, same = self._find_lines(file)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise UsageError(
                f"{self.path} has no answers of parallel prompts: {error!r:.200}. The file was not changed."
            ) from error
        if version != VERSION:
            raise UsageError(
                f"{self.path} is of version {version!r}; this release reads version {VERSION}. Update ellmer-core, or use another path."
            )
        if differ or not same:
            what = ", ".join([*differ, *([] if same else ["prompts that were answered"])])
            raise UsageError(
                f"{self.path} has the answers of another call: it differs in {what}. Use another path."
            )
        return end

    def _find_lines(self, file: IO[bytes]) -> tuple[int, bool]:
        """Notes where the lines of answers begin. Returns where the last whole line ends, and whether all of their prompts are asked."""
        start, same = file.tell(), True
        for line in file:
            if not line.endswith(b"\n"):
                break
            answer = json.loads(line)
            answer["turns"]  # all that was read is an answer
            place = answer["place"]
            same = same and place < len(self.prompts) and answer["prompt"] == self.prompts[place]
            self.lines[place] = start
            start += len(line)
        return start, same


def _state(about: os.stat_result) -> tuple[int, int, int]:
    return about.st_dev, about.st_ino, about.st_size


def _line(value: Any) -> bytes:
    return (
        json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"
    )
