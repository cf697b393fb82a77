"""The cache of fetched recordings has a folder for each pin, which is complete or does not exist."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from .pins import Pin

__all__ = ["changed", "folder_of", "folders", "home", "keep", "keep_folder", "own", "present", "seal"]

_FOLDERS = "folders.txt"
_SEAL = ".corpus.json"  # in each folder: which archive it is from, and the hash of each file


def home() -> Path:
    """Returns the cache: the folder in `CONFORMANCE_CORPUS`, else one of the user's."""
    named = os.environ.get("CONFORMANCE_CORPUS")
    return Path(named) if named else user_cache_path("ellmer-conformance") / "corpus"


def folder_of(pin: Pin) -> Path:
    """Returns the folder of a pin's recordings, which may not exist yet."""
    return home() / pin.name


def present(pin: Pin) -> bool:
    """Tells whether the recordings of exactly this pin are in the cache."""
    sealed = _sealed(folder_of(pin))
    return sealed.get("sha256") == pin.sha256 and sealed.get("members") == list(pin.members)


def seal(folder: Path, pin: Pin) -> None:
    """Stores the hashes of a folder's content, so that changes can be found."""
    told = {"sha256": pin.sha256, "members": list(pin.members), "files": _hashes(folder)}
    (folder / _SEAL).write_text(json.dumps(told, indent=1), "utf-8")


def changed(pin: Pin) -> list[str]:
    """Returns a sentence for each change since the extraction."""
    folder = folder_of(pin)
    told: dict[str, str] = _sealed(folder).get("files", {})
    here = _hashes(folder)
    found = [f"{path} is missing." for path in sorted(told.keys() - here.keys())]
    found += [f"{path} was added." for path in sorted(here.keys() - told.keys())]
    return found + [
        f"{path} was changed." for path in sorted(told.keys() & here.keys()) if told[path] != here[path]
    ]


def _hashes(folder: Path) -> dict[str, str]:
    found = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != _SEAL)
    return {path.relative_to(folder).as_posix(): sha256(path.read_bytes()).hexdigest() for path in found}


def _sealed(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / _SEAL).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def own() -> Path:
    """Returns the user's own pins."""
    return home() / "corpus.toml"


def folders() -> list[Path]:
    """Returns the user's own folders of recordings, which are judged in place."""
    listed = home() / _FOLDERS
    return [Path(line) for line in listed.read_text("utf-8").splitlines()] if listed.is_file() else []


def keep_folder(folder: Path) -> None:
    """Adds a folder to the user's own, once."""
    home().mkdir(parents=True, exist_ok=True)
    found = dict.fromkeys([*map(str, folders()), str(folder.resolve())])
    (home() / _FOLDERS).write_text("".join(f"{path}\n" for path in found), "utf-8")


def keep(text: str) -> None:
    """Adds a pin to the user's own."""
    home().mkdir(parents=True, exist_ok=True)
    with own().open("a", encoding="utf-8") as file:
        file.write(text + "\n")
