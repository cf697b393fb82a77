"""look for secrets, broken cassettes and missing media

Every file below the paths is searched for the values of keys, tokens and passwords in the environment, for
known patterns of keys, and for random-looking values with suspicious names, also encoded and compressed.
Broken cassettes, missing blobs and unused blobs are listed. The exit code is 1 if a problem was found.

PATH may be an address in an object store (s3://bucket/prefix) or a pattern (s3://bucket/2026/**). On a Dask
cluster, the values of the environment are those of the workers, because the keys of this machine stay here.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from hashlib import scrypt
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from ..bulk.engines import ENGINES, EngineLost, EngineMissing, Work
from ..bulk.journal import Journal, JournalError, OnDisk, digest, worked
from ..bulk.sources import Source, is_url, sources
from ..errors import CassetteError, HarnessError
from ..format.blobs import Blobs
from ..format.bodies import decode
from ..format.compression import is_coded, undo
from ..format.serializer import OURS, Serializer
from ..recordings.credential_roles import TICKET, certain
from ..recordings.format_detection import content, read
from ..recordings.interaction import value_of
from ..recordings.public_pages import public_pages
from ..recordings.untrusted_files import (
    CRASHED,
    TooSlow,
    Unreadable,
    file_bytes,
    is_unfinished,
    time_limit,
    unreadable_on_error,
    unzipped,
)
from ..secrets.cassette_scan import Finding, scan
from ..secrets.named_credentials import NAMED
from ..secrets.redaction import Scrub
from ._terminal import one_line, progress, say

BLOB = re.compile(r"[0-9a-f]{64}\.\w+")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments of the command."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="the files or folders to search")
    parser.add_argument(
        "--accept",
        action="append",
        default=[],
        metavar="FINGERPRINT",
        help="the fingerprint of a finding that is not a secret (repeatable)",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="values that are only named like a credential are problems, too, in answers as well",
    )
    parser.add_argument(
        "-j",
        "--jobs",
        type=int,
        default=1,
        help="the number of processes; 0 means one for each core (default: 1)",
    )
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default=ENGINES[0],
        help="run in local processes or on Dask at DASK_SCHEDULER_ADDRESS (default: processes)",
    )
    parser.add_argument(
        "--resume",
        type=Path,
        metavar="FILE",
        help="write what was searched to this file; the next run does not search it again",
    )


def run(options: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    totals = _Totals(frozenset(options.accept), set(Scrub.of(None).values.values()), strict=options.strict)
    try:
        with ExitStack() as stack:
            for result in progress(_results(options, stack), "scanned"):
                totals.tell(result)
    except (EngineMissing, EngineLost) as error:
        raise HarnessError(str(error)) from error
    except KeyboardInterrupt:
        say(f"Interrupted after {totals.files:,} files.")
        return 130
    totals.summarize(totals.orphans(options.paths))
    return 1 if totals.problems else 0


def _results(options: argparse.Namespace, stack: ExitStack) -> Iterator[Searched]:
    """Searches all files, and yields what was found in each."""
    return worked(
        Work(searched, _died, unfinished=_is_unfinished),
        (each for each in _sources(options.paths) if not _hidden(each, options.paths)),
        (vars, _from_json),
        jobs=options.jobs or os.cpu_count() or 1,
        engine=options.engine,
        journal=stack.enter_context(_journal(options.resume)) if options.resume else None,
    )


def _sources(paths: Iterable[str]) -> Iterator[Source]:
    """Yields all files, also those that git ignores: somebody may still publish them."""
    return sources(paths, everything=True)


def _hidden(source: Source, paths: Iterable[str]) -> bool:
    """Tells whether a file below one of the folders has a hidden name, or is in a hidden folder there."""
    if not isinstance(source, Path):
        return False
    tops = (Path(path) for path in paths if not is_url(path))
    below = [source.relative_to(top) for top in tops if source.is_relative_to(top)]
    return bool(below) and all(any(part.startswith(".") for part in each.parts) for each in below)


def _journal(path: Path) -> Journal:
    """Opens the journal. What was found depends on the code, and on the secrets that were looked for. The file has a digest of
    them that is slow to compute, so that nobody guesses them from it.
    """
    looked_for = repr(sorted(Scrub.of(None).values)).encode()
    code = digest(*(Path(__file__).parents[1] / name for name in ("cli", "format", "recordings", "secrets")))
    try:
        return Journal(path, f"scan {code} {scrypt(looked_for, salt=code.encode(), n=2**14, r=8, p=1).hex()}")
    except (JournalError, OSError) as error:
        raise HarnessError(str(error)) from error


# --- One file --------------------------------------------------------------------------------------------


@dataclass
class Searched:
    """What was found in a file: problems with the fingerprints of secrets (`""` for another problem), values that may be secrets, the
    names of the blobs that it uses, and the variables of the environment whose values were looked for.
    """

    path: str
    problems: list[tuple[str, str]] = field(default_factory=list)
    possible: list[tuple[str, str]] = field(default_factory=list)
    blobs: list[str] = field(default_factory=list)
    variables: list[str] = field(default_factory=list)


def searched(source: Source) -> Searched:
    """Searches one file."""
    secrets = Scrub.of(None).values
    found = Searched(str(source), variables=sorted(set(secrets.values())))
    try:
        if isinstance(source, Path):
            _search(found, source, secrets)
        else:
            with source.local() as path:
                _search(found, path, secrets)
    except TooSlow as error:
        found.problems.append(("", _unsearched(error)))
    except Unreadable as error:
        found.problems.append(("", _unsearched(error.problem)))
    except (OSError, ValueError) as error:
        found.problems.append(("", _unsearched(error)))
    return found


def _unsearched(problem: object) -> str:
    return f"it cannot be read, so it was not searched: {problem}"


def _search(found: Searched, file: Path, secrets: Mapping[str, str]) -> None:
    with time_limit():
        data = _plain_bytes(file)
        with unreadable_on_error(file):
            _look_into(found, file, data, secrets)


def _look_into(found: Searched, file: Path, data: bytes, secrets: Mapping[str, str]) -> None:
    value = _content(file, data)
    if _is_cassette(value):
        found.blobs = sorted(set(BLOB.findall(json.dumps(value))))
    findings = [*scan(value, list(secrets.items()))]
    known = {each.fingerprint for each in findings}
    problems = list[str]()
    for each in _compressed(file, value, secrets) if _CODING.search(data) else ():
        if isinstance(each, str):
            problems.append(each)
        elif each.fingerprint not in known:
            findings.append(each)
    for finding, is_certain in _judged(file, value, findings):
        told = found.problems if is_certain else found.possible
        told.append((finding.fingerprint, str(finding).removeprefix(": ")))
    found.problems += [("", problem) for problem in (*problems, *_damage(file, value))]


#: What a page has in its forms and links. Keys of other services are secrets wherever they are.
_ON_PAGES = {NAMED, "a Google API key", "a Branch key"}


def _judged(file: Path, value: Any, findings: list[Finding]) -> list[tuple[Finding, bool]]:
    """Returns the findings but those in pages that everybody gets, and whether each is certain. What the harness has written was searched
    before, without the headers that would tell, and what is no recording has no roles: all of that is certain.
    """
    unsure = any(each.evidence != "form" or each.what in {*_ON_PAGES, TICKET} for each in findings)
    found = read(file) if unsure and not _is_cassette(value) else None
    if not found:
        return [(each, True) for each in findings]
    pages, open_nothing = public_pages(found.interactions)
    places = tuple(f"{it.place}/" for it in pages)
    named = [replace(each, where=_named_place(value, each.where)) for each in findings]
    sure = certain(found.interactions, named)
    return [
        (each, is_certain)
        for each, at, is_certain in zip(findings, named, sure, strict=True)
        if each.what not in _ON_PAGES
        or not each.where.startswith(places)
        or not _is_public(at.where, open_nothing)
    ]


def _named_place(value: Any, where: str) -> str:
    """Returns a place with the name of its header, which HAR has beside it: `…/headers/3/cookie` for `…/headers/3/value`."""
    *above, last = where.split("/")
    if last != "value":
        return where
    for step in above[1:]:
        inner = value.get(step) if isinstance(value, dict) else None
        is_item = isinstance(value, list) and step.isdigit() and int(step) < len(value)
        value = value[int(step)] if is_item else inner
    name = value.get("name") if isinstance(value, dict) else None
    return "/".join([*above, name.replace("/", " ")]) if isinstance(name, str) else where


def _is_public(where: str, cookies: bool) -> bool:
    """Tells whether a place in a public page is in the body, or in a cookie if these are public."""
    if "cookie" in where.lower():
        return cookies
    return "/response/" in f"{where}/" and "/headers/" not in where


_CODING = re.compile(rb"(?i)\bbr\b|\bdeflate\b|\bgzip\b|\bzstd\b")


def _compressed(file: Path, value: Any, secrets: Mapping[str, str]) -> Iterator[Finding | str]:
    """Yields the findings in answers and requests that are compressed as their headers say, and what cannot be read: not all codings
    have a mark of their own, and a body may become a hundred times as large.
    """
    if not isinstance(value, dict | list) or _is_cassette(value):
        return
    for it in found.interactions if (found := read(file)) else ():
        for side, headers, body in (("request", it.sent, it.body), ("response", it.headers, it.content)):
            coding = value_of(headers, "content-encoding")
            if not body or not coding or not is_coded(body, coding):
                continue
            where = f"{it.place}/{side}/body"
            try:
                found_in = [*scan(undo(body, coding), list(secrets.items()), where)]
            except Exception as error:  # noqa: BLE001 - any codec's own error, a missing one, or a bomb
                yield f"{where}: its {coding} cannot be read, so it was not searched: {error}"
            else:
                yield from found_in


def _died(source: Source) -> Searched:
    problem = _unsearched(CRASHED)
    return Searched(str(source), [("", problem)], variables=sorted(set(Scrub.of(None).values.values())))


def _is_unfinished(found: Searched) -> bool:
    return any(is_unfinished(text) for _, text in found.problems)


def _from_json(value: dict[str, Any]) -> Searched:
    problems, possible = ([(mark, text) for mark, text in value[each]] for each in ("problems", "possible"))
    return Searched(value["path"], problems, possible, value["blobs"], value["variables"])


# --- All files -------------------------------------------------------------------------------------------


class _Totals:
    """What was found so far. Names of blobs are on disk, because there may be many."""

    def __init__(self, accepted: frozenset[str], variables: set[str], *, strict: bool = False) -> None:
        self.files = self.problems = self.possible = 0
        self._accepted, self._variables, self._strict = accepted, variables, strict
        self._used, self._found, self.values = OnDisk(), OnDisk(), 0
        self._blobs = False

    def tell(self, file: Searched) -> None:
        """Prints the problems of a file, and counts them."""
        self.files += 1
        self._blobs |= bool(BLOB.fullmatch(_name(file.path)))
        for name in file.blobs:
            self._used.is_new(name.encode())
        missing = sorted(self._variables - set(file.variables))
        problems = [*file.problems, *(file.possible if self._strict else ())]
        texts = [text for mark, text in problems if mark not in self._accepted or not mark]
        self.possible += 0 if self._strict else sum(mark not in self._accepted for mark, _ in file.possible)
        told = {mark for mark, _ in problems if mark and mark not in self._accepted}
        self.values += sum(self._found.is_new(mark.encode()) for mark in told)
        texts += [_unknown(missing)] if missing else []
        for text in texts:
            self.problems += 1
            say(one_line(f"{file.path}: {text}"))

    def summarize(self, orphans: int) -> None:
        """Prints the counts of all files, with the number of blobs that no cassette uses."""
        sums = [(self.files, "file"), (self.problems, "problem"), (orphans, "orphan blob")]
        files, *rest = (f"{number} {name}{'s' * (number != 1)}" for number, name in sums)
        say(f"{files}: {', '.join(rest)}")
        if self.values and self.values < self.problems:
            say(f"The problems have {self.values} different value{'s' * (self.values != 1)}.")
        if self.possible:
            values, used = ("value is", "it") if self.possible == 1 else ("values are", "them")
            say(
                f"{self.possible} {values} named like a credential, but no request uses {used} as one: see --strict"
            )

    def orphans(self, paths: Iterable[str]) -> int:
        """Prints the blobs that no cassette uses, and returns their number."""
        count = 0
        for source in _sources(paths) if self._blobs else ():
            name = _name(str(source))
            if BLOB.fullmatch(name) and not self._used.has(name.encode()) and not _hidden(source, paths):
                count += 1
                say(one_line(f"{source}: no cassette under these paths uses this blob"))
        return count


def _name(path: str) -> str:
    return PurePosixPath(path.replace(os.sep, "/")).name


def _unknown(variables: list[str]) -> str:
    names = ", ".join(variables)
    return f"the worker does not have {names}, so it was not searched for the value"


def _plain_bytes(file: Path) -> bytes:
    """Returns the bytes of a file, without its gzip.

    Raises `OSError` or `ValueError` for a device, a pipe, a file that is too large, and damaged gzip.
    """
    data = file_bytes(file)
    try:
        return unzipped(data) if data.startswith(b"\x1f\x8b") else data
    except (EOFError, zlib.error) as error:
        raise ValueError(f"its gzip is damaged: {error}") from error


def _content(file: Path, data: bytes) -> Any:
    """Returns the parsed YAML or JSON of a file, or its bytes if it has neither."""
    suffix = Path(file.name.removesuffix(".gz")).suffix
    try:
        value = content(data.decode(), suffix if suffix in {".yaml", ".yml"} else ".json")
    except (ValueError, RecursionError, yaml.YAMLError):
        return data
    if not isinstance(value, dict | list):
        return data
    if suffix in {".yaml", ".yml"}:
        _make_keys_texts(value)
    return value


def _make_keys_texts(value: Any) -> None:
    """Replaces the keys of a value of YAML that are numbers, dates or bytes."""
    left, seen = [value], set[int]()
    while left:
        item = left.pop()
        if id(item) in seen or not isinstance(item, dict | list):
            continue
        seen.add(id(item))
        if isinstance(item, dict) and not all(isinstance(key, str) for key in item):
            items = [*item.items()]
            item.clear()
            item.update((_key_text(key), inner) for key, inner in items)
        left += item.values() if isinstance(item, dict) else item


def _key_text(key: Any) -> str:
    return key.decode("utf-8", "replace") if isinstance(key, bytes) else str(key)


def _is_cassette(value: Any) -> bool:
    about = value.get("metadata") if isinstance(value, dict) else None
    return isinstance(about, dict) and OURS in about


def _damage(file: Path, value: Any) -> Iterator[str]:
    """Yields the reasons why a cassette of ours cannot be replayed. Other files have none."""
    if isinstance(value, bytes):
        if file.suffix == ".json" and OURS.encode() in value:
            yield "the cassette is not complete JSON"
        return
    if not _is_cassette(value):
        return
    blobs = Blobs(file.parent / "blobs")
    try:
        Serializer(blobs, near=file.parent).parse(json.dumps(value))
        for interaction in value["interactions"]:
            decode(interaction["request"]["body"], blobs)
            decode(interaction["response"]["body"], blobs)
    except CassetteError as error:
        yield str(error)
    except (KeyError, TypeError) as error:
        yield f"an interaction is not complete: {error!r:.200}"
