"""The file of a cassette: it is loaded without damage, opened through vcrpy, and saved.

A broken file is an error, and is never treated as an empty one. None of vcrpy's patchers is used: every client that they
know is met at its connections.

This module imports vcrpy, which imports every HTTP client that it knows. A cassette therefore imports it only when it is
opened.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from vcr.patch import PATCHER_NAMES
from vcr.persisters.filesystem import CassetteNotFoundError
from vcr.record_mode import RecordMode
from vcr.request import HeadersDict, Request
from vcr.serialize import CASSETTE_FORMAT_VERSION

from ellmer_core.base.forks import cached_property

from ..errors import CassetteError, Refused, SecretFound, StoreError
from ..format.blobs import Blobs, file_bytes, forget_unfinished, replace_file
from ..format.bodies import Form, decode
from ..format.json_text import Laid
from ..format.serializer import OURS, Serializer, where
from ..interception.network_guard import is_local
from ..secrets.cassette_scan import Finding, scan, scan_written
from ..secrets.placeholders import Masking
from ..secrets.redaction import FINGERPRINT, MASK, Scrub, fingerprint_of
from ..store.concurrent_cassette_merging import locked, merged, note_writer, replaced, writers
from .cassette_index import CassetteIndex, UnparsedRequest, hidden_values, recorded_request, recorded_response
from .cassette_state import CassetteState
from .miss_explanation import command
from .request_key import SALT, RequestKey, is_exact

__all__ = ["Masking", "Persister", "opened", "recorded_request", "recorded_response", "save"]


# --- Loading ---------------------------------------------------------------------------------------------


Location = tuple[Path, int, str]
"""The file, the number of the interaction in it, and `request` or `response`."""


class Recorded(UnparsedRequest):
    """A recorded request. Its values are computed when they are used, because a cassette may hold thousands."""

    def __init__(  # the base's own would parse all of it
        self,
        saved: Form,
        blobs: Blobs,
        place: Location,
        fingerprints: dict[str, str],
        tests: list[str] | None,
    ) -> None:
        self.method, self.uri, self.fingerprints = saved["method"], saved["uri"], fingerprints
        self.tests = tests
        self._headers_saved, self._form, self._blobs, self._place = (
            saved["headers"],
            saved["body"],
            blobs,
            place,
        )

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

    def __init__(self, form: Form | None, blobs: Blobs, place: Location) -> None:
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
        self.text = b""  # the file that was loaded: another test may have written it since

    def load_cassette(
        self, path: Path | str, serializer: Serializer
    ) -> tuple[list[Request], list[Form], Form]:
        """Returns requests, responses and metadata. Raises vcrpy's `CassetteNotFoundError`, or our
        `CassetteError`.
        """
        try:
            data = self.text = file_bytes(Path(path))
        except FileNotFoundError as error:
            raise CassetteNotFoundError from error
        except (OSError, ValueError) as error:
            raise _unusable(path, str(error)) from error
        try:
            return _own(data, serializer, Path(path))
        except CassetteError as error:
            if foreign := self._foreign(Path(path)):
                return foreign
            raise _unusable(path, str(error)) from error

    def _foreign(self, path: Path) -> tuple[list[Request], list[Form], Form] | None:
        from ..recordings import read  # noqa: PLC0415 - needed for what is not ours, and that is rare
        from ..recordings.conversion import as_it_is  # noqa: PLC0415  # needed for what is not ours, and that is rare

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

    text = b""

    @staticmethod
    def load_cassette(path: Path | str, serializer: Serializer) -> tuple[list[Request], list[Form], Form]:  # noqa: ARG004 - vcrpy passes both
        """Raises `CassetteNotFoundError`."""
        raise CassetteNotFoundError


def _own(data: bytes, serializer: Serializer, path: Path) -> tuple[list[Request], list[Form], Form]:
    cassette, blobs = serializer.parse(data), serializer.blobs
    interactions = cassette["interactions"]
    for (
        item
    ) in interactions:  # now, because the client may ask from inside an event loop, which must not block
        blobs.preload(item["request"]["body"], item["response"]["body"])
    requests = [
        Recorded(
            item["request"], blobs, (path, at, "request"), item.get("fingerprints") or {}, item.get("tests")
        )
        for at, item in enumerate(interactions)
    ]
    responses = [
        {**item["response"], "body": _Body(item["response"]["body"], blobs, (path, at, "response"))}
        for at, item in enumerate(interactions)
    ]
    return requests, responses, cassette["metadata"]


def _decoded(form: Form | None, blobs: Blobs, place: Location) -> bytes:
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


# --- Opening and saving ----------------------------------------------------------------------------------


LOCAL = "this machine"  # the origin of a recording whose requests asked it, if the suite does not name one


@contextmanager
def opened(cassette: CassetteState) -> Iterator[CassetteIndex]:
    """Opens a cassette through vcrpy, without its patchers, and yields it."""
    blobs = Blobs(cassette.blob_folder)
    persister = Persister(cassette.scrub) if cassette.replays and not cassette.absent else Blank
    with CassetteIndex.use(
        path=str(cassette.file),
        match=cassette.match,
        on_repeat=cassette.on_repeat,
        serializer=Serializer(blobs, near=cassette.file.parent),
        persister=persister,
        record_mode=RecordMode.NEW_EPISODES if cassette.records else RecordMode.NONE,
        skip_patchers=PATCHER_NAMES,
    ) as index:
        cassette.recorded_from = _origin(cassette, index)
        index.text = persister.text
        yield index


def save(cassette: CassetteState, error: BaseException | None) -> None:
    """Judges, scans and writes the recording. A failed run writes nothing, or `NAME.failed.json` if it used
    the live API.
    """
    index = cassette.index
    assert index is not None, "only a cassette with an index records"
    places = _places(cassette, index)
    if cassette.recorded_from == "live" and not cassette.replays and _is_local(cassette):
        _called_local(cassette, index, places)
    users = _users(cassette, index)
    if not _worth_writing(cassette, index, places, users) or (
        error is not None and cassette.recorded_from != "live"
    ):
        return
    _judged(cassette)
    new = [place for place in places if place >= index.loaded]
    sent = {place: index.data[place][0] for place in new}
    if cassette.masking:
        _masked(cassette.masking, index, new, cassette.not_secret)
    fingerprints = _fingerprints(cassette, index, sent)
    places = [place for place in places if place < index.loaded or _to_be_saved(cassette, index, place)]
    with _kept():
        text = _text_of(cassette, index, places, fingerprints, users)
    try:
        _written(cassette, index, text, error, [n for n, place in enumerate(places) if place >= index.loaded])
    except OSError as trouble:
        raise CassetteError(
            f"cassette {cassette.name} could not be written: {trouble}\n"
            f"The existing file was not changed. {command(cassette.rerecord)}"
        ) from trouble


def _called_local(cassette: CassetteState, index: CassetteIndex, places: Sequence[int]) -> None:
    """Notes that a test's own server was recorded. How long it needed says nothing."""
    cassette.recorded_from = LOCAL
    for _, response in filter(None, (index.data[place] for place in places)):
        response.get("stream", {}).pop("ms", None)


def _worth_writing(
    cassette: CassetteState, index: CassetteIndex, places: Sequence[int], users: dict[int, list[str]]
) -> bool:
    """Tells whether the file would change. A test that was allowed to send nothing, and sent nothing, gets an empty cassette, which says so."""
    sent_nothing = cassette.allow_idle and not cassette.replays and not cassette.sent
    changed = any(place >= index.loaded for place in places) or _drops(cassette, index) or users
    return bool(changed or sent_nothing)


@contextmanager
def _kept() -> Iterator[None]:
    """Collects no garbage: a recording has many values and none of them is garbage, but all would be looked at several times."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _is_local(cassette: CassetteState) -> bool:
    """Tells whether every request asked this machine. A server in `routes` stands for the host that was asked."""
    addresses = (urlsplit(sent.url) for sent in cassette.sent)
    origins = {(each.scheme, each.hostname) for each in addresses}
    return bool(origins) and all(scheme == "stdio" or is_local(host or "") for scheme, host in origins)


def _written(
    cassette: CassetteState,
    index: CassetteIndex,
    text: bytes,
    error: BaseException | None,
    added: Sequence[int],
) -> None:
    index.serializer.blobs.save()
    failed = cassette.file.with_suffix(".failed.json")
    if error is not None or cassette.shared:
        replace_file(failed, text)
    if error is None:
        _handed_in(cassette, [*index.serializer.blobs.fresh], failed)
        with locked(cassette.file):
            forget_unfinished(cassette.file)
            replace_file(cassette.file, _with_others(cassette, index, text, added))
            if cassette.run:
                note_writer(cassette.file, cassette.run, cassette.writer)
        failed.unlink(missing_ok=True)


def _with_others(cassette: CassetteState, index: CassetteIndex, text: bytes, added: Sequence[int]) -> bytes:
    """Returns the text to write, with the recordings of other tests: they have written them in this run, or the
    cassette is one of several tests.
    """
    leaves = _alone(cassette)
    if cassette.shared or not cassette.file.is_file():  # a pipe would be waited for
        return text
    there = cassette.file.read_bytes()
    if cassette.mode != "rewrite":
        return text if there == index.text else merged(there, text, added)
    if cassette.allow_unused or _has_others(cassette, there):
        with suppress(CassetteError):  # what cannot be read can be recorded again
            return replaced(there, text, _same(cassette, there, text), leaves)
    before = writers(cassette.file, cassette.run) if cassette.run else []
    others = [test for test in before if not cassette.writer or test != cassette.writer]
    return merged(there, text, added) if others else text


def _has_others(cassette: CassetteState, there: bytes) -> bool:
    """Tells whether the existing file names other tests, with which this one shares it."""
    if not cassette.names_tests:
        return False
    with suppress(CassetteError):
        requests = _own(
            there, Serializer(Blobs(cassette.blob_folder), near=cassette.file.parent), cassette.file
        )[0]
        return any(getattr(request, "tests", None) not in (None, [cassette.test]) for request in requests)
    return False


_SAVED: set[tuple[str, str, Path]] = set()


def _alone(cassette: CassetteState) -> str:
    """Returns the test whose old recordings are left out: this one, unless it has recorded into the cassette before in this run."""
    part = cassette.run, cassette.test, cassette.file.absolute()
    if part in _SAVED:
        return ""
    _SAVED.add(part)
    return cassette.test


def _same(cassette: CassetteState, there: bytes, text: bytes) -> dict[int, int]:
    """Returns the number of each interaction of a text that has an equal request in the existing file, with its place."""
    waiting: dict[Any, list[int]] = {}
    for place, key in enumerate(_keys(cassette, there)):
        waiting.setdefault((key.digest, *sorted(key.fingerprints.items())), []).append(place)
    same: dict[int, int] = {}
    for number, key in enumerate(_keys(cassette, text)):
        if places := waiting.get((key.digest, *sorted(key.fingerprints.items()))):
            same[number] = places.pop(0)
    return same


def _keys(cassette: CassetteState, data: bytes) -> list[RequestKey]:
    serializer = Serializer(Blobs(cassette.blob_folder), near=cassette.file.parent)
    return [RequestKey(cassette.match, request) for request in _own(data, serializer, cassette.file)[0]]


def _drops(cassette: CassetteState, index: CassetteIndex) -> list[int]:
    """Returns the places of the recordings that this run replaces, in mode `update`: those that it did not use.

    In a cassette of several tests, they are those of this test alone, and they go when it records something else.
    """
    if cassette.mode != "update":
        return []
    unused = index.unused_places()
    if not cassette.allow_unused:
        own = {*map(id, cassette.own([index.data[place][0] for place in unused]))}
        return [place for place in unused if id(index.data[place][0]) in own]
    changed = any(response is not None for _, response in index.data[index.loaded :])
    return [
        place for place in unused if changed and cassette.test and _tests(index, place) == [cassette.test]
    ]


def _tests(index: CassetteIndex, place: int) -> list[str] | None:
    """Returns the tests that use a recording of a cassette of several tests; `None` if it is not known."""
    found: list[str] | None = getattr(index.data[place][0], "tests", None)
    return found


def _users(cassette: CassetteState, index: CassetteIndex) -> dict[int, list[str]]:
    """Returns the tests of the recordings that this test used and others recorded, this one added."""
    if not (cassette.names_tests and cassette.replays):
        return {}
    known = {place: _tests(index, place) for place in range(index.loaded) if index.play_counts[place]}
    return {
        place: [*tests, cassette.test]
        for place, tests in known.items()
        if tests is not None and cassette.test not in tests
    }


def _handed_in(cassette: CassetteState, blobs: list[str], recorded: Path) -> None:
    """Uploads the recording to the store, media first. In mode `record`, the first upload is kept."""
    if cassette.shared is None:
        return
    try:
        for name in blobs:
            folder = Path(cassette.blobs or cassette.path.parent / "blobs")
            cassette.shared.publish_blob(folder / name, (cassette.blob_folder / name).read_bytes())
        ours = cassette.shared.publish(cassette.path, recorded.read_bytes(), cassette.before)
    except StoreError as error:
        raise StoreError(f"{error}\nThe recording was saved in {recorded}.") from error
    if not ours and cassette.mode != "record":
        raise StoreError(
            f"another process recorded {cassette.name} at the same time. Its recording was kept; this one was saved in {recorded}.\n"
            + command(cassette.rerecord)
        )


def _origin(cassette: CassetteState, index: CassetteIndex) -> str:
    if not cassette.replays or cassette.absent:
        return cassette.recorded_from
    origin = str(index.provenance.get("recorded_from", "unknown"))
    if origin == LOCAL and cassette.recorded_from == "live":
        return origin
    if cassette.records and origin != cassette.recorded_from:
        raise CassetteError(
            f"cassette {cassette.name} was recorded from {origin!r}; nothing recorded from {cassette.recorded_from!r} can be "
            "added to it. Use mode 'rewrite' to record all of it again."
        )
    return origin


def _places(cassette: CassetteState, index: CassetteIndex) -> list[int]:
    """Returns the interactions to keep, in the order of sending. If several tasks or threads sent them, the
    order is a stable one.
    """
    recorded = [place for place in range(index.loaded, len(index)) if index.data[place][1] is not None]
    if cassette.workers.concurrent:
        recorded.sort(
            key=lambda place: (index.keys[place].head, len(index.keys[place].body), index.keys[place].body)
        )
    dropped = set(_drops(cassette, index))
    places = [place for place in range(index.loaded) if place not in dropped]
    if cassette.mode != "update" or cassette.workers.concurrent:
        return [*places, *recorded]
    for before, place in pairwise([-1, *cassette.order]):
        if place in recorded:
            places.insert(places.index(before) + 1 if before in places else 0, place)
    return places


def _judged(cassette: CassetteState) -> None:
    problems = cassette.judge(cassette.sent) if cassette.judge else []
    if not problems:
        return
    found = f"`judge` found faults in the requests recorded for {cassette.name}:\n  " + "\n  ".join(problems)
    if cassette.recorded_from != "live":
        raise Refused(f"{found}\nNothing was saved.")
    warnings.warn(f"{found}\nThe live answer was saved nevertheless.", stacklevel=2)


def _masked(masking: Masking, index: CassetteIndex, places: list[int], accepted: Sequence[str]) -> None:
    """Replaces the secrets in new recordings. Recordings from the file stay the same."""
    masking.begin_after(index.data[: index.loaded])
    recorded = [index.data[place] for place in places]
    for place, interaction in zip(places, masking.applied(recorded, accepted), strict=True):
        index.data[place] = interaction


def _fingerprints(
    cassette: CassetteState, index: CassetteIndex, sent: dict[int, Request]
) -> dict[int, dict[str, str]]:
    """Returns the fingerprints of the masked values of each new interaction. `sent` are the requests before secrets
    were found in them. Values that differ get fingerprints that differ.
    """
    salt = sha256(f"ellmer-harness {cassette.file.name}".encode()).hexdigest()[:8]
    values: dict[int, dict[str, str]] = {}
    for place, request in sent.items():
        hidden = hidden_values(index.match, request, index.data[place][0])
        shown = RequestKey(index.match, index.data[place][0]).parameters
        values[place] = {
            name: value
            for name, value in hidden.items()
            if is_exact(name) and MASK in shown.get(name[1:], [MASK])
        }
    for place, header in _telling_headers(sent):
        values[place][header] = sent[place].masked_values.get(header, "")
    distinct = {pair for each in values.values() for pair in each.items()}
    digits = FINGERPRINT
    while len({(name, fingerprint_of(salt, name, value, digits)) for name, value in distinct}) < len(
        distinct
    ):
        digits += 1
    return {
        place: {SALT: salt}
        | {name: fingerprint_of(salt, name, value, digits) for name, value in each.items()}
        for place, each in values.items()
        if each
    }


def _telling_headers(sent: dict[int, Request]) -> Iterator[tuple[int, str]]:
    """Yields the headers in which otherwise equal requests differ."""
    alike: dict[Any, list[int]] = {}
    for place, request in sent.items():
        alike.setdefault((request.method, request.uri, bytes(request.body or b"")), []).append(place)
    for places in alike.values():
        headers = {name for place in places for name in sent[place].masked_values if not is_exact(name)}
        for header in sorted(headers):
            if len({sent[place].masked_values.get(header) for place in places}) > 1:
                yield from ((place, header) for place in places)


def _sent(request: Request) -> dict[str, Any]:
    """Returns a request in vcrpy's form."""
    headers = {name: [value] for name, value in request.headers.items()}
    return {"method": request.method, "uri": request.uri, "headers": headers, "body": request.body}


def _to_be_saved(cassette: CassetteState, index: CassetteIndex, place: int) -> bool:
    """Calls the hook, if there is one, and returns the data to save."""
    if cassette.before_save is None:
        return True
    request, response = index.data[place]
    headers = dict(request.headers)
    exchange = cassette.before_save({"request": {**_sent(request), "headers": headers}, "response": response})
    if exchange is not None:
        index.data[place] = Request(**exchange["request"]), exchange["response"]
    return exchange is not None


def _text_of(
    cassette: CassetteState,
    index: CassetteIndex,
    places: list[int],
    fingerprints: dict[int, dict[str, str]],
    users: dict[int, list[str]],
) -> bytes:
    """Returns the text of the cassette, which was searched for secrets."""
    secrets, findings = [*cassette.scrub.values.items()], list[Finding]()

    def search(number: int | None, value: dict[str, Any], laid: Laid) -> None:
        findings.extend(
            scan_written(value, laid, secrets, "" if number is None else f"/interactions/{number}")
        )

    own = [cassette.test] if cassette.names_tests else None
    interactions = [
        {
            "request": _sent(index.data[place][0]),
            "response": index.data[place][1],
            "fingerprints": fingerprints.get(place) or getattr(index.data[place][0], "fingerprints", None),
            "tests": own if place >= index.loaded else users.get(place) or _tests(index, place),
        }
        for place in places
    ]
    metadata = _metadata(cassette, index)
    text = index.serializer.laid_out(
        {"version": CASSETTE_FORMAT_VERSION, "metadata": metadata, "interactions": interactions}, search
    )
    for name, data in index.serializer.blobs.fresh.items():
        findings += scan(data, secrets, f"blob {name}")
    _refuse(cassette, findings)
    return text


def _metadata(cassette: CassetteState, index: CassetteIndex) -> dict[str, Any]:
    ours: dict[str, Any] = {"recorded_from": cassette.recorded_from}
    if cassette.recorded_from == "live":
        ours["recorded_at"] = cassette.clock.today().strftime("%Y-%m-%dT%H:%M:%SZ")
        ours["recorded_with"] = _versions()
    if cassette.masking and cassette.masking.values:
        ours["masked"] = True
    return {**index.metadata, **(cassette.metadata or {}), OURS: {**index.provenance, **ours}}


@cache
def _versions() -> dict[str, str]:
    return {name: version(name) for name in ("ellmer-core", "vcrpy")}


def _refuse(cassette: CassetteState, findings: Sequence[Finding]) -> None:
    """Raises `SecretFound` if a finding was not accepted."""
    left = [finding for finding in findings if finding.fingerprint not in cassette.not_secret]
    if left:
        raise SecretFound(
            f"nothing was written to {cassette.name}: there are secrets in what was recorded\n  "
            + "\n  ".join(map(str, left[:20]))
            + "\nName them in secrets={'NAME': value} to replace them, or use mask=True to replace every finding. If a finding is not a secret, accept its fingerprint with not_secret=[…]."
        )
