"""`python -m fuzz` (with `PYTHONPATH=tests:tests/support`) mutates legal files of each reader, and keeps what breaks it in `build/fuzz/`.

Without atheris, a seed decides; with `--atheris`, coverage leads (`pip install atheris`).
"""

import argparse
import sys
import tempfile
import traceback
import warnings
from hashlib import sha256
from pathlib import Path
from random import Random
from zlib import crc32

from .judgement import Reader, judge
from .mutations import mutated

FOUND = Path("build/fuzz")
OURS = ["ellmer_core", "ellmer_harness", "ellmer_conformance"]


def _readers() -> dict[str, Reader]:
    """Returns the readers. If coverage leads, it must see our modules while they are loaded."""
    if "--atheris" not in sys.argv:
        from .readers import READERS

        return READERS
    import atheris  # only for this

    with atheris.instrument_imports(include=OURS):
        from .readers import READERS
    return READERS


READERS = _readers()


def main() -> int:
    """Runs the mutations, and returns the exit code."""
    options = _options()
    warnings.simplefilter("ignore")
    if options.atheris:
        return _led_by_coverage(options.readers[0], options.runs)
    return max(_tried(name, options.runs, options.seed) for name in options.readers)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz")
    parser.add_argument("readers", nargs="*", default=[*READERS], choices=[*READERS], metavar="READER")
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--atheris", action="store_true", help="let coverage lead the mutations of one reader"
    )
    return parser.parse_args()


def _tried(name: str, runs: int, seed: int) -> int:
    reader, chance, causes = READERS[name], Random(crc32(name.encode()) + seed), {}
    seeds = reader.seeds()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(runs):
            data = mutated(chance.choice(seeds), chance)
            if cause := _cause(reader, data, Path(folder)):
                causes.setdefault(cause, data)
    for cause, data in causes.items():
        print(f"{name}: {_kept(name, data)}\n{cause}", file=sys.stderr)  # noqa: T201
    print(f"{name}: {runs:,} files, {len(causes)} found")  # noqa: T201
    return int(bool(causes))


def _cause(reader: Reader, data: bytes, folder: Path) -> str:
    """Returns the error and the last places of our code, which are the same for the same cause."""
    try:
        judge(reader, data, folder)
    except Exception as error:  # noqa: BLE001 - any error is what is looked for
        places = [
            each for each in traceback.extract_tb(error.__traceback__) if "site-packages" not in each.filename
        ]
        where = " < ".join(f"{Path(each.filename).name}:{each.lineno}" for each in places[:-4:-1])
        return f"  {type(error).__name__} at {where}: {str(error)[:300]!r}"
    return ""


def _kept(name: str, data: bytes) -> Path:
    path = FOUND / name / sha256(data).hexdigest()[:12]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def _led_by_coverage(name: str, runs: int) -> int:
    import atheris

    reader = READERS[name]
    seeds = FOUND / "seeds" / name
    for number, seed in enumerate(reader.seeds()):
        seeds.mkdir(parents=True, exist_ok=True)
        (seeds / str(number)).write_bytes(seed)
    with tempfile.TemporaryDirectory() as folder:

        def once(data: bytes) -> None:
            if cause := _cause(reader, data, Path(folder)):
                raise RuntimeError(f"{_kept(name, data)}{cause}")

        atheris.Setup(["fuzz", f"-runs={runs}", "-max_len=20000", str(seeds)], once, custom_mutator=_mutator)
        atheris.Fuzz()
    return 0


def _mutator(data: bytes, longest: int, seed: int) -> bytes:
    return mutated(data or b"{}", Random(seed))[:longest]


if __name__ == "__main__":
    sys.exit(main())
