# ruff: noqa: INP001 - a script, not a package
"""Makes `docs/peers.md` from `results/*.json`: `python conformance/peers/page.py`.

The pages of the libraries, with all the evidence, are made when the site is built (docs/_site/_generate.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from evidence import badge_files, details
from failures import HERE, WIRES, loaded, placed
from overview import matrix_page, overview

DOCS = HERE.parents[1] / "docs"

PEERS = (
    *("openai", "anthropic", "google-genai"),
    *("chatlas", "pydantic-ai", "langchain", "litellm", "any-llm", "llm"),
    *("openai-agents", "agno", "strands", "smolagents", "haystack", "google-adk", "llama-index", "dspy"),
    "semantic-kernel",
    *("instructor", "ai-sdk", "langchain-js"),
)


def main() -> None:
    """Writes the committed page."""
    path, text = next(pages())
    (DOCS / path).write_text(text, "utf-8")


def pages() -> Iterator[tuple[str, str]]:
    """Yields every page: its path below docs/, and its Markdown, with lone surrogates as escapes."""
    for path, text in written():
        yield path, text.encode("utf-8", "backslashreplace").decode()


def written() -> Iterator[tuple[str, str]]:
    """Yields every page one by one."""
    results = {peer: result for peer in PEERS if (result := loaded(peer))}
    known = {name: placed(result, results) for name, result in results.items()}
    yield "peers.md", overview(results, known)
    for wire in WIRES:
        yield f"peers/rules-{wire}.md", matrix_page(wire, results, known)
    for peer, result in results.items():
        yield f"peers/{peer}.md", details(result, known[peer])
        yield from badge_files(result)


if __name__ == "__main__":
    main()
