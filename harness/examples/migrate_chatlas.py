"""Moves a real suite from vcrpy to ellmer_harness, and measures before and after, for docs/recordings/migrate.md.

    python harness/examples/migrate_chatlas.py            # the cassettes: a minute
    python harness/examples/migrate_chatlas.py --suite    # and the tests themselves, in an environment of their own

The suite is that of chatlas 0.23.0 (MIT), whose source distribution on PyPI includes its 192 cassettes. It is
downloaded into a temporary folder, and is not part of this repository.
"""

# ruff: noqa: INP001, S603, T201  # a script, which runs pip and pytest and prints what it measures

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import vcr
import vcr.errors

from ellmer_harness import use_cassette
from ellmer_harness.cli import main as ellmer_harness
from ellmer_harness.recordings import Interaction, read

SDIST = "chatlas==0.23.0"
NEEDS = """
    google-genai==2.10.0 anthropic[bedrock]>=1 aiohttp<3.14 mcp>=2 opentelemetry-sdk databricks-sdk tiktoken tenacity
    pytest pytest-asyncio pytest-recording syrupy vcrpy>=9.3,<10
    matplotlib pandas polars narwhals shiny shinychat python-dotenv
"""
WORKSPACE = "dummy-databricks-host"  # as the tests call it where there is no account
# Step 2 of the page: what this suite needs besides the defaults.
MIGRATE = ["--mask", "--recorded-from=live", "--keep-header=x-goog-upload-*"]
MIGRATE += ["--secret=DATABRICKS_HOST=adb-138962681435081.1.azuredatabricks.net"]
# Step 3: the conftest says what vcr_config and vcr_cassette_dir said.
CONFTEST = """

from ellmer_harness import Match


@pytest.fixture
def cassette_folder(request):
    return request.path.parent / "_vcr" / request.path.stem


@pytest.fixture
def cassette_match(vcr_config):
    return Match(body="body" in vcr_config["match_on"], ignore=("?beta",))


@pytest.fixture
def cassette_options():
    return {
        "allow_hosts": ("localhost", "127.0.0.1"),
        "patchers": ["urllib3", "aiohttp"],
        "secrets": {"DATABRICKS_HOST": "dummy-databricks-host"},
    }
"""
MATCH_ON = ["method", "scheme", "host", "port", "path", "query", "body"]
REPEATS = 3
Answer = tuple[int, bytes] | None
Opened = Callable[[Path], AbstractContextManager[Any]]


def stock(path: Path) -> AbstractContextManager[Any]:
    """Returns a cassette as vcrpy plays it."""
    opened: AbstractContextManager[Any] = vcr.use_cassette(path, record_mode="none", match_on=MATCH_ON)
    return opened


def ours(path: Path) -> AbstractContextManager[Any]:
    """Returns the same cassette in the harness. Unused recordings are allowed."""
    return use_cassette(path, allow_idle=True, allow_unused=True, secrets={"DATABRICKS_HOST": WORKSPACE})


def cassettes(folder: Path) -> dict[Path, list[Interaction]]:
    """Returns every cassette of a folder with its content."""
    found = {path: read(path) for path in sorted(folder.rglob("*")) if path.suffix in {".yaml", ".json"}}
    return {path: each.interactions for path, each in found.items() if each}


def seconds(work: Callable[[], object]) -> float:
    """Returns the median of some runs."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def load(found: dict[Path, list[Interaction]], opened: Opened) -> None:
    """Opens and closes each cassette."""
    for path in found:
        with opened(path):
            pass


def replay(found: dict[Path, list[Interaction]], opened: Opened) -> list[Answer]:
    """Sends all recorded requests in order, and returns the answers."""
    got = []
    with httpx.Client() as client:  # one for all: making one takes longer than all of this
        for path, interactions in found.items():
            with opened(path):
                got += [answer(client, each) for each in interactions]
    return got


def answer(client: httpx.Client, it: Interaction) -> Answer:
    """Returns status and body, or `None` if vcrpy does not find its own recording."""
    headers = {name: value for name, value in it.sent if name == "content-type"}
    url = it.url.replace("<DATABRICKS_HOST>", WORKSPACE)
    try:
        response = client.request(it.method, url, content=it.body or None, headers=headers)
    except vcr.errors.CannotOverwriteExistingCassetteException:
        return None
    return response.status_code, response.content


def size(folder: Path) -> int:
    """Returns the bytes of all files."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measured(folder: Path, opened: Opened) -> tuple[dict[str, float], list[Answer]]:
    """Returns the numbers and the answers of one side."""
    found = cassettes(folder)
    answers = replay(found, opened)
    numbers = {
        "size, MB": size(folder) / 1e6,
        "load all, s": seconds(lambda: load(found, opened)),
        "load and replay all, s": seconds(lambda: replay(found, opened)),
    }
    return numbers, answers


def download(folder: Path) -> Path:
    """Returns the source distribution, unpacked."""
    command = ("-m", "pip", "download", "-q", "--no-binary", ":all:", "--no-deps", "-d", str(folder), SDIST)
    subprocess.run((sys.executable, *command), check=True)
    [archive] = folder.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return archive.with_name(archive.name.removesuffix(".tar.gz"))


def scan(folder: Path) -> None:
    """Returns the findings of the scan by kind."""
    with redirect_stdout(StringIO()) as out:
        ellmer_harness(["scan", str(folder)])
    *lines, last = out.getvalue().splitlines()
    kinds = Counter(line.partition(": /")[2].partition(": ")[2].partition(" (")[0] for line in lines)
    print(*(f"{count:4} × {kind}" for kind, count in kinds.most_common()), last, sep="\n")


def compare(before: Path, after: Path) -> None:
    """Prints the table, and tells whether both sides give the same answers."""
    old, answers_before = measured(before, stock)
    new, answers_after = measured(after, ours)
    print(f"\n| | vcrpy {vcr.__version__} | ellmer_harness | |\n|---|---:|---:|---:|")
    for name in old:
        print(f"| {name} | {old[name]:.2f} | {new[name]:.2f} | {old[name] / new[name]:.1f}× |")
    played = [(a, b) for a, b in zip(answers_before, answers_after, strict=True) if a is not None]
    print(f"\nof {len(answers_after)} requests, vcrpy finds {len(played)}, ellmer_harness all")
    print(
        f"{sum(a == b for a, b in played)} of {len(played)} answers are the same on both sides, byte for byte"
    )


def run_suite(root: Path, folder: Path) -> None:
    """Runs chatlas' own tests with cassettes, with pytest-recording and then with the harness."""
    subprocess.run((sys.executable, "-m", "venv", str(folder / "venv")), check=True)
    python = folder / "venv" / "bin" / "python"
    subprocess.run(
        (
            str(python),
            "-m",
            "pip",
            "install",
            "-q",
            str(root),
            str(Path(__file__).parents[2]),
            *NEEDS.split(),
        ),
        check=True,
    )
    print("\nwith pytest-recording:", pytest(python, root, "-m", "vcr", "-p", "no:ellmer_harness"))
    for file in (root / "tests").glob("*.py"):
        file.write_text(file.read_text().replace("pytest.mark.vcr", "pytest.mark.cassette"))
    conftest = root / "tests" / "conftest.py"
    conftest.write_text(conftest.read_text() + CONFTEST)
    ellmer_harness(["migrate", str(root / "tests" / "_vcr"), *MIGRATE])
    print("with ellmer_harness:  ", pytest(python, root, "-m", "cassette", "-p", "no:recording"))


def pytest(python: Path, root: Path, *arguments: str) -> str:
    """Returns the last line."""
    command = (str(python), "-m", "pytest", "tests", "-q", "-p", "no:cacheprovider", *arguments)
    result = subprocess.run(
        command, cwd=root, capture_output=True, text=True, check=False
    )  # it has failing tests
    (root.parent / f"{arguments[1]}.log").write_text(result.stdout + result.stderr)
    return str(result.stdout.strip().splitlines()[-1])


def main() -> None:
    """Runs all steps."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--suite", action="store_true", help="run the tests, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        root = download(folder)
        before, after = root / "tests" / "_vcr", folder / "after"
        shutil.copytree(before, after)
        print("$ ellmer-harness scan tests/_vcr")
        scan(before)
        print("\n$ ellmer-harness migrate tests/_vcr")
        ellmer_harness(["migrate", str(after)])
        print("\n$ ellmer-harness migrate tests/_vcr", *MIGRATE)
        ellmer_harness(["migrate", str(after), *MIGRATE])
        compare(before, after)
        if options.suite:
            run_suite(root, folder)


if __name__ == "__main__":
    main()
