"""Results of tools: what a tool may return, and the texts, pointers and contents that the model gets of it."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, time
from enum import Enum
from io import BytesIO
from math import isfinite, isnan
from pathlib import PurePath
from types import NoneType
from typing import Any, NamedTuple

from ..base.printable_text import printable
from ..contents.content import (
    MAX_DEPTH,
    Content,
    ContentFile,
    ContentImage,
    ContentImageInline,
    ContentImageRemote,
    ContentJson,
    ContentPDF,
    ContentText,
    ContentToolResult,
    ContentUploaded,
    Path,
    contents_in,
    is_media,
    mapped,
    replaced,
)
from ..contents.turns import MAX_INTEGER_BITS
from ..errors import ToolResultError, error_message

__all__ = ["check_tool_result", "described", "flatten", "result_text", "split"]


# --- what the model gets ---------------------------------------------------------------------------------


def result_id(result: ContentToolResult) -> str:
    """Returns the id of the call."""
    return result.id


def flatten(
    contents: Iterable[Content], named: Callable[[ContentToolResult], str] = result_id
) -> list[Content]:
    """Moves images, PDFs and files out of tool results: `[see below]`, then the content between two tags.

    It looks into lists and dictionaries. Other items keep their value, and a pointer has the item's number from 1 or its
    name: `[see below: item 2]`, `[see below: image]`, or a path, `[see below: item 1.doc]`. Results with errors and flat
    results do not change. The tags name the call as `named` does, because a wire format may have its own ids, or none.
    """
    flat: list[Content] = []
    for content in contents:
        flat += pointed(content, named) if isinstance(content, ContentToolResult) else [content]
    return flat


def described(contents: Iterable[Content], which: Callable[[object], bool] = is_media) -> list[Content]:
    """Replaces media of tool results (all, or `which`) by descriptions, for a model that does not accept them after
    the tool has run.
    """
    found: list[Content] = []
    for content in contents:
        result = content if isinstance(content, ContentToolResult) and content.error is None else None
        if result and any(map(which, contents_in(result.value))):
            value = mapped(result.value, lambda c, _path: _missing(c) if which(c) else c)
            found.append(replaced(result, value=value))
        else:
            found.append(content)
    return found


def split(contents: Iterable[Content]) -> tuple[list[ContentToolResult], list[Content]]:
    """Returns the tool results and the other contents, each in order."""
    contents = list(contents)
    results = [c for c in contents if isinstance(c, ContentToolResult)]
    return results, [c for c in contents if not isinstance(c, ContentToolResult)]


def result_text(result: ContentToolResult) -> str:
    """Returns the text of a result for the model: a string unchanged, other values as compact, exact JSON.

    An error is `Tool calling failed with error …`, and a blank string is `(no output)` (several APIs refuse an empty
    one). Media are pointers, as after `flatten()`. Raises `ToolResultError` for a value that is not JSON.
    """
    if result.error is not None:
        return f"Tool calling failed with error {error_message(result.error)}"
    without_media, *_ = pointed(result)
    value = check_tool_result(result.request.name if result.request else "", without_media.value)
    value = _plain(value) if isinstance(value, Content) else value
    text = value if isinstance(value, str) else _dumps(value)
    return text if text.strip() else "(no output)"


def result_parts(result: ContentToolResult) -> list[Content] | None:
    """Returns a result's text and media one by one, for a format with media in results, or `None` without media."""
    value = result.value
    items = value if isinstance(value, (list, tuple)) else [value]
    if isinstance(value, dict) and any(map(is_media, value.values())):
        items = [part for name, item in value.items() for part in ([f"{name}:", item])]
    if result.error is not None or not any(map(is_media, items)):
        return None
    return [
        item if is_media(item) else ContentText(result_text(replaced(result, value=item))) for item in items
    ]


def pointed(result: ContentToolResult, named: Callable[[ContentToolResult], str] = result_id) -> list[Any]:
    """Returns the result with pointers instead of media, and the media between their tags, as `flatten()` says."""
    if result.error is not None or not any(contents_in(result.value)):
        return [result]
    from html import escape  # noqa: PLC0415 - many chats have no tools

    media: list[Content] = []

    def point(content: Content, path: Path) -> Any:
        if not is_media(content):
            return content
        where = ".".join(map(str, path))
        item = f' item="{escape(where)}"' if where else ""
        call_id = named(result)  # a server of tools does not know it
        call = f' tool-call-id="{escape(call_id)}"' if call_id else ""
        opening = ContentText(f"<content{call}{item}>")
        media.extend([opening, content, ContentText("</content>")])
        return f"[see below: {'item ' if isinstance(path[0], int) else ''}{where}]" if path else "[see below]"

    value = mapped(result.value, point)
    return [replaced(result, value=value), *media] if media else [result]


def _missing(media: Content) -> str:
    kinds = {ContentImage: "an image", ContentPDF: "a PDF document", ContentUploaded: "an uploaded file"}
    kind = next((kind for cls, kind in kinds.items() if isinstance(media, cls)), "a file")
    kind += f" ({media.type})" if isinstance(media, ContentFile) else ""
    where = f" at {printable(media.url)}" if isinstance(media, ContentImageRemote) else ""
    return f"[The tool returned {kind}{where} here, which this model cannot be shown.]"


def named_text(file: ContentFile) -> str:
    """Returns the text of a document between two tags with its name."""
    from html import escape  # noqa: PLC0415 - files are seldom

    return f'<file name="{escape(file.filename)}">\n{file.text}\n</file>'


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_plain)


def _plain(content: Content) -> Any:
    match content:
        case ContentText():
            return content.text
        case ContentFile():
            return named_text(content)
        case ContentJson():
            return content.value
    raise TypeError(f"{type(content).__name__} cannot be written as text")


# --- what a tool may return ------------------------------------------------------------------------------


# --- images of other libraries ---------------------------------------------------------------------------


DPI = 96  # of a figure: as large as a notebook shows it


def as_media(value: Any) -> Content | None:
    """Returns a value as an image or PDF, or `None` if it is neither. Raises the errors of the library that draws it."""
    data = value if isinstance(value, bytes | bytearray | memoryview) else _drawn(value)
    return None if data is None else _of_bytes(bytes(data))


def _drawn(value: Any) -> bytes | None:
    """Returns an image or a chart of another library as PNG, or `None` for other values."""
    out = BytesIO()
    figure = value.get_figure() if callable(getattr(value, "get_figure", None)) else value
    if callable(getattr(figure, "savefig", None)):  # matplotlib, seaborn
        figure.savefig(out, format="png", dpi=DPI)
        return out.getvalue()
    libraries = {cls.__module__.partition(".")[0] for cls in type(value).__mro__}
    if "plotly" in libraries and hasattr(value, "to_image"):
        return bytes(value.to_image("png"))
    if not hasattr(value, "save"):
        return None
    if "PIL" in libraries:
        return _saved(value)
    if "plotnine" in libraries:
        value.save(out, format="png", dpi=DPI, verbose=False)
    elif "altair" in libraries:
        value.save(out, format="png")
    return out.getvalue() or None


def _of_bytes(data: bytes) -> Content | None:
    from ..contents.media_bytes import sniffed  # noqa: PLC0415 - few tools return bytes

    type, written = sniffed(data), b64encode(data).decode("ascii")
    if type == "application/pdf":
        return ContentPDF(type, written)
    return ContentImageInline(type, written) if type and type.startswith("image/") else None


def _saved(image: Any) -> bytes:
    """Returns a Pillow image as PNG. PNG does not support some of its modes (such as CMYK)."""
    out = BytesIO()
    plain = image if image.mode in {"1", "L", "LA", "P", "RGB", "RGBA", "I;16"} else image.convert("RGB")
    plain.save(out, "PNG")
    return out.getvalue()


# --- results ---------------------------------------------------------------------------------------------


_NO_IMAGES = (str, int, float, NoneType, dict, list, tuple, Content)
_JSON = (str, int, float, NoneType, list, tuple, Content, Mapping)
TOO_DEEP = f"Results may be nested at most {MAX_DEPTH} levels deep and must not contain cycles."
MISSING = {"NAType", "NaTType"}  # what pandas has where a value is missing
TO_LIST = ("to_dicts", "to_pylist", "to_list", "tolist")  # polars and Arrow tables, series, numpy arrays


def check_tool_result(name: str, value: Any) -> Any:
    """Returns the value of a tool as plain JSON and contents, as the chat sends it.

    Accepted are strings, JSON, contents, lists and dictionaries of those at any depth, and a `ContentToolResult` with
    such a value. Other values are converted. Nothing is rounded, and the caller's value is not changed:

    - Bytes of an image or a PDF, Pillow images, and charts of matplotlib, seaborn, plotnine, altair and plotly become
      images and documents.
    - Data frames become tables in Markdown, with the types of the columns. A table has the first 100 rows. An index that
      does not just count the rows is a column. A data frame with a picture or a document in a cell becomes a list of objects.
    - Arrays become lists, pydantic models and dataclasses become objects, dates and times become ISO 8601 text, and enums
      become their values.

    Args:
        name: Name of the tool, for the error message.
        value: What the tool returned.

    Returns:
        The value that is sent.

    Raises:
        ToolResultError: The value, or a part of it, has no JSON form (NaN and infinity have none), or the bytes of a
            medium are not what its type says. The message has the path of the part.

    Examples:
        >>> from datetime import date
        >>> check_tool_result("today", {"date": date(2026, 1, 31)})
        {'date': '2026-01-31'}
    """
    check = _Check(name)
    if not isinstance(value, ContentToolResult):
        return check.json(value)
    if value.error is None:
        return replaced(value, value=check.json(value.value))
    if not isinstance(value.error, (str, BaseException)):
        raise check.error("error", value.error, "An error is a string or an exception.")
    if isinstance(value.error, str) and type(value.error) is not str:
        return replaced(value, error=str.__str__(value.error))
    return value


class _Check(NamedTuple):
    tool: str

    def drawn(self, value: Any, path: str) -> Any:
        """Returns the content of a Python image object, or another value unchanged."""
        try:
            return as_media(value) or value
        except Exception as error:
            raise self.error(path, value, f"It cannot be drawn: {error_message(error)}") from error

    def content(self, content: Content, path: str, depth: int) -> Any:
        match content:
            case ContentText():
                return replaced(content, text=self.json(content.text, f"{path}.text", depth))
            case ContentJson():
                value = self.json(content.value, f"{path}.value", depth)
                return value if any(contents_in(value)) else replaced(content, value=value)
            case ContentImageInline() | ContentImageRemote() | ContentPDF() | ContentFile() if content.fault:
                raise self.error(path, content, f"A model cannot read it, because {content.fault}.")
            case ContentFile(filename=filename, text=text):
                texts = {"filename": filename, "text": text}
                return replaced(
                    content, **{name: self.text(each, f"{path}.{name}") for name, each in texts.items()}
                )
            case _ if is_media(content):
                return content
        raise self.error(
            path, content, "Only text, JSON, images, PDFs, files and uploaded files can be tool results."
        )

    def json(self, value: Any, path: str = "value", depth: int = 0) -> Any:
        """Returns `value` as plain JSON and contents, at all levels."""
        if depth > MAX_DEPTH:
            raise self.error(path, value, TOO_DEEP)
        if not isinstance(value, _NO_IMAGES):
            value = self.drawn(value, path)
        while isinstance(value, Enum) or not isinstance(value, _JSON):
            value = value.value if isinstance(value, Enum) else self.converted(value, path)
        match value:
            case None | bool():
                return value
            case str():
                return self.text(value, path)
            case int() | float():
                return self.number(value, path)
            case Content():
                return self.content(value, path, depth)
            case Mapping():
                named = self.named(value, path)
                return {k: self.json(v, _join(path, k), depth + 1) for k, v in named.items()}
        return [self.json(v, f"{path}[{i}]", depth + 1) for i, v in enumerate(value)]

    def named(self, value: Mapping[Any, Any], path: str) -> dict[str, Any]:
        named = {self.key(k, path): v for k, v in value.items()}
        if len(named) < len(value):
            raise self.error(path, value, "Two of its keys have the same text.")
        return named

    def number(self, value: float, path: str) -> float:
        if isinstance(value, int) and value.bit_length() > MAX_INTEGER_BITS:
            raise self.error(path, value, "An integer this long cannot be written; return it as text.")
        if isinstance(value, float) and not isfinite(value):
            raise self.error(path, value, f"{value} cannot be written as JSON. Return None or text instead.")
        return value

    def text(self, value: str, path: str) -> str:
        value = str.__str__(value)  # of a subclass, plain text
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise self.error(
                path,
                value,
                f"The character at {error.start} is half of a surrogate pair, which is not valid Unicode.",
            ) from None
        return value

    def key(self, key: Any, path: str) -> str:
        if isinstance(key, Enum):
            key = key.value
        if isinstance(key, str):
            return self.text(key, path)
        if isinstance(key, int) and not isinstance(key, bool):
            return str(key)
        raise self.error(path, key, "The keys of a JSON object are strings.")

    def converted(self, value: Any, path: str) -> Any:
        """Returns the JSON of a value that is not JSON but has one obvious JSON form."""
        try:
            converted = _jsonable(value)
        except ToolResultError:
            raise
        except Exception as error:
            raise self.error(path, value, f"Writing it as JSON failed: {error_message(error)}") from error
        if isinstance(converted, (dict, list, str, int, float, NoneType, ContentText)):
            return converted
        lazy = "Call its collect() first. " if hasattr(value, "collect") else ""
        raise self.error(path, value, f"{lazy}Return a string, JSON, a content, or a list of those.")

    def error(self, path: str, value: object, advice: str) -> ToolResultError:
        tool = f"Tool `{self.tool}`" if self.tool else "A tool"
        kind = type(value).__name__
        return ToolResultError(
            f"{tool} returned a value that cannot be sent to a model: `{path}` is {kind}. {advice}"
        )


#: Classes whose values are sent as their `str()`, by name: importing them takes longer than the rest of this module.
WRITTEN = {("uuid", "UUID"), ("decimal", "Decimal"), ("_pydecimal", "Decimal")}


def _jsonable(value: Any) -> Any:  # noqa: PLR0911 - one return per kind of value
    match value:
        case type():
            return value
        case _ if type(value).__name__ in MISSING:
            return None
        case date() | time():
            return value.isoformat()
        case PurePath():
            return str(value)
        case _ if any((cls.__module__, cls.__name__) in WRITTEN for cls in type(value).__mro__):
            return str(value)
        case _ if hasattr(value, "model_dump"):  # pydantic
            return dict(value) if _has_content(value) else value.model_dump(mode="json")
        case _ if is_dataclass(value):
            return {f.name: getattr(value, f.name) for f in fields(value)}
    return _table(value)


def _has_content(value: Any, depth: int = 0) -> bool:
    """Tells whether a pydantic model has a content in it, which `model_dump()` would write as data."""
    if isinstance(value, Content) or depth > MAX_DEPTH:
        return isinstance(value, Content)
    if isinstance(value, (list, tuple)):
        return any(_has_content(item, depth + 1) for item in value)
    if isinstance(value, Mapping) or hasattr(value, "model_dump"):
        return any(_has_content(item, depth + 1) for item in dict(value).values())
    return False


def _table(value: Any) -> Any:
    """Returns a data frame as a table in Markdown, or the items of a series or an array. Other values are unchanged."""
    method = next((name for name in TO_LIST if hasattr(value, name)), None)
    if method or hasattr(value, "itertuples"):
        from ..schemas.data_frames import table  # noqa: PLC0415 - most tools return none

        if (rows := table(value, _bears_media)) is not None:
            return ContentText(rows) if isinstance(rows, str) else rows
    return _cells(getattr(value, method)()) if method else value


def _bears_media(cell: Any) -> bool:
    """Tells whether a cell of a table is a picture or a document, or has one in it."""
    if cell is None or isinstance(cell, str | int | float):
        return False
    try:
        return any(map(is_media, contents_in(cell))) or isinstance(as_media(cell), Content)
    except Exception:  # noqa: BLE001 - what cannot be drawn is text
        return False


def _join(path: str, key: object) -> str:
    return f"{path}.{key}" if isinstance(key, str) and key.isidentifier() else f"{path}[{key!r}]"


def _cells(value: Any) -> Any:
    """Returns the lists and records of a table. Missing values, and NaN among other cells, become null."""
    if isinstance(value, list):
        return [None if _is_missing(v) else _cells(v) for v in value]
    if isinstance(value, dict):
        return {k: None if _is_missing(v) else v for k, v in value.items()}
    return value


def _is_missing(value: Any) -> bool:
    return type(value).__name__ in MISSING or (isinstance(value, float) and isnan(value))
