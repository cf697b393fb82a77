"""The arrows between packages point one way, and the pure parts stay pure."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CORE, HARNESS = ROOT / "ellmer_core", ROOT / "harness" / "ellmer_harness"
CONFORMANCE = ROOT / "conformance" / "ellmer_conformance"
OURS = {"ellmer_core", "ellmer_harness", "ellmer_conformance"}


def imported(path: Path) -> set[str]:
    """Dotted names of every module the file imports, at any depth of its code; relative ones resolved."""
    package = path.relative_to(ROOT).with_suffix("").parts
    package = package[1:] if package[0] in {"harness", "conformance"} else package
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: -node.level]) if node.level else ""
            names.add(".".join(filter(None, (base, node.module))))
    return names


def python_files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def id_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", python_files(CORE), ids=id_of)
def test_the_library_knows_neither_harness_nor_suite(path):
    assert not {n for n in imported(path) if n.split(".")[0] in OURS - {"ellmer_core"}}


@pytest.mark.parametrize("path", python_files(HARNESS), ids=id_of)
def test_the_harness_knows_http_and_no_llm(path):
    assert not {n for n in imported(path) if n.split(".")[0] in OURS - {"ellmer_harness"}}


@pytest.mark.parametrize("path", python_files(CONFORMANCE), ids=id_of)
def test_the_suite_sees_the_library_only_through_adapters(path):
    # A suite that shares code with its subject shares its bugs.
    if "adapters" in path.parts or path.name == "demo.py":  # the demo is an app, and no part of the suite
        assert not {n for n in imported(path) if n.startswith("ellmer_core.") and "._" in n}
    else:
        assert not {n for n in imported(path) if n.split(".")[0] == "ellmer_core"}


@pytest.mark.parametrize("path", python_files(CORE / "wire"), ids=id_of)
def test_a_wire_format_does_no_io(path):
    assert not imported(path) & {"httpx", "asyncio", "time", "os", "socket", "random", "datetime"}


@pytest.mark.parametrize("path", python_files(CORE / "wire"), ids=id_of)
def test_a_wire_format_does_not_know_its_vendors(path):
    assert not {n for n in imported(path) if n.startswith("ellmer_core.providers")}


@pytest.mark.parametrize("path", python_files(CONFORMANCE / "rules"), ids=id_of)
def test_a_rule_does_not_know_who_is_asking(path):
    rooms = ("adapters", "cases", "server", "cli", "lint", "report", "runner")
    assert not {n for n in imported(path) if n.startswith(tuple(f"ellmer_conformance.{r}" for r in rooms))}


def test_only_one_file_does_io():
    doing_io = {p.name for p in python_files(CORE) if imported(p) & {"httpx", "socket", "asyncio"}}
    allowed = {
        "_carrier.py",
        "_http.py",
        "_http_async.py",
        "_clients.py",
        "_httpx_clients.py",
        "_invoke.py",
        "_parallel.py",
        "media.py",
        "_browser.py",
        "_stream.py",
    }
    assert doing_io <= allowed, (
        "I/O belongs in _http.py and its twin (_clients.py and _httpx_clients.py make the clients, _invoke.py runs async tools, _parallel.py many "
        "chats, media.py downloads, live/ serves the app)"
    )
