"""What the corpus holds, whether it is as pinned, how its dates fit the rules, and which packages may be added to it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from email.parser import HeaderParser
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from urllib.parse import urldefrag, urlsplit

import httpx

from ellmer_core.base.budget import ARCHIVE
from ellmer_harness.recordings import Unreadable, find

from ...contract import readers, rules
from ...contract.observed.exchange import Request
from ...contract.rule import Rule, verdict
from ..calibrate import agrees
from ..recorded_requests import Recording, Skip, addressed, identity, read, refusal, request_of
from . import fetch
from .fetch import Corrupt, digest, download, extract
from .pins import FILES, Pin, changed, folder_of

# --- A survey --------------------------------------------------------------------------------------------


@dataclass
class Survey:
    """The counts. `files` are those with HTTP exchanges, and `chats` are the identities of their chats."""

    files: list[Path] = field(default_factory=list)
    interactions: int = 0
    chats: set[str] = field(default_factory=set)
    wires: Counter[str] = field(default_factory=Counter)
    days: set[date] = field(default_factory=set)


def survey(paths: Iterable[Path]) -> Survey:
    """Counts the recordings under the paths. Unreadable files are not recordings."""
    found = Survey()
    for path in find(paths):
        exchanges = _exchanges(path)
        found.interactions += len(exchanges)
        if exchanges:
            found.files.append(path)
        for each in exchanges:
            _count(found, each)
    return found


def _exchanges(path: Path) -> list[Recording]:
    try:
        return [each for each in read(path) or () if each.url and each.status]
    except Unreadable:
        return []


def _count(found: Survey, each: Recording) -> None:
    detected = readers.detect(addressed(each).url, None, each.headers)
    if detected is None or not each.body:
        return
    found.wires[detected[0]] += 1
    found.chats.add(identity(each))
    if each.when:
        found.days.add(each.when)


# --- Verification ----------------------------------------------------------------------------------------


def problems(pin: Pin) -> list[str]:
    """Returns a sentence for each problem with the recordings of a pin in the cache."""
    found = survey([folder_of(pin)])
    counts = {"files": len(found.files), "interactions": found.interactions}
    told = {"files": pin.files, "interactions": pin.interactions}
    return changed(pin) + [
        f"The pin says {told[name]} {name}; {count} can be read."
        for name, count in counts.items()
        if count < told[name]
    ]


# --- Dates of rules --------------------------------------------------------------------------------------


@dataclass
class Dated:
    """The recordings about one rule's days: the number that confirm them, and those that contradict them."""

    witnesses: int = 0
    contradictions: list[str] = field(default_factory=list)


def dated(paths: Iterable[Path]) -> dict[str, Dated]:
    """Returns the results by rule (`openai-chat openai REQ-007`), for each rule with days and dated recordings."""
    found: dict[str, Dated] = {}
    for path in find(paths):
        try:
            for recording in read(path) or ():
                _count_dated(found, path, recording)
        except Unreadable:
            continue
    return found


def _count_dated(found: dict[str, Dated], path: Path, recording: Recording) -> None:
    request = request_of(recording)
    if isinstance(request, Skip) or recording.when is None or not recording.status or recording.status >= 500:
        return
    book = rules.book(request.wire, request.provider)
    for rule in book.rules.values():
        if (
            rule.refuses
            and (rule.since or rule.until)
            and (inside := _refused(rule, request, recording)) is not None
        ):
            entry = found.setdefault(f"{book.wire} {book.provider} {rule.id}", Dated())
            if inside == rule.holds_for(request):
                entry.witnesses += 1
            else:
                verb = "refused" if inside else "accepted"
                entry.contradictions.append(f"{path} {recording.place} was {verb} on {request.when}")


def _refused(rule: Rule, request: Request, recording: Recording) -> bool | None:
    """Tells whether a request that breaks the rule on any day was refused for it. Returns `None` if it does not break
    the rule, or was refused for another reason.
    """
    violations = verdict(rule, request).violations
    if not violations or not rule.scope.about(request.provider, request.model):
        return None
    error = refusal(recording)
    return False if error is None else (agrees(violations, request, error) or None)


# --- Proposals -------------------------------------------------------------------------------------------


_EVERYTHING = ("*",)
_FOLDER = re.compile(r"_?(vcr|\w*cassettes?|recordings?|fixtures|testdata|__inline_snapshot__)")


def of_package(http: httpx.Client, package: str, version: str = "") -> Pin:
    """Returns the pin of a package's source distribution. Raises `Unreachable`, `Corrupt`."""
    found = fetch.files(http, package)
    chosen = fetch.newest(package, found, version)
    if chosen is None:
        raise fetch.Missing(f"The index has no source distribution of {package} {version}".rstrip() + ".")
    file, its = chosen
    place = urldefrag(found[file]).url
    public = re.search(r"/packages/([0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]+/[^/]+)$", place)
    return _pin(http, place, package, its, FILES + public[1] if public else place)


def of_url(http: httpx.Client, url: str) -> Pin:
    """Returns the pin of the user's own archive: a `.tar.gz` at a URL. Raises `Unreachable`, `Corrupt`."""
    stem = PurePosixPath(urlsplit(url).path).name.removesuffix(".tar.gz").removesuffix(".tgz")
    name, _, version = stem.rpartition("-")
    return _pin(http, url, name or stem, version if name else "0", url)


def _pin(http: httpx.Client, place: str, package: str, version: str, public: str) -> Pin:
    with TemporaryDirectory() as folder:
        archive, inside = Path(folder, PurePosixPath(urlsplit(place).path).name), Path(folder, "inside")
        download(http, place, archive, most=ARCHIVE.received)
        size, sha = archive.stat().st_size, digest(archive)
        pin = Pin(package, version, public, sha, size, "", _EVERYTHING)
        extract(archive, inside, lambda member: member == "PKG-INFO" or pin.takes(member))
        found = survey([inside])
        if not found.wires:
            raise Corrupt(f"{archive.name} contains no recording of a chat.")
        members = patterns(path.relative_to(inside).as_posix() for path in found.files)
        narrow = replace(pin, members=members, licence=_licence(inside / "PKG-INFO"))
        files = [path for path in found.files if narrow.takes(path.relative_to(inside).as_posix())]
        return counted(narrow, survey(files), set())


def counted(pin: Pin, found: Survey, earlier: set[str]) -> Pin:
    """Returns the pin with the counts of its recordings; `earlier` are the chats of the earlier pins."""
    days = sorted(found.days)
    return replace(
        pin,
        files=len(found.files),
        interactions=found.interactions,
        distinct=len(found.chats - earlier),
        first=str(days[0]) if days else "",
        last=str(days[-1]) if days else "",
        holds=dict(sorted(found.wires.items())),
    )


def patterns(members: Iterable[str]) -> tuple[str, ...]:
    """Returns patterns for paths: up to a folder with a usual name for recordings, or else the folder of the files."""
    return tuple(sorted({_pattern(PurePosixPath(member).parent) for member in members}))


def _pattern(folder: PurePosixPath) -> str:
    for at, part in enumerate(folder.parts):
        if _FOLDER.fullmatch(part):
            return "/".join((*folder.parts[: at + 1], "*"))
    return f"{folder}/*"


def _licence(info: Path) -> str:
    """Returns the licence in the package's metadata."""
    if not info.is_file():
        return "not told"
    told = HeaderParser().parsestr(info.read_text("utf-8", "replace"))
    classified = [
        c.rpartition(":: ")[2] for c in told.get_all("Classifier", []) if c.startswith("License ::")
    ]
    named = told.get("License-Expression") or ", ".join(classified) or (told.get("License") or "")
    return named.splitlines()[0].strip() if named.strip() else "not told"
