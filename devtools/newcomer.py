"""Follows pages as somebody who has only the page: `nox -s newcomers` (`-- README.md`: only these pages).

Each page begins in an empty folder, with a new virtual environment and a home folder of its own. Each block is run as
printed, also the ones that install. Until the release, git fetches the repository's address from this checkout. A strict
server is the page's model, as if the reader had a key. `tests/support/code_blocks.py` describes the comments before blocks.
"""

# ruff: noqa: T201, S603 - it runs the commands of the pages, and prints what happened
from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from threading import Timer
from typing import Any

from ellmer_conformance.server import StrictServer

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
code_blocks = import_module("code_blocks")

#: The page that others link to, `quickstart.md#install`. Its first block installs the suite.
INSTALL = "docs/quickstart.md"
ADDRESS = "https://github.com/ellmer-core/ellmer-core"
#: No block takes as many seconds. One that does is killed, because it waits for something that its page does not mention.
LIMIT = 600
#: What a block in Python needs of the blocks before it: they share one process, as in an interpreter. Its reader agrees to all.
INTERPRETER = """
import io, sys, traceback
class Agrees(io.StringIO):
    def readline(self, size=-1):
        return "y\\n"
scripts, sys.stdin, names = sys.stdin, Agrees(), {"__name__": "__main__"}
while text := scripts.readline():
    code = 0
    try:
        exec(compile(open(text.strip(), encoding="utf-8").read(), text.strip(), "exec"), names)
    except BaseException:
        code = traceback.print_exc() or 1
    print(f"\\n\\0{code}", flush=True)
"""
#: Runs a block in the shell, and leaves the variables and the folder for the next one.
SHELL = """
set -e
[ -f "$STATE" ] && . "$STATE"
trap 'code=$?; export -p | grep -v " STATE=" > "$STATE"; echo "cd \\"$PWD\\"" >> "$STATE"; exit $code' EXIT
"""


class Newcomer:
    """Somebody who follows a page in a folder."""

    def __init__(self, page: str, folder: Path, closing: ExitStack) -> None:
        self.page, self.closing, self.start, self.worked = page, closing, time.monotonic(), busy()
        self.folder, self.state = folder / "work", folder / "state"
        self.folder.mkdir()
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        self.env = self._env(folder)
        settings = folder / ".jupyter" / "jupyter_server_config.py"
        settings.parent.mkdir()
        settings.write_text("c.ServerApp.allow_root = True\n", "utf-8")  # a newcomer is no root; CI is
        self.printed, self.first = "", 0.0
        self.stumbles, self.skipped = list[str](), list[str]()
        self.interpreter: subprocess.Popen[str] | None = None
        self.left_out, self.imports = False, list[str]()

    def _env(self, folder: Path) -> dict[str, str]:
        kept = {
            k: v for k, v in os.environ.items() if k.startswith(("PIP_", "SSL_", "REQUESTS_", "LANG", "UV_"))
        }
        path = [
            each for each in os.environ["PATH"].split(os.pathsep) if not Path(each, "conformance").exists()
        ]
        kept |= {
            "PATH": os.pathsep.join([f"{folder}/venv/bin", *path]),
            "VIRTUAL_ENV": f"{folder}/venv",
            "HOME": str(folder),
            "STATE": str(self.state),
        }
        kept |= {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.file://{ROOT}.insteadOf",
            "GIT_CONFIG_VALUE_0": ADDRESS,
        }
        return {**kept, "OPENAI_API_KEY": "any-key", "ANTHROPIC_API_KEY": "any-key", "BROWSER": "true"}

    def follow(self, block: Any) -> None:
        """Runs one block, and compares what it prints."""
        said, begun = block.said, time.monotonic()
        if "given" in said:
            target, source = said["given"].split(" from ")
            if (ROOT / source).is_file():
                shutil.copy(ROOT / source, self.folder / target)
            else:
                shutil.copytree(ROOT / source, self.folder / target, dirs_exist_ok=True)
        if "prints" in said:
            self.compare(block)
            return
        there = shutil.which(said.get("needs", "bash"), path=self.env["PATH"])
        self.left_out = bool(said.keys() & {"not run", "ci", "model"}) or not there
        if self.left_out:
            self.skipped.append(f"{block.line}: {said.get('not run', 'it needs CI, a model or a program')}")
        elif "file" in said:
            path = self.folder / said["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, "utf-8")
        elif "serves" in said:
            self.serve(block)
        elif block.language in {"sh", "console", "python"} and "part of" not in said:
            code = self.python(block) if block.language == "python" else self.shell(block)
            if code != int(said.get("exits", 0)):
                waits = f", because it waits after {LIMIT} seconds" if code == -signal.SIGKILL else ""
                self.stumble(block, f"exit code {code}{waits}\n{self.printed}")
            elif "installs" not in said:
                self.succeed()
            print(f"  {self.page}:{block.line} {code} {time.monotonic() - begun:.0f} s", flush=True)

    def compare(self, block: Any) -> None:
        """Compares what the last block printed with the page."""
        if not self.left_out and not fits(self.printed, block.text):
            self.stumble(block, self.printed)
        self.succeed()

    def succeed(self) -> None:
        """Notes when the first block succeeded that is no installation: by the clock, and in seconds of the processor."""
        if not self.first:
            self.first, self.worked = time.monotonic() - self.start, busy() - self.worked

    def started(
        self, *script: str, stdin: int = subprocess.DEVNULL, stderr: int = subprocess.STDOUT
    ) -> subprocess.Popen[str]:
        """Starts a script of the shell with its arguments, in a session of its own, so that all that it starts can be killed."""
        return subprocess.Popen(
            ["bash", "-c", *script],  # noqa: S607 - the reader's shell
            cwd=self.folder,
            env=self.env,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            start_new_session=True,
        )

    def shell(self, block: Any) -> int:
        """Runs the block in the shell."""
        process = self.started(SHELL + block.text, stderr=subprocess.PIPE)
        with limited(process):
            out, err = process.communicate()
        self.printed = out if not process.returncode else out + err
        return process.returncode

    def python(self, block: Any) -> int:
        """Runs the block in the page's interpreter, with the variables that the shell has exported."""
        if not self.interpreter:
            command = SHELL + 'exec python -c "$0"'
            self.interpreter = self.started(command, INTERPRETER, stdin=subprocess.PIPE)
            self.closing.callback(self.interpreter.kill)
        script = self.state.with_name(f"block{block.line}.py")
        script.write_text(block.text, "utf-8")
        assert self.interpreter.stdin
        assert self.interpreter.stdout
        self.interpreter.stdin.write(f"{script}\n")
        self.interpreter.stdin.flush()
        lines = list[str]()
        with limited(self.interpreter):
            while (line := self.interpreter.stdout.readline()) and not line.startswith("\0"):
                lines.append(line)
        self.printed = "".join(lines)
        if not line:
            ended_with, self.interpreter = self.interpreter.wait(), None
            return ended_with
        return int(line[1:])

    def serve(self, block: Any) -> None:
        """Starts the server in a second terminal."""
        text = f"python {self.script(block)}" if block.language == "python" else block.text
        process = self.started(SHELL.replace("trap", ": trap") + f"exec {text}")
        self.closing.callback(ended, process)
        assert process.stdout
        lines = list[str]()
        with limited(process):
            while "http://" not in "".join(lines[-1:]):
                if not (line := process.stdout.readline()):
                    return self.stumble(block, "".join(lines))
                lines.append(line)
        return None

    def script(self, block: Any) -> Path:
        """Returns a file with a block that serves, after what the earlier ones of the page import."""
        path = self.state.with_name(f"block{block.line}.py")
        path.write_text("".join([*self.imports, block.text]), "utf-8")
        self.imports += [
            line for line in block.text.splitlines(True) if line.startswith(("from ", "import "))
        ]
        return path

    def stumble(self, block: Any, why: str) -> None:
        """Notes where the page did not lead on."""
        self.stumbles.append(f"{self.page}:{block.line}: {block.text}\n{why[-1500:]}")


def busy() -> float:
    """Returns the processor time of all programs that have ended, which a busy machine does not stretch."""
    spent = os.times()
    return spent.children_user + spent.children_system


@contextmanager
def limited(process: subprocess.Popen[str]) -> Iterator[None]:
    """Kills the process, and all that it has started, after `LIMIT` seconds."""
    timer = Timer(LIMIT, lambda: os.killpg(process.pid, signal.SIGKILL))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def ended(process: subprocess.Popen[str]) -> None:
    """Ends a server as Ctrl-C does. Where that signal is ignored, as in the background of a shell, it is told to end."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.terminate()
        process.wait()


def fits(printed: str, shown: str) -> bool:
    """Tells whether the output ends with what the page shows. `…` is any text. An installation prints before it."""
    pattern = "*" + shown.strip().replace("[", "[[]").replace("…", "*")
    return fnmatchcase(printed.strip(), pattern)


def followed(page: str) -> Newcomer:
    """Follows a page from its top, and prints what happened."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as closing:
        someone, all_blocks = Newcomer(page, Path(folder), closing), code_blocks.blocks(page)
        if INSTALL.rpartition("/")[2] + "#install" in (ROOT / page).read_text("utf-8"):
            all_blocks.insert(0, code_blocks.blocks(INSTALL)[0])
        origin = closing.enter_context(StrictServer({})).origin
        someone.env |= {"OPENAI_BASE_URL": f"{origin}/v1", "ANTHROPIC_BASE_URL": origin}
        for block in all_blocks:
            someone.follow(block)
    end = time.monotonic() - someone.start
    someone.succeed()  # if each of its blocks installs something
    first = f"first success after {someone.first:.0f} s ({someone.worked:.0f} s of the processor)"
    print(f"{page}: {len(someone.stumbles)} stumbles, {first}, end after {end:.0f} s")
    for each in someone.stumbles:
        print(f"STUMBLE {each}")
    for each in someone.skipped:
        print(f"  not run, {page}:{each}")
    return someone


if __name__ == "__main__":
    stumbles = [stumble for page in sys.argv[1:] or code_blocks.PAGES for stumble in followed(page).stumbles]
    sys.exit(bool(stumbles))
