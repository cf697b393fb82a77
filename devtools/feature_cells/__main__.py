"""`python -m devtools.feature_cells [LIBRARY…]`: runs the cells, and prints the versions and the cells that differ from the page."""

# ruff: noqa: S603, T201 - it runs Python, and prints

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
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
NPM = (
    *("ai", "zod", "@ai-sdk/anthropic", "@ai-sdk/google", "@ai-sdk/mcp", "@ai-sdk/openai"),
    *("@ai-sdk/openai-compatible", "@ai-sdk/react", "@ai-sdk/workflow"),
)
UV = shutil.which("uv") or "uv"
COLUMNS = {"chatlas": 2, "ellmer": 3, "pydantic_ai": 4, "langchain": 5, "ai_sdk": 6}
PROGRAMS = {"ellmer": "ellmer.R", "ai_sdk": "ai_sdk.mjs"}
R_VERSION = 'cat("ellmer", as.character(packageVersion("ellmer")))'


def rows() -> dict[str, list[str]]:
    """Returns the cells of the page by the name of the feature."""
    lines = (line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| "))
    cells = ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines)
    return {row[0]: row for row in cells if len(row) == 7 and row[0] != "feature"}


def environment(library: str) -> str:
    """Returns a Python with the newest versions of a library's packages. `ai_sdk` has them in a folder, for Node."""
    if library == "ellmer":  # R finds it in its own library, or where R_LIBS says
        return shutil.which("Rscript") or "Rscript"
    if library == "ai_sdk":
        newest = [f"{name}@latest" for name in NPM]  # npm itself takes an older one for an older Node
        command = [shutil.which("npm") or "npm", "install", "--force", "--no-audit", "--no-fund", *newest]
        subprocess.run(command, cwd=_npm_folder(), check=True, capture_output=True)
        return shutil.which("node") or "node"
    packages = LIBRARIES[library]
    python = python_of(f"features-{library}", packages[0])
    subprocess.run([UV, "pip", "install", "-q", "-U", "--python", python, *packages], check=True)
    return python


def _npm_folder() -> Path:
    folder = Path(tempfile.gettempdir()) / "features-ai-sdk"
    folder.mkdir(exist_ok=True)
    (folder / "package.json").write_text("{}", "utf-8")
    return folder


def versions(library: str, python: str) -> list[str]:
    """Returns the installed versions of the library's own packages."""
    if library == "ellmer":
        return [subprocess.run([python, "-e", R_VERSION], check=True, capture_output=True, text=True).stdout]
    if library == "ai_sdk":
        found = ((name, _npm_folder() / "node_modules" / name / "package.json") for name in NPM)
        return [f"{name} {json.loads(file.read_text('utf-8'))['version']}" for name, file in found]
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
    program = HERE / PROGRAMS.get(library, f"{library}.py")
    with StrictServer() as server:
        env = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_TOKEN"))}
        env |= {"STRICT_SERVER": server.origin, "PYTHONWARNINGS": "ignore"}
        env |= {"LC_ALL": "C.UTF-8"}
        folder = _npm_folder() if library == "ai_sdk" else None
        done = subprocess.run(
            [python, str(program)], env=env, cwd=folder, capture_output=True, text=True, check=False
        )
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
    """Prints what differs, and returns whether anything does. `ellmer` needs R and `ai_sdk` needs Node, so they are tried only if they
    are named.
    """
    found = [line for name in chosen or LIBRARIES for line in judged(name, environment(name))]
    print("\n".join(found) or "every cell is as the page says")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
