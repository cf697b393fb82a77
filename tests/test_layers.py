"""The architecture: which package may import which. Each row of the tables is one folder, the lowest first.

A folder imports what its row names, itself, and `errors`; nothing else of its package. No module imports, directly or
through others, a module that imports it.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = {
    "ellmer_core": ROOT / "ellmer_core",
    "ellmer_harness": ROOT / "harness" / "ellmer_harness",
    "ellmer_conformance": ROOT / "conformance" / "ellmer_conformance",
}
VALUES = {"base", "schemas", "contents"}
BELOW_CHAT = {
    *VALUES,
    "tools",
    "wire",
    "telemetry",
    "tool_execution",
    "conversation",
    "transport",
    "models",
    "render",
}

#: The library. It imports neither the harness nor the suite.
CORE = {
    "version": set(),
    "base": set(),
    "errors": {"base"},
    "schemas": {"base"},
    "contents": {"base", "schemas"},
    "tools": VALUES,
    "wire": {*VALUES, "tools"},
    "models": {*VALUES, "wire"},
    "conversation": {*VALUES, "tools", "wire"},
    "telemetry": {*VALUES, "tools", "wire", "conversation"},
    "tool_execution": {*VALUES, "tools", "telemetry"},
    "render": {*VALUES, "tools", "conversation"},
    "transport": {*VALUES, "version", "tools", "wire", "tool_execution", "conversation"},
    "_chat": BELOW_CHAT,
    "providers": {*BELOW_CHAT, "_chat"},
    "jobs": {*BELOW_CHAT, "_chat"},
    "live": {*BELOW_CHAT, "_chat"},
    "web": {*BELOW_CHAT, "_chat"},
    "mcp": {*BELOW_CHAT, "_chat"},
    "inspect_ai": {*BELOW_CHAT, "_chat", "providers"},
    "testing": {*BELOW_CHAT, "_chat", "providers"},
}

#: The harness. It knows HTTP, and neither the library nor the suite.
HARNESS = {
    "format": set(),
    "exchange": {"format"},
    "secrets": {"exchange", "format"},
    "recordings": {"exchange", "format", "secrets"},
    "faults": {"exchange"},
    "interception": {"exchange", "format", "secrets"},
    "store": {"format", "interception", "secrets"},
    "bulk": {"recordings", "store"},
    "cassette": {"exchange", "faults", "format", "interception", "recordings", "secrets", "store"},
    "serving": {"exchange", "interception", "cassette"},
    "display": {"exchange", "format", "recordings"},
    "pytest": {"exchange", "faults", "format", "interception", "secrets", "store", "cassette"},
    "cli": {"bulk", "display", "exchange", "format", "recordings", "secrets", "serving", "cassette"},
    "console_script": {"cli"},
}

#: The suite. It sees the library only through adapters: a suite that shares code with its subject shares its bugs.
CONFORMANCE = {
    "files": set(),
    "garbage_collection": set(),
    "scenarios": {"files"},
    "contract": {"scenarios"},
    "adapters": {"scenarios", "contract"},
    "server": {"files", "garbage_collection", "scenarios", "contract"},
    "runner": {"scenarios", "contract", "adapters", "server"},
    "hostile": {"scenarios", "contract", "adapters", "server", "runner"},
    "report": {"files", "scenarios", "contract", "adapters"},
    "recordings": {"files", "scenarios", "contract", "adapters", "server", "runner", "report"},
    "facts": {"contract", "recordings"},
    "live_apis": {"files", "scenarios", "contract", "adapters", "server", "runner", "report"},
    "pytest": {"garbage_collection", "scenarios", "contract", "adapters", "server", "runner", "report"},
    "coverage": {"contract"},
    "demo": {"scenarios", "server"},
    "cli": {
        *("scenarios", "contract", "server", "runner", "report", "recordings", "coverage"),
        *("adapters", "live_apis", "hostile", "facts", "files"),
    },
    "console_scripts": {"cli", "demo"},
}
TABLES = {"ellmer_core": CORE, "ellmer_harness": HARNESS, "ellmer_conformance": CONFORMANCE}

#: Which of the three packages a package may import. The demo is an app on top of the suite.
PACKAGES = {
    "ellmer_core": {},
    "ellmer_harness": {},
    "ellmer_conformance": {
        "ellmer_harness": {
            *("files", "scenarios", "contract", "server", "runner", "report", "recordings", "facts", "cli"),
            "console_scripts",
        },
        "ellmer_core": {"adapters", "demo", "facts"},  # the facts quote the profiles, and judge no client
    },
}

#: A statement that imports names, or lists those of a module.
LISTED = re.compile(
    r"^ *(?:from \S+ )?import (?:\([^)]*\)|.*)|^__all__ \+?= (?:\[[^]]*\]|.*)",
    re.MULTILINE,
)

#: The fields of a syntax tree that hold statements.
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")

#: What no package has twice, in modules that judge nothing: numbers, and locks in forks. Each package may import them.
SHARED = {"ellmer_core.base.budget", "ellmer_core.base.forks"}

#: What may not be imported in the parts that do no I/O.
IO = {"httpx", "socket", "asyncio", "time", "random", "os"}
PURE = ["ellmer_core.wire", "ellmer_core.conversation", "ellmer_conformance.contract.rules"]
DOES_IO = {
    "ellmer_core.tool_execution",  # runs async tools
    "ellmer_core.contents.downloads",
    "ellmer_core.contents.files",  # names the client of a download
    "ellmer_core.jobs.pacing",  # waits until a request may go out
    "ellmer_core.jobs.parallel",
    "ellmer_core.live",  # serves the app
    "ellmer_core.models.prices.price_lookup",  # downloads a table of prices
    "ellmer_core.testing",  # httpx, with a handler in the process instead of a network
    "ellmer_core.transport",
    "ellmer_core.web.asgi",  # notices that a client goes away
}


@cache
def modules() -> dict[str, Path]:
    found = {}
    for package, folder in FOLDERS.items():
        for path in sorted(folder.rglob("*.py")):
            parts = [package, *path.relative_to(folder).with_suffix("").parts]
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imported(module: str) -> frozenset[str]:
    """Returns every imported module of a module, at any depth of its code. Modules of ours have their full names."""
    path = modules()[module]
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    names = set()
    for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            inside = {f"{base}.{alias.name}" for alias in node.names}
            names |= {name if name in modules() else base for name in inside}
    return frozenset(names)


def statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yields every statement at any depth. Expressions, which are most of a tree and import nothing, are passed over."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        if isinstance(node, ast.stmt):
            yield node
        for field in BLOCKS:
            left += getattr(node, field, ())


def room(module: str) -> str:
    """Returns the folder or module of the first level of its package that contains a module."""
    return module.split(".")[1] if "." in module else ""


@pytest.mark.parametrize("package", FOLDERS)
def test_every_folder_is_in_the_table(package):
    rooms = {room(module) for module in modules() if module.startswith(f"{package}.")}

    assert rooms - {"errors"} == set(TABLES[package]) - {"errors"}


def test_every_module_imports_what_its_folder_may():
    assert [line for module in modules() if "." in module for line in misplaced(module)] == []


def misplaced(module):
    """Yields a line for each folder and each other package that the table does not allow this module."""
    package = module.split(".")[0]
    own = {room(name) for name in imported(module) if name.split(".")[0] == package}
    others = {name.split(".")[0] for name in imported(module) - SHARED} & set(FOLDERS) - {package}
    allowed = {room(module), "errors", *TABLES[package].get(room(module), set())}
    barred = {other for other in others if room(module) not in PACKAGES[package].get(other, ())}
    yield from (f"{module} imports {name}" for name in sorted((own - allowed) | barred))


def test_no_module_imports_itself_through_others():
    above: list[str] = []
    done: set[str] = set()

    def visit(module: str) -> None:
        assert module not in above, " imports ".join([*above[above.index(module) :], module])
        if module not in done:
            above.append(module)
            for name in sorted(imported(module) & modules().keys()):
                visit(name)
            done.add(above.pop())

    for module in modules():
        visit(module)


@pytest.mark.parametrize("package", PURE)
def test_the_pure_parts_do_no_io(package):
    reaching = {m: imported(m) & IO for m in modules() if m.startswith(package)}

    assert not {module: names for module, names in reaching.items() if names}


def test_few_modules_of_the_library_do_io():
    doing = {
        m for m in modules() if m.startswith("ellmer_core") and imported(m) & {"httpx", "socket", "asyncio"}
    }

    assert not {m for m in doing if not m.startswith(tuple(DOES_IO))}


def test_adapters_use_the_public_library():
    used = {n for m in modules() if m.startswith("ellmer_conformance.adapters") for n in imported(m)}
    allowed = {"ellmer_core", "ellmer_core.providers", "ellmer_core.wire.base"}

    assert {name for name in used if name.split(".")[0] == "ellmer_core"} <= allowed


def test_every_folder_says_what_lives_there():
    folders = {file.parent for top in FOLDERS.values() for file in top.rglob("*.py")}
    trees = {folder: ast.parse((folder / "__init__.py").read_text(encoding="utf-8")) for folder in folders}

    assert [str(folder) for folder, tree in trees.items() if not ast.get_docstring(tree)] == []


@pytest.mark.parametrize("package", FOLDERS)
def test_few_lines_are_imports(package):
    lines = {
        m: path.read_text(encoding="utf-8") for m, path in modules().items() if m.split(".")[0] == package
    }
    total, imports = (
        sum(len(text.splitlines()) for text in lines.values()),
        sum(map(importing, lines.values())),
    )

    assert imports / total <= 0.07, f"{imports:,} of {total:,} lines are imports or `__all__`"


def importing(source):
    """Returns how many lines import something, or list what a module offers. It reads no syntax trees, which takes seconds."""
    return sum(found.count("\n") + 1 for found in LISTED.findall(source))


UNEXPLAINED = re.compile(
    r"# (?:noqa(?:: [A-Z0-9, ]+)?|type: ignore(?:\[[^]]*\])?|pyright: ignore(?:\[[^]]*\])?)\s*$"
)


def test_every_ignore_says_why():
    lines = (
        f"{file.relative_to(ROOT)}:{number}"
        for top in (*FOLDERS.values(), ROOT / "devtools", ROOT / "bench", ROOT / "examples")
        for file in top.rglob("*.py")
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if UNEXPLAINED.search(line)
    )
    assert list(lines) == []
