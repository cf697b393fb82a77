"""Runs public suites of pytest-recording, from their source distributions, with several recorders in replay mode.

`python bench/suites/run.py [SUITE…] [--ways vcrpy,engine] [--out FILE]` downloads the pinned distributions from PyPI, makes an environment for
each in `build/suites`, runs each suite with vcrpy, with our engine (`ellmer_harness.pytest.vcr_engine`), with vcrpy guarded by
`ellmer_harness.pytest.vcr`, with cassetter, and with our engine in its place (`ellmer_harness.pytest.cassetter_engine`), and prints a table. No line of a suite is changed. Its cassettes are also imported as
ours, which proves every body byte for byte, and searched for secrets. Exit code 1 if a test that passes with vcrpy does not pass with
ours, or if the engine replayed nothing.
Needs `uv` on the path.
"""

# ruff: noqa: S603, S607, T201  # a script, which runs uv and pytest and prints what it measures

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "suites"
VCRPY = "vcrpy==9.4.2"
RECORDING, PYTEST_VCR = "pytest-recording==0.14.1", "pytest-vcr==1.0.2"
CASSETTER = ("cassetter==0.16.1",)


@dataclass(frozen=True)
class Suite:
    """A distribution or a repository with its tests and cassettes, and their dependencies. The version of a repository is a
    commit.
    """

    name: str
    version: str
    needs: tuple[str, ...]
    tests: str = "tests"
    plugin: str | None = RECORDING  # its plugin for vcrpy, if it has one
    of_cassetter: bool = False
    reads_urls: bool = False  # its hooks read the URL of an answer, which vcrpy no longer records
    repository: str | None = None
    ref: str | None = None  # of the repository, if its branches do not have the commit
    installs: tuple[str, ...] = (".",)  # the folders of its packages
    options: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()  # what it asks for when it records; the values are made up

    @property
    def root(self) -> Path:
        """The folder of the unpacked distribution."""
        return FOLDER / f"{self.name.replace('-', '_')}-{self.version}"


_OTEL = ("opentelemetry-sdk==1.45.2", "pytest==8.4.2", "pytest-asyncio==0.23.8")
_ASYNC_1 = ("opentelemetry-sdk==1.45.2", "pytest==8.4.2", "pytest-asyncio==1.2.0")
_LEXICON = "cloudflare or digitalocean or gandi or godaddy or linode or namecheap or ovh or powerdns or route53 or vultr or zonomi"
_PYDANTIC_AI = ("pytest-mock==3.15.1", "dirty-equals==0.11", "pyyaml==6.0.3", "boto3==1.42.63")
_PACKAGES = (
    "pydantic_graph",
    "pydantic_evals",
    "pydantic_ai_slim[openai,anthropic,google,groq,mistral,cohere,bedrock,huggingface]",
)
SUITES = (
    Suite("opentelemetry-instrumentation-anthropic", "0.62.4", (*_OTEL, "anthropic[bedrock]==0.86.0")),
    Suite(
        "opentelemetry-instrumentation-openai",
        "0.62.4",
        (*_OTEL, "openai[datalib]==1.99.7", "requests==2.32.5"),
    ),
    Suite(
        "opentelemetry-instrumentation-bedrock", "0.62.4", (*_OTEL, "aioboto3==14.3.0", "anthropic==0.86.0")
    ),
    Suite("opentelemetry-instrumentation-cohere", "0.62.4", (*_ASYNC_1, "cohere==5.18.0")),
    Suite("opentelemetry-instrumentation-groq", "0.62.4", (*_OTEL, "groq==1.2.0")),
    Suite("opentelemetry-instrumentation-mistralai", "0.62.4", (*_ASYNC_1, "mistralai==1.9.11")),
    Suite(
        "opentelemetry-instrumentation-openai-v2",
        "2.4b0",
        (
            "openai==2.26.0",
            "numpy==2.3.1",
            "pyyaml==6.0.3",
            "pytest==7.4.4",
            "pytest-asyncio==0.21.0",
            "opentelemetry-test-utils==0.60b0",
        ),
        plugin=PYTEST_VCR,
    ),
    Suite(
        "tweepy",
        "c05ba988",
        (
            "aiohttp==3.14.5",
            "async-lru",
            "requests==2.34.2",
            "requests-oauthlib",
            "oauthlib",
            "pytest==8.4.2",
        ),
        plugin=None,
        repository="https://github.com/tweepy/tweepy",
    ),
    Suite(
        "asyncprawcore",
        "761f377",
        ("pytest==9.0.3", "pytest-asyncio==1.4.0"),
        plugin=PYTEST_VCR,
        repository="https://github.com/praw-dev/asyncprawcore",
        reads_urls=True,
    ),
    Suite(
        "asyncpraw",
        "f326791d",
        ("pytest==9.0.3", "pytest-asyncio==1.4.0"),
        plugin=PYTEST_VCR,
        repository="https://github.com/praw-dev/asyncpraw",
        reads_urls=True,
        variables=(
            "prawtest_client_id",
            "prawtest_client_secret",
            "prawtest_username",
            "prawtest_password",
        ),
    ),
    Suite(
        "habanero",
        "461adbc",
        ("pytest==9.0.3", "bibtexparser>=2.0.0b7", "pyyaml==6.0.3"),
        tests="test",
        repository="https://github.com/sckott/habanero",
        options=("-o", "python_files=test*.py"),
    ),
    Suite(
        "pygbif",
        "207bd3c",
        ("pytest==8.4.2",),
        tests="test",
        plugin=None,
        repository="https://github.com/gbif/pygbif",
        options=("-o", "python_files=test*.py"),
    ),
    Suite(
        "dns-lexicon",
        "e23b58aa",
        ("pytest==8.4.2", "boto3>=1.28", "localzone>=0.9.8", "zeep>=3"),
        plugin=None,
        repository="https://github.com/dns-lexicon/dns-lexicon",
        options=("-k", _LEXICON),
    ),
    Suite(
        "oaipmh-scythe",
        "79edafd",
        ("pytest==8.4.2", "pytest-mock", "pytest-httpx2", "respx"),
        of_cassetter=True,
        repository="https://github.com/afuetterer/oaipmh-scythe",
    ),
    Suite(
        "pydantic-ai-4575",  # a branch whose recordings were converted to cassetter's format
        "af507be9",
        (
            *_PYDANTIC_AI,
            "anthropic==0.80.0",
            "cohere==5.20.6",
            "google-genai==1.56.0",
            "groq==0.25.0",
            "huggingface-hub==1.3.4",
            "inline-snapshot==0.31.1",
            "mistralai==1.9.11",
            "openai==2.26.0",
            "pytest==9.0.2",
        ),
        tests="tests/models",
        of_cassetter=True,
        repository="https://github.com/pydantic/pydantic-ai",
        ref="pull/4575/head",
        installs=_PACKAGES,
    ),
    Suite(
        "pydantic-ai-7175",  # a branch with the recordings of vcrpy, which cassetter replays
        "b629b749",
        (
            *_PYDANTIC_AI,
            "anthropic==0.109.0",
            "cohere==5.20.6",
            "google-genai==1.70.0",
            "groq==0.25.0",
            "huggingface-hub==1.16.1",
            "inline-snapshot==0.34.2",
            "mistralai==2.7.1",
            "openai==2.45.0",
            "pytest==9.1.1",
        ),
        tests="tests/models",
        of_cassetter=True,
        repository="https://github.com/pydantic/pydantic-ai",
        ref="pull/7175/head",
        installs=_PACKAGES,
        options=("-k", "test_groq or test_mistral or test_cohere or test_deepseek or test_openrouter"),
    ),
    Suite(
        "llm-openai-plugin",
        "4f1787d",
        ("pytest==8.4.2", "pytest-asyncio", "syrupy", "cogapp"),
        repository="https://github.com/simonw/llm-openai-plugin",
    ),
)


_COUNTS = re.compile(r"(\d+) (replayed|recorded|answered)\b")


@dataclass(frozen=True)
class Way:
    """A way to run a suite: additional packages, and the options of pytest."""

    name: str
    installs: tuple[str, ...]
    options: tuple[str, ...] = ()


WAYS = (
    Way("vcrpy", (VCRPY,), ("-p", "no:ellmer_harness")),
    Way("engine", (VCRPY,), ("-p", "ellmer_harness.pytest.vcr_engine")),
    Way("guard", (VCRPY,), ("-p", "ellmer_harness.pytest.vcr")),
    Way("cassetter", CASSETTER, ("-p", "no:ellmer_harness")),
    Way("cassetter-engine", CASSETTER, ("-p", "ellmer_harness.pytest.cassetter_engine")),
)
_OF_CASSETTER = ("cassetter", "cassetter-engine")


@dataclass(frozen=True)
class Converted:
    """The suite's cassettes as ours: their number, the imported ones, their bytes, and the files with findings."""

    files: int
    imported: int
    before: int
    after: int
    found: int

    def __str__(self) -> str:
        size = f"{self.before / 1e6:.2f} MB | {self.after / 1e6:.2f} MB"
        return f"{self.imported} of {self.files} | {size} | {self.found}"


@dataclass(frozen=True)
class Result:
    """The tests by their outcome, and the total time."""

    passed: frozenset[str]
    failed: frozenset[str]
    seconds: float
    counts: Mapping[str, int] = field(default_factory=dict)
    """Requests that our engine `replayed` and `recorded`, and that a local fake `answered`."""


def main() -> int:
    """Prints the table and returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suites", nargs="*", help="only those whose names contain this")
    parser.add_argument(
        "--ways",
        default="vcrpy,engine,guard,cassetter,cassetter-engine",
        help="the recorders, separated by commas",
    )
    parser.add_argument("--out", type=Path, help="write the table to a file, too")
    options = parser.parse_args()
    chosen = chosen_suites(options.suites)
    ways = [way for way in WAYS if way.name in options.ways.split(",")]
    titles = (
        "suite",
        *(way.name for way in ways),
        "lines changed",
        "cassettes imported",
        "as vcrpy's",
        "as ours",
    )
    lines = [f"| {' | '.join(titles)} | with findings |", "|---|" + "---:|" * len(titles)]
    lost = 0
    for suite in chosen:
        download(suite)
        results = {
            way.name: run(suite, way) for way in ways if way.name in _OF_CASSETTER or not suite.of_cassetter
        }
        lost += told_missing(results)
        cells = [told(results[way.name]) if way.name in results else "" for way in ways]
        lines.append(f"| {suite.name} {suite.version} | {' | '.join(cells)} | 0 | {converted(suite)} |")
        print(lines[-1], flush=True)
    print(*lines, sep="\n")
    if options.out:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 1 if lost else 0


def chosen_suites(words: Sequence[str]) -> list[Suite]:
    """Returns the suites with these names, or whose names contain them; all of them without a word."""
    names = {suite.name for suite in SUITES}
    parts = set(words) - names
    return [
        one for one in SUITES if not words or one.name in words or any(part in one.name for part in parts)
    ]


def told(result: Result) -> str:
    """Returns a cell of the table."""
    played = f", {result.counts['replayed']} replayed" if result.counts.get("replayed") else ""
    return f"{len(result.passed)} pass, {len(result.failed)} fail, {result.seconds:.0f} s{played}"


def told_missing(results: dict[str, Result]) -> int:
    """Names the tests that pass with vcrpy and not with ours, and an engine that was not used. Returns their number."""
    nothing = Result(frozenset(), frozenset(), 0)
    theirs = {"engine": "vcrpy", "guard": "vcrpy", "cassetter-engine": "cassetter"}
    ours = [(name, result) for name, result in results.items() if name in theirs]
    found = [
        f"not with {name}: {test}"
        for name, result in ours
        for test in sorted(results.get(theirs[name], nothing).passed - result.passed)
    ]
    found += [
        f"the {name} replayed nothing"
        for name, result in ours
        if name.endswith("engine") and not result.counts.get("replayed")
    ]
    print(*found, sep="\n", file=sys.stderr)
    return len(found)


def download(suite: Suite) -> None:
    """Unpacks the source distribution, or clones the repository."""
    if suite.root.exists():
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    if suite.repository:
        subprocess.run(["git", "clone", "-q", suite.repository, str(suite.root)], check=True)
        if suite.ref:
            subprocess.run(["git", "fetch", "-q", "origin", suite.ref], cwd=suite.root, check=True)
        subprocess.run(["git", "checkout", "-q", suite.version], cwd=suite.root, check=True)
        return
    pinned = f"{suite.name}=={suite.version}"
    command = ["uv", "tool", "run", "pip", "download", "-q", "--no-deps", "--no-binary", suite.name]
    subprocess.run([*command, "-d", str(FOLDER), pinned], check=True)
    with tarfile.open(f"{suite.root}.tar.gz") as archive:
        archive.extractall(FOLDER, filter="data")


def python_of(suite: Suite, way: Way) -> Path:
    """Returns an environment for the suite with the packages of the way. It is made once."""
    kind = "cassetter" if way.installs == CASSETTER else "vcrpy"
    folder = FOLDER / f"env-{suite.name}-{kind}"
    python = folder / "bin" / "python"
    if not (folder / "done").exists():
        subprocess.run(["uv", "venv", "-q", "--clear", "--python", sys.executable, str(folder)], check=True)
        plugin = [] if kind == "cassetter" else [*filter(None, [suite.plugin])]
        packages = [
            *(f"{suite.root}/{folder}" for folder in suite.installs),
            *suite.needs,
            *way.installs,
            *plugin,
            "cryptography",
            "-e",
            f"{ROOT}[harness]",
        ]
        subprocess.run(
            ["uv", "pip", "install", "-q", "--python", str(python), *packages],
            check=True,
            env={**os.environ, "UV_DYNAMIC_VERSIONING_BYPASS": "9.9.9"},  # a copy may lack its tags
        )
        (folder / "done").touch()
    return python


def converted(suite: Suite) -> Converted:
    """Imports the suite's cassettes, and searches them for secrets."""
    tool = python_of(suite, WAYS[1]).with_name("ellmer-harness")
    theirs, ours = suite.root / suite.tests, FOLDER / f"{suite.name}-imported"
    shutil.rmtree(ours, ignore_errors=True)
    command = [str(tool), "import", str(theirs), "--mask", "--out", str(ours)]
    imported = subprocess.run(command, check=False, capture_output=True, text=True).stdout
    scanned = subprocess.run(
        [str(tool), "scan", str(theirs)], check=False, capture_output=True, text=True
    ).stdout
    cassettes = cassettes_of(suite.root)
    return Converted(
        files=len(cassettes),
        imported=int(re.findall(r"(\d+) recordings? imported", imported)[-1]),
        before=sum(path.stat().st_size for path in cassettes),
        after=sum(path.stat().st_size for path in ours.rglob("*") if path.is_file()),
        found=len({line.split(":")[0] for line in scanned.splitlines() if "fingerprint" in line}),
    )


def cassettes_of(root: Path) -> list[Path]:
    """Returns the recordings in a suite: the files in folders that are named for cassettes."""
    files = [path for path in root.rglob("*") if path.suffix in {".yaml", ".yml", ".json"} and path.is_file()]
    return [path for path in files if any("cassette" in part for part in path.relative_to(root).parts[:-1])]


def run(
    suite: Suite, way: Way, root: Path | None = None, options: Sequence[str] = (), **variables: str
) -> Result:
    """Runs the tests offline with their own cassettes, in the suite's folder or a copy."""
    root = root or suite.root
    report = FOLDER / f"{suite.name}-{way.name}.xml"
    python = str(python_of(suite, way))
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
    own = ["--rootdir", str(root)]  # not those of this project
    if (root / "pyproject.toml").exists():
        own += ["-c", str(root / "pyproject.toml")]
    report.unlink(missing_ok=True)
    since = time.perf_counter()
    done = subprocess.run(
        [*command, *own, *way.options, *suite.options, *options, suite.tests],
        cwd=root,
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root), **variables},
    )
    report.with_suffix(".log").write_text(done.stdout + done.stderr, encoding="utf-8")
    counts = {kind: int(number) for number, kind in _COUNTS.findall(done.stdout)}
    seconds = time.perf_counter() - since
    if not report.exists():  # pytest did not get as far as the tests
        return Result(frozenset(), frozenset(), seconds)
    cases = [*ET.parse(report).getroot().iter("testcase")]  # noqa: S314  # pytest wrote it
    names = {f"{case.get('classname')}::{case.get('name')}": {part.tag for part in case} for case in cases}
    failed = {name for name, parts in names.items() if parts & {"failure", "error"}}
    passed = {name for name, parts in names.items() if not parts & {"failure", "error", "skipped"}}
    return Result(frozenset(passed), frozenset(failed), seconds, counts)


if __name__ == "__main__":
    raise SystemExit(main())
