"""Cassettes that several tests write, in one or several processes. Each test's recording is kept.

The first test of a run that records a cassette again replaces it; later tests add to it. A cassette of several tests
(`allow_unused`) is never replaced: its interactions name the tests that use them, and what a test records takes the place of
what only this test used. `run` identifies the run in all its processes. A writer holds a lock, so that no recording is overwritten.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from stat import S_ISDIR
from typing import Any

from ..errors import CassetteError
from ..format.json_text import layout_bytes

Json = dict[str, Any]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the lock of a cassette while it is written."""
    with _beside_nothing(path, "lock").open("a+b") as file:
        _lock(file)
        yield  # closing the file lets go of it


def writers(path: Path, run: str) -> list[str]:
    """Returns the tests of a run that have written the cassette, in order. In programs other than pytest, tests have no names."""
    mark = _beside_nothing(path, sha256(run.encode()).hexdigest()[:16])
    return mark.read_text("utf-8", "surrogateescape").split("\n")[:-1] if mark.exists() else []


def note_writer(path: Path, run: str, test: str) -> None:
    """Notes that a test of a run has written the cassette."""
    mark = _beside_nothing(path, sha256(run.encode()).hexdigest()[:16])
    with mark.open("a", encoding="utf-8", errors="surrogateescape") as file:
        file.write(f"{test}\n")


def merged(there: bytes, ours: bytes, added: Collection[int]) -> bytes:
    """Returns the existing cassette, followed by the interactions that our run added. `added` are their numbers."""
    base, new = json.loads(there), json.loads(ours)
    interactions = [new["interactions"][number] for number in sorted(added)]
    return layout_bytes({**new, "interactions": [*base["interactions"], *interactions]})


def replaced(there: bytes, ours: bytes, same: Mapping[int, int], test: str) -> bytes:
    """Returns the existing cassette with our interactions: `same` has the numbers of those that replace an existing one.

    Each other one follows the one before it; at the beginning it takes the place of what the test had. What only `test` used, and has not recorded again, is left out. Interactions without
    names of tests may be of any test, and stay.
    """
    base, new = json.loads(there), json.loads(ours)
    slots: list[list[Json]] = [[], *([interaction] for interaction in base["interactions"])]
    left = [place for place, each in enumerate(base["interactions"]) if each.get("tests") == [test]]
    slot = left[0] + 1 if left else len(slots) - 1
    for number, interaction in enumerate(new["interactions"]):
        if number in same:
            slot = same[number] + 1
            slots[slot][0] = _of_both(base["interactions"][same[number]], interaction)
        else:
            slots[slot].append(interaction)
    for place in {*range(len(base["interactions"]))}.difference(same.values()):
        _leave(slots[place + 1], test)
    return layout_bytes({**new, "interactions": [interaction for each in slots for interaction in each]})


def _of_both(there: Json, ours: Json) -> Json:
    """Returns our interaction, with the tests that use either. It has no tests if those of the other one are not known."""
    known = there.get("tests")
    kept = {name: value for name, value in ours.items() if name != "tests"}
    tests = [*dict.fromkeys([*known, *ours.get("tests", [])])] if known else []
    return {**kept, "tests": tests} if tests else kept


def _leave(slot: list[Json], test: str) -> None:
    """Takes a test out of the first interaction, and the interaction out of its slot if nobody else uses it."""
    tests = slot[0].get("tests", [])
    if test not in tests:
        return
    others = [each for each in tests if each != test]
    slot[:1] = [{**slot[0], "tests": others}] if others else []


def _beside_nothing(path: Path, suffix: str) -> Path:
    """Returns the path of a file about the cassette. It is in another folder, so that nobody commits it."""
    name = sha256(str(path.absolute()).encode(errors="surrogateescape")).hexdigest()[:32]
    return _private_folder() / f"{name}.{suffix}"


def _private_folder() -> Path:
    """Returns a folder that only this user can change, which is the same in all their processes.

    Its name among the temporary files is known, so another user may have made it. Then it is among this user's cached files.

    Raises `CassetteError` if that one is not private either.
    """
    user = getattr(os, "getuid", lambda: "")()
    temporary = Path(tempfile.gettempdir()) / f"ellmer-harness-{user}"
    cached = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ellmer-harness"
    for folder in (temporary, cached):
        if _is_private(folder):
            return folder
    raise CassetteError(
        f"other users can change {temporary} and {cached}. Set TMPDIR to a folder that belongs to you."
    )


def _is_private(folder: Path) -> bool:
    """Makes a folder, and tells whether it belongs to this user, and no other one can write to it. A symlink does not count."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = folder.lstat()
    except OSError:
        return False
    if sys.platform == "win32":  # each user has temporary files of their own
        return True
    return S_ISDIR(about.st_mode) and about.st_uid == os.getuid() and not about.st_mode & 0o022


def _lock(file: Any) -> None:
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415  # there is none elsewhere

        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
    else:
        import fcntl  # noqa: PLC0415  # there is none on Windows

        fcntl.flock(file, fcntl.LOCK_EX)
