# /// script
# dependencies = ["nox>=2026.7"]
# ///
"""The sessions for working on this project: `nox -l` lists them, `nox -s NAME` runs one."""

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from urllib.request import urlopen

import nox

nox.needs_version = ">=2025.5"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["conformance", "tests", "calibrate", "lint", "types"]

#: The optional dependencies that the tests need.
EXTRAS = "cluster,conformance,console,documents,html,images,mcp,otel,redis,shiny,store"

PYPROJECT = nox.project.load_toml("pyproject.toml")

#: Sessions that replay run without keys, so that nothing can go live by accident.
OFFLINE: dict[str, str | None] = {
    "NO_COLOR": None if os.environ.get("FORCE_COLOR") else os.environ.get("NO_COLOR"),
    **{name: None for name in os.environ if name.endswith(("_API_KEY", "_TOKEN", "_SECRET"))},
    "PYTHONDONTWRITEBYTECODE": None,  # tests start many processes: they share what was compiled
    "PYTEST_ADDOPTS": "-p no:shiny-test -p no:hypothesispytest -p no:anyio -p no:platformdirs",  # unused, slow to load
}

#: Each worker begins with a half of its own, so that few files share their servers and imports between the two.
WORKERS = ("-n", "2", "--dist", "worksteal")


def group(name: str) -> list[str]:
    """Returns the packages of a dependency group."""
    return list(nox.project.dependency_groups(PYPROJECT, name))


def traffic() -> list[str]:
    """The folders in CONFORMANCE_TRAFFIC; without any, those of ../shared that are there."""
    named = os.environ.get("CONFORMANCE_TRAFFIC", "").split(os.pathsep)
    beside = sorted(map(str, Path("../shared").glob("traffic*/")))
    return [folder for folder in named if folder] or beside


@nox.session
def conformance(session: nox.Session) -> None:
    """Replay every case on every wire format, offline, and print the matrix."""
    session.install("-e", ".[conformance]", "pytest-xdist>=3.6")
    workers = ("--workers", str(min(4, os.cpu_count() or 1)))
    session.run(
        "conformance", "run", "--report", "build/conformance", *workers, *session.posargs, env=OFFLINE
    )


@nox.session(default=False)
def ways(session: nox.Session) -> None:
    """Run every case with two workers against the strict server, through a command, and as a test class."""
    session.install("-e", ".[conformance]", "openai>=3", "pytest-xdist>=3.6")
    server = ("--against", "server", "--wire", "*", "--workers", "2")
    session.run("conformance", "run", *server, "--report", "build/ways/server", *session.posargs, env=OFFLINE)
    command = (
        "--command",
        "python examples/driver-python/driver.py",
        "--wire",
        "openai-chat",
        "--workers",
        "2",
    )
    session.run(
        "conformance", "run", *command, "--report", "build/ways/command", *session.posargs, env=OFFLINE
    )
    session.run("python", "tests/support/measure_coverage.py", "--check", env=OFFLINE)
    session.run("pytest", *WORKERS, "conformance/tests/ways", env=OFFLINE)
    with session.chdir("examples/adapter-pytest"):
        session.run("pytest", "-q", "-n", "2", env=OFFLINE)  # it passes with what its baseline expects


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests of the library, the harness and the suite (`-- --changed`: only those that reach the change)."""
    session.install("-e", f".[{EXTRAS}]", *group("tests"))
    if session.posargs[:1] == ["--changed"]:
        session.run("python", "-m", "devtools.test_selection.changed", *session.posargs[1:], env=OFFLINE)
    else:
        session.run("pytest", *(session.posargs or WORKERS), env=OFFLINE)


@nox.session(default=False)
def tools(session: nox.Session) -> None:
    """Run the tests of developers' tools, benchmarks and flows."""
    session.install("-e", f".[{EXTRAS}]", *group("tests"))
    tested = ("tests/bench", "tests/devtools", "tests/flows")
    session.run("pytest", *(session.posargs or [*WORKERS, *tested]), env=OFFLINE)


@nox.session(default=False)
def slow(session: nox.Session) -> None:
    """Run the tests that take long, which `nox -s tests` leaves out: those that start pytest, build packages, break adapters on purpose, or try
    many generated values. Those of the invariants try few (`nox -s invariants` tries all).
    """
    session.install("-e", f".[{EXTRAS}]", *group("tests"))
    session.run("pytest", *(session.posargs or [*WORKERS, "-m", "slow or invariants"]), env=OFFLINE)


@nox.session(default=False)
def openapi(session: nox.Session) -> None:
    """Let tools of others read the OpenAPI documents, and test the strict server with them: a validator, Schemathesis, code
    generators, and Prism (needs npm).
    """
    session.install("-e", ".[conformance]", "pytest>=8", *group("openapi"))
    tools = Path("build/openapi").absolute()
    packages = ("@stoplight/prism-cli@5", "openapi-typescript@7")
    session.run("npm", "install", "--silent", "--prefix", str(tools), *packages, external=True)
    more = {"OPENAPI_TOOLS": str(tools / "node_modules" / ".bin")}
    session.run("pytest", *(session.posargs or ["conformance/tests/openapi"]), env={**OFFLINE, **more})


@nox.session(default=False)
def browser(session: nox.Session) -> None:
    """Open the chat app, its demo, exported pages and the site's judge in a real browser (apt-get install chromium npm)."""
    session.install("-e", ".[conformance,demo,html]", *group("browser"), *group("docs"))
    session.run("pytest", *(session.posargs or ["tests/browser"]), env=OFFLINE)


@nox.session(default=False)
def services(session: nox.Session) -> None:
    """Test shared stores with real Redis and S3 servers (apt-get install redis-server), and the linter on a Dask cluster."""
    session.install("-e", f".[{EXTRAS}]", *group("services"))
    session.run(
        "pytest",
        *(session.posargs or ["harness/tests/services", "conformance/tests/services"]),
        env={**OFFLINE, "SERVICES_REQUIRED": "1"},
    )


@nox.session(default=False)
def node(session: nox.Session) -> None:
    """Judge the examples in Node.js, one of them through the official SDK (needs npm), and in Go, Java and Ruby if
    installed; and test the reader of cassettes in TypeScript.
    """
    session.install("-e", f".[{EXTRAS}]", *group("tests"))
    session.run("npm", "ci", "--silent", "--prefix", "examples/driver-node", external=True)
    session.run("npm", "ci", "--silent", "--prefix", "examples/web-chat", external=True)
    session.run("pytest", "-n", "2", "conformance/tests/languages", *session.posargs, env=OFFLINE)
    session.run("npm", "ci", "--silent", "--prefix", "examples/cassette-reader", external=True)
    session.run("npm", "test", "--prefix", "examples/cassette-reader", external=True)


@nox.session(default=False)
def agents(session: nox.Session) -> None:
    """Run the test suites of the same agent in Python, TypeScript (needs npm) and Go (if it is installed)."""
    session.install("-e", ".[conformance]", "openai>=3", "pytest>=8")
    place = Path("examples/tested-agent").absolute()
    with session.chdir(place / "python"):
        session.run("pytest", env=OFFLINE)
    with session.chdir(place / "typescript"):
        session.run("npm", "install", "--silent", external=True)
        session.run("npm", "test", env=OFFLINE, external=True)
    if not shutil.which("go"):
        session.warn("go is not installed, so the suite in Go did not run")
        return
    with session.chdir(place / "go"):
        session.run("go", "test", "./...", env=OFFLINE, external=True)


@nox.session(default=False)
def testers(session: nox.Session) -> None:
    """Let the testers that others wrote test the strict server: llm-comply and CompatCanary (needs npm)."""
    session.install("-e", ".[conformance]", "llm-comply")
    tools = Path("build/testers").absolute()
    session.run("npm", "install", "--silent", "--prefix", str(tools), "compatcanary", external=True)
    session.run("python", "-m", "devtools.comparisons.testers", str(tools), env=OFFLINE)


#: The examples that need nothing but a language: its tool, how the example is built, and how it is run.
DRIVERS: dict[str, tuple[tuple[str, ...], str]] = {
    "go": (
        ("build", "-o", "build/drivers/go", "examples/driver-go/driver.go", "examples/driver-go/wire.go"),
        "build/drivers/go",
    ),
    "javac": (
        (
            "-d",
            "build/drivers/java",
            *(f"examples/driver-java/{name}.java" for name in ("Driver", "Json", "Wire")),
        ),
        "java -cp build/drivers/java Driver",
    ),
    "ruby": ((), "ruby examples/driver-ruby/driver.rb"),
    "node": ((), "node examples/driver-fetch/driver.mjs"),
}


@nox.session(default=False)
def drivers(session: nox.Session) -> None:
    """Run every case with the examples in Go, Java, Ruby and Node.js. Missing toolchains are listed."""
    session.install("-e", ".[conformance]")
    missing = [tool for tool in DRIVERS if shutil.which(tool) is None]
    for tool, (build, command) in DRIVERS.items():
        if tool in missing:
            session.warn(f"not run: {command}, because there is no {tool} here")
            continue
        if build:
            session.run(tool, *build, external=True)
        run = (
            "run",
            "--command",
            command,
            "--wire",
            "openai-chat",
            "--report",
            f"build/drivers/{tool}-report",
        )
        session.run("conformance", *run, *session.posargs, env=OFFLINE)
    if missing:
        session.skip(
            f"there is no {', no '.join(missing)}: apt-get install golang-go default-jdk-headless ruby nodejs"
        )


@nox.session(default=False)
def nightly(session: nox.Session) -> None:
    """Run the tests, with 200 new examples of each property, and the suite; what is stale or retires soon is an error."""
    session.install("-e", f".[{EXTRAS}]", *group("tests"))
    strict = {**OFFLINE, "CASSETTE_STALE": "error", "MODELS_AS_OF": datetime.now(UTC).date().isoformat()}
    strict["NEW_EXAMPLES"] = "200"
    session.run(
        "pytest",
        "-p",
        "ellmer_conformance.contract.changes.retired_models",
        *(session.posargs or WORKERS),
        env=strict,
    )
    session.run("conformance", "run", "--every-mode", env=strict)


@nox.session(default=False)
def exhaustive(session: nox.Session) -> None:
    """Split every recorded stream at every place, and in every other way. It takes an hour (`-- -k anthropic`)."""
    session.install("-e", f".[{EXTRAS}]", *group("tests"))
    posargs = session.posargs or ["-n", "2"]
    session.run("pytest", "-v", "conformance/tests/runner/exhaustive.py", *posargs, env=OFFLINE)


@nox.session(default=False)
def fuzz(session: nox.Session) -> None:
    """Mutate answers, requests and files, 50,000 of each kind (`-- -k anthropic`). The tests use a sample of them."""
    session.install("-e", f".[{EXTRAS}]", *group("tests"))
    session.run(
        *("pytest", "-n", "auto", "tests/hostile/test_fuzz.py", "conformance/tests/test_fuzz.py"),
        *session.posargs,
        env={**OFFLINE, "FUZZ": os.environ.get("FUZZ", "50000")},
    )
    if not session.posargs:
        fuzz_files(session, "--runs", os.environ.get("FUZZ", "5000"))


def fuzz_files(session: nox.Session, *arguments: str) -> None:
    """Mutates the files of `tests/fuzz`."""
    path = os.pathsep.join(("tests", "tests/support"))
    session.run("python", "-m", "fuzz", *arguments, env={**OFFLINE, "PYTHONPATH": path})


@nox.session(default=False, python="3.11")
def fuzz_by_coverage(session: nox.Session) -> None:
    """Let atheris lead the mutations of files by the code that they reach, 20,000 for each reader (`-- saved-chat`: only this one)."""
    session.install("-e", f".[{EXTRAS}]", *group("tests"), "atheris>=3")
    readers = session.posargs or sorted(folder.name for folder in Path("tests/fuzz/found").iterdir())
    for reader in readers:
        fuzz_files(session, reader, "--atheris", "--runs", os.environ.get("FUZZ", "20000"))


@nox.session(default=False)
def news(session: nox.Session) -> None:
    """List what the newest SDKs, service models and prices have that this project neither knows nor has declined."""
    session.install("-e", ".[conformance]", "pip")
    session.run("python", "-m", "devtools.news", *session.posargs, env=OFFLINE)


@nox.session(default=False)
def invariants(session: nox.Session) -> None:
    """Execute the six invariants, with counts (`-- 5`: more cases; `-- --defects`: known defects are put back)."""
    session.install("-e", f".[{EXTRAS}]", *group("tests"))
    session.run("python", "-m", "devtools.invariants", *session.posargs, env=OFFLINE)


@nox.session(default=False)
def audit(session: nox.Session) -> None:
    """Look up every dependency in the database of vulnerabilities. It is skipped without a network."""
    try:
        urlopen("https://pypi.org/pypi/pip/json", timeout=10).close()
    except OSError as error:
        session.skip(f"the database of holes cannot be reached: {error}")
    session.install("pip-audit", "-e", f".[{EXTRAS}]")
    session.run("pip-audit", "--skip-editable", *session.posargs)


@nox.session(default=False)
def sweep(session: nox.Session) -> None:
    """Judge the library's requests for all features. It takes minutes (`-- --page` writes the page)."""
    session.install("-e", f".[{EXTRAS}]", *group("tests"))
    session.run("python", "-m", "sweep", *session.posargs, env={**OFFLINE, "PYTHONPATH": "tests"})


@nox.session(default=False)
def record(session: nox.Session) -> None:
    """Record the cassettes again: live if a key is set, otherwise from the strict server."""
    session.install("-e", ".[conformance]")
    session.run("conformance", "record", *session.posargs)


@nox.session
def calibrate(session: nox.Session) -> None:
    """Fetch the corpus of real traffic, and compare the rules with the verdicts of the real APIs.

    The folders in CONFORMANCE_TRAFFIC are judged, too. Its default is the existing folders of ../shared.
    """
    session.install("-e", ".[conformance]")
    folders = traffic()
    session.run("conformance", "corpus", "fetch", success_codes=[0, 2])  # 2: offline, what is here is judged
    if folders:
        session.run("conformance", "lint", "--jobs", "0", *session.posargs, *folders)
    env = {**OFFLINE, "CONFORMANCE_TRAFFIC": os.pathsep.join(folders)}
    session.run("conformance", "corpus", "verify", env=env, success_codes=[0, 2])  # 2: nothing is there
    session.run("conformance", "calibrate", "--jobs", "0", env=env)


@nox.session(default=False)
def real(session: nox.Session) -> None:
    """Replay recorded conversations with the answers of real APIs to our client (`-- --adapter NAME`: to another one).

    They come from the corpus, and from the folders that `calibrate` judges.
    """
    session.install("-e", ".[conformance]")
    env = {**OFFLINE, "CONFORMANCE_TRAFFIC": os.pathsep.join(traffic())}
    report = ("--report", "build/real")
    session.run("conformance", "corpus", "fetch", success_codes=[0, 2])  # 2: offline
    session.run("conformance", "run", "--against", "recordings", *report, *session.posargs, env=env)


#: The official SDKs and documents that the shapes are built from; `MORE_SOURCES` are not in the group `sdks`.
MORE_SOURCES = (
    "cerebras-cloud-sdk",
    "google-ai-generativelanguage",
    "google-api-python-client",
    "groq",
)


@nox.session(default=False)
def shapes(session: nox.Session) -> None:
    """Build the shapes of the wire formats again from the newest SDKs. Read the diff (`-- --schemas FOLDER`)."""
    session.install("-U", "-e", ".[conformance]", *group("tests"), *group("sdks"), *MORE_SOURCES)
    session.run("python", "conformance/shapes/build_shapes.py", *session.posargs)
    session.run(
        "git", "diff", "--stat", "--", "conformance/ellmer_conformance/contract/shapes", external=True
    )


@nox.session(default=False)
def mutants(session: nox.Session) -> None:
    """Derive malformed requests by the official types, and count how many the strict server refuses."""
    session.install("-e", ".[conformance]", *group("tests"), *group("sdks"), *MORE_SOURCES)
    schemas = ("--schemas", "../shared/schemas") if Path("../shared/schemas").is_dir() else ()
    requests = session.posargs or traffic() or ["cassettes"]
    session.run("python", "conformance/shapes/mutants.py", "--missed", *schemas, *requests, env=OFFLINE)


@nox.session(name="mutants-of-code", default=False)
def mutants_of_code(session: nox.Session) -> None:
    """Change lines of code, one at a time, and see that a test fails (`-- --sample 30 --seed 2 --only wire/`)."""
    session.install("-e", f".[{EXTRAS}]", *group("tests"))
    if not Path("build/reach.sqlite").is_file():
        session.run("python", "-m", "devtools.test_selection.reach", *WORKERS, env=OFFLINE)
    session.run("python", "-m", "devtools.mutation.mutants", *session.posargs, env=OFFLINE)


@nox.session(default=False)
def legal(session: nox.Session) -> None:
    """Derive legal requests by the official types, and list those that the strict server refuses."""
    session.install("-e", ".[conformance]", *group("tests"), *group("sdks"), *MORE_SOURCES)
    requests = session.posargs or ["cassettes"]
    session.run("python", "conformance/shapes/legal.py", "--refused", *requests, env=OFFLINE)


@nox.session(default=False)
def oracles(session: nox.Session) -> None:
    """Compare every recorded request and answer with the official types, and test the strict server with the official
    SDKs.
    """
    session.install("-e", f".[{EXTRAS}]", *group("tests"), *group("sdks"), *MORE_SOURCES, "uv")
    session.run("python", "conformance/shapes/oracles.py", *(session.posargs or ["cassettes"]), env=OFFLINE)
    agents = "conformance/tests/contract/test_replayed_model.py"
    session.run("pytest", *WORKERS, "conformance/tests/oracles", agents, "harness/tests/sdks", env=OFFLINE)


#: GitHub's files, by the schema that they must fit.
GITHUB = {
    "github-actions": [Path("action.yml")],
    "github-workflows": sorted(Path(".github/workflows").glob("*.yml")),
    "dependabot": [Path(".github/dependabot.yml")],
    "github-issue-forms": [
        file for file in sorted(Path(".github/ISSUE_TEMPLATE").glob("*.yml")) if file.stem != "config"
    ],
    "github-issue-config": [Path(".github/ISSUE_TEMPLATE/config.yml")],
    "citation-file-format": [Path("CITATION.cff")],
}

#: The files in which the words of docs/_site/_words.txt are searched.
PROSE = (
    *("README.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "docs", "harness/README.md"),
    *("conformance/README.md", "examples", ".github"),
)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and format."""
    session.install(*group("lint"))
    session.run("ruff", "check", *session.posargs)
    session.run("ruff", "format", "--check")
    for schema, files in GITHUB.items():
        session.run("check-jsonschema", "--builtin-schema", f"vendor.{schema}", *map(str, files))
    session.run("zizmor", "--offline", "--quiet", "--no-progress", ".github", "action.yml")
    session.run(
        "codespell", "--dictionary", "docs/_site/_words.txt", "--skip", "docs/_site/*,*/node_modules", *PROSE
    )
    session.run("pre-commit", "validate-manifest", ".pre-commit-hooks.yaml")


@nox.session
def types(session: nox.Session) -> None:
    """Check types: the sources with mypy (strict) and pyright, and users' code with pyright and the installed wheel."""
    session.install("-e", f".[{EXTRAS}]", *group("types"))
    session.run("mypy", *session.posargs)
    session.run("pyright")
    session.run("pytest", "-q", "typing_tests/test_closed_union.py")
    user = Path("build/types")
    shutil.rmtree(user, ignore_errors=True)
    shutil.copytree("typing_tests", user / "typing_tests")
    shutil.copytree("examples/programs", user / "programs")
    shutil.copy("typing_tests/pyright.json", user / "pyrightconfig.json")
    session.run("python", "typing_tests/pages.py", str(user / "pages"))
    session.run("uv", "build", "--quiet", "--wheel", "--out-dir", str(user), external=True)
    session.run("uv", "venv", "--quiet", "--clear", "--python", "python", str(user / "venv"), external=True)
    (wheel,) = user.glob("*.whl")
    wanted = f"{wheel}[{EXTRAS}]"
    more = ("matplotlib", "numpy", "opentelemetry-sdk", "polars", "pytest")  # what the programs import
    session.run("uv", "pip", "install", "-q", f"--python={user / 'venv'}", wanted, *more, external=True)
    session.run("pyright", "-p", str(user))


@nox.session(default=False)
def inspect(session: nox.Session) -> None:
    """Test the bridge to inspect-ai, which has eighty dependencies."""
    session.install("-e", ".[harness,inspect]", *group("tests"))
    session.run("pytest", "tests/inspect_ai/test_inspect_ai.py", *session.posargs, env=OFFLINE)


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Measure speed: `-- core`, `replay`, `recording` or `server`; without arguments all four (`-- all --quick`)."""
    session.install("-e", f".[{EXTRAS}]", *group("tests"))
    session.run("python", "-m", "bench", *(session.posargs or ["all"]), env=OFFLINE)


@nox.session(default=False)
def bench_browser(session: nox.Session) -> None:
    """Measure the frames of the chat app while an answer of 2,000 chunks streams (apt-get install chromium)."""
    session.install("-e", ".[demo,html]", *group("browser"))
    session.run("python", "-m", "bench", "browser")


@nox.session(default=False)
def bench_suites(session: nox.Session) -> None:
    """Run public suites of vcrpy's users with vcrpy, with ours and with cassetter, unchanged (`-- openai`: only
    some).
    """
    session.install("uv")
    session.run("python", "bench/suites/run.py", "--out", "build/suites/table.md", *session.posargs)


@nox.session(default=False)
def bench_suites_again(session: nox.Session) -> None:
    """Record the same suites again against local fakes, with vcrpy and with ours (`-- groq`: only some; `--cassetter`)."""
    session.install("uv")
    session.run("python", "bench/suites/rerecord.py", "--out", "build/suites/again.md", *session.posargs)


@nox.session(default=False)
def bench_fidelity(session: nox.Session) -> None:
    """Record and replay odd exchanges with ours by every client, and with vcrpy and cassetter by five (`-- --details`)."""
    session.install("uv")
    session.run("python", "bench/fidelity/run.py", "--out", "build/fidelity/table.md", *session.posargs)


@nox.session(default=False)
def bench_chat_apps(session: nox.Session) -> None:
    """Open the chat pages of five other products and ours in a real browser (apt-get install chromium poppler-utils)."""
    session.install(
        "-e", ".[conformance,demo,html]", *group("browser"), "chatlas", "openai>=3", "pandas", "uv"
    )
    session.run("python", "bench/chat_apps/run.py", "--out", "build/chat_apps/table.md", *session.posargs)
    session.run(
        "python", "bench/chat_apps/functions.py", "--out", "build/chat_apps/functions.md", *session.posargs
    )


@nox.session(default=False)
@nox.parametrize("versions", ["released", "pre"], ids=["released", "pre"])
def clients(session: nox.Session, versions: str) -> None:
    """Test the interception of every client, all of them in one environment: the released versions, and pre-releases."""
    newer = ("--pre",) if versions == "pre" else ()
    session.install("-e", ".[conformance]", *group("tests"), *group("clients"))
    names = (
        "aiohttp",
        "curl-cffi",
        "grpcio",
        "httpx<1",  # vcrpy cannot be imported beside the pre-releases of 1.0, which have no transports
        "httpx2",
        "niquests",
        "pycurl",  # not recorded: a test shows that a replay refuses it
        "pyreqwest",
        "tornado",
        "uvloop",
        "websockets",
    )
    session.install("--upgrade", *newer, *names)
    session.run("pytest", *(session.posargs or ["harness/tests/interception"]), env=OFFLINE)


@nox.session(default=False)
def habits(session: nox.Session) -> None:
    """Record and replay habits of pytest and of fifty plugins, each in a project of its own (`-- -k django`: some)."""
    session.install("-e", ".[harness]", *group("habits"))
    only = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": None}  # each project names its plugins
    session.run(
        "pytest", "-p", "xdist", *WORKERS, "harness/tests/habits", *session.posargs, env={**OFFLINE, **only}
    )


@nox.session(default=False)
def cassetter(session: nox.Session) -> None:
    """Record and replay cassetter's cassettes with cassetter and with the harness, each what the other recorded."""
    session.install("-e", ".[harness]", *group("cassetter"))
    session.run("pytest", "harness/tests/pytest/test_cassetter_engine.py", *session.posargs, env=OFFLINE)


@nox.session(default=False)
def bench_peers(session: nox.Session) -> None:
    """Measure other chat libraries and ours, each in its own environment (`-- chatlas`: only that one)."""
    session.install("uv")
    session.run("python", "-m", "bench", "peers", *session.posargs)


#: The tests that would see that something is missing in the wheel; rules are the same wherever they lie.
PACKAGED = (
    *("tests", "--ignore=tests/test_layers.py", "harness/tests"),
    *(
        f"conformance/tests/{path}"
        for path in (
            "report",
            "runner/test_command.py",
            "ways/test_outside_adapters.py",
            "runner/test_recorded_and_replayed.py",
            "server/http/test_http.py",
        )
    ),
)


@nox.session(default=False)
def package(session: nox.Session) -> None:
    """Build wheel and sdist, and test the wheel, without the sources, with the tests of the sdist."""
    dist = Path("build/package").resolve()
    shutil.rmtree(dist, ignore_errors=True)
    session.install("build")
    session.run("python", "-m", "build", "--installer=uv", "--outdir", str(dist))
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    unpacked = dist / sdist.name.removesuffix(".tar.gz")
    session.run("python", "-m", "tarfile", "-e", str(sdist), str(dist))
    for sources in ("ellmer_core", "harness/ellmer_harness", "conformance/ellmer_conformance"):
        shutil.rmtree(unpacked / sources)
    session.run("uv", "venv", "--clear", str(dist / "base"), external=True)
    session.run("uv", "pip", "install", f"--python={dist / 'base'}", str(wheel), external=True)
    session.run(str(dist / "base" / "bin" / "python"), "-I", "tests/package.py", external=True)
    session.install(f"{wheel}[{EXTRAS}]", *group("tests"), "openai>=3")
    session.chdir(unpacked)
    session.run("pytest", "-n", "2", *(session.posargs or PACKAGED), env=OFFLINE | {"PACKAGE": str(wheel)})


@nox.session(default=False)
def reproducible(session: nox.Session) -> None:
    """Build wheel and sdist twice, the second time from a copy, and compare them byte by byte."""
    session.install("build")
    folder = Path("build/reproducible").resolve()
    shutil.rmtree(folder, ignore_errors=True)
    session.run("git", "clone", "--quiet", ".", str(folder / "copy"), external=True)
    for name, source in (("first", "."), ("second", str(folder / "copy"))):
        build = ("build", "--installer=uv", "--outdir", str(folder / name), source)
        session.run("python", "-m", *build, silent=True)
    first, second = (
        {file.name: file.read_bytes() for file in (folder / n).iterdir()} for n in ("first", "second")
    )
    differ = [name for name in first.keys() | second.keys() if first.get(name) != second.get(name)]
    if differ:
        session.error(f"not the same bytes twice: {', '.join(sorted(differ))}")
    session.log(f"{', '.join(sorted(first))}: the same bytes twice")


#: Libraries that are run as a command, by its words; their packages are those of the example's lock file.
COMMANDS = {
    "ai-sdk": ("node", "examples/driver-ai-sdk/driver.mjs"),
    "langchain-js": ("node", "examples/driver-langchain-js/driver.mjs"),
}
#: The cases for a library that does not run all cases. The other cases of instructor test the SDK that it wraps.
ONLY = {
    "instructor": ("--case", "structured*"),
    "ai-sdk": ("--wire", "openai-chat", "--wire", "anthropic"),
    "langchain-js": tuple(
        word
        for wire in ("openai-chat", "openai-responses", "anthropic", "gemini")
        for word in ("--wire", wire)
    ),
}
#: Libraries that have a bridge, each with a pinned environment, and the commands.
PEERS = sorted([*COMMANDS, *(file.stem for file in Path("conformance/peers/pins").glob("*.txt"))])


@nox.session(default=False)
@nox.parametrize("peer", PEERS, ids=PEERS)
def peers(session: nox.Session, peer: str) -> None:
    """Run every case with another library in its pinned environment, and make the pages of the results."""
    collect, page = "conformance/peers/collect.py", "conformance/peers/page.py"
    try:
        if peer in COMMANDS:
            session.install("-e", ".[conformance]")
            folder = str(Path(COMMANDS[peer][1]).parent)
            session.run("npm", "ci", "--silent", "--prefix", folder, external=True)
        else:
            session.install("--no-deps", "-r", f"conformance/peers/pins/{peer}.txt")
    except nox.command.CommandFailed as error:
        session.install("-e", ".[conformance]")
        session.run("python", collect, peer, "--not-installed", f"the pinned versions: {error.reason}")
        session.run("python", page)
        session.skip(f"{peer} could not be installed")
    if peer not in COMMANDS:
        session.install("--no-deps", "-e", ".")
    if peer == "langchain":
        session.run("pytest", "conformance/tests/pytest/test_langchain_models.py", env=OFFLINE)
    report, baseline = f"build/peers/{peer}", f"--baseline=conformance/peers/baselines/{peer}.toml"
    what = ("--command", " ".join(COMMANDS[peer])) if peer in COMMANDS else ("--adapter", peer)
    run = (
        "run",
        *what,
        *ONLY.get(peer, ()),
        "--against",
        "server",
        "--mode",
        "sync",
        "--mode",
        "stream",
        baseline,
    )
    try:
        session.run("conformance", *run, "--report", report, *session.posargs, env=OFFLINE)
    finally:
        session.run("python", collect, peer, report, env=OFFLINE)
        session.run("python", page)


@nox.session(default=False)
def pages(session: nox.Session) -> None:
    """Run the code blocks of the README and of every page of the docs, from the top of each page."""
    session.install("-e", f".[{EXTRAS}]", *group("tests"), "openai>=3")
    session.run("pytest", *(session.posargs or [*WORKERS, "tests/pages"]), env=OFFLINE)


@nox.session(default=False)
def newcomers(session: nox.Session) -> None:
    """Follow pages from an empty folder and a new environment, with the commands that install (`-- README.md`: this page)."""
    session.install("-e", ".[conformance]")
    session.run("python", "-m", "devtools.newcomer", *session.posargs, env=OFFLINE)


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Build the site into site/, with warnings as errors. `-- serve` shows it while you write."""
    session.install("-e", ".[conformance]", *group("docs"))
    compiled = {"PYTHONDONTWRITEBYTECODE": None}  # five thousand modules are imported
    session.run("mkdocs", *(session.posargs or ["build"]), env={"NO_MKDOCS_2_WARNING": "1", **compiled})


@nox.session(default=False)
def figures(session: nox.Session) -> None:
    """Write the figures of the README (`-- --check --exact`: compare them, as before a release)."""
    session.install("-e", ".[conformance]", "coverage")
    session.run("python", "-m", "devtools.figures", *session.posargs, env=OFFLINE)


@nox.session(default=False)
def publish_docs(session: nox.Session) -> None:
    """Add a version of the site to the branch gh-pages (`-- --push 0.1.0 latest`). mike keeps the others."""
    session.install("-e", ".[conformance]", *group("docs"), "mike>=2.1")
    session.run("mike", "deploy", *session.posargs, env={"NO_MKDOCS_2_WARNING": "1"})


@nox.session(default=False)
def picture(session: nox.Session) -> None:
    """Make the animation of the README again, from the real server in a real browser (apt-get install chromium)."""
    session.install("-e", ".[conformance,images]", *group("browser"))
    session.run("python", "docs/_site/_picture.py")


if __name__ == "__main__":
    nox.main()
