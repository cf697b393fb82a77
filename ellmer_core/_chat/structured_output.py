"""Structured output: the type in a form for the model, its data in a complete answer, and the data so far while they arrive.
It does no I/O.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, repeat
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints, is_typeddict

from ..base.budget import CLIENT, has_more_values
from ..contents.content import ContentText
from ..contents.turns import AssistantTurn, messages
from ..conversation.io_operations import Shown
from ..errors import ConversionError, UsageError
from ..schemas.data_frames import Library, columns_of, data_frame
from ..schemas.json_schema import check_data, check_schema, without_optional_nulls
from ..schemas.type_classes import TypeObject
from ..schemas.type_functions import Type, TypeArray, TypeJsonSchema, convert, inner_type, to_json_schema
from ..wire.shared.json_objects import bounded, read_json

# --- The type, and its value in an answer ----------------------------------------------------------------


class Structured:
    """The type that `chat_structured()` asks for. Providers return only objects, so another type becomes the one
    property of an object. `sent` is the type to ask for. With `frame`, an array of objects becomes a data frame.
    """

    def __init__(self, type: Any, *, convert: bool = True, frame: Library | None = None) -> None:
        self.convert = convert or frame is not None
        self.frame: Library | None = frame
        self.columns = columns_of(type, array=True) if frame else []
        wanted = inner_type(type, "type=")
        self.type = wanted if frame else type  # rows are dicts, whatever class the type is
        self.wrapped = not _is_object(wanted)
        self.sent: Type = TypeObject(properties={"wrapper": wanted}) if self.wrapped else wanted
        checked = isinstance(self.type, Type) and not _fully_known(self.type)
        self.schema = to_json_schema(wanted) if checked else None  # what convert() does not check itself
        if self.schema is not None:
            check_schema(self.schema)

    def value(self, turn: AssistantTurn) -> Any:
        """Returns the data of an answer. They may be in prose, in a Markdown fence or after thoughts, and may lack
        their wrapper. The data are checked strictly. Of several messages, the last one is the answer.
        """
        texts = [content.text for content in turn.contents if isinstance(content, ContentText)]
        problem: ConversionError | None = None
        for data in json_values(*dict.fromkeys([*messages(turn.contents)[-1:], turn.text, *texts[-1:]])):
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


# --- JSON in a model's text: alone, in a Markdown fence, in prose, or after thoughts ---------------------


_THOUGHT = re.compile(r"<(think|thinking)>.*?(</\1>|\Z)", re.DOTALL)
_FENCED = re.compile(r"```[ \t]*+\w*+[ \t\r]*+\n(.*?)```", re.DOTALL)
_START = re.compile(r"[{\[]")
MOST = 50  # places where JSON may begin that are tried: a text of brackets is not gone through for each
_decoder = json.JSONDecoder()


def json_values(*texts: str) -> Iterator[Any]:
    """Yields the values in the texts, the most likely first: a text that is JSON, then fenced values, then values in
    prose, the longest first.
    """
    for text in texts:
        without_thoughts = _THOUGHT.sub("", text)
        for candidate in (text, without_thoughts, *_FENCED.findall(without_thoughts)):
            try:
                yield read_json(candidate)
            except (ValueError, RecursionError):
                continue
        if not has_more_values(without_thoughts, CLIENT.values):
            yield from _within(without_thoughts)


def _within(text: str) -> Iterator[Any]:
    """Yields the objects and lists in prose, the longest first."""
    found: list[tuple[int, Any]] = []
    place = 0
    for _ in range(MOST):
        start = _START.search(text, place)
        if start is None:
            break
        try:
            value, place = _decoder.raw_decode(text, start.start())
            bounded(value)
            found.append((place - start.start(), value))
        except (ValueError, RecursionError):
            place = max(place, start.end())
    yield from (value for _, value in sorted(found, key=lambda item: -item[0]))


def begun_json(text: str) -> str | None:
    """Returns where JSON begins in an incomplete text, or `None` if it has not begun."""
    answer = _THOUGHT.sub("", text)
    start = _START.search(answer)
    return answer[start.start() :] if start else None


# --- Data while they arrive ------------------------------------------------------------------------------


class PartialData:
    """Turns the pieces of a stream into the data so far, and a complete answer into the checked value."""

    def __init__(self, wanted: Structured, max_retries: int, paused: Callable[[AssistantTurn], bool]) -> None:
        self._wanted, self._left, self._paused = wanted, max_retries, paused
        self._text = ""
        self._known: Partial | None = None

    def pick(self, shown: Shown) -> Any:
        """Returns the data so far, or `None` if nothing changed. Raises `ConversionError` if the last answer does not
        fit the type.
        """
        if isinstance(shown, ContentText):
            self._text += shown.text
            return self._so_far()
        if not isinstance(shown, AssistantTurn):
            return None
        self._text = ""
        return None if shown.tool_requests or self._paused(shown) else self._whole(shown)

    def _whole(self, turn: AssistantTurn) -> Any:
        try:
            return self._wanted.value(turn)
        except ConversionError:
            if not self._left:
                raise
        self._left -= 1
        return None

    def _so_far(self) -> Any:
        from pydantic_core import from_json  # noqa: PLC0415 - imported when first needed

        begun = begun_json(self._text)
        try:
            data = (
                self._wanted.unwrapped(from_json(begun, allow_partial="trailing-strings")) if begun else None
            )
        except ValueError:  # a bracket in prose, or prose behind the data
            return None
        same = self._known is not None and data == self._known.data
        if data is None or same or (self._wanted.wrapped and data == {}):
            return None
        self._known = Partial(data, partial_value(data, self._wanted.type, self._known))
        return self._known.value


class Partial(NamedTuple):
    """The data so far, and the value that was made of them."""

    data: Any
    value: Any


def partial_value(data: Any, type: Any, before: Partial | None = None) -> Any:  # noqa: PLR0911 - one return per kind of type
    """Returns the known part of a value of a type. Missing fields of an object have their default, or are `None`.

    Parts that are equal to those of `known` are taken from there, because long data would otherwise be made anew for
    each piece of a stream.
    """
    if before is not None and data == before.data:
        return before.value
    if get_origin(type) is Annotated:
        return partial_value(data, get_args(type)[0], before)
    origin, arguments = get_origin(type), get_args(type)
    match data:
        case _ if isinstance(type, Type):
            return data
        case _ if origin in {Union, UnionType}:
            return _union_value(data, [option for option in arguments if option is not NoneType], before)
        case list() if arguments:
            items = chain(_item_partials(before), repeat(None))
            return [
                partial_value(item, arguments[0], earlier) for item, earlier in zip(data, items, strict=False)
            ]
        case dict() if origin is not None and len(arguments) == 2:
            return {
                name: partial_value(value, arguments[1], _field_partial(before, name, name))
                for name, value in data.items()
            }
        case dict() if (fields := _fields(type)) is not None:
            return _object(
                type,
                {
                    name: partial_value(data[key], kind, _field_partial(before, key, name))
                    for name, (key, kind) in fields.items()
                    if key in data
                },
            )
    return _leaf(data, type)


def _item_partials(before: Partial | None) -> Iterable[Partial]:
    match before:
        case Partial(list() as data, list() as values):
            return map(Partial, data, values)
    return ()


def _field_partial(before: Partial | None, key: str, name: str) -> Partial | None:
    match before:
        case Partial(dict() as data, dict() as values) if key in data and name in values:
            return Partial(data[key], values[name])
        case Partial(dict() as data, value) if (
            key in data and hasattr(value, name) and not isinstance(value, dict)
        ):
            return Partial(data[key], getattr(value, name))
    return None


def _union_value(data: Any, options: list[Any], before: Partial | None) -> Any:
    """Returns a value of one of several types: the only one, or the first that has all fields so far."""
    if len(options) == 1:
        return partial_value(data, options[0], before)
    if isinstance(data, dict):
        for option in options:
            fields = _fields(option)
            if fields is not None and data.keys() <= {key for key, _ in fields.values()}:
                return partial_value(data, option)
    return data


def _fields(type: Any) -> Mapping[str, tuple[str, Any]] | None:
    """Returns the fields of a class, each with its name in JSON and its type, or `None` if the class has none."""
    if dataclasses.is_dataclass(type) or is_typeddict(type):
        hints = get_type_hints(type, include_extras=True)
        return {name: (name, kind) for name, kind in hints.items()}
    if not hasattr(type, "model_fields"):
        return None
    return {name: (field.alias or name, field.annotation) for name, field in type.model_fields.items()}


def _object(type: Any, values: dict[str, Any]) -> Any:
    """Returns an object of a class without the class's own checks, which are for complete objects."""
    if is_typeddict(type):
        return values
    if hasattr(type, "model_construct"):
        missing = [name for name, field in type.model_fields.items() if field.is_required()]
        return type.model_construct(**dict.fromkeys(missing) | values)
    instance = object.__new__(type)
    for field in dataclasses.fields(type):
        object.__setattr__(instance, field.name, values.get(field.name, _default(field)))
    return instance


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else None


def _leaf(data: Any, type: Any) -> Any:
    try:
        return convert(data, type)
    except (ConversionError, UsageError):
        return None
