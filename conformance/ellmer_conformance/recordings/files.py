"""Files of recordings: what a file is, and the exchanges in it."""

from __future__ import annotations

import gzip
import json
from binascii import Error as Base64Error
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from ellmer_harness.errors import CassetteError
from ellmer_harness.serializer import Serializer

from .entries import Recording, entry, har_entry, is_entry

__all__ = ["SUFFIXES", "Unreadable", "read"]

SUFFIXES = (".json", ".yaml", ".yml", ".har", ".jsonl", ".ndjson")
_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Unreadable(Exception):
    """A file that cannot be read: `path`, and what is wrong with it."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path, self.problem = path, problem


class _Loader(_Base):  # type: ignore[misc]  # PyYAML publishes no types
    """YAML without code; the tags that Python 2 and Ruby put on plain strings are read as strings."""


def _plain(loader: Any, _suffix: str, node: Any) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    return (
        loader.construct_sequence(node)
        if isinstance(node, yaml.SequenceNode)
        else loader.construct_mapping(node)
    )


for _tag in ("tag:yaml.org,2002:python/", "!ruby/", "!"):
    _Loader.add_multi_constructor(_tag, _plain)


def read(path: Path) -> list[Recording] | None:
    """The exchanges of a file; None where it is no recording at all. Raises `Unreadable`."""
    kind = _kind(path)
    if kind is None:
        return None
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data).decode()
        if kind in {".jsonl", ".ndjson"}:
            return list(_lines(text)) or None
        value = yaml.load(text, _Loader) if kind in {".yaml", ".yml"} else json.loads(text)  # noqa: S506 - it is safe
        return _exchanges(value, text, path)
    except (OSError, EOFError) as error:
        raise Unreadable(path, f"it cannot be read: {error}") from error
    except UnicodeDecodeError as error:
        raise Unreadable(path, f"it is no text in UTF-8: {error.reason} at byte {error.start}") from error
    except (json.JSONDecodeError, yaml.YAMLError) as error:
        raise Unreadable(path, f"it is damaged, or cut short: {_brief(error)}") from error
    except (CassetteError, Base64Error, AttributeError, TypeError, KeyError, ValueError) as error:
        raise Unreadable(path, f"it looks like a recording and does not hold together: {error}") from error


def _kind(path: Path) -> str | None:
    name = path.name.lower().removesuffix(".gz")
    return next((suffix for suffix in SUFFIXES if name.endswith(suffix)), None)


def _exchanges(value: Any, text: str, path: Path) -> list[Recording] | None:
    match value:
        case {"metadata": {"ellmer_harness": _}, "interactions": list()}:
            ours = Serializer(path.parent / "blobs", near=path.parent).deserialize(text)
            place, found = "/interactions", ours["interactions"]
        case {"interactions": list(found)}:
            place = "/interactions"
        case {"http_interactions": list(found)}:
            place = "/http_interactions"
        case {"log": {"entries": list(found)}}:
            return [har_entry(each, f"/log/entries/{i}") for i, each in enumerate(found)]
        case list(found):
            place = ""
        case _:
            return [entry(value, "")] if is_entry(value) else None
    read = [entry(each, f"{place}/{i}") for i, each in enumerate(found) if is_entry(each)]
    return read if read or not found else None


def _lines(text: str) -> Iterator[Recording]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            value = json.loads(line)
            if is_entry(value):
                yield entry(value, f"line {number}")


def _brief(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
