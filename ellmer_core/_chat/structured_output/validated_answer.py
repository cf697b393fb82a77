"""Structured output: the type in a form for the model, and the answer as a value of that type."""

from __future__ import annotations

from typing import Any

from ...contents.content import ContentText
from ...contents.turns import AssistantTurn
from ...errors import ConversionError
from ...schemas.data_frames import Library, columns_of, data_frame
from ...schemas.json_schema import check_data, check_schema, without_optional_nulls
from ...schemas.type_classes import TypeObject
from ...schemas.type_functions import Type, TypeArray, TypeJsonSchema, convert, to_json_schema, type_of
from .json_in_text import json_values

__all__ = ["Structured"]


class Structured:
    """The type that `chat_structured()` asks for. Providers return only objects, so another type becomes the one
    property of an object. `sent` is the type to ask for. With `frame`, an array of objects becomes a data frame.
    """

    def __init__(self, type: Any, *, convert: bool = True, frame: Library | None = None) -> None:
        self.convert = convert or frame is not None
        self.frame = frame
        self.columns = columns_of(type, array=True) if frame else []
        wanted = type_of(type)
        self.type = wanted if frame else type  # rows are dicts, whatever class the type is
        self.wrapped = not _is_object(wanted)
        self.sent: Type = TypeObject(properties={"wrapper": wanted}) if self.wrapped else wanted
        checked = isinstance(self.type, Type) and not _fully_known(self.type)
        self.schema = to_json_schema(wanted) if checked else None  # what convert() does not check itself
        if self.schema is not None:
            check_schema(self.schema)

    def value(self, turn: AssistantTurn) -> Any:
        """Returns the data of an answer. They may be in prose, in a Markdown fence or after thoughts, and may lack
        their wrapper. The data are checked strictly.
        """
        said = [content.text for content in turn.contents if isinstance(content, ContentText)]
        problem: ConversionError | None = None
        for data in json_values(turn.text, *said[-1:]):
            try:
                return self._converted(data)
            except ConversionError as error:
                problem = problem or error
        raise problem or ConversionError(f"The answer is not JSON: {turn.text[:200]!r}")

    def problem(self, turn: AssistantTurn) -> str | None:
        """Returns a description of an answer's error for the model, or `None`."""
        try:
            self.value(turn)
        except ConversionError as error:
            return f"That is not the data that was asked for: {error}. Give the whole data again, and nothing else."
        return None

    def unwrapped(self, data: Any) -> Any:
        """Returns the data without their wrapper object."""
        return (
            data["wrapper"]
            if self.wrapped and isinstance(data, dict) and data.keys() == {"wrapper"}
            else data
        )

    def _converted(self, data: Any) -> Any:
        value = self.unwrapped(data)
        if not self.convert:
            return value
        if self.schema is not None:
            value = without_optional_nulls(value, self.schema)
            check_data(value, self.schema)
        value = convert(value, self.type)
        return value if self.frame is None else data_frame(value, self.columns, self.frame)


def _fully_known(type: Any) -> bool:
    """Tells whether `convert()` checks all parts of the type."""
    if isinstance(type, TypeObject):
        return all(map(_fully_known, type.properties.values()))
    return _fully_known(type.items) if isinstance(type, TypeArray) else not isinstance(type, TypeJsonSchema)


def _is_object(type: Type) -> bool:
    """Tells whether providers accept the type at the root: a single object type, not a union."""
    if not isinstance(type, TypeJsonSchema):
        return isinstance(type, TypeObject)
    schema = to_json_schema(TypeObject(properties={"it": type}))
    root, defs = schema["properties"]["it"], schema.get("$defs", {})
    found = defs.get(str(root.get("$ref")).rpartition("/")[2], root)
    choice = found.keys() & {"anyOf", "oneOf", "allOf", "not", "if", "enum", "const"}
    return not choice and (found.get("type") == "object" or ("properties" in found and "type" not in found))
