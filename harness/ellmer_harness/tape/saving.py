"""From exchanges to a cassette: in which order they are kept, and under what conditions.

Importing this imports vcrpy, and vcrpy every HTTP client it knows: a tape does so when it is opened.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from vcr.patch import PATCHER_NAMES
from vcr.record_mode import RecordMode
from vcr.serialize import serialize

from ..errors import CassetteError, Refused, SecretFound, StoreError
from ..format.atomic_files import replace_file
from ..format.blobs import Blobs
from ..format.serializer import OURS, Serializer
from ..secrets.scan import scan
from . import redaction
from .cassette_index import Deck
from .explanation import command
from .persister import Blank, Persister
from .state import TapeState
from .vcrpy_patchers import Patched

__all__ = ["opened", "redaction", "save"]


@contextmanager
def opened(tape: TapeState) -> Iterator[Deck]:
    """The cassette of a tape, through vcrpy; with vcrpy's patchers for the clients that opted in."""
    blobs = Blobs(tape.blob_folder)
    with Patched.use(
        path=str(tape.file),
        match=tape.match,
        on_repeat=tape.on_repeat,
        serializer=Serializer(blobs, near=tape.file.parent),
        persister=Persister(tape.scrub) if tape.replays else Blank,
        record_mode=RecordMode.NEW_EPISODES if tape.records else RecordMode.NONE,
        skip_patchers=[name for name in PATCHER_NAMES if name not in tape.patchers],
    ) as deck:
        tape.recorded_from = _origin(tape, deck)
        deck.tape = tape
        yield deck


def save(tape: TapeState, error: BaseException | None) -> None:
    """Judges, scans and writes. A failed run writes nothing, or `NAME.failed.json` if it was live (and paid for)."""
    deck = tape.deck
    assert deck is not None, "only a tape with a deck records"
    places = _places(tape, deck)
    nothing = not any(place >= deck.loaded for place in places)
    asked_nothing = tape.allow_idle and not tape.replays and not tape.sent  # then an empty cassette says so
    if (nothing and not asked_nothing) or (error is not None and tape.recorded_from != "live"):
        return
    _judged(tape)
    text = _text(tape, deck, places)
    _scanned(tape, deck, text)
    try:
        _written(tape, deck, text, error)
    except OSError as trouble:
        raise CassetteError(
            f"cassette {tape.name} could not be written: {trouble}\nWhat was there before is as it was."
        ) from trouble


def _written(tape: TapeState, deck: Deck, text: str, error: BaseException | None) -> None:
    deck.serializer.blobs.save()
    failed = tape.file.with_suffix(".failed.json")
    if error is not None or tape.shared:
        replace_file(failed, text)
    if error is None:
        _handed_in(tape, [*deck.serializer.blobs.fresh], failed)
        replace_file(tape.file, text)
        failed.unlink(missing_ok=True)


def _handed_in(tape: TapeState, blobs: list[str], recorded: Path) -> None:
    """Gives the store what was recorded, media first. In mode `record` whoever is first is as good as we are."""
    if tape.shared is None:
        return
    try:
        for name in blobs:
            folder = Path(tape.blobs or tape.path.parent / "blobs")
            tape.shared.publish_blob(folder / name, (tape.blob_folder / name).read_bytes())
        ours = tape.shared.publish(tape.path, recorded.read_bytes(), tape.before)
    except StoreError as error:
        raise StoreError(f"{error}\nWhat was recorded is kept in {recorded}.") from error
    if not ours and tape.mode != "record":
        raise StoreError(
            f"somebody else recorded {tape.name} while this run did; theirs stays, ours is kept in {recorded}.\n"
            + command(tape.rerecord)
        )


def _origin(tape: TapeState, deck: Deck) -> str:
    if not tape.replays:
        return tape.recorded_from
    known = str(deck.provenance.get("recorded_from", "unknown"))
    if tape.records and known != tape.recorded_from:
        raise CassetteError(
            f"cassette {tape.name} was recorded from {known!r}; nothing recorded from {tape.recorded_from!r} can be "
            "added to it. Use mode 'rewrite' to record all of it again."
        )
    return known


def _places(tape: TapeState, deck: Deck) -> list[int]:
    """The interactions to keep, in order: the one they were sent in, or, where several tasks or threads sent them,
    one that comes out the same every time."""
    recorded = [place for place in range(deck.loaded, len(deck)) if deck.data[place][1] is not None]
    if tape.workers.concurrent:
        recorded.sort(
            key=lambda place: (deck.asks[place].head, len(deck.asks[place].body), deck.asks[place].body)
        )
    return [*range(deck.loaded), *recorded]


def _judged(tape: TapeState) -> None:
    problems = tape.judge(tape.sent) if tape.judge else []
    if not problems:
        return
    found = f"the judge found fault with the requests recorded for {tape.name}:\n  " + "\n  ".join(problems)
    if tape.recorded_from != "live":
        raise Refused(f"{found}\nNothing was saved.")
    warnings.warn(f"{found}\nA live answer is saved all the same.", stacklevel=2)


def _text(tape: TapeState, deck: Deck, places: list[int]) -> str:
    requests, responses = ([deck.data[place][side] for place in places] for side in (0, 1))
    cassette = {"requests": requests, "responses": responses, "metadata": _metadata(tape, deck)}
    return str(serialize(cassette, deck.serializer))


def _metadata(tape: TapeState, deck: Deck) -> dict[str, Any]:
    ours: dict[str, Any] = {"recorded_from": tape.recorded_from}
    if tape.recorded_from == "live":
        ours["recorded_at"] = tape.clock.today().strftime("%Y-%m-%dT%H:%M:%SZ")
        ours["recorded_with"] = {name: version(name) for name in ("ellmer-core", "vcrpy")}
    return {**deck.metadata, **(tape.metadata or {}), OURS: {**deck.provenance, **ours}}


def _scanned(tape: TapeState, deck: Deck, text: str) -> None:
    secrets = [(value, name) for value, name in tape.scrub.values.items()]
    findings = [*scan(json.loads(text), secrets)]
    for name, data in deck.serializer.blobs.fresh.items():
        findings += scan(data, secrets, f"blob {name}")
    left = [finding for finding in findings if finding.fingerprint not in tape.not_secret]
    if left:
        raise SecretFound(
            f"nothing was written to {tape.name}: there are secrets in what was recorded\n  "
            + "\n  ".join(map(str, left[:20]))
            + "\nName them in secrets={'NAME': value} to have them replaced, or, if they are none, accept the "
            "fingerprint with not_secret=[…]."
        )
