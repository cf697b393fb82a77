"""`python -m devtools.feature_cells [LIBRARY…]`: runs the cells, and prints the versions and the cells that differ from the page."""

# ruff: noqa: S603, T201 - it runs Python, and prints

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from bench.environments import python_of
from ellmer_conformance.server import StrictServer

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "chat" / "features.md"
LIBRARIES = {
    "chatlas": ("chatlas[mcp]", "openai", "anthropic", "google-genai", "shiny", "starlette"),
    "pydantic_ai": (
        "pydantic-ai-slim[openai,anthropic,google,mcp,ag-ui,web]",
        "pydantic-evals",
        "pyyaml",
        "opentelemetry-sdk",
    ),
    "langchain": (
        "langchain",
        "langchain-openai",
        "langchain-anthropic",
        "langchain-google-genai",
        "langchain-mcp-adapters",
        "langgraph",
    ),
}
UV = shutil.which("uv") or "uv"
COLUMNS = {"chatlas": 2, "ellmer": 3, "pydantic_ai": 4, "langchain": 5}
R_VERSION = 'cat("ellmer", as.character(packageVersion("ellmer")))'


def rows() -> dict[str, list[str]]:
    """Returns the cells of the page by the name of the feature."""
    lines = (line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| "))
    cells = ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines)
    return {row[0]: row for row in cells if len(row) == 6 and row[0] != "feature"}


def environment(library: str) -> str:
    """Returns a Python with the newest versions of a library's packages."""
    if library == "ellmer":  # R finds it in its own library, or where R_LIBS says
        return shutil.which("Rscript") or "Rscript"
    packages = LIBRARIES[library]
    python = python_of(f"features-{library}", packages[0])
    subprocess.run([UV, "pip", "install", "-q", "-U", "--python", python, *packages], check=True)
    return python


def versions(library: str, python: str) -> list[str]:
    """Returns the installed versions of the library's own packages."""
    if library == "ellmer":
        return [subprocess.run([python, "-e", R_VERSION], check=True, capture_output=True, text=True).stdout]
    listed = subprocess.run(
        [UV, "pip", "list", "--python", python],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    own = r"^((?:chatlas|pydantic-ai|pydantic-evals|langchain|langgraph|openai|anthropic|google-genai|mcp)\S*) +(\S+)"
    return [" ".join(found) for found in re.findall(own, listed, re.MULTILINE)]


def judged(library: str, python: str) -> list[str]:
    """Runs the cells of a library, and returns what differs from the page."""
    program = HERE / f"{library}.{'R' if library == 'ellmer' else 'py'}"
    with StrictServer() as server:
        env = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_TOKEN"))}
        env |= {"STRICT_SERVER": server.origin, "PYTHONWARNINGS": "ignore"}
        env |= {"LC_ALL": "C.UTF-8"}
        done = subprocess.run([python, str(program)], env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        return [f"{library}: {done.stderr[-2000:]}"]
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    page = {row: cells[COLUMNS[library]][0] for row, cells in rows().items()}
    kinds = Counter(line["kind"] for line in lines)
    print(f"{library}: {', '.join(versions(library, python))}; {dict(kinds)}")
    wrong = [f"{library}: {line['row']}: {line['error']}" for line in lines if line["error"]]
    other = [
        f"{library}: {line['row']}: {line['symbol']}, not {page[line['row']]}"
        for line in lines
        if page.get(line["row"], "") != line["symbol"]
    ]
    missing = page.keys() - {line["row"] for line in lines}
    return [*wrong, *other, *(f"{library}: {row}: it is not tried" for row in sorted(missing))]


def main(chosen: list[str]) -> int:
    """Prints what differs, and returns whether anything does. `ellmer` needs R, so it is tried only if it is named."""
    found = [line for name in chosen or LIBRARIES for line in judged(name, environment(name))]
    print("\n".join(found) or "every cell is as the page says")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
