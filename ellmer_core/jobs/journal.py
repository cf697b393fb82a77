"""A file with the answers of parallel prompts, written as they arrive: what was paid for is not asked again.

Each line is JSON. The first is `{"version": 1, "asked": …}`, with fingerprints of the prompts and the chat; each other one
is `{"place": …, "turns": …}`, with the place of a prompt and the turns of its answer. A line that was cut is dropped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._chat.chat import Chat
from ..contents.json_serialization import contents_record, contents_replay
from ..contents.turns import Turn
from ..errors import UsageError

VERSION = 1


class Journal:
    """The answers in one file. `asked` are the fingerprints that the file must have."""

    def __init__(self, path: str | Path, asked: Mapping[str, str]) -> None:
        self.path = Path(path)
        self.records: dict[int, Any] = {}
        whole = b""
        if self.path.exists():
            whole = self._read(asked)
        if not whole:
            whole = _line({"version": VERSION, "asked": dict(asked)})
        self._replace(whole)

    def add(self, place: int, chat: Chat, begun: int) -> None:
        """Adds the turns of a fork after the first `begun`, which it began with."""
        record = contents_record(chat._history.turns[begun:])  # noqa: SLF001 - of this package
        with self.path.open("ab") as file:
            file.write(_line({"place": place, "turns": record}))

    def restored(self, place: int, fork: Chat) -> Chat:
        """Returns the fork with its answer."""
        tools = list(fork.get_tools().values())
        turns = [turn for turn in contents_replay(self.records[place], tools=tools) if isinstance(turn, Turn)]
        history = fork._history  # noqa: SLF001 - of this package
        history.replace([*history.turns, *turns])
        return fork

    def _read(self, asked: Mapping[str, str]) -> bytes:
        """Reads the answers. Returns the lines that are whole."""
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        try:
            head, *lines = map(json.loads, whole.splitlines() or [data])
            version, found = head["version"], head["asked"]
            self.records = {line["place"]: line["turns"] for line in lines}
        except (ValueError, LookupError, TypeError) as error:
            raise UsageError(
                f"{self.path} has no answers of parallel prompts: {error!r}. The file was not changed."
            ) from error
        if version != VERSION:
            raise UsageError(f"{self.path} is of version {version!r}; this release reads version {VERSION}.")
        if differ := [name for name, value in asked.items() if found.get(name) != value]:
            raise UsageError(
                f"{self.path} belongs to other prompts: {', '.join(differ)} differ. Give another path."
            )
        return whole

    def _replace(self, data: bytes) -> None:
        new = self.path.with_name(f"{self.path.name}.new")
        new.write_bytes(data)
        new.replace(self.path)


def _line(value: Any) -> bytes:
    return (
        json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"
    )
