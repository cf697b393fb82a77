"""The little that wire formats share: arguments, legal ids, renamed parameters, JSON Schema, known contents."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from hashlib import sha256
from math import isfinite
from typing import Any, TypeVar

from ..content import (
    Content,
    ContentImageInline,
    ContentImageRemote,
    ContentJson,
    ContentPDF,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
    ContentUnknown,
    ContentUploaded,
    is_media,
    replaced,
)
from ..errors import ContentError, ResponseError
from ..prompts import NEUTRAL
from ..tool_results import result_text
from ..types import Type, TypeArray, TypeBasic, TypeEnum, TypeJsonSchema, TypeObject

__all__ = [
    "CUT",
    "Known",
    "answered",
    "call_of",
    "closed",
    "data_url",
    "distinct",
    "image",
    "json_schema",
    "json_text",
    "known",
    "legal_id",
    "merged",
    "nested",
    "only",
    "parameters",
    "placeholder",
    "raw",
    "refused",
    "result_parts",
    "sendable",
    "sensible",
    "strict_json",
    "strict_schema",
    "tool_input",
    "unknown",
    "without",
]

Json = dict[str, Any]
S = TypeVar("S")
R = TypeVar("R")

#: Finish reasons after which the last tool call of an answer may not be whole.
CUT = frozenset({"max_tokens", "context_window", "content_filter"})

#: Everything a turn can hold. A `match` over it that ends in `assert_never` names every file to change when a
#: new content joins.
Known = (
    ContentText
    | ContentJson
    | ContentImageInline
    | ContentImageRemote
    | ContentPDF
    | ContentUploaded
    | ContentThinking
    | ContentToolRequest
    | ContentToolResult
    | ContentUnknown
)


def known(content: Content, wire: str) -> Known:
    """The content, if it is of a class (or a subclass of one) that wire formats speak."""
    if isinstance(content, Known):
        return content
    raise refused(content, wire)


def refused(content: Content, wire: str, why: str = "") -> ContentError:
    """The error for a content that a wire format has no word for."""
    because = f": {why}" if why else ""
    return ContentError(f"{type(content).__name__} cannot be sent over {wire!r} here{because}")


def sensible(read: Callable[[S, Any], R]) -> Callable[[S, Any], R]:
    """Makes a method that reads a provider's JSON say so when that is not what the format says it is."""

    @wraps(read)
    def reading(self: S, json: Any) -> R:
        try:
            return read(self, json)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise ResponseError(
                f"This is not an answer in the expected format ({error!r}): {json!r:.200}"
            ) from error

    return reading


def sendable(content: Content, wire: str) -> bool:
    """Whether there is something to send: not an empty text, nor a block that only another wire format knows."""
    if isinstance(content, ContentUnknown):
        return content.wire == wire
    return not isinstance(content, ContentText) or bool(content.text)


def unknown(wire: str, block: object) -> ContentUnknown:
    """A block that the wire module has no case for, kept as it is."""
    if not isinstance(block, Mapping):
        raise TypeError(f"a block is an object, not {type(block).__name__}")
    return ContentUnknown(wire, block)


def answered(result: ContentToolResult) -> ContentToolRequest:
    """The request that a result answers."""
    if result.request is None:
        raise ContentError(
            "This ContentToolResult answers no request: set `request` to the ContentToolRequest it is for"
        )
    return result.request


def placeholder(content: Content) -> str:
    """What stands for media in an assistant's message, where the format has text only: the model made it itself."""
    kind = {
        "ContentPDF": "PDF document",
        "ContentImageInline": "inline image",
        "ContentImageRemote": "remote image",
    }
    return f"[{kind.get(type(content).__name__, 'file')}]"


def image(url: str) -> ContentImageInline | ContentImageRemote:
    """An image from its URL, `data:` or not."""
    found = re.fullmatch(r"data:([^;,]*)[^,]*;base64,(.*)", url, re.DOTALL)
    return ContentImageInline(found[1], found[2]) if found else ContentImageRemote(url)


# Calls -------------------------------------------------------------------------------------------------------


def call_of(
    id: str, name: str, raw: object, *, cut: bool = False, extra: Json | None = None
) -> ContentToolRequest:
    """A tool call as it came: `raw` is JSON text, or an object where the format has objects.

    `cut` says that the answer ended inside or right after this call, so that nobody knows it to be whole.
    """
    value, problem = _arguments(raw)
    if cut:
        problem = "the answer was cut off in this call: its arguments may be incomplete"
    return ContentToolRequest(
        id,
        name,
        {} if problem else value,
        raw=raw if isinstance(raw, str) else None,
        problem=problem,
        extra=extra or {},
    )


def _arguments(raw: object) -> tuple[Json, str | None]:
    """The arguments, and why there are none where the text is not an object. No text at all: no arguments."""
    try:
        value = strict_json(raw) if isinstance(raw, str) and raw.strip() else raw
    except (ValueError, RecursionError) as error:
        return {}, f"the arguments are not JSON ({error})"
    if value is None or (isinstance(value, str) and not value.strip()):
        return {}, None
    if not isinstance(value, dict):
        return {}, f"the arguments are not a JSON object but {type(value).__name__}"
    return value, None


def strict_json(text: str) -> Any:
    """Parses JSON, and only that: no NaN, no Infinity, no number too large to be one. Raises `ValueError`."""
    return json.loads(text, parse_constant=_not_json, parse_float=_finite)


def _not_json(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


def _finite(number: str) -> float:
    if not isfinite(value := float(number)):
        raise ValueError(f"{number} is too large")
    return value


def tool_input(text: str) -> Any:
    """The input of a call that streamed as text into a format that has objects; where it is not JSON, because it
    was cut off, the text as it came: `call_of()` says so then."""
    try:
        return strict_json(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return text


def raw(request: ContentToolRequest) -> str:
    """The arguments as JSON text: exactly as the model wrote them, where it wrote text."""
    written = (request.raw or "").strip() not in {"", "null"}
    return request.raw if request.raw and written else json_text(request.arguments)


def distinct(contents: Iterable[Content], seed: object) -> list[Content]:
    """The same contents with every tool call under an id of its own, so that its result finds it.

    A call that came without an id gets one made from `seed` (the provider's whole answer): stable, since the
    same answer gives the same id, and as good as unique, since no two answers are alike. An id that came twice
    in one answer is kept the first time.
    """
    seen: set[str] = set()
    out: list[Content] = []
    for place, content in enumerate(contents):
        if isinstance(content, ContentToolRequest) and (not content.id or content.id in seen):
            content = replaced(content, id=f"call_{_digest(json_text([seed, place]))}")  # noqa: PLW2901 - the renamed call takes its place
        if isinstance(content, ContentToolRequest):
            seen.add(content.id)
        out.append(content)
    return out


def legal_id(id: str, pattern: str, length: int = 24) -> str:
    """`id` where it matches `pattern`, else letters and digits made from it: the same for call and result."""
    return id if re.fullmatch(pattern, id) else _digest(id)[:length]


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


# Contents ----------------------------------------------------------------------------------------------------


def json_text(value: object) -> str:
    """Compact, exact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def data_url(content: ContentImageInline | ContentPDF) -> str:
    """The bytes as a `data:` URL."""
    return f"data:{content.type};base64,{content.data}"


def result_parts(result: ContentToolResult) -> list[Content] | None:
    """A result's text and media one by one, for a format that carries media in results; `None` without media."""
    value = result.value
    items = value if isinstance(value, (list, tuple)) else [value]
    if result.error is not None or not any(map(is_media, items)):
        return None
    return [
        item if is_media(item) else ContentText(result_text(replaced(result, value=item))) for item in items
    ]


# Parameters --------------------------------------------------------------------------------------------------


def merged(body: Mapping[str, Any], changes: Mapping[str, Any]) -> Json:
    """`body` with `changes` merged in, deeply; `None` deletes. Neither is changed."""
    out = dict(body)
    for name, value in changes.items():
        if value is None:
            out.pop(name, None)
        elif isinstance(value, Mapping) and isinstance(out.get(name), Mapping):
            out[name] = merged(out[name], value)
        else:
            out[name] = value
    return out


def without(body: Mapping[str, Any], *names: str) -> Json:
    """A copy that lacks some keys."""
    return {name: value for name, value in body.items() if name not in names}


def only(body: Mapping[str, Any], *names: str) -> Json:
    """A copy that has some keys only."""
    return {name: value for name, value in body.items() if name in names}


def nested(path: str, value: object) -> Json:
    """`{"a": {"b": value}}` for the path `a.b`."""
    for name in reversed(path.split(".")):
        value = {name: value}
    assert isinstance(value, dict)
    return value


def parameters(params: Mapping[str, Any], names: Mapping[str, str], wire: str) -> Json:
    """Parameters at their places in the body. A neutral one that the format does not have is left out with a
    warning; one that is not neutral is the provider's own, and goes in as it is."""
    unsupported = [name for name in params if name in NEUTRAL and name not in names]
    if unsupported:
        warnings.warn(f"{wire} has no parameter {', '.join(map(repr, unsupported))}: ignored", stacklevel=4)
    body: Json = {}
    for name, value in params.items():
        if name not in unsupported and value is not None:
            body = merged(body, nested(names[name], value) if name in names else {name: value})
    return body


# Schemas -----------------------------------------------------------------------------------------------------


def json_schema(type: Type, *, strict: bool = False) -> Json:
    """JSON Schema. `strict` is OpenAI's dialect: every property is required, an optional one may be null."""
    match type:
        case TypeBasic():
            schema: Json = {"type": type.type}
        case TypeEnum():
            schema = {"type": "string", "enum": list(type.values)}
        case TypeArray():
            schema = {"type": "array", "items": json_schema(type.items, strict=strict)}
        case TypeObject():
            schema = _object(type, strict=strict)
        case TypeJsonSchema():
            schema = dict(type.schema)
        case _:
            raise TypeError(f"{type!r} is not a type this library knows")
    if type.description:
        schema["description"] = type.description
    return schema


def _object(type: TypeObject, *, strict: bool) -> Json:
    properties = {}
    for name, inner in type.properties.items():
        schema = json_schema(inner, strict=strict)
        properties[name] = _nullable(schema) if strict and not inner.required else schema
    required = [name for name, inner in type.properties.items() if strict or inner.required]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": type.additional_properties,
    }


def _nullable(schema: Json) -> Json:
    if not isinstance(schema.get("type"), str) or "$ref" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    nullable = {**schema, "type": [schema["type"], "null"]}
    if "enum" in schema:
        nullable["enum"] = [*schema["enum"], None]
    return nullable


def strict_schema(type: Type) -> tuple[Json, bool]:
    """OpenAI's strict dialect and `True`; for a type that it cannot say, plain JSON Schema and `False`."""
    schema = json_schema(type, strict=True)
    return (schema, True) if closed(schema) else (json_schema(type), False)


#: What a schema in OpenAI's strict dialect must say one of, and what it must not say.
_SAYS = frozenset({"type", "$ref", "anyOf", "enum", "const"})
_UNSTRICT = frozenset(
    {"allOf", "oneOf", "not", "if", "then", "else", "contains", "uniqueItems", "prefixItems", "propertyNames"}
    | {"patternProperties", "unevaluatedProperties", "unevaluatedItems", "minProperties", "maxProperties"}
    | {"dependentSchemas", "dependentRequired"}
)


def closed(schema: object) -> bool:
    """Whether OpenAI takes the schema as strict: each schema in it has a type, in words that the dialect knows,
    and every object is closed and requires all it names."""
    if not isinstance(schema, Mapping) or not schema.keys() & _SAYS or schema.keys() & _UNSTRICT:
        return False
    said = schema.get("type")
    types: list[Any] = said if isinstance(said, list) else [said]
    named: Mapping[str, Any] = schema.get("properties", {})
    whole = schema.get("additionalProperties") is False and set(named) == set(schema.get("required", ()))
    if not whole and ("object" in types or "properties" in schema):
        return False
    items = [schema.get("items")] if "array" in types else []
    return all(
        map(closed, [*named.values(), *schema.get("$defs", {}).values(), *schema.get("anyOf", ()), *items])
    )
