"""A whole chat as plain JSON: its messages and the results that have not been sent yet, without keys and code."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from ..contents.content import ContentToolResult, ToolDef
from ..contents.json_serialization import contents_record, contents_replay
from ..contents.turns import Turn
from ..conversation.history import History
from ..errors import UsageError

VERSION = 1
T = TypeVar("T")


def recorded(history: History, provider: str, model: str) -> dict[str, Any]:
    """Returns the record of a chat, in the form of `contents_record()`."""
    results = {str(place): contents_record(result) for place, result in history.results.items()}
    props = {
        "provider": provider,
        "model": model,
        "turns": contents_record(history.view()),
        "results": results,
    }
    return {"version": VERSION, "class": "Chat", "props": props}


def restored(record: Any, tools: Iterable[ToolDef], classes: Iterable[type]) -> tuple[History, str, str]:
    """Returns the history of a record, and the names of its provider and model."""
    props = _props(record)
    tools, classes = list(tools), list(classes)
    turns = [
        _as(Turn, turn, f"turns[{place}]")
        for place, turn in enumerate(contents_replay(props["turns"], tools=tools, classes=classes))
    ]
    results = {
        place: _as(ContentToolResult, contents_replay(r, tools=tools, classes=classes), f"results.{place}")
        for place, r in props["results"].items()
    }
    history = History(turns)
    if stray := results.keys() - set(map(str, range(len(history.open_requests)))):
        raise UsageError(f"This saved chat is damaged: no open tool request for results.{min(stray)}.")
    history.results |= {int(place): result for place, result in results.items()}
    return history, props["provider"], props["model"]


def _props(record: Any) -> dict[str, Any]:
    """Returns the content of a record, after a check of each field's type."""
    match record:
        case {"version": 1, "class": "Chat", "props": dict(props)}:
            pass
        case {"version": version, "class": "Chat"}:
            raise UsageError(
                f"This chat was saved in version {version!r}; this release reads version {VERSION}."
            )
        case _:
            raise UsageError(
                "This is not a saved chat. A saved chat is an object with `version`, `class` and `props`."
            )
    if "vendor" in props:  # what the provider was called until November 2026
        props = {"provider": props["vendor"], **props}
    if missing := {"provider", "model", "turns", "results"} - props.keys():
        raise UsageError(f"This saved chat lacks {', '.join(sorted(missing))}.")
    match props:
        case {"turns": list(), "results": dict(), "provider": str(), "model": str()}:
            return props
    raise UsageError(
        "This saved chat is damaged: `turns` must be a list, `results` an object, and all other fields text."
    )


def _as(kind: type[T], value: Any, path: str) -> T:
    if isinstance(value, kind):
        return value
    raise UsageError(f"This saved chat is damaged: {path} is {type(value).__name__}, not a {kind.__name__}.")
