"""Structured data that arrive as arguments of a call, shown while they stream. It does no I/O."""

from __future__ import annotations

from ...contents.content import ContentText
from ...wire.interfaces import Merger
from ...wire.shared.tool_calls import STRUCTURED
from ..settings import Settings

__all__ = ["CalledData"]

#: The first piece of servers that begin with empty arguments and then send the real ones.
_PLACEHOLDERS = (["{}"], ["null"], [""])


class CalledData:
    """The received data of one answer. It is empty if the data arrive as text, which is shown directly."""

    def __init__(self, settings: Settings) -> None:
        self._wire = settings.wire
        self._type = settings.type
        tools = list(settings.tools.values())
        self._calls = (
            settings.type is not None
            and settings.wire.structured_mode(settings.type, tools, settings.mode) == "tool"
        )
        self._read = 0  # pieces of the arguments

    def more(self, merger: Merger) -> ContentText | None:
        """Returns the piece that was not shown yet."""
        pieces = merger.call_arguments(STRUCTURED) if self._calls else ()
        if len(pieces) <= max(self._read, pieces[:1] in _PLACEHOLDERS):
            return None
        start = self._read or int(pieces[:1] in _PLACEHOLDERS)
        self._read = len(pieces)
        return ContentText("".join(pieces[start:]))
