"""Converts Python types to ours through pydantic's JSON Schema. Types that ours cannot express stay JSON Schema.

pydantic is imported at the first type that is not one of the four basic ones.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import lru_cache, wraps
from itertools import count
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from ..errors import ConversionError, UsageError
from .json_schema import excludes_null, without_optional_nulls
from .type_classes import Type, TypeArray, TypeBasic, TypeEnum, TypeJsonSchema, TypeObject

if TYPE_CHECKING:
    from pydantic import TypeAdapter


# --- types of Python -------------------------------------------------------------------------------------


V = TypeVar("V")
Basic = Literal["boolean", "integer", "number", "string"]
BASIC: list[tuple[type, Basic]] = [(bool, "boolean"), (int, "integer"), (float, "number"), (str, "string")]
GENERATED = {"$defs", "title", "default", "discriminator"}  # by pydantic, and of no use to a model


def type_of(annotation: Any, *, required: bool = True) -> Type:
    """Returns the `Type` of a Python type: basic types, `Literal`, enums, lists, dicts, unions, `Annotated`,
    `TypedDict`, dataclasses, pydantic models. A `Type` is returned unchanged. Raises `UsageError` for a type without
    JSON.

    With `required=False`, null is no value of the type: the default is `None`, so that it can be left out.
    """
    if isinstance(annotation, Type):
        return annotation
    if isinstance(annotation, (dict, str, bytes, int, float, NoneType)):
        raise UsageError(
            f"{annotation!r:.80} is not a type. Use type_string(), int, a pydantic model, or JSON Schema through type_from_schema()."
        )
    if basic := basic_type(annotation):
        return replace(basic, required=required)
    return known_type(_json_schema(annotation), required=required)


MOST_SCHEMAS = 20_000  # values in a schema without references


def _kept(function: Callable[[Any], V]) -> Callable[[Any], V]:
    """Caches the results, because pydantic is slow."""
    cached = lru_cache(maxsize=512)(function)

    @wraps(function)
    def call(annotation: Any) -> V:
        try:
            hash(annotation)
        except TypeError:  # as in Annotated[int, [1, 2]]
            return function(annotation)
        return cached(annotation)

    return call


def known_type(schema: Mapping[str, Any], *, closed: bool = True, required: bool = True) -> Type:
    """Returns JSON Schema as one of our types if they express all of it. With `closed`, an object has only its own
    properties by default (as in pydantic; in JSON Schema, the default is the opposite).
    """
    try:
        inlined = _inlined(schema, schema.get("$defs", {}), count())
        return _parsed(inlined if required else _without_null(inlined), closed, required)
    except (_Unresolved, RecursionError):
        return TypeJsonSchema(schema.get("description"), required, schema)


def basic_type(annotation: Any) -> TypeBasic | None:
    """Returns the type of `bool`, `int`, `float` or `str`, without pydantic."""
    if get_origin(annotation) is Annotated and all(isinstance(note, str) for note in annotation.__metadata__):
        annotation = annotation.__origin__
    return next((TypeBasic(type=name) for basic, name in BASIC if annotation is basic), None)


@_kept
def adapter(annotation: Any) -> TypeAdapter[Any]:
    """Returns pydantic's adapter of a Python type."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - imported when first needed

    return TypeAdapter(annotation if sys.version_info >= (3, 12) else _readable(annotation))


def _readable(annotation: Any) -> Any:
    """Returns a type that pydantic can read: the TypedDict of `typing` from Python 3.12 on, and before that of
    `typing_extensions`.
    """
    import typing_extensions  # noqa: PLC0415 - pydantic brings it

    if is_typeddict(annotation) and type(annotation).__module__ == "typing":
        return typing_extensions.TypedDict(annotation.__name__, _keys(annotation))  # type: ignore[operator]  # mypy wants a literal class
    arguments = get_args(annotation)
    readable = tuple(_readable(argument) for argument in arguments)
    if all(new is old for new, old in zip(readable, arguments, strict=True)):
        return annotation
    origin = Union if isinstance(annotation, UnionType) else get_origin(annotation)
    return Annotated[readable] if origin is Annotated else origin[readable]


def _keys(typed_dict: Any) -> dict[str, Any]:
    hints = get_type_hints(typed_dict, include_extras=True)
    bare = {k: get_args(t)[0] if get_origin(t) in (Required, NotRequired) else t for k, t in hints.items()}
    required = typed_dict.__required_keys__
    return {k: (Required if k in required else NotRequired)[_readable(t)] for k, t in bare.items()}


@_kept
def _json_schema(annotation: Any) -> dict[str, Any]:
    from pydantic.errors import PydanticUserError  # noqa: PLC0415 - imported when first needed

    try:
        return adapter(annotation).json_schema()
    except PydanticUserError as error:
        message = error.message.splitlines()[0]
        raise UsageError(f"{annotation!r} cannot be described as JSON Schema: {message}") from error


class _Unresolved(Exception):
    """A schema cannot be written without references: it is recursive, refers to another document, or grows beyond
    `MOST_SCHEMAS`.
    """


def _inlined(
    schema: Any, defs: Mapping[str, Any], counter: Iterator[int], within: tuple[str, ...] = ()
) -> Any:
    """Returns `schema` with every reference resolved, and without generated titles and defaults. `counter` counts the
    resulting values, because a few kilobytes of nested references can expand to gigabytes.
    """
    if next(counter) > MOST_SCHEMAS:
        raise _Unresolved
    if isinstance(schema, list):
        return [_inlined(item, defs, counter, within) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        name = str(schema["$ref"]).removeprefix("#/$defs/")
        target = defs.get(name) if isinstance(defs, Mapping) else None
        if name in within or not isinstance(target, dict):
            raise _Unresolved
        rest = {k: v for k, v in schema.items() if k != "$ref"}
        return _inlined(target | rest, defs, counter, (*within, name))
    return {k: _inlined_keyword(k, v, defs, counter, within) for k, v in schema.items() if k not in GENERATED}


def _inlined_keyword(
    keyword: str, value: Any, defs: Mapping[str, Any], counter: Iterator[int], within: tuple[str, ...]
) -> Any:
    if keyword in {"enum", "const", "examples"}:
        return value
    if keyword in {"properties", "patternProperties"} and isinstance(value, dict):
        return {n: _inlined(_without_default_null(v), defs, counter, within) for n, v in value.items()}
    return _inlined(value, defs, counter, within)


def _parsed(schema: Any, closed: bool, required: bool = True) -> Type:  # noqa: PLR0911 - one return per kind
    if not isinstance(schema, dict):
        return TypeJsonSchema(None, required, {} if schema is True else {"not": {}})
    description = schema.get("description")
    match {k: v for k, v in schema.items() if k not in {"description", "examples"}}:
        case {"type": "boolean" | "integer" | "number" | "string" as basic, **rest} if not rest:
            return TypeBasic(description, required, basic)
        case {"type": "string", "enum": [*values], **rest} if not rest and _all_text(values):
            return TypeEnum(description, required, tuple(values))
        case {"type": "string", "const": str() as value, **rest} if not rest:
            return TypeEnum(description, required, (value,))
        case {"type": "array", "items": dict() as items, **rest} if not rest:
            return TypeArray(description, required, _parsed(items, closed))
        case {"type": "object", **rest} if _plain_object(rest):
            return _object(description, required, rest, closed)
    return TypeJsonSchema(description, required, schema)


def _object(description: str | None, required: bool, schema: Mapping[str, Any], closed: bool) -> TypeObject:
    needed = schema.get("required", [])
    properties = {k: _parsed(v, closed, k in needed) for k, v in schema.get("properties", {}).items()}
    return TypeObject(description, required, properties, schema.get("additionalProperties", not closed))


def _plain_object(rest: Mapping[str, Any]) -> bool:
    kinds = {"properties": dict, "required": list, "additionalProperties": bool}
    return all(name in kinds and isinstance(value, kinds[name]) for name, value in rest.items())


def _all_text(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _without_default_null(schema: Any) -> Any:
    """Returns the schema of a property, without null if that is its default: it can be left out."""
    null = isinstance(schema, dict) and schema.get("default", schema) is None
    return _without_null(schema) if null else schema


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    options = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
    if len(options) == len(schema.get("anyOf", ())):
        return schema
    rest = {k: v for k, v in schema.items() if k != "anyOf"}
    return options[0] | rest if len(options) == 1 else {"anyOf": options} | rest


# --- values of Python ------------------------------------------------------------------------------------


def convert(value: Any, type: Any, *, path: str = "value") -> Any:
    """Returns JSON as a Python value of `type` (a `Type` or a Python type). Raises `ConversionError` with each path.

    The objects of a `TypeObject` become dictionaries in the order of its properties. An optional property that is
    missing or null is `None`. In a dataclass or model, one that is missing has its default, and so has a null that its
    type does not allow. `TypeJsonSchema` is checked as far as our
    own types can express it.
    """
    if basic := basic_type(type):
        number = convert(value, basic, path=path)
        return float(number) if type is float else number
    if not isinstance(type, Type):
        return _built(_without_optional_nulls(value, type_of(type, required=False)), type, path)
    check = _Check([])
    converted = check.value(value, type, path)
    if check.problems:
        raise ConversionError("; ".join(check.problems))
    return converted


def is_left_out(value: Any, type: Type | None) -> bool:
    """Tells whether the value of a property is the null that strict modes send for a missing one: its type has no null."""
    if value is not None or type is None or type.required:
        return False
    return not isinstance(type, TypeJsonSchema) or excludes_null(type.schema)


def _built(value: Any, annotation: Any, path: str) -> Any:
    from pydantic import ValidationError  # noqa: PLC0415 - imported when first needed

    text = json.dumps(value)
    try:
        return adapter(annotation).validate_json(text, strict=True)
    except ValidationError as error:
        if json.dumps(whole := _whole_numbers(value)) != text:  # as text: NaN equals nothing
            return _built(whole, annotation, path)
        raise ConversionError("; ".join(_problem(path, each) for each in error.errors())) from error


def _problem(path: str, error: Any) -> str:
    """Returns an error of pydantic in words."""
    place = f"`{path}{_dotted(error['loc'])}`"
    match error["type"]:
        case "missing":
            return f"{place} is missing"
        case "value_error" | "assertion_error":  # the words of the class's own validator
            return f"{place} is {_short(error['input'])}: {error['ctx']['error']}"
    return f"{place}: {error['msg']}, not {_short(error['input'])}"


def _whole_numbers(value: Any) -> Any:
    """Converts floats without a fraction to integers, because JSON does not distinguish 3.0 from 3."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {k: _whole_numbers(v) for k, v in value.items()}
        case list():
            return [_whole_numbers(v) for v in value]
    return value


def _without_optional_nulls(value: Any, type: Type) -> Any:
    """Returns the data without nulls of optional properties whose type has no null: strict modes send one for a missing
    property.
    """
    match type, value:
        case TypeObject(properties=inner), dict():
            return {
                k: _without_optional_nulls(v, inner[k]) if k in inner else v
                for k, v in value.items()
                if not is_left_out(v, inner.get(k))
            }
        case TypeArray(items=item), list():
            return [_without_optional_nulls(v, item) for v in value]
        case TypeJsonSchema(schema=schema), _:
            return without_optional_nulls(value, schema)
    return value


@dataclass(frozen=True)
class _Check:
    """Checks JSON against our own types and collects the `problems`."""

    problems: list[str]

    def value(self, value: Any, type: Type, path: str) -> Any:
        match type:
            case TypeBasic():
                return self.basic(value, type, path)
            case TypeEnum():
                fits = isinstance(value, str) and value in type.values
                return value if fits else self.wrong(path, f"one of {_short(type.values)}", value)
            case TypeArray():
                if not isinstance(value, list):
                    return self.wrong(path, "a list", value)
                return [self.value(item, type.items, f"{path}[{i}]") for i, item in enumerate(value)]
            case TypeObject():
                return (
                    self.object(value, type, path)
                    if isinstance(value, dict)
                    else self.wrong(path, "an object", value)
                )
            case TypeJsonSchema():
                basic = known_type(type.schema, closed=False)
                return (
                    deepcopy(value) if isinstance(basic, TypeJsonSchema) else self.value(value, basic, path)
                )
        raise UsageError(f"{type!r} is not a type that a value can be converted to.")

    def basic(self, value: Any, type: TypeBasic, path: str) -> Any:
        match type.type, value:
            case "integer", float() if value.is_integer():
                return int(value)
            case ("boolean", bool()) | ("string", str()):
                return value
            case "integer", int() if not isinstance(value, bool):
                return value
            case "number", int() | float() if not isinstance(value, bool):
                return value
        return self.wrong(path, f"a {type.type}".replace("a i", "an i"), value)

    def object(self, value: dict[str, Any], type: TypeObject, path: str) -> dict[str, Any]:
        converted = {}
        for name, inner in type.properties.items():
            if value.get(name) is not None or (inner.required and name in value):
                converted[name] = self.value(value[name], inner, f"{path}.{name}")
            elif inner.required:
                self.problems.append(f"`{path}.{name}` is missing")
            else:
                converted[name] = None
        extra = {name: deepcopy(v) for name, v in value.items() if name not in type.properties}
        if extra and not type.additional_properties:
            self.problems.append(f"`{path}` has no property {', '.join(f'`{name}`' for name in extra)}")
        return converted | extra

    def wrong(self, path: str, wanted: str, value: Any) -> None:
        self.problems.append(f"`{path}` must be {wanted}, not {_short(value)}")


def _dotted(location: tuple[int | str, ...]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 60 else f"{text[:57]}..."
