"""Recordings that a rule cites, and the search for recordings that show a rule."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

import tomlkit
from tomlkit.items import Array

from ellmer_harness.recordings import Unreadable, find

from ...contract import rules
from ...files import write_text
from ..calibrate import agrees
from ..recorded_requests import Recording, Skip, read, refusal, request_of
from .evidence import Citation, Evidence, citations, evidence_of
from .pins import Pin, folder_of, present

# --- Cited recordings ------------------------------------------------------------------------------------


_LONG = 4000  # characters of a body that are shown


def checked(pins: Iterable[Pin]) -> tuple[int, list[str]]:
    """Returns the number of cited recordings in the cache, and those that do not show the cited refusal."""
    here = {pin.name: pin for pin in pins if present(pin)}
    found = [each for each in citations() if each[3].pin in here]
    wrong = [problem for each in found if (problem := _problem(here, *each))]
    return len(found), wrong


def _problem(pins: Mapping[str, Pin], wire: str, provider: str, rule: str, cited: Citation) -> str:
    where = f"{cited.pin} {cited.member} {cited.place}, which {rule} of {wire} at {provider} cites,"
    recording = recorded(pins[cited.pin], cited)
    if recording is None:
        return f"{where} is not there."
    request, error = request_of(recording), refusal(recording)
    if isinstance(request, Skip) or error is None:
        return f"{where} is not a refused request."
    book = rules.book(request.wire, request.provider)
    if (request.wire, book.provider) != (wire, provider):
        return f"{where} went to {request.wire} at {book.provider}."
    violations = [v for verdict in book.judge(request) for v in verdict.violations if verdict.rule.id == rule]
    return "" if agrees(violations, request, error) else f"{where} is not flagged by it with the same words."


def recorded(pin: Pin, cited: Citation) -> Recording | None:
    """Returns the cited recording from the cache, or `None` if it is missing."""
    path = folder_of(pin) / cited.member
    try:
        return next((each for each in read(path) or () if each.place == cited.place), None)
    except Unreadable:
        return None


def exchange(recording: Recording) -> str:
    """Returns the exchange in readable form."""
    lines = [f"{recording.method} {recording.url}", _text(recording.body or b""), ""]
    return "\n".join([*lines, f"{recording.status}", _text(recording.response)])


def _text(body: bytes) -> str:
    try:
        text = json.dumps(json.loads(body), indent=2, ensure_ascii=False)
    except ValueError:
        text = body.decode("utf-8", "replace")
    return text if len(text) <= _LONG else f"{text[:_LONG]}… ({len(text)} characters)"


# --- The search ------------------------------------------------------------------------------------------


#: By wire format and provider: rules, and what they rest on.
Found = dict[tuple[str, str], dict[str, list[Evidence]]]
_MOST = 2  # entries for a rule


def looked_for(pins: Iterable[Pin], folders: Iterable[Path]) -> Found:
    """Returns the evidence for such rules in the corpus and in folders whose records name their public source."""
    found: Found = defaultdict(lambda: defaultdict(list))
    for pin in pins:
        for path in find([folder_of(pin)]):
            member = path.relative_to(folder_of(pin)).as_posix()
            for recording in _recordings(path):
                _add(found, recording, Citation(pin.name, member, recording.place))
    for path in find(folders):
        links = _public(path)
        for recording in _recordings(path) if links else ():
            if link := links.get(recording.place):
                _add(found, recording, link)
    return found


def _recordings(path: Path) -> Iterator[Recording]:
    try:
        yield from (each for each in read(path) or () if each.url)
    except Unreadable:
        return


def _add(found: Found, recording: Recording, entry: Evidence) -> None:
    request, error = request_of(recording), refusal(recording)
    if isinstance(request, Skip) or error is None:
        return
    book = rules.book(request.wire, request.provider)
    for verdict in book.judge(request):
        if verdict.rule.refuses and verdict.violations and not evidence_of(book, verdict.rule):
            entries = found[book.wire, book.provider][verdict.rule.id]
            if len(entries) < _MOST and entry not in entries and agrees(verdict.violations, request, error):
                entries.append(entry)


def _public(path: Path) -> dict[str, str]:
    """Returns the public sources of a file's records, by place: its interactions have a `source` with repo, commit,
    path.
    """
    try:
        recorded = json.loads(path.read_text("utf-8"))["interactions"]
        sources = [(at, each["source"]) for at, each in enumerate(recorded)]
        return {f"/interactions/{at}": _link(source) for at, source in sources}
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return {}


def _link(source: dict[str, str]) -> str:
    """Returns a link to the file at its commit, or to its history if it has changed since."""
    shown = "blob" if source.get("at_head", True) else "commits"
    return f"https://github.com/{source['repo']}/{shown}/{source['commit']}/{quote(source['path'])}"


def written(found: Found) -> int:
    """Adds the evidence to the `evidence.toml` of each wire format. Returns the number of new entries."""
    count = 0
    for (wire, provider), by_rule in sorted(found.items()):
        file = Path(str(files(rules))) / wire.replace("-", "_") / "evidence.toml"
        text = tomlkit.parse(file.read_text("utf-8")) if file.is_file() else tomlkit.document()
        table = text.setdefault(provider, tomlkit.table())
        for id, entries in sorted(by_rule.items()):
            if entries:
                table[id] = _array(entries)
            count += len(entries)
        write_text(file, tomlkit.dumps(text))
    return count


def _array(entries: Iterable[Evidence]) -> Array:
    """Returns an array with one entry on each line. A recording is an inline table."""
    found = tomlkit.array().multiline(multiline=True)
    for each in entries:
        table = tomlkit.inline_table()
        table.update({} if isinstance(each, str) else vars(each))
        found.append(each if isinstance(each, str) else table)
    return found
