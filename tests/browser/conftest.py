"""A real browser (Debian's chromium, driven by Playwright) with the real app, whose model is a script of the strict
server. Nothing sleeps: tools wait for the test, and the test waits for the page.
"""

import asyncio
import os
import shutil
import threading
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

import ellmer_core as ec
from ellmer_conformance.scenarios.script import Script
from ellmer_conformance.server.strict_server import StrictServer
from ellmer_core.live.browser import event_loop

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
ABSENT = (
    "These tests need a browser. On Debian and Ubuntu: apt-get install chromium. Elsewhere name a Chrome or "
    "Chromium of yours: CHROMIUM=/path/to/chrome."
)

PATIENCE = int(os.environ.get("BROWSER_TIMEOUT", "120000"))  # milliseconds: for a machine that is busy
expect.set_options(timeout=PATIENCE)
# It is kept once all animations have ended, or after two seconds, because some never end.
STILL = """Promise.race([Promise.all(document.getAnimations()
    .filter((each) => each.effect.getComputedTiming().endTime < Infinity).map((each) => each.finished.catch(() => null))),
    new Promise((resolve) => setTimeout(resolve, 2000))])"""


@pytest.fixture(scope="session")
def chromium():
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not path or not Path(path).exists():
        pytest.exit(ABSENT, returncode=3)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium):
    """An empty page. Errors of its scripts fail the test."""
    context = chromium.new_context(viewport={"width": 900, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    page, problems = context.new_page(), []
    page.on("pageerror", lambda error: problems.append(str(error)))
    yield page
    context.close()
    assert not problems


@contextmanager
def serving(app, port=0):
    """Yields the address of the app, on a free port or on this one."""
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning", timeout_graceful_shutdown=1))
    up = threading.Event()
    started = server.startup

    async def startup(sockets=None):
        await started(sockets)
        up.set()

    server.startup = startup
    served = asyncio.run_coroutine_threadsafe(server.serve(), event_loop())
    assert up.wait(20)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        served.result()


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and logs nothing."""

    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def files_served():
    """`files_served(folder)` returns the address of a server for the files of a folder."""
    with ExitStack() as stack:

        def served(folder):
            server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
            stack.callback(server.server_close)
            stack.callback(server.shutdown)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            return f"http://127.0.0.1:{server.server_port}"

        yield served


@pytest.fixture
def picture():
    """`picture(part, name)` makes a picture of a page or a part of it for the docs, if `DOCS_PICTURES` is set.
    Otherwise, the picture must exist.
    """

    def take(part, name):
        path = Path(__file__).parents[2] / "docs" / "images" / name
        if os.environ.get("DOCS_PICTURES"):
            part.screenshot(path=path)
        assert path.is_file()

    return take


@pytest.fixture
def server_of():
    """`server_of(app, port)` yields the address of a server that can be stopped."""
    return serving


@pytest.fixture
def served():
    """`served(app)` returns its address."""
    with ExitStack() as stack:
        yield lambda app: stack.enter_context(serving(app))


class Talk:
    """A chat with tools whose model plays `steps`, and the page that shows it."""

    def __init__(self, page, base_url, tools):
        self.page = page
        self.chat = ec.chat_anthropic(
            base_url=f"{base_url}/v1",
            api_key="none",
            model="claude-sonnet-5",
            echo="none",
            max_tries=1,
            api_args={"thinking": {"type": "adaptive", "display": "summarized"}},
        )
        self.chat.register_tools(tools)
        self.log = page.get_by_role("log")
        self.stop = page.get_by_role("button", name="Stop")
        self.send = page.get_by_role("button", name="Send message")

    def say(self, text):
        self.page.get_by_role("textbox", name="Chat message").fill(text)
        self.page.keyboard.press("Enter")

    def ask(self, text):
        """Sends a message and waits for the end of the answer."""
        self.say(text)
        self.settled()

    def settled(self):
        expect(self.send).to_be_visible()

    def card(self, name):
        """The line of a tool call."""
        return self.log.get_by_role("button", name=name)

    def reload(self, ready):
        self.page.reload()
        expect(self.log.get_by_text(ready)).to_be_visible()


@pytest.fixture
def talk(page):
    """`talk(steps, *tools)` opens the app."""
    with ExitStack() as stack:

        def opened(steps, *tools, **options):
            server = stack.enter_context(StrictServer({"talk": Script(steps)}))
            talk = Talk(page, server.url("talk", "1"), tools)
            page.goto(stack.enter_context(serving(ec.chat_app(talk.chat, title="Talk", **options))))
            expect(page.get_by_role("textbox", name="Chat message")).to_be_visible()
            return talk

        yield opened


@pytest.fixture(scope="session")
def axe():
    """`axe(page)` returns the accessibility problems of the page, once nothing in it moves."""

    def check(page):
        page.evaluate(STILL)
        found = Axe().run(page).response["violations"]
        complaints = {v["id"]: [node["html"][:200] for node in v["nodes"]] for v in found}
        # shinychat 0.7 opens its menu on a phone as <aside role="dialog">, and draws it anew whenever that is changed.
        if all('id="chat-sidebar"' in node for node in complaints.get("aria-allowed-role", [])):
            complaints.pop("aria-allowed-role", None)
        return complaints

    return check
