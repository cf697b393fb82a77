"""Builds what the page of the judge loads, into `build/judge`: Python for browsers with the rules already in memory.

npm installs Pyodide, which is pinned in `package-lock.json`. A zip has the modules that `judge.py` imports, and
`snapshot.mjs` starts Python with it once and writes its memory. Nothing is built again if nothing changed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from ellmer_conformance.adapters.ellmer_core import providers
from ellmer_conformance.contract import rules
from ellmer_conformance.contract.rulebook import RuleBook
from ellmer_conformance.recordings.corpus.evidence import addresses

__all__ = ["build", "missing", "providers_by_wire"]

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
BUILT = ROOT / "build" / "judge"
#: Pyodide's files that a page loads as they are, and the one that is compressed.
PLAIN, LARGE = ("pyodide.mjs", "pyodide.asm.mjs", "python_stdlib.zip"), "pyodide.asm.wasm"
#: The bytes of a page of memory. Pages of zeros are left out.
PAGE = 4096
#: The modules in this folder that the page runs.
OURS = ("judge.py", "browser/pydantic_core.py")
#: Prints the files of the modules that the judge imports.
TRACE = """
import json, sys
import judge
judge.ready({})
print(json.dumps([m.__file__ for m in sys.modules.values() if getattr(m, "__file__", None)]))
"""


def missing() -> str:
    """Returns the name of the first program that is needed and not there; empty if all are."""
    return next((name for name in ("npm", "node") if shutil.which(name) is None), "")


def build() -> Path:
    """Returns the folder with the files of the page. It takes some twenty seconds, or one if nothing changed."""
    if absent := missing():
        raise RuntimeError(f"the judge needs {absent}: on Debian and Ubuntu, apt-get install npm")
    files = dict(sorted(archived()))
    version = _version(files)
    manifest = BUILT / "files" / "manifest.json"
    if manifest.is_file() and json.loads(manifest.read_text("utf-8"))["version"] == version:
        return manifest.parent
    shutil.rmtree(BUILT, ignore_errors=True)
    manifest.parent.mkdir(parents=True)
    _runtime(manifest.parent)
    _archive(files, manifest.parent / "judge.zip")
    head = _snapshot(manifest.parent)
    sizes = {file.name: file.stat().st_size for file in sorted(manifest.parent.iterdir())}
    about = {"version": version, "sizes": sizes, "head": head, "providers": providers_by_wire()}
    manifest.write_text(json.dumps(about), "utf-8")
    return manifest.parent


def providers_by_wire() -> dict[str, list[str]]:
    """Returns the names of the providers by wire format; a format's own provider comes first."""
    own = {wire: rules.book(wire).provider for wire in rules.WIRES}
    found = {wire: {name} for wire, name in own.items()}
    for each in providers():
        wire, provider = each.key
        found[wire].add(provider)
    return {wire: sorted(names, key=lambda name: (name != own[wire], name)) for wire, names in found.items()}


def evidence() -> dict[str, dict[str, dict[str, list[str]]]]:
    """Returns the pages that prove each rule, by wire format, provider and rule."""
    return {
        wire: {name: _proofs(rules.book(wire, name)) for name in names}
        for wire, names in providers_by_wire().items()
    }


def _proofs(book: RuleBook) -> dict[str, list[str]]:
    found = {rule.id: [*dict.fromkeys(addresses(book, rule))] for rule in book.rules.values()}
    return {rule: pages for rule, pages in found.items() if pages}


def archived() -> Iterator[tuple[str, Path]]:
    """Yields the files of the zip: the names there and here. Of our packages, these are the parts that are imported."""
    yield from ((Path(name).name, HERE / name) for name in OURS)
    for part in sorted({*map(_part, _traced())}):
        base = _above(part)
        yield from ((file.relative_to(base).as_posix(), file) for file in _sources(part))


def _traced() -> Iterator[Path]:
    """Yields the imported modules of our packages and of others, except those of Python itself."""
    environment = {**os.environ, "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", TRACE], env=environment, capture_output=True, text=True, check=True
    )
    for file in map(Path, json.loads(run.stdout)):
        source = file.is_relative_to(ROOT) or "site-packages" in file.parts
        if source and file.parent != HERE and _above(file) / "pydantic_core" not in file.parents:
            yield file


def _above(path: Path) -> Path:
    """Returns the folder that holds the top package of a module."""
    folder = path.parent
    while folder.joinpath("__init__.py").is_file():
        folder = folder.parent
    return folder


def _part(file: Path) -> Path:
    """Returns the part of our packages that a module is in (`ellmer_conformance/contract`), or the whole of another's."""
    base = _above(file)
    return base.joinpath(*file.relative_to(base).parts[: 2 if base in {ROOT, ROOT / "conformance"} else 1])


def _sources(place: Path) -> Iterator[Path]:
    """Yields the files of a module or a package, except compiled ones."""
    files = [place] if place.is_file() else sorted(place.rglob("*"))
    unwanted = {".pyc", ".so", ".pyd", ".pyi"}
    return (file for file in files if file.is_file() and file.suffix not in unwanted)


def _version(files: dict[str, Path]) -> str:
    """Returns a name for the content: of the zip, of Pyodide, and of these scripts."""
    digest = sha256()
    pinned = [HERE / name for name in ("package-lock.json", "snapshot.mjs", "build.py")]
    for name, file in [*files.items(), *((file.name, file) for file in pinned)]:
        digest.update(name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def _runtime(target: Path) -> None:
    """Installs Pyodide, and copies what the page loads of it. It needs no list of other packages."""
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, BUILT)
    npm = ["npm", "ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(BUILT)]
    subprocess.run(npm, check=True)  # noqa: S603 - a fixed command
    runtime = BUILT / "node_modules" / "pyodide"
    for name in PLAIN:
        shutil.copy(runtime / name, target)
    _compressed((runtime / LARGE).read_bytes(), target / f"{LARGE}.gz.bin")
    lock = json.loads((runtime / "pyodide-lock.json").read_text("utf-8"))
    (target / "pyodide-lock.json").write_text(json.dumps({**lock, "packages": {}}), "utf-8")


def _archive(files: dict[str, Path], target: Path) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in files.items():
            archive.writestr(zipfile.ZipInfo(name), file.read_bytes(), zipfile.ZIP_DEFLATED)


def _snapshot(target: Path) -> int:
    """Writes the memory of a Python that has started, and returns the size of the head before it."""
    plain = BUILT / "snapshot.bin"
    runtime = BUILT / "node_modules" / "pyodide"
    node = ["node", str(HERE / "snapshot.mjs"), str(runtime), str(target / "judge.zip"), str(plain)]
    proofs = BUILT / "evidence.json"
    proofs.write_text(json.dumps(evidence()), "utf-8")
    node.append(str(proofs))
    subprocess.run(node, check=True)  # noqa: S603 - our own program
    snapshot = plain.read_bytes()
    head = int.from_bytes(snapshot[4:8], "little")  # Pyodide: a magic number, and where the memory begins
    _compressed(packed(snapshot, head), target / "snapshot.gz.bin")
    plain.unlink()
    return head


def packed(snapshot: bytes, head: int) -> bytes:
    """Returns the head of a snapshot and the parts of its memory that are not zero, a third less, after a list of them."""
    memory = snapshot[head:]
    parts: list[list[int]] = []
    for start in range(0, len(memory), PAGE):
        page = memory[start : start + PAGE]
        if page.count(0) == len(page):
            continue
        if parts and parts[-1][1] == start:
            parts[-1][1] += len(page)
        else:
            parts.append([start, start + len(page)])
    listed = json.dumps({"size": len(memory), "parts": parts}).encode()
    filled = (memory[start:end] for start, end in parts)
    return b"".join([len(listed).to_bytes(4, "little"), listed, snapshot[:head], *filled])


def _compressed(data: bytes, target: Path) -> None:
    target.write_bytes(gzip.compress(data, compresslevel=7, mtime=0))


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    sys.stdout.write(f"{build()}\n")
