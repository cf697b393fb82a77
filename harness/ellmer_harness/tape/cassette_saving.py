"""Saves exchanges as a cassette: their order, and the conditions for saving.

This module imports vcrpy, which imports every HTTP client that it knows. A tape therefore imports it only
when it is opened.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from vcr.patch import PATCHER_NAMES
from vcr.record_mode import RecordMode
from vcr.request import Request
from vcr.serialize import CASSETTE_FORMAT_VERSION

from ..errors import CassetteError, Refused, SecretFound, StoreError
from ..format.atomic_files import replace_file
from ..format.blobs import Blobs
from ..format.json_text import layout
from ..format.serializer import OURS, Serializer
from ..secrets.cassette_scan import scan
from ..secrets.placeholders import Masking
from ..store.concurrent_cassette_merging import locked, merged, rewritten_before
from .cassette_file_persister import Blank, Persister
from .matching import redacted_exchange
from .matching.cassette_index import CassetteIndex
from .matching.miss_explanation import command
from .tape_state import TapeState
from .vcrpy_patchers import PatchedIndex

__all__ = ["Masking", "opened", "redacted_exchange", "save"]

_OURS = {"urllib3", "requests", "boto3", "aiohttp", "httpx", "httpx2"}
"""Patchers that are not needed any more: these clients are met at their connections."""


@contextmanager
def opened(tape: TapeState) -> Iterator[CassetteIndex]:
    """Yields the cassette of a tape through vcrpy, with vcrpy's patchers for the clients that opted in."""
    blobs = Blobs(tape.blob_folder)
    with PatchedIndex.use(
        path=str(tape.file),
        match=tape.match,
        on_repeat=tape.on_repeat,
        serializer=Serializer(blobs, near=tape.file.parent),
        persister=Persister(tape.scrub) if tape.replays and not tape.absent else Blank,
        record_mode=RecordMode.NEW_EPISODES if tape.records else RecordMode.NONE,
        skip_patchers=[name for name in PATCHER_NAMES if name not in tape.patchers or name in _OURS],
    ) as index:
        tape.recorded_from = _origin(tape, index)
        index.tape = tape
        index.text = tape.file.read_bytes() if tape.records and tape.file.exists() else b""
        yield index


def save(tape: TapeState, error: BaseException | None) -> None:
    """Judges, scans and writes the recording. A failed run writes nothing, or `NAME.failed.json` if it used
    the live API.
    """
    index = tape.index
    assert index is not None, "only a tape with an index records"
    places = _places(tape, index)
    nothing = not any(place >= index.loaded for place in places)
    asked_nothing = tape.allow_idle and not tape.replays and not tape.sent  # then an empty cassette says so
    if (nothing and not asked_nothing) or (error is not None and tape.recorded_from != "live"):
        return
    _judged(tape)
    if tape.masking:
        _masked(tape.masking, index, [place for place in places if place >= index.loaded], tape.not_secret)
    places = [place for place in places if place < index.loaded or _to_be_saved(tape, index, place)]
    form = _form(tape, index, places)
    _scanned(tape, index, form)
    try:
        _written(tape, index, layout(form), error)
    except OSError as trouble:
        raise CassetteError(
            f"cassette {tape.name} could not be written: {trouble}\nThe existing file was not changed."
        ) from trouble


def _written(tape: TapeState, index: CassetteIndex, text: str, error: BaseException | None) -> None:
    index.serializer.blobs.save()
    failed = tape.file.with_suffix(".failed.json")
    if error is not None or tape.shared:
        replace_file(failed, text)
    if error is None:
        _handed_in(tape, [*index.serializer.blobs.fresh], failed)
        with locked(tape.file):
            replace_file(tape.file, _with_others(tape, index, text))
        failed.unlink(missing_ok=True)


def _with_others(tape: TapeState, index: CassetteIndex, text: str) -> str:
    """Returns the text to write, with the recordings that other tests of the run have written meanwhile."""
    again = tape.mode == "rewrite" and not (tape.run and rewritten_before(tape.file, tape.run))
    if tape.shared or again or not tape.file.exists():
        return text
    there = tape.file.read_bytes()
    as_it_was = tape.mode != "rewrite" and there == index.text
    return text if as_it_was else merged(there, text, index.loaded)


def _handed_in(tape: TapeState, blobs: list[str], recorded: Path) -> None:
    """Uploads the recording to the store, media first. In mode `record`, the first upload is kept."""
    if tape.shared is None:
        return
    try:
        for name in blobs:
            folder = Path(tape.blobs or tape.path.parent / "blobs")
            tape.shared.publish_blob(folder / name, (tape.blob_folder / name).read_bytes())
        ours = tape.shared.publish(tape.path, recorded.read_bytes(), tape.before)
    except StoreError as error:
        raise StoreError(f"{error}\nThe recording was saved in {recorded}.") from error
    if not ours and tape.mode != "record":
        raise StoreError(
            f"another process recorded {tape.name} at the same time. Its recording was kept; this one was saved in {recorded}.\n"
            + command(tape.rerecord)
        )


def _origin(tape: TapeState, index: CassetteIndex) -> str:
    if not tape.replays or tape.absent:
        return tape.recorded_from
    known = str(index.provenance.get("recorded_from", "unknown"))
    if tape.records and known != tape.recorded_from:
        raise CassetteError(
            f"cassette {tape.name} was recorded from {known!r}; nothing recorded from {tape.recorded_from!r} can be "
            "added to it. Use mode 'rewrite' to record all of it again."
        )
    return known


def _places(tape: TapeState, index: CassetteIndex) -> list[int]:
    """Returns the interactions to keep, in the order of sending. If several tasks or threads sent them, the
    order is a stable one.
    """
    recorded = [place for place in range(index.loaded, len(index)) if index.data[place][1] is not None]
    if tape.workers.concurrent:
        recorded.sort(
            key=lambda place: (index.keys[place].head, len(index.keys[place].body), index.keys[place].body)
        )
    return [*range(index.loaded), *recorded]


def _judged(tape: TapeState) -> None:
    problems = tape.judge(tape.sent) if tape.judge else []
    if not problems:
        return
    found = f"`judge` found faults in the requests recorded for {tape.name}:\n  " + "\n  ".join(problems)
    if tape.recorded_from != "live":
        raise Refused(f"{found}\nNothing was saved.")
    warnings.warn(f"{found}\nThe live answer was saved nevertheless.", stacklevel=2)


def _masked(masking: Masking, index: CassetteIndex, places: list[int], accepted: Sequence[str]) -> None:
    """Replaces the secrets in new recordings. Recordings from the file stay the same."""
    masking.begin_after(index.data[: index.loaded])
    recorded = [index.data[place] for place in places]
    for place, interaction in zip(places, masking.applied(recorded, accepted), strict=True):
        index.data[place] = interaction


def _sent(request: Request) -> dict[str, Any]:
    """Returns a request in vcrpy's form."""
    headers = {name: [value] for name, value in request.headers.items()}
    return {"method": request.method, "uri": request.uri, "headers": headers, "body": request.body}


def _to_be_saved(tape: TapeState, index: CassetteIndex, place: int) -> bool:
    """Calls the hook, if there is one, and returns the data to save."""
    if tape.before_save is None:
        return True
    request, response = index.data[place]
    headers = dict(request.headers)
    kept = tape.before_save({"request": {**_sent(request), "headers": headers}, "response": response})
    if kept is not None:
        index.data[place] = Request(**kept["request"]), kept["response"]
    return kept is not None


def _form(tape: TapeState, index: CassetteIndex, places: list[int]) -> dict[str, Any]:
    kept = [index.data[place] for place in places]
    return index.serializer.form(
        {
            "version": CASSETTE_FORMAT_VERSION,
            "metadata": _metadata(tape, index),
            "interactions": [{"request": _sent(request), "response": response} for request, response in kept],
        }
    )


def _metadata(tape: TapeState, index: CassetteIndex) -> dict[str, Any]:
    ours: dict[str, Any] = {"recorded_from": tape.recorded_from}
    if tape.recorded_from == "live":
        ours["recorded_at"] = tape.clock.today().strftime("%Y-%m-%dT%H:%M:%SZ")
        ours["recorded_with"] = _versions()
    if tape.masking and tape.masking.values:
        ours["masked"] = True
    return {**index.metadata, **(tape.metadata or {}), OURS: {**index.provenance, **ours}}


@cache
def _versions() -> dict[str, str]:
    return {name: version(name) for name in ("ellmer-core", "vcrpy")}


def _scanned(tape: TapeState, index: CassetteIndex, form: dict[str, Any]) -> None:
    secrets = [(value, name) for value, name in tape.scrub.values.items()]
    findings = [*scan(form, secrets)]
    for name, data in index.serializer.blobs.fresh.items():
        findings += scan(data, secrets, f"blob {name}")
    left = [finding for finding in findings if finding.fingerprint not in tape.not_secret]
    if left:
        raise SecretFound(
            f"nothing was written to {tape.name}: there are secrets in what was recorded\n  "
            + "\n  ".join(map(str, left[:20]))
            + "\nName them in secrets={'NAME': value} to replace them, or use mask=True to replace every finding. If a finding is not a secret, accept its fingerprint with not_secret=[…]."
        )
