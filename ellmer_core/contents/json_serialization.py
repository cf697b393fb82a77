"""Converts contents and turns to plain JSON and back, to save a conversation and continue it later.

A record is `{"version": 1, "class": "UserTurn", "props": {…}}`. Values that JSON does not have are one-key objects:
`{"$record": {"class": …, "props": …}}` for a content or a turn, also inside a tool's value, `{"$map": [[key, value],
…]}` for a mapping whose keys are not all plain strings, `{"$float": "nan"}`, `{"$bytes": "base64"}`. An exception is
recorded as its message, and a tuple as a list. Tools are not recorded: on replay, requests find their tools by name.
Replay never imports anything; callers pass in the classes of other packages.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, Field, fields
from math import isfinite
from typing import Any, assert_never

from ..base.argument_checks import KINDS
from ..base.forks import cached_property
from ..base.log import warn
from ..base.printable_text import revealed
from ..errors import UsageError, error_message
from . import content, turns
from . import content as ours
from .turns import Tokens, Turn, as_contents

__all__ = ["contents_record", "contents_replay"]

VERSION = 1
#: The Python types for the annotations of our own fields.
HELD: dict[str, type | tuple[type, ...]] = {
    **KINDS,
    "Tokens": Tokens,
    "tuple[Content, ...]": (list, tuple, str, ours.Content),
    "int | None": (int, type(None)),
    "float | None": (int, float, type(None)),
    "str | None": (str, type(None)),
    "str | BaseException | None": (str, BaseException, type(None)),
    "Mapping[str, Any] | None": (Mapping, type(None)),
    "Content | None": (ours.Content, type(None)),
    "ContentToolRequest | None": (ours.ContentToolRequest, type(None)),
}
OURS: dict[str, type[Any]] = {
    name: cls
    for module in (content, turns)
    for name, cls in vars(module).items()
    if isinstance(cls, type) and issubclass(cls, (ours.Content, Turn, Tokens)) and name[0] != "_"
}


def contents_record(value: Any) -> Any:
    """Converts contents, turns or a chat to plain JSON, for `contents_replay()`.

    Args:
        value: A content, a turn, a list of those, or a chat (as `Chat.record()`).

    Returns:
        A dictionary for a content, a turn or a chat; a list of dictionaries for a list.

    Raises:
        UsageError: The value is none of these, or contains a value that has no JSON form.

    Examples:
        >>> contents_replay(contents_record(UserTurn("Hello"))).text
        'Hello'
    """
    if hasattr(value, "get_turns"):
        return value.record()
    if isinstance(value, (list, tuple)):
        return [contents_record(item) for item in value]
    if not isinstance(value, (ours.Content, Turn)):
        raise UsageError(f"Only contents, turns and chats can be saved, not {type(value).__name__}.")
    with _modest(f"A {type(value).__name__} cannot be saved: a value in it"):
        return {"version": VERSION, **_record(value, type(value).__name__)}


def contents_replay(
    recorded: Any,
    *,
    tools: Iterable[ours.ToolDef] = (),
    classes: Iterable[type] = (),
    chat: Any = None,
    trust_html: bool = False,
) -> Any:
    """Restores what `contents_record()` recorded.

    Args:
        recorded: The JSON value.
        tools: Tools that the recorded requests are matched to, by name. Default: none.
        classes: Content classes of other packages that may occur, in addition to the request classes of `tools`. A
            class that is not listed is refused, so that a record cannot name code to run. Default: none.
        chat: The chat that a recorded chat continues in; it is required for one, because no key is recorded. It gets
            the recorded tools and turns and keeps its own model. Default: `None`.
        trust_html: Whether the HTML in displays of tool results is kept (`html`, `icon`, `footer`), because your own program
            recorded it. Default: `False`: a record may come from anywhere, so only texts are shown.

    Returns:
        The content, the turn, the list of those, or `chat`.

    Raises:
        UsageError: The value is not a record, or names a class that is not listed.

    Examples:
        >>> contents_replay(contents_record(ContentText("Hello")))
        ContentText(text='Hello')
    """
    if isinstance(recorded, dict) and recorded.get("class") == "Chat":
        if chat is None:
            raise UsageError("This is the record of a whole chat. Pass chat=, a chat of the same provider.")
        chat.register_tools(tools)
        chat.restore(recorded, classes=classes, keep_model=True, trust_html=trust_html)
        return chat
    tools = list(tools)
    allowed = {*classes, *(tool.request for tool in tools)}
    by_path = OURS | {_path(cls): cls for cls in allowed}
    replay = _Replay({tool.name: tool for tool in tools}, by_path, trust_html=trust_html)
    with _modest("The record"):
        if isinstance(recorded, list):
            return [replay.top(item, f"[{i}]") for i, item in enumerate(recorded)]
        return replay.top(recorded, "record")


@contextmanager
def _modest(what: str) -> Iterator[None]:
    try:
        yield
    except RecursionError:
        raise UsageError(f"{what} is nested too deeply, or contains itself.") from None


# recording --------------------------------------------------------------------------------------------------


def _path(cls: type) -> str:
    """Returns a class's name, with its module if the class is not ours."""
    return cls.__name__ if OURS.get(cls.__name__) is cls else f"{cls.__module__}.{cls.__qualname__}"


def _record(value: ours.Content | Turn | Tokens, path: str) -> dict[str, Any]:
    left_out = _left_out(ours.any_content(value)) if isinstance(value, ours.Content) else ""
    props = {name: v for name, v in _props(value).items() if name != left_out}
    if isinstance(value, ours.ContentToolResult) and isinstance(value.extra, Mapping):
        props["extra"] = _savable(value.extra, f"{path}.extra")
    return {"class": _path(type(value)), "props": {k: _plain(v, f"{path}.{k}") for k, v in props.items()}}


def _savable(extra: Mapping[Any, Any], path: str) -> dict[Any, Any]:
    """Returns a program's own data of a result without the values that cannot be saved. Warns about these."""
    kept: dict[Any, Any] = {}
    for name, value in extra.items():
        place = f"{path}.{name}"
        try:
            whole = _savable(value, place) if isinstance(value, Mapping) else value
            _plain(whole, place)
            kept[name] = whole
        except UsageError as error:
            warn(f"{error} It is left out.")
    return kept


def _left_out(content: ours.AnyContent | None) -> str:
    """Returns the field of a content that is not recorded, or `""`."""
    match content:
        case ours.ContentToolRequest():
            return "tool"
        case ours.ContentText(citations=()):
            return "citations"
        case (
            ours.ContentText()
            | ours.ContentCitation()
            | ours.ContentThinking()
            | ours.ContentJson()
            | ours.ContentToolResult()
        ):
            return ""
        case (
            ours.ContentImageInline()
            | ours.ContentImageRemote()
            | ours.ContentPDF()
            | ours.ContentFile()
            | ours.ContentUploaded()
        ):
            return ""
        case ours.ContentUnknown() | None:
            return ""
        case never:
            assert_never(never)


def _props(value: ours.Content | Turn | Tokens) -> dict[str, Any]:
    """Returns the fields, and the attributes that a subclass's own `__init__` has set."""
    own = {
        k: v for k, v in vars(value).items() if not isinstance(getattr(type(value), k, None), cached_property)
    }
    return {f.name: getattr(value, f.name) for f in fields(value)} | own


def _plain(value: Any, path: str) -> Any:  # noqa: PLR0911 - one return per kind of value
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if isfinite(value) else {"$float": str(value)}
        case ours.Content() | Turn() | Tokens():
            return {"$record": _record(value, path)}
        case list() | tuple():
            return [_plain(item, f"{path}[{i}]") for i, item in enumerate(value)]
        case Mapping():
            return _plain_mapping(value, path)
        case BaseException():
            return error_message(value)
        case bytes():
            return {"$bytes": b64encode(value).decode("ascii")}
    raise UsageError(f"{path} is {type(value).__name__}, which cannot be saved. Use JSON or content instead.")


def _plain_mapping(value: Mapping[Any, Any], path: str) -> dict[str, Any]:
    if all(isinstance(key, str) and not key.startswith("$") for key in value):
        return {key: _plain(item, f"{path}.{key}") for key, item in value.items()}
    return {"$map": [[_plain(k, path), _plain(v, f"{path}[{k!r}]")] for k, v in value.items()]}


# replaying --------------------------------------------------------------------------------------------------


class _Replay:
    """Reads records. `path` is the place in them, for error messages."""

    def __init__(
        self, tools: Mapping[str, ours.ToolDef], classes: Mapping[str, type[Any]], *, trust_html: bool
    ) -> None:
        self.tools = tools
        self.classes = classes
        self.trust_html = trust_html

    def top(self, recorded: Any, path: str) -> Any:
        version = recorded.get("version") if isinstance(recorded, dict) else None
        if version is None or not {"class", "props"} <= recorded.keys():
            raise UsageError(
                f"{path} is not what contents_record() returns: an object with `version`, `class` and `props`."
            )
        if version != VERSION:
            raise UsageError(
                f"{path} is of version {version!r}; this release reads version {VERSION}. Update ellmer-core, or save it again."
            )
        return self.instance(recorded, path)

    def instance(self, recorded: Any, path: str) -> Any:
        match recorded:
            case {"class": str(name), "props": dict(props)}:
                cls = self.classes.get(name)
            case _:
                raise UsageError(f"{path} is not a record. A record is an object with `class` and `props`.")
        if cls is None:
            raise UsageError(
                f"{path} is of the class `{_shown(name)}`, which is unknown. Pass the class in classes=[…]."
            )
        return self.built(cls, {k: self.value(v, f"{path}.{_shown(k)}") for k, v in props.items()}, path)

    def built(self, cls: type[Any], props: dict[str, Any], path: str) -> Any:
        """Returns an instance with these props, whatever parameters its `__init__` has."""
        by_name = {f.name: f for f in fields(cls)}
        unknown = props.keys() - by_name.keys()
        if unknown and cls in OURS.values():
            raise UsageError(f"{path}: a {cls.__name__} has no {_shown(', '.join(sorted(unknown)))}.")
        props = {name: _default(f, path) for name, f in by_name.items() if name not in props} | props
        for name, field in by_name.items():
            _check(field, props[name], f"{path}.{name}")
        if issubclass(cls, Turn):
            props["contents"] = as_contents(props["contents"])
        if issubclass(cls, ours.ContentText):
            props["citations"] = _citations(props["citations"], f"{path}.citations")
        if issubclass(cls, ours.ContentToolRequest):
            props["tool"] = self.tools.get(props["name"])
        if issubclass(cls, ours.ContentToolResult) and not self.trust_html:
            props["extra"] = _without_html(props["extra"])
        instance = object.__new__(cls)
        for name, value in props.items():
            object.__setattr__(instance, name, value)
        return instance

    def value(self, value: Any, path: str) -> Any:  # noqa: PLR0911 - one return per kind of value
        match value:
            case list():
                return [self.value(item, f"{path}[{i}]") for i, item in enumerate(value)]
            case {"$record": record}:
                return self.instance(record, path)
            case {"$map": [*pairs]}:
                return dict(self.pair(pair, path) for pair in pairs)
            case {"$float": "nan" | "inf" | "-inf" as number}:
                return float(number)
            case {"$bytes": str(data)}:
                return _bytes(data, path)
            case dict():
                return {k: self.value(v, f"{path}.{_shown(k)}") for k, v in value.items()}
        return value

    def pair(self, pair: Any, path: str) -> tuple[Hashable, Any]:
        match pair:
            case [key, value]:
                return _hashable(self.value(key, path), path), self.value(value, f"{path}[{key!r:.80}]")
        raise UsageError(f"{path} is not a mapping. A saved mapping is a list of pairs under `$map`.")


#: The fields of a display that pages show as HTML (`ToolResultDisplay`).
_HTML = frozenset({"html", "icon", "footer"})


def _without_html(extra: Any) -> Any:
    """Returns the extra data of a result, whose display has no HTML: whoever wrote the record is not known."""
    display = extra.get("display") if isinstance(extra, Mapping) else None
    if not isinstance(display, Mapping) or not _HTML & display.keys():
        return extra
    return {**extra, "display": {name: value for name, value in display.items() if name not in _HTML}}


def _hashable(key: Any, path: str) -> Hashable:
    """Returns the key of a mapping. A tuple was recorded as a list."""
    key = tuple(_hashable(part, path) for part in key) if isinstance(key, list) else key
    try:
        hash(key)
    except TypeError:
        raise UsageError(f"{path} has a key of type {type(key).__name__}, which cannot be a key.") from None
    return key  # type: ignore[no-any-return]  # hash() told


def _shown(name: object) -> str:
    """Returns a name of a record, which may have come from anywhere, on one line."""
    return revealed(str(name), line=True)


def _bytes(data: str, path: str) -> bytes:
    try:
        return b64decode(data, validate=True)
    except ValueError as error:
        raise UsageError(f"{path} is not base64: {error}.") from None


def _citations(values: Any, path: str) -> tuple[ours.ContentCitation, ...]:
    citations = tuple(values) if isinstance(values, (list, tuple)) else (values,)
    for value in citations:
        if not isinstance(value, ours.ContentCitation):
            raise UsageError(f"{path} must contain only ContentCitation, not {type(value).__name__}.")
    return citations


def _check(field: Field[Any], value: Any, path: str) -> None:
    kind = HELD.get(str(field.type))
    if kind is not None and not isinstance(value, kind):
        wanted = kind.__name__ if isinstance(kind, type) else str(field.type)
        raise UsageError(f"{path} is {type(value).__name__}, not {wanted}.")


def _default(field: Field[Any], path: str) -> Any:
    if field.default is not MISSING:
        return field.default
    if field.default_factory is MISSING:
        raise UsageError(f"{path} lacks `{field.name}`.")
    return field.default_factory()
