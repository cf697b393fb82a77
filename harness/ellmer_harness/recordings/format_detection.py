"""Detects the format of a file, and reads its interactions."""

from __future__ import annotations

import json
import re
import tomllib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from ellmer_core.base.budget import RECORDING

from ..format.blobs import bounded_bodies
from ..format.serializer import OURS, Serializer
from .formats.azure_and_datadog import IS_REC, is_test_proxy, of_rec, of_test_proxy
from .formats.cassetter import of_cassetter
from .formats.har import har_entry, is_http
from .formats.httprr import MAGIC
from .formats.httprr import exchanges as traced
from .formats.json_lines import exchanges
from .formats.mock_servers import (
    is_httpmock,
    is_mockserver,
    is_wiremock,
    of_httpmock,
    of_mockserver,
    of_wiremock,
)
from .formats.vcr import address, entry, is_entry
from .interaction import Interaction, json_bytes
from .untrusted_files import (
    Unreadable,
    bounded_json,
    bounded_yaml,
    file_bytes,
    in_utf8,
    plain_bytes,
    unreadable_on_error,
)

__all__ = ["SUFFIXES", "Found", "Unreadable", "content", "each", "nearest", "opened", "read"]

SUFFIXES = (".json", ".yaml", ".yml", ".toml", ".har", ".jsonl", ".ndjson", ".httprr", ".rec")
_YAML = {".yaml", ".yml"}
_LOGS = (".jsonl", ".ndjson")
_LOOKS = re.compile(rb"\s*(---\s+)?(interactions|http_interactions|requests|version|when)\s*:")
#: Keys that each manifest for Kubernetes has. A template of one is no YAML, and may describe requests and responses.
_OF_MANIFESTS = [re.compile(rb"^%s\s*:" % name, re.MULTILINE) for name in (b"apiVersion", b"kind")]
#: Keys of recordings. A damaged file with all keys of a line is a damaged recording. Settings and templates resemble
#: one at most: an editor's launch.json has `"request"`, and a Helm template has `entries`.
_MARKS = [
    [
        (names.split(b"|"), re.compile(rb"(^|[\s{,\"'-])(%s)[\"']?\s*:" % names, re.MULTILINE))
        for names in line
    ]
    for line in (
        (b"interactions|http_interactions", b"request|interactions|http_interactions"),
        (b"request|requests|when", b"uri|url|urlPath|path", b"response|responses|then"),
        (b"RequestUri", b"Entries|StatusCode"),
        (b"httpRequest", b"httpResponse"),
    )
]
_COMMENT = re.compile(rb"^[ \t]*//", re.MULTILINE)  # in JSON: people write settings so, and no recorder
_LARGE = (
    256 * 1024
)  # bytes of YAML, whose reader needs seconds for them; a larger file is read if it has such keys
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


def read(path: Path, most: int = RECORDING.unpacked) -> Found | None:  # noqa: PLR0911 - one return per format
    """Reads the interactions of a file.

    Args:
        path: The file: a cassette of ours or vcrpy's, of VCR for R, Ruby or Go, a HAR file, or a log of records.
        most: The number of bytes that the file, or a line of a log, may have when it is unpacked. Default: 256 MB.

    Returns:
        What was found; None if the file is not a recording.

    Raises:
        Unreadable: If the file looks like a recording and is damaged, or if it is too large.

    Examples:
        >>> from ellmer_harness.recordings import read
        >>> read(Path("weather.json")).interactions[0].status
        200
    """
    with unreadable_on_error(path), bounded_bodies():
        if is_log(path):
            found = exchanges(path, most)
            return None if found is None else Found("a log", [each for each in found if each])
        data = in_utf8(plain_bytes(path, most))
        if data.startswith(MAGIC):
            return Found("httprr", [*traced(data)])
        if _has_suffix(path, ".rec") and IS_REC.match(data):
            return Found("DataDog's .rec", [of_rec(data)])
        suffix = _suffix(path, data)
        if suffix is None or (suffix in _YAML and len(data) > _LARGE and not is_marked(data)):
            return None
        text = ""
        try:
            text = data.decode("utf-8-sig")
            data = b""  # a large file is in memory once
            if suffix in _YAML:
                return _documents(text, path)
            value = tomllib.loads(bounded_json(text)) if suffix == ".toml" else _json_or_lines(text)
        except (ValueError, RecursionError, yaml.YAMLError):
            data = data or text.encode()
            if is_marked(data) and not (suffix not in _YAML and _COMMENT.search(data)):
                raise
            return None
        return _found(value, text, path)


def _json_or_lines(text: str) -> Any:
    """Returns a JSON value. Of a log with the wrong name, which has a value on each line, it returns the list."""
    try:
        return json.loads(bounded_json(text))
    except json.JSONDecodeError as error:
        lines = [line for line in text.split("\n") if line.strip()]
        if error.msg != "Extra data" or len(lines) < 2:
            raise
        try:
            return [json.loads(line) for line in lines]
        except json.JSONDecodeError:
            raise error from None


def is_log(path: Path) -> bool:
    """Tells whether a file is read line by line, so that its size does not matter."""
    return _has_suffix(path, *_LOGS)


def is_marked(data: bytes) -> bool:
    """Tells whether a text that cannot be parsed has the keys of a recording, and not those of a manifest for Kubernetes."""
    if all(key.search(data) for key in _OF_MANIFESTS):
        return False
    return any(all(_has(data, *mark) for mark in marks) for marks in _MARKS)


def _has(data: bytes, names: list[bytes], key: re.Pattern[bytes]) -> bool:
    """Tells whether a text has a key. It is first searched for its names, which is fifty times as fast."""
    return any(name in data for name in names) and bool(key.search(data))


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
    found = opened(path)
    return found and found[1]


def opened(path: Path, most: int = RECORDING.unpacked) -> tuple[str, Iterator[Interaction | None]] | None:
    """Returns the name of a file's format with the same interactions. `most` is as for `read()`."""
    if is_log(path):
        lines = exchanges(path, most)
        return None if lines is None else ("a log", lines)
    found = read(path, most)
    return None if found is None else (found.kind, iter(found.interactions))


#: Keys that only one format has.
_OWN_KEYS = {
    "a trace of httprr": rb"\Ahttprr trace",
    "Azure's test proxy": rb"\"RequestUri\"\s*:",
    "HAR": rb"\"startedDateTime\"\s*:",
    "braintrust": rb"\"(matchKey|callIndex)\"\s*:",
    "VCR": rb"\"?http_interactions\"?\s*:",
    "MockServer": rb"\"httpRe(quest|sponse)\"\s*:",
    "WireMock": rb"\"(bodyPatterns|urlPathPattern)\"\s*:",
    "DataDog's .rec": rb"-- begin request body --",
    "vcrpy": rb"\A(\{\s*)?\"?interactions\"?\s*:(?=[\s\S]*\brequest\b)",
}


def nearest(path: Path) -> str:
    """Returns the format whose keys are in a file that is not a recording, or `""`."""
    if not _has_suffix(path, *SUFFIXES):
        return ""
    begins = _beginning(path).lstrip()
    return next((name for name, pattern in _OWN_KEYS.items() if re.search(pattern, begins)), "")


def seems_recorded(path: Path) -> bool:
    """Tells whether a file that is too large to be read begins like a recording."""
    return bool(nearest(path)) or is_marked(_beginning(path))


BEGINNING = 65536  # bytes, which tell what a large file resembles


def _beginning(path: Path) -> bytes:
    """Returns the first bytes of a file in UTF-8, unpacked. It is empty if they cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(BEGINNING)
        packed = data.startswith(b"\x1f\x8b")
        return in_utf8(zlib.decompressobj(31).decompress(data, BEGINNING) if packed else data)
    except (OSError, zlib.error):
        return b""


def content(text: str, suffix: str) -> Any:
    """Returns the value that a YAML, TOML or JSON text holds."""
    if suffix == ".toml":
        return tomllib.loads(bounded_json(text))
    return yaml.load(bounded_yaml(text), _Loader) if suffix in _YAML else json.loads(bounded_json(text))  # noqa: S506 - it is safe


def _suffix(path: Path, data: bytes) -> str | None:
    """Returns the format by the file's name, or by its content if the name does not say it (vcrpy takes any
    name).
    """
    name = path.name.lower().removesuffix(".gz")
    ending = next((suffix for suffix in SUFFIXES if name.endswith(suffix)), None)
    if ending == ".rec":
        return None
    return ending or (".yaml" if _LOOKS.match(data) else None)


def _has_suffix(path: Path, *suffixes: str) -> bool:
    return path.name.lower().removesuffix(".gz").endswith(suffixes)


def _documents(text: str, path: Path) -> Found | None:
    """Reads a YAML text. If it has several documents, places begin with the number of the document."""
    values = [*yaml.load_all(bounded_yaml(text), _Loader)]
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
        case {"log": {"entries": list(items)}} if all(isinstance(item, dict) for item in items):
            http = [(f"/log/entries/{at}", item) for at, item in enumerate(items) if is_http(item)]
            return Found("HAR", [har_entry(item, place, path.parent) for place, item in http])
        case list(items) if items and all(map(is_mockserver, items)):
            return Found("MockServer", [of_mockserver(item, f"/{at}") for at, item in enumerate(items)])
        case list(items):
            found = [_record(item, f"/{at}", path.parent) for at, item in enumerate(items)]
            every = [each for each in found if each]
            return Found("records", every) if every or not items else None
        case dict() if _is_of_cassetter(value):
            return Found("cassetter", [*of_cassetter(value, path.parent)])
        case _:
            return _cassette(value, text, path)


def _is_of_cassetter(value: Any) -> bool:
    """Tells whether a cassette has what only cassetter writes."""
    if not isinstance(value, dict) or not isinstance(value.get("interactions", []), list):
        return False
    if any(
        isinstance(value.get(key), list) and value[key] for key in ("ws_interactions", "grpc_interactions")
    ):
        return True
    return any(_has_type(item) for item in value.get("interactions", []))


def _has_type(item: Any) -> bool:
    request = item.get("request") if isinstance(item, dict) else None
    return isinstance(request, dict) and "body_type" in request


def _cassette(value: Any, text: str, path: Path) -> Found | None:  # noqa: C901, PLR0911, PLR0912 - one return per format
    match value:
        case {"interactions": list(items)} if items and (
            "consumer" in value or not any(map(_is_http, items))
        ):
            return None  # of another protocol, or a contract of Pact, which nobody recorded
        case {"interactions": list(items)}:
            kind = "pydantic-ai" if "parsed_body" in text else "vcrpy"
            metadata = value.get("metadata")
            about = metadata if isinstance(metadata, dict) else {}
            return Found(kind, _entries(items, "/interactions", path), about)
        case {"requests": list(sent), "responses": list(got)} if (
            any(map(is_entry, sent)) or sent == got == []
        ):
            pairs = [{"request": a, "response": b} for a, b in zip(sent, got, strict=True)]
            return Found("langchain", _entries(pairs, "/requests", path))
        case {"entries": list(items)} if any(map(is_entry, items)):
            return Found("braintrust", _entries(items, "/entries", path))
        case {"meta": dict(), "recordings": list(items)} if any(map(is_entry, items)):
            return Found("Mastra", _entries(items, "/recordings", path))
        case {"Entries": list(items)} if items and all(map(is_test_proxy, items)):
            every = [of_test_proxy(item, f"/Entries/{at}") for at, item in enumerate(items)]
            return Found("Azure's test proxy", every)
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
        case {"httpRequest": _, "httpResponse": _} if is_mockserver(value):
            return Found("MockServer", [of_mockserver(value, "")])
        case {"test_id": _, "request": {"url": str()}, "response": dict()}:
            return Found("llama-stack", [entry(value, "", path.parent)])
        case dict() if (answer := _answer_of(path)) is not None:
            return Found("a pair of files", [_pair(value, answer)])
        case _:
            found_one = _record(value, "", path.parent)
            return Found("a record", [found_one]) if found_one else None


def _record(value: Any, place: str, folder: Path) -> Interaction | None:
    """Returns one exchange. Data of another kind may have a URL and headers, too. Its errors then say that it is not an exchange."""
    if not is_entry(value):
        return None
    try:
        return entry(value, place, folder)
    except (AttributeError, KeyError, TypeError, ValueError):
        if isinstance(value.get("request"), dict) and isinstance(value.get("response"), dict):
            raise
        return None


_ASKS = re.compile(r"(?<![a-z])(request|response)(?=\.json$)", re.IGNORECASE)
#: What stands in place of `request` in the name of the file with the answer: a body, a list of events, or an SDK's error.
_ANSWERS = ("response", "response-streaming", "error")
_AWS_ERROR = re.compile(r"(?:Error: )?(?P<type>\w+Exception): (?P<text>.*)", re.DOTALL)
_SDK_ERROR = re.compile(r"(?:\w+: )*(?P<status>[45]\d\d) (?P<text>.*)", re.DOTALL)


def answer_names(name: str) -> list[str]:
    """Returns the names that the file with the answer may have, for the name of a file with a request (`x.request.json`)."""
    asks = _ASKS.search(name)
    if asks is None or asks[1].lower() != "request":
        return []
    upper = asks[1][0] == "R"
    return [_ASKS.sub(answer.capitalize() if upper else answer, name) for answer in _ANSWERS]


def _answer_of(path: Path) -> Path | None:
    """Returns the file with the answer to a request, if there are two files: `x.request.json` and `x.response.json`."""
    return next(
        (found for name in answer_names(path.name) if (found := path.with_name(name)).is_file()), None
    )


def _pair(value: dict[str, Any], answer: Path) -> Interaction:
    """Returns the exchange of two files. They store neither the address nor the status."""
    told = file_bytes(answer)
    status, content_ = _refused(told) if "error" in answer.name.lower() else (200, told)
    return Interaction("", "POST", "", body=json_bytes(value), status=status, content=content_)


def _refused(told: bytes) -> tuple[int, bytes]:
    """Returns the status and the body of an error that an SDK raised: `{"error": "Error: 400 {…}"}`."""
    value = json.loads(bounded_json(told))
    text = value.get("error") if isinstance(value, dict) else None
    if not isinstance(text, str):
        return 400, told
    if found := _SDK_ERROR.match(text):
        return int(found["status"]), found["text"].encode()
    if found := _AWS_ERROR.match(text):
        return 400, json_bytes({"__type": found["type"], "message": found["text"]})
    inner = text[text.find("{") :] if "{" in text else text
    return 400, inner.strip().encode()


def _is_http(item: Any) -> bool:
    """Tells whether an item is an exchange over HTTP. The methods of gRPC are paths, WebSocket has none, and a contract of
    Pact has a path and no address.
    """
    request = item.get("request") if isinstance(item, dict) else None
    method = request.get("method") if isinstance(request, dict) and "path" not in request else None
    return is_entry(item) or (isinstance(method, str) and "/" not in method)


def _entries(items: list[Any], place: str, path: Path) -> list[Interaction]:
    """Returns the exchanges over HTTP. vcr-langchain also stores calls of tools, with addresses such as `tool://BashProcess/run`."""
    found: list[Interaction] = []
    for at, item in enumerate(items):
        url = address(item)
        if url is None:
            raise ValueError(f"{place}/{at} is not a request with a URL and its answer")
        if not _ELSEWHERE.match(url):
            found.append(entry(item, f"{place}/{at}", path.parent))
    return found


#: The beginning of an address that is not one of HTTP or WebSocket.
_ELSEWHERE = re.compile(r"(?!(?:http|ws)s?:)[a-z][a-z0-9+.-]*://", re.IGNORECASE)

assert OURS == "ellmer_harness", "the pattern above spells it out"
