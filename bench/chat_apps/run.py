"""Six chat pages in a real browser, one after the other: what is still there after a reload, a stop and a restart.

`python bench/chat_apps/run.py [NAME …] [--out FILE]` installs each product in an environment of its own in `build/chat_apps`,
starts the smallest chat that its documentation shows against the strict server, and does in each the same things. It needs
`uv`, chromium and pdftotext (Debian's poppler-utils) on the path, and takes about twelve minutes, most of it for Open WebUI.
"""

# ruff: noqa: S603, S607, T201  # a script, which runs programs and prints what it sees

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from urllib.request import urlopen

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from ellmer_conformance.server.strict_server import StrictServer

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[2]
BUILD = ROOT / "build" / "chat_apps"
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
BOX = "textarea:visible, [contenteditable=true]:visible"
STOP = ", ".join(
    f"{each}:visible" for each in ("button[aria-label*=top i]", "[data-state=cancel]", ".stop-button", "#stop-button",
                                   "[data-testid=stChatInputStopButton]", "[data-testid=stStatusWidget] button")
)  # fmt: skip


@dataclass
class Product:
    """A product: its package, and the command that starts its page on a port."""

    package: str
    command: str
    port: int
    settings: dict[str, str] = field(default_factory=dict)

    def python(self, name: str) -> Path:
        """Returns the Python of its environment, which is made once. Ours and shinychat are in the running one."""
        if not self.package:
            return Path(sys.executable)
        folder = BUILD / name
        if not (folder / "done").exists():
            subprocess.run(
                ["uv", "venv", "-q", "--clear", "--python", sys.executable, str(folder)], check=True
            )
            python = str(folder / "bin" / "python")
            subprocess.run(
                ["uv", "pip", "install", "-q", "--python", python, *self.package.split(), "openai"],
                check=True,
            )
            (folder / "done").touch()
        return folder / "bin" / "python"


WEBUI = {
    "OFFLINE_MODE": "true",
    "WEBUI_AUTH": "false",
    "RAG_EMBEDDING_ENGINE": "openai",
    "ENABLE_OLLAMA_API": "false",
}
PRODUCTS = {
    "ours": Product("", "python -m uvicorn --app-dir {here} ours_app:app --port 9005", 9005),
    "shinychat": Product("", "python -m uvicorn --app-dir {here} shinychat_app:app --port 9004", 9004),
    "chainlit": Product(
        "chainlit pandas plotly sqlalchemy[asyncio] aiosqlite",
        "python -m chainlit run {here}/chainlit_app.py --headless --host 127.0.0.1 --port 9001",
        9001,
        {"CHAINLIT_AUTH_SECRET": "any-secret-of-at-least-thirty-two-letters"},
    ),
    "gradio": Product("gradio matplotlib", "python {here}/gradio_app.py", 9002, {"PORT": "9002", "GRADIO_ANALYTICS_ENABLED": "False"}),
    "streamlit": Product(
        "streamlit",
        "python -m streamlit run {here}/streamlit_app.py --server.headless true --server.address 127.0.0.1 --server.port 9003",
        9003,
        {"STREAMLIT_BROWSER_GATHER_USAGE_STATS": "false"},
    ),
    "open-webui": Product("open-webui", "open-webui serve --host 127.0.0.1 --port 9006", 9006, WEBUI),
}  # fmt: skip


@contextmanager
def running(name: str, base: str, programs: Path = HERE) -> Iterator[str]:
    """Yields the address of a product's page while it runs."""
    product = PRODUCTS[name]
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", product.port)) == 0:
            raise SystemExit(f"Something else listens on port {product.port}. Stop it first.")
    program, *arguments = product.command.format(here=programs).split()
    start = [str(product.python(name).parent / program), *arguments]
    store = BUILD / "stores" / name
    store.mkdir(parents=True, exist_ok=True)
    settings = {"BASE": base, "OPENAI_API_BASE_URL": base, "OPENAI_API_KEY": "any-key"}
    settings |= {"STORE": str(store), "DATA_DIR": str(store), **product.settings}
    with (BUILD / f"{name}.log").open("a") as log:
        server = subprocess.Popen(start, cwd=store, env=os.environ | settings, stdout=log, stderr=log)  # fmt: skip
        try:
            _answers(address := f"http://127.0.0.1:{product.port}/")
            yield address
        finally:
            server.terminate()
            try:
                server.wait(15)
            except subprocess.TimeoutExpired:
                server.kill()


def _answers(address: str) -> None:
    for _ in range(600):
        try:
            urlopen(address).close()  # noqa: S310 - on this machine
        except OSError:
            time.sleep(0.5)
        else:
            return
    raise SystemExit(f"{address} does not answer. See {BUILD}/*.log")


class Visit:
    """A page of a product, and what a person does there."""

    def __init__(self, browser: Browser) -> None:
        self.context = browser.new_context(viewport={"width": 1280, "height": 800})
        self.page = self.context.new_page()
        self.hosts: set[str] = set()
        self.page.on("request", lambda request: self.hosts.add(request.url.split("/")[2]))

    def shows(self, text: str, seconds: float = 20, page: Page | None = None) -> bool:
        for _ in range(int(seconds * 4)):
            if text in (page or self.page).evaluate("document.body.innerText"):
                return True
            (page or self.page).wait_for_timeout(250)
        return False

    def opened(self, address: str = "") -> None:
        """Opens the page, or loads it again, and closes what greets a new user."""
        if address:
            self.page.goto(address)
        else:
            self.page.reload()
        self.page.wait_for_selector(BOX, timeout=60_000)
        self.page.wait_for_timeout(5_000)
        welcome = self.page.locator("[role=dialog] button", has_text="Okay")
        if welcome.count():
            welcome.first.click()

    def types(self, text: str) -> None:
        self.page.locator(BOX).last.click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.press("Delete")
        self.page.keyboard.type(text)

    def says(self, text: str) -> None:
        self.types(text)
        self.page.keyboard.press("Enter")

    @property
    def draft(self) -> str:
        return str(self.page.locator(BOX).last.evaluate("box => box.value || box.innerText || ''"))


def seen(browser: Browser, name: str, base: str) -> dict[str, object]:
    """Does in one product what a person does, and returns what was seen."""
    shutil.rmtree(BUILD / "stores" / name, ignore_errors=True)
    visit, found = Visit(browser), dict[str, object]()
    with running(name, base) as address:
        visit.opened(address)
        visit.opened()  # a second time, without what greets a new user
        found["the input has the focus at the start"] = visit.page.evaluate(
            f"document.activeElement.matches({BOX.replace(':visible', '')!r})"
        )
        found |= _answered(visit, name)
        found |= _stopped(visit)
        found |= _reloaded(visit)
    with running(name, base):
        visit.page.wait_for_timeout(8_000)
        visit.opened()
        found["a conversation survives a restart of the server"] = visit.shows("slow again", 15)
    found["other hosts that the page asks"] = ", ".join(sorted(host for host in visit.hosts if not host.startswith("127."))) or "none"  # fmt: skip
    visit.context.close()
    return found


def _answered(visit: Visit, name: str) -> dict[str, object]:
    visit.says("Hello")
    visit.shows("Fine.")
    visit.page.wait_for_timeout(2_000)
    problems = Axe().run(visit.page).response["violations"]
    formula = visit.page.locator("math, .katex, mjx-container").count() > 0
    visit.says("A long one")
    visit.shows("THE END.")
    visit.page.wait_for_timeout(2_000)
    visit.page.pdf(path=(paper := BUILD / f"{name}.pdf"))
    text = subprocess.run(["pdftotext", str(paper), "-"], capture_output=True, text=True, check=True).stdout
    return {
        "formulas are drawn without a setting": formula,
        "all of a long conversation is printed": "THE FIRST." in text and "THE END." in text,
        "kinds of accessibility problems that axe finds": len(problems),
    }


def _stopped(visit: Visit) -> dict[str, object]:
    visit.says("slow please")
    visit.shows("three")
    stop = visit.page.locator(STOP)
    if not stop.count():
        visit.shows("THE LAST.")
        return {"Stop keeps what was received": False}
    stop.first.click()
    visit.page.wait_for_timeout(9_000)
    return {"Stop keeps what was received": visit.shows("three", 3) and not visit.shows("THE LAST.", 1)}


def _reloaded(visit: Visit) -> dict[str, object]:
    visit.opened()
    there = visit.shows("THE END.")
    visit.says("slow again")
    visit.shows("two")
    address = visit.page.url
    visit.page.reload()
    goes_on = visit.shows("THE LAST.", 30)
    second = visit.context.new_page()
    second.goto(address)
    in_both = visit.shows("slow again", 15, second)
    second.close()
    visit.types("A draft")
    visit.page.wait_for_timeout(2_000)
    visit.opened()
    return {
        "a reload shows the conversation": there,
        "an answer goes on during a reload": goes_on,
        "a second tab shows the conversation": in_both,
        "a draft survives a reload": "A draft" in visit.draft,
    }


def table(found: Mapping[str, Mapping[str, object]], title: str = "in the smallest page of each") -> str:
    """Returns what was seen as Markdown, one product a column."""
    lines = [f"| {title} | {' | '.join(found)} |", "|---|" + "---|" * len(found)]
    rows = next(iter(found.values()))
    lines += [f"| {row} | {' | '.join(cell(each[row]) for each in found.values())} |" for row in rows]
    return "\n".join([*lines, ""])


def cell(value: object) -> str:
    """Returns a word for what was seen."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these of {', '.join(PRODUCTS)}")
    parser.add_argument("--out", type=Path, help="write the table to a file, too")
    options = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    found: dict[str, dict[str, object]] = {}
    with StrictServer(script=HERE / "answers.yaml") as server, sync_playwright() as playwright:
        path = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        for name in options.names or PRODUCTS:
            found[name] = seen(browser, name, f"{server.origin}/v1")
            print(name, json.dumps(found[name], indent=1), file=sys.stderr, flush=True)
        browser.close()
    print(text := table(found) + f"\nshinychat {version('shinychat')}\n")
    if options.out:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
