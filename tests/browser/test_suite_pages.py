"""The pages of the suite: the report of a run, and what the strict server shows of the requests it gets."""

import subprocess
import sys

import httpx
import pytest
from playwright.sync_api import expect

from ellmer_conformance.server.strict_server import StrictServer

ADAPTER = """
from ellmer_conformance.adapters import Capabilities

class Adapter:
    name = "forgetful"
    wires = {"openai-chat": ["openai"]}

    def capabilities(self, wire, vendor):
        return Capabilities(modes=("sync",), image_in_user="refused")

    def session(self, endpoint, **_):
        raise RuntimeError("<script>alert(1)</script> is no session")
"""

HOSTILE = "<img src=x onerror=alert(1)>"
REFUSED = {
    "model": "gpt-4.1",
    "messages": [{"role": "tool", "tool_call_id": HOSTILE, "content": HOSTILE * 99}],
}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The page of a run in which everything fails."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "forgetful.py").write_text(ADAPTER, "utf-8")
    cases = ("--case", "one_tool", "--case", "image_from_user", "--case", "tool_returns_pdf")
    run = (
        "-c",
        "from ellmer_conformance.console_scripts import main; main()",
        "run",
        "--adapter",
        "forgetful:Adapter",
    )
    done = subprocess.run(
        [sys.executable, *run, *cases, "--against", "server", "--report", "out"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return (folder / "out" / "index.html").as_uri()


@pytest.fixture
def server():
    with StrictServer(mode="observe") as server:
        yield server


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_report_is_for_everybody(report, page, axe, scheme, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    page.goto(report)

    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert axe(page) == {}


def test_a_failure_is_found_with_the_keyboard_and_is_text(report, page, axe):
    page.goto(report)
    page.get_by_role("button", name="one_tool, openai-chat / openai: not-testable").press("Enter")

    expect(page.get_by_role("dialog")).to_contain_text("<script>alert(1)</script> is no session")
    expect(page.get_by_role("dialog")).to_contain_text("conformance explain")
    assert axe(page) == {}
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_server_shows_a_request_when_it_comes_and_marks_what_is_wrong(server, page, axe, scheme, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    page.goto(server.origin)
    httpx.post(f"{server.origin}/v1/chat/completions", json=REFUSED, headers={"authorization": "Bearer k"})

    expect(page.get_by_text("POST /v1/chat/completions")).to_be_visible()
    expect(page.get_by_text("PAIR-002").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert axe(page) == {}
