"""The pins of published packages that carry real recordings, and the cache of what was fetched.

A pin is an entry of `corpus.toml`, one for each archive. The cache has a folder for each pin, which is complete or does not
exist.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import tomlkit
from platformdirs import user_cache_path

from ellmer_harness.recordings import SUFFIXES

from ...files import write_text

# --- Pins ------------------------------------------------------------------------------------------------


#: The address of PyPI's files. A mirror has files of the same names, at addresses in its index.
FILES = "https://files.pythonhosted.org/packages/"

_PLACES = (Path(__file__).with_name("corpus.toml"), Path(__file__).parents[3] / "corpus.toml")
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.+_!-]*[a-z0-9])?")


class PinError(ValueError):
    """A file of pins has an error. The message names its place."""


@dataclass(frozen=True)
class Pin:
    """An archive, and its members that are recordings.

    `archive` is its public URL. `members` are patterns of paths below the archive's top folder. `files` is their
    number, `interactions` the number of HTTP exchanges in them, `holds` the number of chats by wire format, and
    `distinct` the number of chats that no earlier pin has. `first` and `last` are the days of the recordings, if they
    have dates.
    """

    package: str
    version: str
    archive: str
    sha256: str
    size: int
    licence: str
    members: tuple[str, ...]
    files: int = 0
    interactions: int = 0
    distinct: int = 0
    first: str = ""
    last: str = ""
    holds: Mapping[str, int] = field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        """`chatlas-0.23.0`: the name of its folder in the cache, which evidence cites."""
        return f"{self.package}-{self.version}"

    @property
    def file(self) -> str:
        """The archive's file name."""
        return unquote(urlsplit(self.archive).path.rpartition("/")[2])

    @property
    def indexed(self) -> bool:
        """Whether a package index has it."""
        return self.archive.startswith(FILES)

    def takes(self, member: str) -> bool:
        """Tells whether the member of that path, below the top folder, is a recording."""
        named = member.lower().removesuffix(".gz").endswith(SUFFIXES)
        return named and any(fnmatchcase(member, pattern) for pattern in self.members)

    def link(self, member: str) -> str:
        """Returns the URL of a page that shows the member, or of the archive if it is in no index."""
        if not self.indexed:
            return self.archive
        top = self.file.removesuffix(".tar.gz")
        inside = quote(f"{top}/{member}")
        archive = self.archive.removeprefix(FILES)
        project = f"{self.package}/{self.version}"
        return f"https://inspector.pypi.io/project/{project}/packages/{archive}/{inside}"


def shipped() -> Path:
    """Returns the file of pins that comes with the suite."""
    return next(place for place in _PLACES if place.is_file())


def load(path: Path) -> list[Pin]:
    """Returns the pins of a file. Raises `PinError`."""
    try:
        pins = tomllib.loads(path.read_text("utf-8")).get("pin", [])
    except (OSError, ValueError) as error:
        raise PinError(f"{path} is not a file of pins: {error}.") from error
    found = [_pin(entry, f"{path}, pin {at}") for at, entry in enumerate(pins, 1)]
    names = [pin.name for pin in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise PinError(f"{path} pins {', '.join(sorted(twice))} twice.")
    return found


def _pin(entry: Any, where: str) -> Pin:
    try:
        pin = Pin(**{**entry, "members": tuple(entry["members"])})
    except (TypeError, KeyError) as error:
        raise PinError(f"{where}: {error}.") from error
    if not all(
        isinstance(name, str) and _NAME.fullmatch(name.lower()) for name in (pin.package, pin.version)
    ):
        raise PinError(f"{where}: {pin.package!r} {pin.version!r} is not a package name with a version.")
    if not re.fullmatch(r"[0-9a-f]{64}", pin.sha256):
        raise PinError(f"{where}: sha256 is not a hexadecimal SHA-256 digest.")
    if not pin.archive.startswith("https://") or not isinstance(pin.size, int) or pin.size < 1:
        raise PinError(f"{where}: archive must be an https URL, and size its number of bytes.")
    return pin


def as_toml(pin: Pin) -> str:
    """Returns the pin as `corpus.toml` has it."""
    entry = tomlkit.table()
    for name, value in vars(pin).items():
        if name == "members":
            entry[name] = tomlkit.array("[" + ", ".join(tomlkit.item(m).as_string() for m in value) + "]")
        elif name == "holds":
            entry[name] = tomlkit.inline_table()
            entry[name].update(dict(value))
        elif value != "":
            entry[name] = value
    return "[[pin]]\n" + entry.as_string()


# --- The cache -------------------------------------------------------------------------------------------


_FOLDERS = "folders.txt"
_SEAL = ".corpus.json"  # in each folder: which archive it is from, and the hash of each file


def home() -> Path:
    """Returns the folder of the cache: `CONFORMANCE_CORPUS`, or else a folder in the user's cache."""
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
    write_text(folder / _SEAL, json.dumps(told, indent=1))


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
    found = dict.fromkeys([*map(str, folders()), str(folder.resolve())])
    write_text(home() / _FOLDERS, "".join(f"{path}\n" for path in found))


def keep(text: str) -> None:
    """Adds a pin to the user's own."""
    home().mkdir(parents=True, exist_ok=True)
    with own().open("a", encoding="utf-8") as file:
        file.write(text + "\n")
