"""Every code block of the README and of the pages does what it says, played against the strict server.

A comment right before a block says what is not plain from it:

- `<!-- not run: why -->`;
- `<!-- model: NAME -->`: what the model says (`SCRIPTS` below; without it, it says hello);
- `<!-- file: PATH -->`: the block is written to this file, for the commands that follow;
- `<!-- prints -->`: this is what the block before it printed;
- `<!-- exits: 1 -->`: the exit code of the last command.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections import Counter
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from hashlib import sha256
from io import StringIO
from pathlib import Path

import pytest
import yaml
from conformance_command import run_in

from ellmer_conformance.scenarios.cases._media_and_tools import RED
from ellmer_conformance.scenarios.script import Answer, Call, Failure, Say, Script, Sees, Usage
from ellmer_conformance.server import StrictServer

ROOT = Path(__file__).parents[2]

#: Pages with tests of their own: tests/documentation/test_docs_library.py, tests/documentation/test_docs_ui.py, harness/tests/documentation/test_readme.py.
ELSEWHERE = {"docs/library.md", "docs/ui.md"}
PAGES = sorted(
    {"README.md", "conformance/README.md", *(f"docs/{p.name}" for p in ROOT.glob("docs/*.md"))} - ELSEWHERE
)

#: What the model says, by name.
SCRIPTS = {
    "weather": Script(
        (Answer((Call("get_weather", {"city": "Paris"}),)), Answer((Say("It is 21 °C in Paris."),)))
    ),
    "draws": Script(
        (
            Answer((Call("draw"),), usage=Usage(30, 10)),
            Sees((sha256(RED.data).hexdigest(),), Answer((Say("A red square."),), usage=Usage(210, 6))),
            Answer((Say("Still red."),), usage=Usage(225, 5)),
        )
    ),
    "temperatures": Script(
        (
            Answer((Call("temperatures", {"city": "Oslo"}),)),
            Answer((Say("It warmed from -3 to 2 °C."),)),
        )
    ),
    "ada": Script((Answer((Say('{"name": "Ada Lovelace", "born": 1815}'),)),)),
    "busy": Script((Failure("rate-limit"), Answer((Say("Hello!"),)))),
}

#: Pages whose code fits a screen and whose prose keeps to CONTRIBUTING.md's style.
SHOWN = (
    "README.md",
    *(f"docs/{name}.md" for name in ("index", "quickstart", "tutorial", "cookbook", "adapter-authors", "ci")),
)
WIDEST = 90  # columns
ODD = re.compile(
    r"^(One that|Where nobody|Whoever|What (?!is\b)[a-z ]+ (is|are)\b[^?]*$)|\b(not fine|nobody (is|asks)|of ours)\b"
)

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")
#: The page whose commands all are processes of their own; those of the suite on other pages run in this one.
FIRST = "docs/quickstart.md"

_COMMENT = re.compile(r"<!-- (not run|model|file|prints|exits)(?:: (.+?))? -->")
_FENCE = re.compile(r"( *)```(\w*)")
_SECRET = re.compile("(_API_KEY|_TOKEN|_SECRET)$")


@dataclass
class Block:
    """A code block: its `language` and `text`, where it starts, and what the comment before it says."""

    language: str
    text: str
    line: int
    said: dict[str, str] = field(default_factory=dict)

    def commands(self):
        """Pairs of a command of a console and what it is shown to print."""
        for entry in re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]:
            lines = entry.splitlines()
            end = next(n for n in range(1, len(lines) + 1) if is_whole("\n".join(lines[:n])))
            yield "\n".join(lines[:end]), "\n".join(lines[end:]).strip()


def is_whole(command):
    """Whether it ends here: no quote is open, no backslash is last."""
    return command.count("'") % 2 == 0 and not command.endswith("\\")


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


class Reader:
    """Someone who follows a page from the top: one namespace, one folder, a strict server for all models."""

    def __init__(self, page, folder, server, monkeypatch):
        self.page, self.folder, self.server, self.monkeypatch = page, folder, server, monkeypatch
        self.names, self.printed, self.talks = {"__name__": "page"}, "", Counter()

    def follow(self, block):
        said = block.said
        if "not run" in said:
            assert said["not run"], "it has to say why"
        elif "file" in said:
            path = self.folder / said["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, "utf-8")
        elif "prints" in said:
            assert fits(self.printed, block.text), self.printed
        else:
            self.talk_to(said.get("model", "any"))
            getattr(self, block.language or "text")(block)

    def talk_to(self, model):
        self.talks[model] += 1
        url = self.server.url(model, f"{Path(self.page).stem}-{self.talks[model]}")
        self.monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        self.monkeypatch.setenv("ANTHROPIC_BASE_URL", url)

    def python(self, block):
        above = "\n" * block.line
        with redirect_stdout(StringIO()) as out:
            exec(compile(above + block.text, self.page, "exec"), self.names)
        self.printed = out.getvalue()

    def console(self, block):
        for command, shown in block.commands():
            last = (command, shown) == [*block.commands()][-1]
            run = self.run(re.sub(r"http://127\.0\.0\.1:\d+", self.server.origin, command))
            assert run.returncode == (int(block.said.get("exits", 0)) if last else 0), run.stdout + run.stderr
            assert fits(run.stdout, shown), f"{command} printed\n{run.stdout}"
            self.printed = run.stdout

    def run(self, command):
        if not command.startswith("conformance"):
            return self.process(command, os.environ)
        with pytest.MonkeyPatch.context() as patch:
            for name in KEYS:
                patch.delenv(name)  # with a key it records from the real API
            return self.process(command, os.environ) if self.page == FIRST else self.within(command)

    def within(self, command):
        done = run_in(self.folder, *shlex.split(command.replace("\\\n", ""), comments=True)[1:])
        return subprocess.CompletedProcess(command, done.exit_code, done.stdout, done.stderr)

    def process(self, command, seen):
        env = {
            name: value for name, value in seen.items() if not name.startswith("PYTEST_")
        }  # it is no worker
        env["PYTEST_ADDOPTS"] = "-p no:shiny-test -p no:recording"  # which take seconds to load
        return subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def json(self, block):
        json.loads(block.text)

    def yaml(self, block):
        assert yaml.safe_load(block.text)

    def text(self, block):
        pytest.fail(f"{self.page}:{block.line}: say what it is: prints, or not run and why")


def fits(printed, shown):
    """Whether it was printed as shown; `…` on a line of its own stands for any lines, at its end for any rest."""
    pattern = re.sub(r"\[", "[[]", shown.strip()).replace("…", "*")
    return not shown or fnmatchcase(printed.strip(), pattern)


@pytest.fixture
def reader(tmp_path, monkeypatch):
    """Makes the reader of a page, in a folder with a picture, with keys that nobody has."""
    for name in filter(_SECRET.search, list(os.environ)):
        monkeypatch.delenv(name)
    for name in KEYS:
        monkeypatch.setenv(name, "any-key")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "red.png").write_bytes(RED.data)
    with StrictServer(SCRIPTS) as server:
        yield lambda page: Reader(page, tmp_path, server, monkeypatch)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_can_be_followed_from_the_top(page, reader):
    someone = reader(page)
    for block in blocks(page):
        try:
            someone.follow(block)
        except Exception as error:
            raise AssertionError(f"{page}:{block.line}: {type(error).__name__}: {error}") from error


def test_every_extra_is_in_the_table():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    rows = [row.split("|") for row in (ROOT / "docs" / "install.md").read_text("utf-8").splitlines()]
    named = {name for row in rows if len(row) > 3 for name in re.findall("`([a-z-]+)`", row[1])}
    assert named >= extras.keys()


def test_pages_have_code():
    assert sum(len(blocks(page)) for page in PAGES) > 25


def test_no_line_of_code_is_wider_than_a_page():
    wide = [
        f"{page}:{block.line}: {len(line)} columns"
        for page in SHOWN
        for block in blocks(page)
        for line in block.text.splitlines()
        if len(line) > WIDEST
    ]
    assert not wide, "\n".join(wide)


def test_the_figures_of_the_readme_are_true():
    from ellmer_conformance.adapters.ellmer_core.vendors import vendors
    from ellmer_conformance.cli.list import all_rules
    from ellmer_conformance.recordings.corpus import pins

    found = list(pins.load(pins.shipped()))
    packages = len({pin.package for pin in found})
    text = (ROOT / "README.md").read_text("utf-8")
    assert f"| {sum(pin.distinct for pin in found):,} |" in text
    assert f"in {len(found)} archives of {packages} published packages" in text
    assert f"| rules, over eight wire formats | {len(all_rules())} |" in text
    assert (
        f"| providers that our own adapter is tested with | {len({one.name for one in vendors()})} |" in text
    )


def test_every_group_of_rules_has_a_title_on_the_site():
    from ellmer_conformance.cli.list import all_rules

    groups = {rule.id.partition("-")[0] for rule, _ in all_rules()}
    page = (ROOT / "docs" / "_rules.py").read_text("utf-8")
    assert not [group for group in groups if f'    "{group}": "' not in page]


def test_prose_has_none_of_the_patterns_that_we_avoid():
    odd = [
        f"{page}:{number}: {line.strip()[:80]}"
        for page in SHOWN
        for number, line in enumerate(prose_of(page), 1)
        if ODD.search(line)
    ]
    assert not odd, "\n".join(odd)


def prose_of(page):
    """The lines of a page, those of code blanked."""
    code = False
    for line in (ROOT / page).read_text("utf-8").splitlines():
        code ^= line.lstrip().startswith("```")
        yield "" if code else line
