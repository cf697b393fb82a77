"""Converts a model's JSON to Python values of the requested type, or raises an error that names each path.

Nothing is coerced: text is not a number. As in JSON, a float without a fraction is an integer.
"""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from ..errors import ConversionError, UsageError
from .json_schema_validation import without_optional_nulls
from .python_types import adapter, basic_type, known_type, type_of
from .type_classes import Type, TypeArray, TypeBasic, TypeEnum, TypeJsonSchema, TypeObject

__all__ = ["convert"]


def convert(value: Any, type: Any, *, path: str = "value") -> Any:
    """Returns JSON as a Python value of `type` (a `Type` or a Python type). Raises `ConversionError` with each path.

    The objects of a `TypeObject` become dictionaries in the order of its properties. An optional property that is
    missing or null is `None`; in a dataclass or model it has its default. `TypeJsonSchema` is checked as far as our
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


def _built(value: Any, annotation: Any, path: str) -> Any:
    from pydantic import ValidationError  # noqa: PLC0415 - imported when first needed

    text = json.dumps(value)
    try:
        return adapter(annotation).validate_json(text, strict=True)
    except ValidationError as error:
        if json.dumps(whole := _whole_numbers(value)) != text:  # as text: NaN equals nothing
            return _built(whole, annotation, path)
        problems = (
            f"`{path}{_dotted(e['loc'])}`: {e['msg']}, not {_short(e['input'])}" for e in error.errors()
        )
        raise ConversionError("; ".join(problems)) from error


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
    """Returns the data without nulls of optional properties, because strict modes send null for a missing property."""
    match type, value:
        case TypeObject(properties=inner), dict():
            return {
                k: _without_optional_nulls(v, inner[k]) if k in inner else v
                for k, v in value.items()
                if v is not None or k not in inner or inner[k].required
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
                known = known_type(type.schema, closed=False)
                return (
                    deepcopy(value) if isinstance(known, TypeJsonSchema) else self.value(value, known, path)
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
