"""Real recorded provider traffic for all tests: its folders and content.

`CONFORMANCE_TRAFFIC` names the folders, separated as in `PATH`. Without it, they are `../shared/traffic` and
`../shared/traffic2`, if they exist. One test judges a whole family of recordings, to save time.
"""

import json
import os
from functools import cache
from pathlib import Path

import pytest

NEAR = [Path(__file__).parents[4] / "shared" / name for name in ("traffic", "traffic2")]


def folders():
    named = os.environ.get("CONFORMANCE_TRAFFIC")
    looked = [Path(name) for name in named.split(os.pathsep) if name] if named else NEAR
    return [folder for folder in looked if folder.is_dir()]


FOLDERS = folders()
ABSENT = "The recorded traffic is not here: name its folders in CONFORMANCE_TRAFFIC."
absent = pytest.mark.skipif(not FOLDERS, reason=ABSENT)


def files(pattern="*/*.json"):
    """Yields the files of all folders: the path in the folder and the file's interactions."""
    for folder in FOLDERS:
        for path in sorted(folder.glob(pattern)):
            yield f"{path.parent.name}/{path.name}", content_of(path)


@cache
def content_of(path):
    return json.loads(path.read_bytes())["interactions"]


def interactions():
    """Yields `(file#n, this, next)` of every recorded chat request."""
    for name, file in files():
        for n, (this, after) in enumerate(zip(file, [*file[1:], None], strict=True)):
            if this["operation"] == "chat":
                yield f"{name}#{n}", this, after


@cache
def errors():
    """Yields the distinct records of all `ERRORS.jsonl`."""
    lines = (
        line
        for folder in FOLDERS
        for line in (folder / "ERRORS.jsonl").read_text(encoding="utf-8").splitlines()
    )
    return [json.loads(line) for line in dict.fromkeys(lines)]


def by_family(cases):
    """Returns the cases `(name, ...)` as parameters: one for each family of recordings."""
    families = {}
    for case in cases:
        families.setdefault(case[0].split("/")[0], []).append(case)
    return [pytest.param(found, id=family) for family, found in sorted(families.items())]


def judge(cases, check):
    """Checks every case, and names all that fail."""
    failed = []
    for name, *case in cases:
        try:
            check(*case)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other cases are judged, too
            failed.append(f"{name}: {type(error).__name__}: {error}")
    assert not failed, f"{len(failed)} of {len(cases)}:\n" + "\n".join(failed)
