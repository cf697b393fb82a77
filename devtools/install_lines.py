"""Writes the install commands of the pages as they are after the first release: `python -m devtools.install_lines`.

Until then, the commands install from the repository, because the index has no package yet. A clone in the reader's own
folder would be in the way: pytest collects its tests.
"""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
REPOSITORY = r"(?:git\+)?https://github\.com/ellmer-core/ellmer-core(?:/archive/main\.tar\.gz)?"

#: What a page has before the release, and what replaces it.
RELEASED = (
    (r"""(?<!-e )(['"])(?:\./ellmer-core|\.)(\[[a-z,]+\])(['"])""", r"\1ellmer-core\2\3"),
    (r"\bpip install \./ellmer-core\b", "pip install ellmer-core"),
    (rf"(ellmer-core(?:\[[a-z,]+\])?)\s+@\s+{REPOSITORY}", r"\1"),
    (r"\bellmer-core/ellmer-core@main\b", "ellmer-core/ellmer-core@v0.1.0"),
    (r"\brev: main # better: the hash of a commit", "rev: v0.1.0"),
    (r"/dev/judge/", "/latest/judge/"),
)

#: Commands that only work after the release.
NEEDS_RELEASE = re.compile(
    rf"""install [^\n`]*(?<!/)\bellmer-core(?!(?:\[[a-z,]+\])? @\s+{REPOSITORY})(?=[\[ "'\n`])|ellmer-core@v\d"""
)

#: Pages for those who work on the project.
INSIDE = {"CONTRIBUTING.md", "CHANGELOG.md", "architecture.md"}


def pages() -> Iterator[Path]:
    """Yields the pages, examples and notebooks that tell users how to install."""
    for pattern in ("*.md", "docs/**/*.md", "harness/*.md", "conformance/*.md", "examples/**/*"):
        for path in sorted(ROOT.glob(pattern)):
            text = path.suffix in {".md", ".ipynb", ".yml", ".yaml"}
            if text and path.name not in INSIDE and "node_modules" not in path.parts:
                yield path


def released(text: str) -> str:
    """Returns a page as it is after the release.

    Args:
        text: The page.
    """
    for pattern, replacement in RELEASED:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return text


if __name__ == "__main__":
    for path in pages():
        path.write_text(released(path.read_text("utf-8")), "utf-8")
