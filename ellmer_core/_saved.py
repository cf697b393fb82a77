"""A whole chat as plain JSON: what was said, and the results that have not been sent yet. No key, no code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ._history import History
from .errors import UsageError
from .record import contents_record, contents_replay
from .tools import ToolDef

__all__ = ["recorded", "restored"]

VERSION = 1


def recorded(history: History, vendor: str, model: str) -> dict[str, Any]:
    """The record of a chat, in the form of `contents_record()`."""
    results = {str(place): contents_record(result) for place, result in history.results.items()}
    props = {"vendor": vendor, "model": model, "turns": contents_record(history.view()), "results": results}
    return {"version": VERSION, "class": "Chat", "props": props}


def restored(record: Any, tools: Iterable[ToolDef], classes: Iterable[type]) -> tuple[History, str, str]:
    """The history that a record holds, and the names of its vendor and model."""
    match record:
        case {"version": 1, "class": "Chat", "props": dict(props)}:
            pass
        case {"version": version, "class": "Chat"}:
            raise UsageError(
                f"This chat was saved in version {version!r}; this release reads version {VERSION}."
            )
        case _:
            raise UsageError("This is no saved chat: an object with `version`, `class` and `props`.")
    if missing := {"vendor", "model", "turns", "results"} - props.keys():
        raise UsageError(f"This saved chat lacks {', '.join(sorted(missing))}.")
    tools, classes = list(tools), list(classes)
    turns = contents_replay(props["turns"], tools=tools, classes=classes)
    saved: Mapping[str, Any] = props["results"]
    results = {int(i): contents_replay(r, tools=tools, classes=classes) for i, r in saved.items()}
    return History(turns, results), props["vendor"], props["model"]
