"""Structured data that arrive as arguments of a call, shown while they stream. It does no I/O."""

from __future__ import annotations

from ...contents.content import ContentText, ContentToolRequest
from ...errors import EllmerError
from ...wire.base import called_text
from ...wire.interfaces import Merger
from ...wire.shared.tool_calls import STRUCTURED
from ..settings import Settings

__all__ = ["CalledData"]


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
        self._shown = ""

    def more(self, merger: Merger) -> ContentText | None:
        """Returns the piece that was not shown yet."""
        text = self._text(merger) if self._calls else ""
        if len(text) <= len(self._shown) or not text.startswith(self._shown):
            return None
        piece, self._shown = text[len(self._shown) :], text
        return ContentText(piece)

    def _text(self, merger: Merger) -> str:
        """Returns the arguments so far. An incomplete answer may be invalid; the reader of the complete answer checks
        it.
        """
        try:
            contents = self._wire.turn(merger.response()).contents
        except (EllmerError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            return ""
        calls = [c for c in contents if isinstance(c, ContentToolRequest) and c.name == STRUCTURED]
        text = called_text(calls[0]) if calls else ""
        return "" if text in {"{}", "null"} else text
