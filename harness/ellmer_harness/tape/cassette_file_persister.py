"""Reads and writes cassette files without damage.

As a vcrpy persister, it reports the error of a broken file, and never treats it as an empty file. The tape
saves the file.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from vcr.persisters.filesystem import CassetteNotFoundError
from vcr.request import HeadersDict, Request

from ..errors import CassetteError
from ..format.blobs import Blobs
from ..format.bodies import Form, decode
from ..format.serializer import Serializer, where
from ..secrets.redaction import Scrub

__all__ = ["Blank", "Persister", "Recorded"]


Place = tuple[Path, int, str]
"""The file, the number of the interaction in it, and `request` or `response`."""


class Recorded(Request):  # type: ignore[misc]  # vcrpy publishes no types
    """A recorded request. Its values are computed when they are used, because a cassette may hold thousands."""

    _was_file = _was_iter = False

    def __init__(
        self, saved: Form, blobs: Blobs, place: Place
    ) -> None:  # the base's own would parse all of it
        self.method, self.uri = saved["method"], saved["uri"]
        self._headers_saved, self._form, self._blobs, self._place = (
            saved["headers"],
            saved["body"],
            blobs,
            place,
        )

    uri: str = ""

    @cached_property
    def parsed_uri(self) -> SplitResult:
        """The parsed URL, which vcrpy's matchers expect."""
        return urlsplit(self.uri)

    @cached_property
    def headers(self) -> HeadersDict:
        """The headers with the first value of each."""
        return HeadersDict(self._headers_saved)

    @cached_property
    def body(self) -> bytes:
        """The bytes that were sent."""
        return _decoded(self._form, self._blobs, self._place)


class _Body(dict[str, bytes]):
    """vcrpy's `{"string": bytes}`, which is decoded when it is used."""

    def __init__(self, form: Form | None, blobs: Blobs, place: Place) -> None:
        super().__init__()
        self._form, self._blobs, self._place = form, blobs, place

    def __missing__(self, key: str) -> bytes:
        if key != "string":
            raise KeyError(key)
        self[key] = _decoded(self._form, self._blobs, self._place)
        return self[key]

    def __contains__(self, key: object) -> bool:
        return key == "string"

    def get(self, key: str, default: Any = None) -> Any:  # vcrpy's stub for aiohttp asks so
        """Works like the method of any mapping."""
        return self["string"] if key == "string" else default


class Persister:
    """A vcrpy persister that loads cassettes. `scrub` is for recordings of other tools, which are not
    scrubbed yet.
    """

    def __init__(self, scrub: Scrub) -> None:
        self.scrub = scrub

    def load_cassette(
        self, path: Path | str, serializer: Serializer
    ) -> tuple[list[Request], list[Form], Form]:
        """Returns requests, responses and metadata. Raises vcrpy's `CassetteNotFoundError`, or our
        `CassetteError`.
        """
        try:
            data = Path(path).read_bytes()
        except FileNotFoundError as error:
            raise CassetteNotFoundError from error
        except OSError as error:
            raise _unusable(path, str(error)) from error
        try:
            return _ours(data, serializer, Path(path))
        except CassetteError as error:
            if foreign := self._foreign(Path(path)):
                return foreign
            raise _unusable(path, str(error)) from error

    def _foreign(self, path: Path) -> tuple[list[Request], list[Form], Form] | None:
        from ..recordings import read  # noqa: PLC0415
        from ..recordings.importing import as_it_is  # noqa: PLC0415  # needed for what is not ours, and that is rare

        with suppress(CassetteError):
            found = read(path)
            if found is not None and found.kind != "ours" and found.interactions:
                cassette = as_it_is(found, self.scrub)
                asked = [each["request"] for each in cassette["interactions"]]
                requests = [Request(**{**it, "headers": _single(it["headers"])}) for it in asked]
                return requests, [each["response"] for each in cassette["interactions"]], cassette["metadata"]
        return None


class Blank:
    """A persister for new recordings: it finds no cassette."""

    @staticmethod
    def load_cassette(path: Path | str, serializer: Serializer) -> tuple[list[Request], list[Form], Form]:  # noqa: ARG004
        """Raises `CassetteNotFoundError`."""
        raise CassetteNotFoundError


def _ours(data: bytes, serializer: Serializer, path: Path) -> tuple[list[Request], list[Form], Form]:
    cassette, blobs = serializer.parse(data), serializer.blobs
    interactions = cassette["interactions"]
    for (
        item
    ) in interactions:  # now, because the client may ask from inside an event loop, which must not block
        blobs.preload(item["request"]["body"], item["response"]["body"])
    requests = [
        Recorded(item["request"], blobs, (path, at, "request")) for at, item in enumerate(interactions)
    ]
    responses = [
        {**item["response"], "body": _Body(item["response"]["body"], blobs, (path, at, "response"))}
        for at, item in enumerate(interactions)
    ]
    return requests, responses, cassette["metadata"]


def _decoded(form: Form | None, blobs: Blobs, place: Place) -> bytes:
    try:
        return decode(form, blobs)
    except CassetteError as error:
        path, at, side = place
        raise CassetteError(
            f"{where(path.read_bytes(), ('interactions', at, side, 'body'))}: {error}"
        ) from error


def _single(headers: dict[str, list[str]]) -> dict[str, str]:
    return {name: values[0] for name, values in headers.items()}


def _unusable(path: Path | str, what: str) -> CassetteError:
    return CassetteError(
        f"cassette {path} cannot be used: {what}\n"
        "It was not changed. Restore it from version control, or record it again (mode 'rewrite')."
    )
