"""Searches for evidence: recorded refusals with the same text as a rule's, for rules without evidence."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

import tomlkit
from tomlkit.items import Array

from ...contract import rules
from ..calibrate import agrees
from ..recorded_requests import Skip, refusal, request_of
from ..recording_files import Recording, Unreadable, find, read
from .cache import folder_of
from .evidence import Citation, Evidence, evidence_of
from .pins import Pin

__all__ = ["Found", "looked_for", "written"]

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
            known = found[book.wire, book.provider][verdict.rule.id]
            if len(known) < _MOST and entry not in known and agrees(verdict.violations, request, error):
                known.append(entry)


def _public(path: Path) -> dict[str, str]:
    """Returns the public sources of a file's records, by place: its interactions have a `source` with repo, commit,
    path.
    """
    try:
        recorded = json.loads(path.read_text("utf-8"))["interactions"]
        sources = [(at, each["source"]) for at, each in enumerate(recorded)]
        return {f"/interactions/{at}": _link(source) for at, source in sources}
    except (OSError, ValueError, TypeError, KeyError):
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
        file.write_text(tomlkit.dumps(text), "utf-8")
    return count


def _array(entries: Iterable[Evidence]) -> Array:
    """Returns an array with one entry on each line. A recording is an inline table."""
    found = tomlkit.array().multiline(multiline=True)
    for each in entries:
        table = tomlkit.inline_table()
        table.update({} if isinstance(each, str) else vars(each))
        found.append(each if isinstance(each, str) else table)
    return found
