# ruff: noqa: INP001 - beside the script that imports it
"""The failing cells of the libraries' results with their causes: the library, its SDK, or another failure.

Investigated causes are in `causes.toml`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
WIRES = ("openai-chat", "openai-responses", "anthropic", "gemini")
#: The raw SDK that a library sends through, by wire format: the control.
CONTROL = {
    "openai-chat": "openai",
    "openai-responses": "openai",
    "anthropic": "anthropic",
    "gemini": "google-genai",
}
#: Libraries that send by themselves.
OWN = {("litellm", "anthropic"), ("litellm", "gemini"), *(("ai-sdk", wire) for wire in WIRES)}

#: Messages that tell of an exception.
RAISED = re.compile(r"\bit raises\b|\b(?:send|the call) raised\b|^\w*(Error|Exception|Behavior|Exceeded)\b: ")

Json = dict[str, Any]


def loaded(peer: str) -> Json:
    """Returns the result of a peer, or nothing if there is none yet."""
    file = HERE / "results" / f"{peer}.json"
    found: Json = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return found


def placed(result: Json, results: Mapping[str, Json]) -> dict[tuple[str, str], Json]:
    """Returns the failing cells, each with its cause and with the SDK that has the same failure."""
    entries, cells = causes(), {}
    for cell in result["cells"]:
        cause, why = caused(result["peer"], cell, entries)
        sdk = inherited(result["peer"], cell, results)
        cells[cell["wire"], cell["rule"]] = cell | {"cause": cause, "why": why, "sdk": sdk}
    return {
        key: cell | after_error(cell, cells.get((cell["wire"], "TXT-005"))) for key, cell in cells.items()
    }


def after_error(cell: Json, text: Json | None) -> Json:
    """Tells whether the library raised in all the same runs. The missing text is then a consequence."""
    raised = bool(text and text["cause"] == "error" and set(cell["plays"]) <= set(text["plays"]))
    loss = cell["cause"] == "loss" and not varied(cell)
    return {"cause": "follows", "why": "See TXT-005."} if raised and loss else {}


def causes() -> list[Json]:
    """Returns the causes in the file."""
    entries: list[Json] = tomllib.loads((HERE / "causes.toml").read_text("utf-8"))["cause"]
    return entries


def caused(peer: str, cell: Json, entries: Sequence[Json]) -> tuple[str, str]:
    """Returns the kind of failure, and the reason if the file has one."""
    cases = {play.partition("[")[0] for play in cell["plays"]}
    for entry in entries:
        here = fits(peer, entry, "peer") and fits(cell["rule"], entry, "rule")
        if here and fits(cell["wire"], entry, "wire") and all(fits(case, entry, "case") for case in cases):
            return entry["cause"], entry["why"]
    if cell["follows"]:
        return "follows", f"See {cell['follows']}."
    if cell["kind"] == "reject":
        return "wire", ""
    return ("error" if RAISED.search(cell["shown"]["message"][:200]) else "loss"), ""


def fits(value: str, entry: Json, name: str) -> bool:
    """Tells whether an entry's globs let a value through."""
    globs = entry.get(name, "*")
    return any(fnmatchcase(value, glob) for glob in ([globs] if isinstance(globs, str) else globs))


def inherited(peer: str, cell: Json, results: Mapping[str, Json]) -> str:
    """Returns the raw SDK that breaks the same rule in one of the same runs, if it is the cause."""
    control = CONTROL[cell["wire"]]
    if control == peer or (peer, cell["wire"]) in OWN:
        return ""
    plays = {
        play
        for each in results.get(control, {}).get("cells", [])
        if (each["wire"], each["rule"]) == (cell["wire"], cell["rule"])
        and caused(control, each, causes())[0] != "caller"
        for play in each["plays"]
    }
    return control if plays & set(cell["plays"]) else ""


def varied(cell: Json) -> bool:
    """Tells whether it failed in a variation of the case."""
    pointer: str = cell["shown"]["pointer"]
    return pointer.startswith("/varied/")
