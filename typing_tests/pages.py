"""Writes the examples of the README and of the pages as modules, one a page: `python typing_tests/pages.py FOLDER`.

Pyright reads them there. A block behind `<!-- not run: … -->` is left out, and so is the page for adapters of other
libraries, whose example is a sketch without types.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(
    r"(?P<said>(?:^<!-- [^\n]* -->\n+)*)^(?P<margin> *)```python\n(?P<code>.*?)^ *```$",
    re.DOTALL | re.MULTILINE,
)


def main(folder: Path) -> None:
    """Writes them."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]:
        if page.stem == "adapter-authors":
            continue
        blocks = [
            block for block in BLOCK.finditer(page.read_text("utf-8")) if "not run" not in block["said"]
        ]
        if blocks:
            code = "\n".join(
                re.sub(f"^{block['margin']}", "", block["code"], flags=re.MULTILINE) for block in blocks
            )
            name = page.stem.replace("-", "_")
            (folder / f"{name}.py").write_text(code, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
