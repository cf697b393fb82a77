"""Detects the format of a file, and reads its interactions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from ..format.serializer import OURS, Serializer
from .formats.har import har_entry, is_http
from .formats.httprr import MAGIC
from .formats.httprr import exchanges as traced
from .formats.json_lines import exchanges, is_log
from .formats.vcr import entry, is_entry
from .formats.wiremock_and_httpmock import is_httpmock, is_wiremock, of_httpmock, of_wiremock
from .interaction import Interaction
from .untrusted_files import Unreadable, explained, file_bytes, modest, unzipped

__all__ = ["SUFFIXES", "Found", "Unreadable", "content", "each", "read"]

SUFFIXES = (".json", ".yaml", ".yml", ".har", ".jsonl", ".ndjson", ".httprr")
_YAML = {".yaml", ".yml"}
_LOOKS = re.compile(rb"\s*(---\s+)?(interactions|http_interactions|requests|version|when)\s*:")
#: A recording has these texts, even if it is damaged. A settings file with comments, or a template, does not.
_MARKS = re.compile(
    r"\b(interactions|http_interactions|entries|mappings)\b|\"request\"\s*:|^\s*(- )?(request|when)s?:",
    re.MULTILINE,
)
_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Found:
    """The content of a file of recordings.

    Args:
        kind: The name of its format, for example `cassette`.
        interactions: Its interactions, in order.
        metadata: What a cassette says of itself. Default: empty.

    Examples:
        >>> from ellmer_harness.recordings import read
        >>> [each.url for each in read(Path("weather.json")).interactions]
        ['https://api.example.com/weather']
    """

    kind: str
    interactions: list[Interaction]
    metadata: dict[str, Any] = field(default_factory=dict)


class _Loader(_Base):  # type: ignore[misc]  # PyYAML publishes no types
    """Loads YAML without code. Tags that Python 2 and Ruby put on plain strings are read as strings."""


def _plain(loader: Any, suffix: str, node: Any) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_yaml_binary(node) if suffix == "binary" else loader.construct_scalar(node)
    if suffix.endswith(".istr") and isinstance(node, yaml.SequenceNode) and len(node.value) == 1:
        return loader.construct_scalar(
            node.value[0]
        )  # a string of multidict's, as vcrpy dumps aiohttp's headers
    many = loader.construct_sequence if isinstance(node, yaml.SequenceNode) else loader.construct_mapping
    value = many(node, deep=True)
    return _made(value) if suffix.startswith(("object/new:", "object/apply:")) else value


def _made(value: Any) -> Any:
    """Returns the content of a Python object: a string of aiohttp (`istr`), or the bytes of a file."""
    match value:
        case (
            [str() | bytes() as only]
            | {"args": [str() | bytes() as only]}
            | {"state": [str() | bytes() as only, *_]}
        ):
            return only
    return value


for _tag in ("tag:yaml.org,2002:python/", "!ruby/", "!"):
    _Loader.add_multi_constructor(_tag, _plain)


def read(path: Path) -> Found | None:
    """Reads the interactions of a file.

    Args:
        path: The file: a cassette of ours or vcrpy's, of VCR for R, Ruby or Go, a HAR file, or a log of records.

    Returns:
        What was found; None if the file is not a recording.

    Raises:
        Unreadable: If the file looks like a recording and is damaged.

    Examples:
        >>> from ellmer_harness.recordings import read
        >>> read(Path("weather.json")).interactions[0].status
        200
    """
    with explained(path):
        if is_log(path):
            found = exchanges(path)
            return None if found is None else Found("a log", [each for each in found if each])
        data = file_bytes(path)
        data = unzipped(data) if data.startswith(b"\x1f\x8b") else data
        if data.startswith(MAGIC):
            return Found("httprr", [*traced(data)])
        suffix = _suffix(path, data)
        if suffix is None:
            return None
        text = data.decode("utf-8-sig")
        try:
            return _documents(text, path) if suffix in _YAML else _found(content(text, suffix), text, path)
        except (json.JSONDecodeError, yaml.YAMLError):
            if _MARKS.search(text):
                raise
            return None


def each(path: Path) -> Iterator[Interaction | None] | None:
    """Iterates over the interactions of a file. Of a log, only one line is in memory at a time.

    Args:
        path: The file.

    Returns:
        The interactions, with None for a line of a log that is something else. None if the file is not a recording.

    Raises:
        Unreadable: If the file looks like a recording and is damaged; for a log, when the damaged line is reached.

    Examples:
        >>> from ellmer_harness.recordings import each
        >>> [interaction.method for interaction in each(Path("weather.json"))]
        ['GET']
    """
    if is_log(path):
        return exchanges(path)
    found = read(path)
    return None if found is None else iter(found.interactions)


def content(text: str, suffix: str) -> Any:
    """Returns the value that a YAML or JSON text holds."""
    return yaml.load(modest(text), _Loader) if suffix in _YAML else json.loads(text)  # noqa: S506 - it is safe


def _suffix(path: Path, data: bytes) -> str | None:
    """Returns the format by the file's name, or by its content if the name does not say it (vcrpy takes any
    name).
    """
    name = path.name.lower().removesuffix(".gz")
    known = next((suffix for suffix in SUFFIXES if name.endswith(suffix)), None)
    return known or (".yaml" if _LOOKS.match(data) else None)


def _documents(text: str, path: Path) -> Found | None:
    """Reads a YAML text. If it has several documents, places begin with the number of the document."""
    values = [*yaml.load_all(modest(text), _Loader)]
    if len(values) == 1:
        return _found(values[0], text, path)
    found = [(at, each) for at, value in enumerate(values) if (each := _found(value, text, path))]
    every = [replace(it, place=f"/{at}{it.place}") for at, each in found for it in each.interactions]
    return Found(found[0][1].kind, every, found[0][1].metadata) if found else None


def _found(value: Any, text: str, path: Path) -> Found | None:
    match value:
        case {"metadata": {"ellmer_harness": _}, "interactions": list()}:
            ours = Serializer(path.parent / "blobs", near=path.parent).deserialize(text)
            return Found("ours", _entries(ours["interactions"], "/interactions", path), value["metadata"])
        case {"log": {"entries": list(items)}}:
            http = [(f"/log/entries/{at}", item) for at, item in enumerate(items) if is_http(item)]
            return Found("HAR", [har_entry(item, place, path.parent) for place, item in http])
        case list(items):
            found = [entry(item, f"/{at}", path.parent) for at, item in enumerate(items) if is_entry(item)]
            return Found("records", found) if found or not items else None
        case _:
            return _cassette(value, text, path)


def _cassette(value: Any, text: str, path: Path) -> Found | None:  # noqa: PLR0911 - one return per format
    match value:
        case {"interactions": list(items)} if items and not any(map(_is_http, items)):
            return None  # of another protocol: gRPC, WebSocket
        case {"interactions": list(items)}:
            kind = "pydantic-ai" if "parsed_body" in text else "vcrpy"
            metadata = value.get("metadata")
            about = metadata if isinstance(metadata, dict) else {}
            return Found(kind, _entries(items, "/interactions", path), about)
        case {"requests": list(sent), "responses": list(got)}:
            pairs = [{"request": a, "response": b} for a, b in zip(sent, got, strict=True)]
            return Found("langchain", _entries(pairs, "/requests", path))
        case {"entries": list(items), "version": int()}:
            return Found("braintrust", _entries(items, "/entries", path))
        case {"mappings": list(items)}:
            stubs = [(at, item) for at, item in enumerate(items) if is_wiremock(item)]
            found = [of_wiremock(item, f"/mappings/{at}", path.parent) for at, item in stubs]
            return Found("WireMock", found) if found else None
        case {"when": _, "then": _} if is_httpmock(value):
            return Found("httpmock", [of_httpmock(value, "")])
        case {"request": _, "response": _} if is_wiremock(value):
            return Found("WireMock", [of_wiremock(value, "", path.parent)])
        case {"http_interactions": list(items)}:
            return Found("VCR", _entries(items, "/http_interactions", path))
        case _:
            return Found("a record", [entry(value, "", path.parent)]) if is_entry(value) else None


def _is_http(item: Any) -> bool:
    """Tells whether an item is an exchange over HTTP. The methods of gRPC are paths, and WebSocket has none."""
    request = item.get("request") if isinstance(item, dict) else None
    method = request.get("method") if isinstance(request, dict) else None
    return is_entry(item) or (isinstance(method, str) and "/" not in method)


def _entries(items: list[Any], place: str, path: Path) -> list[Interaction]:
    for at, item in enumerate(items):
        if not is_entry(item):
            raise ValueError(f"{place}/{at} is not a request with a URL and its answer")
    return [entry(item, f"{place}/{at}", path.parent) for at, item in enumerate(items)]


assert OURS == "ellmer_harness", "the pattern above spells it out"
