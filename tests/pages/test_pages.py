"""Every code block of the README and of the pages runs as shown, against the strict server.

`nox -s pages` runs each page from its top. `tests/support/code_blocks.py` describes the comments before blocks.
"""

import ast
import builtins
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from collections import Counter
from contextlib import ExitStack, redirect_stdout
from fnmatch import fnmatchcase
from io import StringIO
from pathlib import Path
from threading import Thread

import pytest
import yaml
from code_blocks import PAGES, ROOT, blocks
from conformance_command import run_in

from ellmer_conformance.scenarios.script import Answer, Failure, Say, Script
from ellmer_conformance.server import StrictServer

#: Scripts of pages that show what a client makes of an error. On all other pages, the server's own model answers.
SCRIPTS = {"busy": Script((Failure("rate-limit"), Answer((Say("Hello!"),))))}

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")
#: The page whose commands all are processes of their own; those of the suite on other pages run in this one.
FIRST = "docs/quickstart.md"

_SECRET = re.compile("(_API_KEY|_TOKEN|_SECRET)$")


NOT_IN_A_CLONE = shutil.ignore_patterns("node_modules", "__pycache__", ".pytest_cache", ".venv")


def stop(process, rest):
    """Ends a server as Ctrl-C does, and waits for the rest of what it prints."""
    process.send_signal(signal.SIGINT)
    rest.join(60)
    assert process.returncode is not None


def up_to_an_address(lines):
    """Yields the lines up to the first one that has an address."""
    for line in lines:
        yield line
        if "http://" in line:
            return


def closed(*_):
    """A terminal that is closed."""
    raise EOFError


class Reader:
    """A reader who runs a page from the top: one namespace, one folder, a strict server for all models."""

    def __init__(self, page, folder, server, monkeypatch, closing):
        self.page, self.folder, self.server, self.monkeypatch = page, folder, server, monkeypatch
        self.origins, self.closing = {"8087": server.origin}, closing  # by the ports of the pages
        self.names, self.printed, self.talks = {"__name__": "page"}, "", Counter()
        self.left_out = False  # whether the last block was not run, so that its output is not compared

    def follow(self, block):
        said = block.said
        if "given" in said:
            self.take(*said["given"].split(" from "))
        if "not run" in said or not shutil.which(said.get("needs", "bash")):
            self.left_out = True
        elif "installs" in said:
            self.left_out = not self.use(block)
        elif "ci" in said:
            run = (ROOT / said["ci"]).read_text("utf-8")
            assert not [line for line in block.text.splitlines() if line not in run]
            self.left_out = True
        elif "part of" in said:
            assert block.text in (ROOT / said["part of"]).read_text("utf-8")
        elif "serves" in said:
            self.serve(block)
        elif "file" in said:
            path = self.folder / said["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, "utf-8")
        elif "prints" in said:
            assert self.left_out or fits(self.printed, block.text), self.printed
        else:
            self.left_out = False
            self.talk_to(said.get("model"))
            getattr(self, block.language or "text")(block)

    def take(self, target, source):
        """Copies a part of the repository into the folder, as a clone or the reader's own recordings."""
        if (ROOT / source).is_file():
            shutil.copy(ROOT / source, self.folder / target)
        elif not (self.folder / target).exists():
            shutil.copytree(ROOT / source, self.folder / target, ignore=NOT_IN_A_CLONE)

    def use(self, block):
        """Runs what follows the installation of this package alone, which is installed here. Tells whether there is anything."""
        used = [
            command
            for command, _ in block.commands()
            if not re.match(r"(uv )?pip install (uv$|'ellmer-core\[)", command)
        ]
        if not all(command.startswith("conformance ") for command in used):
            return False
        runs = [self.run(command) for command in used]
        assert not any(run.returncode for run in runs), runs
        self.printed = "".join(run.stdout for run in runs)
        return bool(runs)

    def serve(self, block):
        """Starts the command in a second terminal, at any port. The following blocks reach this server."""
        if block.language == "python":
            return self.app(block)
        self.left_out = False
        named = re.search(r" (8\d{3})$", block.text.strip())
        text = block.text.strip().removesuffix(named[1]) + "0" if named else block.text.strip() + " --port 0"
        process = subprocess.Popen(
            shlex.split(text, comments=True),
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        lines = [*up_to_an_address(process.stdout)]
        assert "http://" in lines[-1], "".join(lines)
        self.origins[named[1] if named else "8087"] = re.search(r"http://[\w.:]+", lines[-1])[0]
        rest = Thread(target=process.communicate, daemon=True)  # a full pipe would stop it
        rest.start()
        self.closing.callback(stop, process, rest)
        return None

    def app(self, block):
        """Builds the app and serves it. Its browser and its terminal are closed at once."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("ellmer_core.live.browser._run", lambda server, listening: None)
            patch.setattr("builtins.input", closed)
            self.python(block)

    def talk_to(self, model):
        self.talks[model] += 1
        url = self.origins["8087"]  # as a reader starts it
        if model:
            url = self.server.url(model, f"{Path(self.page).stem}-{self.talks[model]}")
        self.monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        self.monkeypatch.setenv("ANTHROPIC_BASE_URL", url)

    def python(self, block):
        above = "\n" * block.line
        with redirect_stdout(StringIO()) as out:
            exec(compile(above + self.here(block.text), self.page, "exec"), self.names)
        self.printed = out.getvalue()

    def here(self, text):
        """Returns the text with the addresses of these servers in place of those that a reader starts."""
        return re.sub(r"http://127\.0\.0\.1:(8\d{3})", lambda found: self.origins[found[1]], text)

    def sh(self, block):
        self.console(block)

    def console(self, block):
        printed = ""
        for command, shown in block.commands():
            last = (command, shown) == [*block.commands()][-1]
            run = self.run(self.here(command))
            assert run.returncode == (int(block.said.get("exits", 0)) if last else 0), run.stdout + run.stderr
            assert fits(run.stdout, shown), f"{command} printed\n{run.stdout}"
            printed += run.stdout
        self.printed = printed

    def run(self, command):
        if command.startswith("export "):
            return self.export(command)
        if re.fullmatch(r"cd \S+", command):
            return self.enter(command)
        if not command.startswith("conformance"):
            return self.process(command, os.environ)
        assert not command.startswith("conformance serve"), "say `serves`"
        with pytest.MonkeyPatch.context() as patch:
            for name in KEYS:
                patch.delenv(name)  # with a key it records from the real API
            return self.process(command, os.environ) if self.page == FIRST else self.within(command)

    def export(self, command):
        """Sets the variables for the following blocks."""
        done = self.process(f"{command}\nenv -0", os.environ)
        for each in shlex.split(command)[1:]:
            name = each.partition("=")[0]
            self.monkeypatch.setenv(name, re.search(rf"(?:^|\0){name}=([^\0]*)", done.stdout)[1])
        return subprocess.CompletedProcess(command, done.returncode, "", done.stderr)

    def enter(self, command):
        """Changes the folder for the following blocks."""
        self.folder /= command.split()[1]
        self.monkeypatch.chdir(self.folder)
        return subprocess.CompletedProcess(command, 0, "", "")

    def within(self, command):
        done = run_in(self.folder, *shlex.split(command.replace("\\\n", ""), comments=True)[1:])
        return subprocess.CompletedProcess(command, done.exit_code, done.stdout, done.stderr)

    def process(self, command, seen):
        env = {
            name: value for name, value in seen.items() if not name.startswith("PYTEST_")
        }  # it is no worker
        env["PYTEST_ADDOPTS"] = "-p no:shiny-test"  # which takes seconds to load
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

    def toml(self, block):
        assert tomllib.loads(block.text)

    def markdown(self, block):
        """A picture stands in the folder of a report that the page wrote."""
        for target in re.findall(r"!\[[^]]*\]\(([^)]+)\)", block.text):
            assert (self.folder / "out" / target).is_file(), target

    def text(self, block):
        pytest.fail(f"{self.page}:{block.line}: say what it is: prints, or not run and why")


def fits(printed, shown):
    """Tells whether the output agrees with the page. `…` on a separate line matches any lines, and at the end any
    rest.
    """
    pattern = re.sub(r"\[", "[[]", shown.strip()).replace("…", "*")
    return not shown or fnmatchcase(printed.strip(), pattern)


@pytest.fixture
def reader(tmp_path, monkeypatch):
    """Makes the reader of a page, in an empty folder, with invalid keys."""
    for name in filter(_SECRET.search, list(os.environ)):
        monkeypatch.delenv(name)
    for name in KEYS:
        monkeypatch.setenv(name, "any-key")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("BROWSER", "true")  # no window opens
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)  # as an interpreter does in this folder
    monkeypatch.setattr("builtins.input", lambda _question: "y")  # a person at the console
    with StrictServer(SCRIPTS) as server, ExitStack() as closing:
        yield lambda page: Reader(page, tmp_path, server, monkeypatch, closing)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_can_be_followed_from_the_top(page, reader):
    someone = reader(page)
    for block in blocks(page):
        try:
            someone.follow(block)
        except Exception as error:
            raise AssertionError(f"{page}:{block.line}: {type(error).__name__}: {error}") from error


#: Guides whose sections are complete programs, because a reader begins at any of them.
GUIDES = ("docs/chat/tools.md", "docs/chat/answers.md", "docs/chat/cookbook.md")


@pytest.mark.parametrize("page", GUIDES)
def test_each_section_of_a_guide_has_its_own_imports(page):
    starts = [
        number
        for number, line in enumerate((ROOT / page).read_text("utf-8").splitlines(), 1)
        if line.startswith("## ")
    ]
    code = [block for block in blocks(page) if block.language == "python"]
    for start, end in zip(starts, [*starts[1:], sys.maxsize], strict=True):
        section = "".join(block.text for block in code if start < block.line < end)
        assert not undefined(section), f"{page}:{start}"


def undefined(code):
    """Returns the names that a program uses and defines nowhere."""
    table, used, made = ast.parse(code), set(), {*dir(builtins)}
    for node in ast.walk(table):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else made).add(node.id)
        elif isinstance(node, ast.alias):
            made.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            made.add(node.name)
        elif isinstance(node, ast.arg):
            made.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            made.add(node.name)
    return used - made
