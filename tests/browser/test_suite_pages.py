"""The pages of the suite: the report of a run, and the strict server's view of its requests."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from ellmer_conformance.report import read
from ellmer_conformance.report.formats import html
from ellmer_conformance.server.strict_server import StrictServer

ADAPTER = """
from ellmer_conformance.adapters import Capabilities

class Adapter:
    name = "forgetful"
    wires = {"openai-chat": ["openai"]}

    def capabilities(self, wire, provider):
        return Capabilities(modes=("sync",), image_in_user="refused")

    def session(self, endpoint, **_):
        raise RuntimeError("<script>alert(1)</script> is no session")
"""

HOSTILE = "<img src=x onerror=alert(1)>"
#: The folder of `broken_on_purpose`.
BROKEN_ADAPTERS = Path(__file__).parents[1] / "support"
REFUSED = {
    "model": "gpt-4.1",
    "messages": [{"role": "tool", "tool_call_id": HOSTILE, "content": HOSTILE * 99}],
}


def conformance(folder, *arguments):
    """Runs the command in the folder."""
    command = "from ellmer_conformance.console_scripts import main; main()"
    return subprocess.run(
        [sys.executable, "-c", command, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(BROKEN_ADAPTERS)},
        capture_output=True,
        text=True,
        check=False,
    )


def run(folder, adapter, *more):
    done = conformance(folder, "run", "--adapter", adapter, *more, "--against", "server", "--report", "out")
    assert done.returncode == 1, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The page of a run in which everything fails."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "forgetful.py").write_text(ADAPTER, "utf-8")
    cases = ("--case", "one_tool", "--case", "image_from_user", "--case", "tool_returns_pdf")
    return (run(folder, "forgetful:Adapter", *cases) / "out" / "index.html").as_uri()


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """The folder of a run of an adapter that sends no result for an unanswered call, which the API refuses."""
    cases = ("--case", "dangling_call", "--case", "plain_text", "--wire", "openai-chat", "--mode", "sync")
    bug = "broken_on_purpose:BROKEN.forgets_dangling_calls"
    return run(tmp_path_factory.mktemp("planted"), bug, *cases)


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


@pytest.mark.parametrize("width", [390, 1280])
def test_a_report_opens_on_what_failed_and_folds_what_follows(planted, page, axe, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.goto((planted / "out" / "index.html").as_uri())
    failed = page.get_by_role("region", name="What failed").get_by_role("button")
    expect(failed.first).to_be_in_viewport(ratio=1)
    expect(failed.first).to_contain_text("PAIR-001")
    expect(failed.filter(has_text="TXT-005")).to_have_count(0)
    failed.first.press("Enter")

    dialog = page.get_by_role("dialog")
    box = dialog.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    expect(dialog.get_by_role("button", name="Close")).to_be_in_viewport(ratio=1)
    expect(dialog.locator(".here").first).to_contain_text('"tool_calls": [')
    expect(dialog.get_by_text("TXT-005").first).to_be_hidden()
    dialog.get_by_text("What follows from it").click()
    expect(dialog.get_by_text("TXT-005").first).to_be_visible()
    assert axe(page) == {}
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Rules", exact=True).click()
    expect(page.locator("#matrix th code").first).to_be_attached()
    assert "`" not in page.locator("#matrix").inner_text()


@pytest.fixture
def sourced(planted, tmp_path):
    """The page of a report with a rule that names links, a sentence, and addresses that must not be followed."""
    report = read(planted / "out" / "report.json")
    for rule in report.rules:
        if rule["id"] == "PAIR-001":
            rule["source"] = [
                "https://example.org/a?b=1&c=<i>#d",
                "as (http://example.org/e) says",
                "javascript:alert(1)",
                f"{HOSTILE} data:text/html,x",
            ]
    (tmp_path / "index.html").write_text(html.page(report, "out"), "utf-8")
    return (tmp_path / "index.html").as_uri()


def test_the_sources_of_a_rule_are_links_that_tell_the_page_nothing(sourced, page, axe):
    page.goto(sourced)
    page.get_by_role("region", name="What failed").get_by_role("button", name="PAIR-001").first.press("Enter")
    sources = page.get_by_role("dialog").locator(".sources")

    links = sources.get_by_role("link")
    assert [link.get_attribute("href") for link in links.all()] == [
        "https://example.org/a?b=1&c=<i>#d",
        "http://example.org/e",
    ]
    assert {link.get_attribute("rel") for link in links.all()} == {"noreferrer noopener"}
    expect(sources.get_by_role("listitem").nth(1)).to_have_text("as (http://example.org/e) says")
    expect(sources.get_by_role("listitem").nth(2)).to_have_text("javascript:alert(1)")
    expect(sources.get_by_role("listitem").nth(3)).to_have_text(f"{HOSTILE} data:text/html,x")
    assert axe(page) == {}


def test_the_message_that_is_marked_is_the_one_in_the_wrong_place(tmp_path, page):
    cases = ("--case", "result_then_text", "--wire", "openai-chat", "--mode", "sync")
    folder = run(tmp_path, "broken_on_purpose:BROKEN.puts_user_first", *cases)
    page.goto((folder / "out" / "index.html").as_uri())
    page.get_by_role("button", name="ORD-002").first.click()

    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("messages[2] stands between the call in messages[1] and its result")
    expect(dialog).to_contain_text("/exchanges/0/request/messages/2")
    marked = dialog.locator(".here").first
    lines = dialog.locator("pre", has=page.locator(".here")).first.inner_text().splitlines()
    after = lines[lines.index(marked.inner_text().rstrip("\n")) + 1]
    assert '"role": "user"' in after


def test_the_commands_of_a_failure_work_when_they_are_pasted(planted, page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto((planted / "out" / "index.html").as_uri())
    page.get_by_role("button", name="PAIR-001").first.click()
    page.get_by_role("button", name="Copy: conformance repro").first.click()
    expect(page.get_by_text("Copied")).to_be_visible()
    pasted = shlex.split(page.evaluate("navigator.clipboard.readText()"))
    assert pasted[:2] == ["conformance", "repro"]

    (planted / "repro.py").write_text(conformance(planted, *pasted[1:]).stdout, "utf-8")
    shown = subprocess.run(
        [sys.executable, "repro.py"],
        cwd=planted,
        env={**os.environ, "PYTHONPATH": str(BROKEN_ADAPTERS)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "session.send([Text(text=" in shown.stdout
    assert "--- answer 0: 400" in shown.stdout
    assert "PAIR-001 /exchanges/0/request/messages/" in shown.stdout


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
