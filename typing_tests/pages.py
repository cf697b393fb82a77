"""Writes the examples of the README and of the pages as modules, one a page, or one a section of a guide: `python
typing_tests/pages.py FOLDER`.

Pyright reads them there. A block that is a file of its own (`<!-- file: chat_page.py -->`) is a module with this name, which other blocks
import. A block behind `<!-- not run: … -->` or `<!-- part of: … -->` is left out, and so are a `conftest.py`, whose fixtures nobody
annotates, a task of inspect-ai, which has eighty dependencies, and the page for adapters of other libraries, whose example is a sketch
without types.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(
    r"(?P<said>(?:^<!-- [^\n]* -->\n+)*)^(?P<margin> *)```python\n(?P<code>.*?)^ *```$",
    re.DOTALL | re.MULTILINE,
)


LEFT_OUT = re.compile(r"<!-- (not run|part of|file: \S*(conftest|task)\.py)")
OWN = re.compile(r"<!-- file: (\w+\.py)")

#: Guides whose sections are complete programs, because a reader begins at any of them.
GUIDES = {"answers", "cookbook", "tools"}


def main(folder: Path) -> None:
    """Writes them."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]:
        if page.stem != "adapter-authors":
            text, name = (
                page.read_text("utf-8"),
                "_".join(page.relative_to(ROOT).with_suffix("").parts).replace("-", "_"),
            )
            programs = re.split(r"^(?=## )", text, flags=re.MULTILINE) if page.stem in GUIDES else [text]
            for number, program in enumerate(programs):
                _write(folder / f"{name}_{number}.py", program)


def _write(file: Path, page: str) -> None:
    """Writes the blocks of a page or of a section, if it has any. Of two files with one name, the second is a part of its page."""
    code: dict[Path, list[str]] = {}
    for block in BLOCK.finditer(page):
        if not LEFT_OUT.search(block["said"]):
            own = OWN.search(block["said"])
            path = file.with_name(own[1]) if own and not file.with_name(own[1]).exists() else file
            code.setdefault(path, []).append(
                re.sub(f"^{block['margin']}", "", block["code"], flags=re.MULTILINE)
            )
    for path, blocks in code.items():
        path.write_text("\n".join(blocks), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
