"""The cassette as a file: vcrpy's format version 1, as readable JSON, with the chunks of streams.

```python
my_vcr = vcr.VCR()
my_vcr.register_serializer("ellmer", Serializer("tests/cassettes/blobs"))
my_vcr.use_cassette("tests/cassettes/chat.json", serializer="ellmer")   # stock vcrpy replays it
```

`metadata["ellmer_harness"]` holds `format` (of the bodies, see `codec`) and the provenance. A response may
have two keys that vcrpy ignores: `stream` (chunk sizes, gaps in milliseconds, and the kind of end) and
`error` (no answer arrived; the status code is 0). Beside them, `fingerprints` tells masked values apart: a salt, and some
digits of a keyed hash of each value, and `tests` names the tests that use an interaction of a cassette of several tests.

A cassette may have been edited, merged or made by another tool. `check` looks at all parts that are used later, and
reports the field and line of an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from os.path import relpath
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from pydantic_core import from_json

from ellmer_core.base.budget import RECORDING, has_more_values

from ..errors import CassetteError
from .blobs import Blobs
from .bodies import decode, encode, written
from .json_text import LARGE, Laid, Spelled, compact, laid_body, laid_item, layout, layout_bytes

# --- The serializer --------------------------------------------------------------------------------------


FORMAT = 1
OURS = "ellmer_harness"
Json = dict[str, Any]
_BESIDE = ("fingerprints", "tests")
Encoded = Callable[[bytes, str, str, Blobs], Any]


class Serializer:
    """A vcrpy serializer: with it, stock vcrpy replays a cassette of the harness.

    Args:
        blobs: The folder of the media files, shared by any number of cassettes.
        near: The folder of the cassette. With it, the blob folder that the cassette names has priority. `None` (default): it is
            not known.

    Examples:
        >>> import vcr
        >>> vcr.VCR().register_serializer("ellmer", Serializer("cassettes/blobs"))
    """

    def __init__(self, blobs: Blobs | Path | str, near: Path | None = None) -> None:
        self.blobs = blobs if isinstance(blobs, Blobs) else Blobs(Path(blobs))
        self.near = near

    def serialize(self, cassette: Json) -> str:
        """Returns the text of a cassette.

        Args:
            cassette: vcrpy's cassette dictionary. Bodies may be bytes, text or `None`.

        Examples:
            >>> serializer = Serializer("blobs")
            >>> serializer.deserialize(serializer.serialize({"version": 1, "interactions": []}))["interactions"]
            []
        """
        return layout(self.form(cassette))

    def form(self, cassette: Json) -> Json:
        """Returns the JSON value that is written for a cassette.

        Args:
            cassette: vcrpy's cassette dictionary.

        Examples:
            >>> Serializer("blobs").form({"version": 1, "interactions": []})["interactions"]
            []
        """
        interactions = [self._written(interaction, encode) for interaction in cassette["interactions"]]
        return self._cassette(cassette, interactions)

    def laid_out(self, cassette: Json, check: Callable[[int | None, Json, Laid], None]) -> bytes:
        """Returns the text of a cassette in UTF-8. One interaction is laid out after another, so that few values are in memory at once.

        Args:
            cassette: vcrpy's cassette dictionary.
            check: A function that receives the number of each interaction, its JSON value (a stream may be an `Alike`) and its
                text; at the end `None`, and everything else in the cassette.
        """
        laid: list[Laid] = []
        for number, interaction in enumerate(cassette["interactions"]):
            value = self._written(interaction, _laid_out)
            laid.append(laid_item(value, 2))
            check(number, value, laid[-1])
            del value  # its memory is used for the next one
        rest = self._cassette(cassette, [])
        check(None, rest, Laid([compact(rest).encode()]))
        return layout_bytes({**rest, "interactions": laid})

    def _cassette(self, cassette: Json, interactions: Sequence[Json]) -> Json:
        metadata = dict(cassette.get("metadata") or {})
        metadata[OURS] = {"format": FORMAT, **metadata.get(OURS, {})}
        if self.blobs.used and self.near is not None:
            metadata[OURS]["blobs"] = Path(relpath(self.blobs.folder, self.near)).as_posix()
        return {"version": cassette["version"], "metadata": metadata, "interactions": interactions}

    def deserialize(self, text: str) -> Json:
        """Returns vcrpy's cassette dictionary, with all bodies as bytes.

        Args:
            text: The text of the cassette.

        Examples:
            >>> cassette = Serializer("blobs").deserialize(Path("weather.json").read_text())
            >>> cassette["interactions"][0]["response"]["body"]["string"]
            b'{"temperature":21}'
        """
        cassette = self.parse(text)
        for interaction in cassette["interactions"]:
            request, response = interaction["request"], interaction["response"]
            request["body"] = decode(request["body"], self.blobs)
            response["body"] = {"string": decode(response["body"], self.blobs)}
        return cassette

    def parse(self, text: str | bytes) -> Json:
        """Returns the checked JSON of the file, with bodies in their readable form.

        Args:
            text: The text of the cassette.

        Raises:
            CassetteError: The text is not a cassette, or is a cassette of another version.

        Examples:
            >>> cassette = Serializer("blobs").parse(Path("weather.json").read_text())
            >>> cassette["interactions"][0]["response"]["body"]
            {'json': {'temperature': 21}}
        """
        try:
            cassette = _loads(text)
        except (ValueError, RecursionError) as error:
            raise CassetteError(f"it is not complete: {error}") from error
        if not isinstance(cassette, dict) or not isinstance(cassette.get("interactions"), list):
            raise CassetteError("it is JSON but not a cassette, because it has no list of interactions")
        metadata = cassette.get("metadata")
        ours = metadata.get(OURS, {}) if isinstance(metadata, dict) else {}
        ours = ours if isinstance(ours, dict) else {}
        if cassette.get("version") != 1 or ours.get("format") != FORMAT:
            raise CassetteError(
                f"its version is {cassette.get('version')!r}, format {ours.get('format')!r}; this package reads "
                f"version 1, format {FORMAT}: a newer ellmer-core may have written it"
            )
        check(cassette, text, OURS)
        if self.near is not None and "blobs" in ours:
            self.blobs.folder = self._blob_folder(self.near, ours["blobs"])
        return cassette

    def _blob_folder(self, near: Path, name: str) -> Path:
        """Returns the folder of the blobs, which a cassette may not have anywhere on the machine."""
        parts = PurePosixPath(name).parts
        up = next((at for at, part in enumerate(parts) if part != ".."), len(parts))
        beside = up == 0 or (up == 1 and len(parts) == 2) or parts[up:] == ("blobs",)
        leaves = (
            PurePosixPath(name).is_absolute() or ".." in parts[up:] or not beside or not name.isprintable()
        )
        if leaves and (near / name).resolve() != self.blobs.folder.resolve():
            raise CassetteError(
                f"its blobs are in {name!r}, which is outside of its folder. Blobs are read from a folder `blobs` beside or "
                "above the cassette, or from the folder that `blobs=` names"
            )
        return near / name

    def _written(self, interaction: Json, encoded: Encoded) -> Json:
        request, response = interaction["request"], dict(interaction["response"])
        content = response.pop("body")["string"]
        return {
            "request": {
                "method": request["method"],
                "uri": request["uri"],
                "headers": dict(request["headers"]),
                "body": self._form(request["body"], request["headers"], encoded),
            },
            "response": {
                "status": response.pop("status"),
                "headers": dict(response.pop("headers")),
                "body": self._form(content, interaction["response"]["headers"], encoded),
                **response,
            },
            **{name: found for name in _BESIDE if (found := interaction.get(name))},
        }

    def _form(self, body: bytes | str | None, headers: Mapping[str, list[str]], encoded: Encoded) -> Any:
        values = {name.lower(): value for name, value in headers.items()}
        content_type = "".join(values.get("content-type", [""])[:1]).lower()
        coding = ", ".join(values.get("content-encoding", []))
        return encoded(
            body.encode() if isinstance(body, str) else body or b"", content_type, coding, self.blobs
        )


def _laid_out(body: bytes, content_type: str, coding: str, blobs: Blobs) -> Any:
    """Returns the form of a body. That of large JSON is laid out at once, from its bytes."""
    form = written(body, content_type, coding, blobs)
    if isinstance(form, Spelled) and "json" in form and len(body) > LARGE:
        return laid_body(form, 4)
    return form


def _loads(text: str | bytes) -> Any:
    """Parses JSON twice as fast as `json`. If it fails, `json` parses the text again for a better error
    message.
    """
    if has_more_values(text, RECORDING.values):
        raise ValueError(f"it has more than {RECORDING.values:,} values")
    try:
        return from_json(text)
    except ValueError:
        return json.loads(text if isinstance(text, str) else text.decode("utf-8-sig"))


# --- The check of a cassette's shape ---------------------------------------------------------------------


Steps = tuple[str | int, ...]
_SPACE = re.compile(r"[ \t\r\n]*")
_SIZES = re.compile(r"\d{1,15}(?: \d{1,15})*")
_VERSION = re.compile(r"HTTP/\d(?:\.\d)?")
_DECODER = json.JSONDecoder()


def check(cassette: dict[str, Any], text: str | bytes, ours: str) -> None:
    """Raises `CassetteError` for the first field of a wrong type. `ours` is the name of our part of the
    metadata.
    """
    try:
        _metadata(cassette.get("metadata"), ours)
        for at, interaction in enumerate(cassette["interactions"]):
            _interaction(interaction, ("interactions", at))
    except _WrongError as wrong:
        raise CassetteError(f"{where(text, wrong.path)}: {wrong}") from None


class _WrongError(Exception):
    def __init__(self, path: Steps, what: str) -> None:
        super().__init__(what)
        self.path = path


def where(text: str | bytes, path: Steps) -> str:
    """Returns a description of a field, with its line."""
    return f"line {line_of(text, path)}, {'/'.join(map(str, path))}"


def line_of(text: str | bytes, path: Sequence[str | int]) -> int:
    """Returns the line on which a field begins. For a missing field, it is the line of its parent."""
    whole = text if isinstance(text, str) else text.decode("utf-8-sig", "replace")
    at = _skipped(whole, 0)
    for step in path:
        found = _child(whole, at, step)
        if found is None:
            break
        at = found
    return whole.count("\n", 0, at) + 1


def _child(text: str, at: int, step: str | int) -> int | None:
    """Returns the position at which the value of a key or an index begins."""
    index, at, is_object = 0, at + 1, text[at] == "{"
    while (at := _skipped(text, at)) < len(text) and text[at] not in "]}":
        key: str | int = index
        if is_object:
            key, at = _DECODER.raw_decode(text, at)
            at = _skipped(text, _skipped(text, at) + 1)
        if key == step:
            return at
        at = _skipped(text, _DECODER.raw_decode(text, at)[1])
        index, at = index + 1, at + (text[at : at + 1] == ",")
    return None


def _skipped(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _wrong(path: Steps, value: Any, wanted: str) -> NoReturn:
    found = "it is missing" if value is None else f"it is {json.dumps(value)[:60]}"
    raise _WrongError(path, f"{wanted} is expected here; {found}")


def _metadata(value: Any, ours: str) -> None:
    _is(value, dict, ("metadata",), "an object")
    path, mine = ("metadata", ours), value.get(ours, {})
    _is(mine, dict, path, "an object")
    for name in ("recorded_from", "recorded_at", "blobs"):
        if name in mine:
            _is(mine[name], str, (*path, name), "a text")
    if "recorded_at" in mine:
        try:
            datetime.fromisoformat(mine["recorded_at"])
        except ValueError:
            _wrong((*path, "recorded_at"), mine["recorded_at"], "a date and time")
    if not _texts(mine.get("not_compared", [])):
        _wrong((*path, "not_compared"), mine["not_compared"], "a list of texts")


def _interaction(value: Any, path: Steps) -> None:
    _is(value, dict, path, "an object")
    request: Any = value.get("request")
    response: Any = value.get("response")
    _is(request, dict, (*path, "request"), "an object")
    _is(response, dict, (*path, "response"), "an object")
    for name in ("method", "uri"):
        _is(request.get(name), str, (*path, "request", name), "a text")
    if not _fingerprints(value.get("fingerprints", {})):
        _wrong((*path, "fingerprints"), value["fingerprints"], "an object of texts, of which one is the salt")
    if not _texts(value.get("tests", [])):
        _wrong((*path, "tests"), value["tests"], "a list of texts")
    _message(request, (*path, "request"))
    _message(response, (*path, "response"))
    _answer(response, (*path, "response"))


def _message(value: dict[str, Any], path: Steps) -> None:
    headers: Any = value.get("headers")
    _is(headers, dict, (*path, "headers"), "an object")
    for name, values in headers.items():
        if not (_texts(values) and values):
            _wrong((*path, "headers", name), values, "a list of texts")
    if "body" not in value:
        _wrong((*path, "body"), None, "an object or null")
    if value["body"] is not None and not (isinstance(value["body"], dict) and value["body"]):
        _wrong((*path, "body"), value["body"], "an object or null")


def _answer(value: dict[str, Any], path: Steps) -> None:
    status: Any = value.get("status")
    _is(status, dict, (*path, "status"), "an object")
    if type(status.get("code")) is not int:
        _wrong((*path, "status", "code"), status.get("code"), "a number")
    if not isinstance(status.get("message", 0), str | None):
        _wrong((*path, "status", "message"), status.get("message"), "a text or null")
    stream, error = value.get("stream", {}), value.get("error", {"error": ""})
    _is(stream, dict, (*path, "stream"), "an object")
    for name, good in _STREAM.items():
        if name in stream and not (isinstance(stream[name], str) and good(stream[name])):
            _wrong((*path, "stream", name), stream[name], _STREAM_SAID[name])
    _is(error, dict, (*path, "error"), "an object")
    if not is_failure(error):
        _wrong((*path, "error"), error, 'an object like {"error": "ReadTimeout", "message": "…"}')


def _is(value: Any, kind: type, path: Steps, wanted: str) -> None:
    if not isinstance(value, kind):
        _wrong(path, value, wanted)


def _fingerprints(value: Any) -> bool:
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        return False
    return not value or "salt" in value


def _texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


# --- The fields of a stream: the sizes of its chunks, the times between them, its end -------------------


_STREAM: dict[str, Callable[[str], Any]] = {
    "sizes": lambda text: text == "events" or _SIZES.fullmatch(text),
    "ms": _SIZES.fullmatch,
    "end": lambda text: text in ("eof", "closed"),
    "version": _VERSION.fullmatch,
}


def is_stream(value: Any) -> bool:
    """Tells whether a value is what a cassette says of a stream."""
    return isinstance(value, dict) and all(
        isinstance(value[name], str) and good(value[name]) for name, good in _STREAM.items() if name in value
    )


def is_failure(value: Any) -> bool:
    """Tells whether a value is what a cassette says of a failed request."""
    fields = ("error", "message", "refused")
    return (
        isinstance(value, dict)
        and not value.keys() - {*fields}
        and all(isinstance(value.get(name, ""), str) for name in fields)
    )


_STREAM_SAID = {
    "sizes": '"events" or sizes like "12 7"',
    "ms": 'times like "12 7"',
    "end": '"closed"',
    "version": '"HTTP/2" or another',
}
