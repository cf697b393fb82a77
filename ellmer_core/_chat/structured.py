"""Structured output: the type as a model can be asked for it, and its answer as a value of that type."""

from __future__ import annotations

import re
from typing import Any

from ..contents.content import ContentText
from ..contents.turns import AssistantTurn
from ..errors import ConversionError
from ..schemas.data_frames import Library, columns_of, data_frame
from ..schemas.type_values import TypeObject
from ..schemas.types import Type, TypeJsonSchema, convert, type_of
from ..wire.framing.json_text import read_json

__all__ = ["Structured"]

_FENCED = re.compile(r"\s*```\w*\n(.*?)\n?```\s*", re.DOTALL)


class Structured:
    """What `chat_structured()` wants. Providers give objects only: another type travels as the one property of
    an object. `sent` is the type to ask for. With `frame`, an array of objects becomes a data frame."""

    def __init__(self, type: Any, *, convert: bool = True, frame: Library | None = None) -> None:
        self.convert = convert or frame is not None
        self.frame = frame
        self.columns = columns_of(type, array=True) if frame else []
        wanted = type_of(type)
        self.type = wanted if frame else type  # rows are dicts, whatever class the type is
        self.wrapped = not _is_object(wanted)
        self.sent: Type = TypeObject(properties={"wrapper": wanted}) if self.wrapped else wanted

    def value(self, turn: AssistantTurn) -> Any:
        """The data in an answer; some models put it into a Markdown fence, or think aloud before it."""
        said = [content.text for content in turn.contents if isinstance(content, ContentText)]
        data, text = _parsed(turn.text, *said[-1:])
        if self.wrapped:
            if not isinstance(data, dict) or "wrapper" not in data:
                raise ConversionError(f"The answer has no field `wrapper` with the value: {text[:200]!r}")
            data = data["wrapper"]
        value = convert(data, self.type) if self.convert else data
        return value if self.frame is None else data_frame(value, self.columns, self.frame)


def _parsed(*texts: str) -> tuple[Any, str]:
    """The first text that is JSON, and what it says."""
    error: Exception | None = None
    for text in texts:
        fenced = _FENCED.fullmatch(text)
        try:
            return read_json(fenced[1] if fenced else text), text
        except (ValueError, RecursionError) as this:
            error = error or this
    raise ConversionError(f"The answer is not JSON ({error}): {texts[0][:200]!r}") from error


def _is_object(type: Type) -> bool:
    if isinstance(type, TypeJsonSchema):
        return type.schema.get("type") == "object" or "properties" in type.schema or "$ref" in type.schema
    return isinstance(type, TypeObject)
