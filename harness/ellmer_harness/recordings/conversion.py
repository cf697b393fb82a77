"""Converts recordings of other tools to our cassettes: they are scrubbed, searched for secrets, and checked. And the other way:
recordings as plain vcrpy YAML, for other programs.

Parts of requests that the recorder did not store are not compared in a replay. No recorder stores all
headers, and some store no bodies. `not_compared` in the cassette lists these parts until it is recorded
again. A response in YAML has two keys that vcrpy ignores: `stream`, the sizes of its chunks, and `error`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from pathlib import Path
from typing import Any

from vcr.serializers import yamlserializer

from ..errors import CassetteError, SecretFound
from ..exchange.messages import Headers
from ..exchange.reply import Reply, chunks, saved
from ..format.blobs import Blobs
from ..format.compression import is_coded
from ..format.serializer import OURS, Serializer
from ..secrets.cassette_scan import masks, scan
from ..secrets.redaction import Scrub
from . import Found, Interaction
from .interaction import joined, value_of

Json = dict[str, Any]
_ROUNDS = 4
_WITH_BODY = {"POST", "PUT", "PATCH"}


@dataclass(frozen=True)
class Rules:
    """The rules for what may be written. `recorded_from` is for recordings that do not name their origin."""

    scrub: Scrub
    recorded_from: str = "imported"
    not_secret: Sequence[str] = ()
    mask: bool = False
    """Whether secrets that are found are written as `REDACTED`, where they are an error otherwise."""
    not_compared: Sequence[str] = ()
    """What of the requests is not compared until they are recorded again, beside what the recorder did not keep."""


@dataclass(frozen=True)
class Converted:
    """A cassette that is ready to be written: its text, its new media, and the parts that could not be
    converted.
    """

    text: str
    blobs: Blobs
    interactions: int
    notes: list[str]
    left_out: Counter[str]
    """How often each header was not on the list of those that are written."""


def convert(found: Found, near: Path, blobs: Path, rules: Rules) -> Converted:
    """Returns the cassette of a file's interactions, for the folder `near`.

    Raises `SecretFound`. Raises `CassetteError` if the written cassette does not give the same interactions.
    """
    settled = [_settled(each) for each in found.interactions if each.status is not None]
    scrub = _masking(settled, rules) if rules.mask else rules.scrub
    written = [_written(each, scrub) for each in settled]
    media = Blobs(blobs)
    metadata = _metadata(found, rules, masked=scrub is not rules.scrub)
    cassette = {"version": 1, "metadata": metadata, "interactions": written}
    text = Serializer(media, near=near).serialize(cassette)
    _scanned(cassette, rules)
    _proven(text, written, media, near)
    return Converted(text, media, len(written), [*_notes(found, settled)], _left_out(settled, rules.scrub))


def as_it_is(found: Found, scrub: Scrub) -> Json:
    """Returns vcrpy's cassette dictionary of a recording, for a replay without a new file."""
    answered = (each for each in found.interactions if each.status is not None)
    written = [_written(_settled(each), scrub) for each in answered]
    return {"metadata": _metadata(found, Rules(scrub), masked=False), "interactions": written}


def _masking(settled: list[Interaction], rules: Rules) -> Scrub:
    """Masks the findings, and searches again: one secret may be part of another, or of its encoding."""
    scrub = rules.scrub
    for _ in range(_ROUNDS):
        found_out = masks([_written(each, scrub) for each in settled], rules.not_secret)
        if found_out.keys() <= scrub.values.keys():
            break
        scrub = replace(scrub, values={**scrub.values, **found_out})
    return scrub


def _settled(it: Interaction) -> Interaction:
    """Corrects headers to fit the bodies, because many recorders decompress the body and keep its headers."""
    body, content = it.body or b"", it.content or b""
    cut_short = it.error or it.stream or it.method == "HEAD"
    return replace(
        it,
        sent=_fitting(it.sent, body),
        headers=it.headers if cut_short or not content else _fitting(it.headers, content),
    )


def _fitting(headers: Headers, body: bytes) -> Headers:
    if body and (coding := value_of(headers, "content-encoding")) and not is_coded(body, coding):
        headers = [pair for pair in headers if pair[0] != "content-encoding"]
    return [(name, str(len(body)) if name == "content-length" and body else value) for name, value in headers]


def _written(it: Interaction, scrub: Scrub) -> Json:
    """Returns the interaction in vcrpy's form, without the data that may not be written."""
    headers = {name: [value] for name, value in joined(scrub.request(it.sent)).items()}
    request = {
        "method": it.method,
        "uri": scrub.url(it.url),
        "headers": headers,
        "body": scrub.body(it.body or b""),
    }
    return {"request": request, "response": _answer(it, scrub)}


def _answer(it: Interaction, scrub: Scrub) -> Json:
    grouped: dict[str, list[str]] = {}
    for name, value in scrub.response(it.headers):
        grouped.setdefault(name, []).append(value)
    stream = {"stream": it.stream} if it.stream else {}
    error = {"error": it.error} if it.error else {}
    status = {"code": it.status, "message": it.reason}
    raw = {"status": status, "headers": grouped, "body": {"string": it.content or b""}, **stream, **error}
    timed = "ms" in (it.stream or {})
    reply = Reply.recorded(raw, timed=timed)
    sizes, waits = [len(piece.data) for piece in reply.pieces], [piece.wait for piece in reply.pieces]
    body = scrub.body(reply.body, sizes, joined(reply.headers).get("content-encoding", ""))
    headers = reply.headers if body == reply.body else _fitting(reply.headers, body)
    return saved(scrub.head(reply), headers, body, chunks(sizes, waits), timed=timed)


def _metadata(found: Found, rules: Rules, *, masked: bool) -> Json:
    mark: Json = {"masked": True} if masked else {}
    if found.kind == "ours":
        before = found.metadata[OURS].get("not_compared", [])
        if parts := list(dict.fromkeys([*before, *rules.not_compared])):
            mark["not_compared"] = parts
        return {**found.metadata, OURS: {**found.metadata[OURS], **mark}}
    ours: Json = {"recorded_from": rules.recorded_from, "imported_from": found.kind}
    if times := [each.when for each in found.interactions if each.when]:
        ours["recorded_at"] = min(times).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    lost = any(each.body is None and each.method in _WITH_BODY for each in found.interactions)
    hidden = any(not _is_url(each.url) for each in found.interactions)
    unknown = ["headers", *["body"] * lost, *["url"] * hidden, *rules.not_compared]
    ours["not_compared"] = list(dict.fromkeys(unknown))
    return {**found.metadata, OURS: {**ours, **mark}}


def _scanned(cassette: Json, rules: Rules) -> None:
    secrets = [(value, name) for value, name in rules.scrub.values.items()]
    left = [each for each in scan(cassette, secrets) if each.fingerprint not in rules.not_secret]
    if left:
        raise SecretFound("\n  ".join(["there are secrets in it:", *map(str, left[:20])]))


def _proven(text: str, written: list[Json], media: Blobs, near: Path) -> None:
    """Reads the cassette from its text alone, as a run would."""
    again = Serializer(Blobs(media.folder, media.fresh), near=near).deserialize(text)["interactions"]
    for at, (old, new) in enumerate(zip(written, again, strict=True)):
        if old != new:
            raise CassetteError(f"interaction {at + 1} could not be read back from the cassette unchanged")


def _notes(found: Found, interactions: list[Interaction]) -> list[str]:
    silent = len(found.interactions) - len(interactions)
    bare = sum(each.content is None and each.status not in (0, 204, 304) for each in interactions)
    coded, still = (
        sum(bool(value_of(each.headers, "content-encoding")) for each in group if each.status is not None)
        for group in (found.interactions, interactions)
    )
    hidden = sum(not _is_url(each.url) for each in interactions)
    notes = {
        "requests whose URL was removed: URLs are not compared": hidden,
        "requests without an answer, left out": silent,
        "answers without a body: the file has none": bare,
        "answers no longer in the content-encoding that their headers tell": coded - still,
    }
    return [f"{what} ({count})" for what, count in notes.items() if count]


def _is_url(text: str) -> bool:
    return text.startswith(("http://", "https://"))


def _left_out(interactions: list[Interaction], scrub: Scrub) -> Counter[str]:
    pairs = [pair for each in interactions for pair in (*each.sent, *each.headers)]
    written = [
        pair for each in interactions for pair in (*scrub.request(each.sent), *scrub.response(each.headers))
    ]
    return Counter(name for name, _ in pairs) - Counter(name for name, _ in written)


def to_yaml(found: Found) -> str:
    """Returns the YAML of vcrpy's format version 1."""
    interactions = [_interaction(each) for each in found.interactions if each.status is not None]
    return str(yamlserializer.serialize({"interactions": interactions, "version": 1}))


def _interaction(it: Interaction) -> dict[str, Any]:
    extra = {"stream": it.stream, "error": it.error}
    return {
        "request": {
            "body": None if it.body is None else _text(it.body),
            "headers": _grouped(it.sent),
            "method": it.method,
            "uri": it.url,
        },
        "response": {
            "body": {"string": _text(it.content or b"")},
            "headers": _grouped(it.headers),
            "status": {"code": it.status, "message": it.reason},
            **{key: value for key, value in extra.items() if value},
        },
    }


def _grouped(headers: list[tuple[str, str]]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for name, value in headers:
        grouped.setdefault(name, []).append(value)
    return grouped


def _text(body: bytes) -> str | bytes:
    """Returns the body as vcrpy writes it: as text if it is UTF-8."""
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body
