"""The code blocks of the README and of the pages, and the comments before them:

- `<!-- not run: why -->`: `NOT_RUN` has the reasons, each with what checks the block instead;
- `<!-- installs -->`: `nox -s newcomers` runs the whole block; `nox -s pages` runs what follows the installation of this package;
- `<!-- serves -->`: the command is started, and answers until the page ends. Code that serves the app ends at once;
- `<!-- given: TARGET from SOURCE -->`: the reader has a copy of this part of the repository, under this name;
- `<!-- needs: PROGRAM -->`: the block is left out on a machine without this program;
- `<!-- ci: PATH -->`: CI runs these commands, by this file;
- `<!-- part of: PATH -->`: the block is an excerpt of a file of the repository, whose own tests run it;
- `<!-- model: NAME -->`: a script that fails first (`SCRIPTS` in `tests/pages/test_pages.py`; without it, the strict
  server's own model answers);
- `<!-- file: PATH -->`: the block is written to this file, for the commands that follow;
- `<!-- prints -->`: this is what the block before it printed;
- `<!-- exits: 1 -->`: the exit code of the last command.
"""

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]

#: The README of the harness has tests of its own, in harness/tests/documentation/test_readme.py.
PAGES = sorted(
    {
        "README.md",
        "conformance/README.md",
        *(p.relative_to(ROOT).as_posix() for p in ROOT.glob("docs/**/*.md")),
    }
)

_COMMENT = re.compile(
    r"<!-- (not run|ci|installs|serves|given|needs|part of|model|file|prints|exits)(?:: (.+?))? -->"
)
#: Each reason why a block is not run, and what checks such blocks instead.
NOT_RUN = {
    "it needs a builder of containers": "tests/test_packaging.py",
    "it is the output of another project's tests": "harness/tests/documentation/test_migrate_page.py",
    "it is a part of a page": "tests/documentation/test_blocks_not_run.py",
    "it is a test of another runner": "tests/documentation/test_blocks_not_run.py",
    "it is a part of your configuration": "tests/documentation/test_blocks_not_run.py",
    "it needs a key": "conformance/tests/live_apis",
    "it needs your program": "conformance/tests/server/test_hostile_provider.py",
    "it needs a network": "tests/documentation/test_blocks_not_run.py",
    "it is a picture": "tests/test_layers.py",
}

_FENCE = re.compile(r"( *)```(\w*)")


@dataclass
class Block:
    """A code block: its `language` and `text`, its first line, and the comment before it."""

    language: str
    text: str
    line: int
    said: dict[str, str] = field(default_factory=dict)

    def commands(self):
        """Yields pairs of a command and its shown output. Blocks of the language `sh` show no output."""
        if self.language == "sh":
            yield from ((command, "") for command in whole_commands(self.text))
            return
        for entry in re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]:
            lines = entry.splitlines()
            end = next(n for n in range(1, len(lines) + 1) if is_whole("\n".join(lines[:n])))
            yield "\n".join(lines[:end]), "\n".join(lines[end:]).strip()


def is_whole(command):
    """Tells whether the command is complete: no quote is open, and it does not end with a backslash or a pipe."""
    try:
        shlex.split(command)
    except ValueError:
        return False
    return not command.endswith(("\\", "|"))


def whole_commands(text):
    """Yields the commands of a script, each with all of its lines."""
    lines = []
    for line in text.splitlines():
        lines.append(line)
        if is_whole("\n".join(lines)):
            if line.strip():
                yield "\n".join(lines)
            lines = []


def blocks(page):
    """The code blocks of a page, in order."""
    found, said = [], {}
    rest = enumerate((ROOT / page).read_text("utf-8").splitlines(), 1)
    for number, line in rest:
        if match := _FENCE.match(line):
            found.append(Block(match[2], "".join(inside(rest, match[1])), number, said))
            said = {}
        elif match := _COMMENT.match(line.strip()):
            said = said | {match[1]: match[2] or ""}
        elif line.strip():
            said = {}
    return found


def inside(rest, margin):
    for _, line in rest:
        if line.strip() == "```":
            return
        yield line.removeprefix(margin) + "\n"
