"""The judge of the site in a real browser: the findings of `conformance lint`, and no request to another host."""

import json
import os
import re
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import expect

from ellmer_conformance.recordings.lint import lint_file
from ellmer_conformance.recordings.recorded_requests import read

ROOT = Path(__file__).parents[2]
READY = re.compile("Ready")
REQUESTS, AT_ONCE = 200, 20

#: A site with the page of the judge alone, because the whole one takes a minute to build.
CONFIG = """
INHERIT: {root}/mkdocs.yml
docs_dir: docs
site_dir: site
strict: false
theme: {{ custom_dir: {root}/docs/_site/_theme }}
hooks: [hook.py]
plugins: [search]
nav: [judge.md]
"""
HOOK = """
import sys
sys.path.insert(0, {folder!r})
from _generate import judge_files, on_post_page
from mkdocs.structure.files import File

def on_files(files, config):
    for file in judge_files():
        files.append(File.generated(config, f"judge/files/{{file.name}}", abs_src_path=str(file)))
    return files
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory, files_served):
    """The address of the site."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "docs").mkdir()
    for name in ("judge.md", "assets", "images"):
        (folder / "docs" / name).symlink_to(ROOT / "docs" / name)
    (folder / "mkdocs.yml").write_text(CONFIG.format(root=ROOT))
    (folder / "hook.py").write_text(HOOK.format(folder=str(ROOT / "docs" / "_site")))
    command = [sys.executable, "-m", "mkdocs", "build", "-q"]
    built = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        text=True,
        capture_output=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return files_served(folder / "site")


#: Keeps the last message of the worker, so that a test can compare all of a verdict.
LISTEN = """
const Real = Worker;
window.Worker = class extends Real {
  constructor(...given) { super(...given); this.addEventListener("message", ({ data }) => { window.last = data; }); }
};
"""


@pytest.fixture
def judge(page, site):
    """The page of the judge, ready. `judge.requests` are the addresses that were asked."""
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.add_init_script(LISTEN)
    page.goto(f"{site}/judge/")
    expect(page.locator(".judge-state")).to_have_text(READY)
    return Judge(page, site, asked)


class Judge:
    def __init__(self, page, site, requests):
        self.page, self.site, self.requests, self.asked = page, site, requests, 0

    def ask(self, text):
        """Pastes a text, and returns the verdict."""
        self.page.get_by_label("curl").fill(text)
        self.asked += 1
        expect(self.page.locator(".judge-verdict")).to_have_attribute("data-asked", str(self.asked))
        return self.page.evaluate("window.last.verdict")


# The same findings as on the command line --------------------------------------------------------------------------


def entries():
    """HAR entries: half of them as they were recorded, the others mutated."""
    files = sorted((ROOT / "cassettes").rglob("*.json"))
    random, found = Random(0), []
    for file in random.sample(files, len(files)):
        for recording in read(file) or ():
            if recording.body and recording.method == "POST" and "/files" not in recording.url:
                body = json.loads(recording.body)
                found.append(entry(recording, mutated(body, random) if len(found) % 2 else body))
        if len(found) >= REQUESTS:
            return found[:REQUESTS]
    return found


def entry(recording, body):
    headers = [{"name": name, "value": value} for name, value in recording.headers.items()]
    data = {"mimeType": "application/json", "text": json.dumps(body)}
    request = {"method": "POST", "url": recording.url, "headers": headers, "postData": data}
    return {"request": request, "response": {"status": 200, "headers": [], "content": {"text": "{}"}}}


def mutated(body, random):
    """Returns the body with one part missing, repeated, in another order, or of another type."""
    body = deepcopy(body)
    holder = random.choice([*holders(body)])
    key = random.choice([*holder] if isinstance(holder, dict) else range(len(holder)))
    match random.randrange(4):
        case 0:
            del holder[key]
        case 1:
            holder[key] = random.choice([None, 7, "text", [], {}, [holder[key]]])
        case 2 if isinstance(holder, list):
            holder.append(deepcopy(holder[key]))
        case 3 if isinstance(holder, list):
            holder.reverse()
        case _:
            holder.clear()
    return body


def holders(value):
    if isinstance(value, dict | list) and value:
        yield value
        for each in value.values() if isinstance(value, dict) else value:
            yield from holders(each)


FIELDS = ("rule", "level", "kind", "pointer", "message", "sentence", "says")


def test_the_findings_are_those_of_the_command_line(judge, tmp_path):
    given, findings = entries(), 0
    assert len(given) == REQUESTS
    for start in range(0, REQUESTS, AT_ONCE):
        file = tmp_path / "pasted.json"
        file.write_text(json.dumps({"log": {"entries": given[start : start + AT_ONCE]}}))
        report = lint_file(file)
        theirs = sorted(
            [c.place, c.wire, c.provider, c.model, *(getattr(c, name) for name in FIELDS)]
            for c in report.complaints
        )
        requests = judge.ask(file.read_text())["requests"]
        ours = sorted(
            [
                each["place"],
                each["wire"],
                each["provider"],
                each["model"],
                *(finding[name] for name in FIELDS),
            ]
            for each in requests
            for finding in each.get("findings", ())
        )
        assert ours == theirs
        assert sum("findings" in each for each in requests) == report.judged
        assert judge.page.locator(".judge-finding").count() == len(ours)
        findings += len(ours)
    assert findings > REQUESTS / 4


# What a person sees ------------------------------------------------------------------------------------------------


def test_the_wrong_message_is_marked_with_the_words_of_the_api(judge, axe):
    page = judge.page
    page.get_by_role("button", name="Show an example").click()
    expect(page.locator(".judge-wrong")).to_contain_text("toolu_2")
    finding = page.locator(".judge-finding")
    expect(finding.get_by_role("heading")).to_contain_text("400: messages.2: tool_use ids were found without")
    expect(finding).to_contain_text("Why")
    expect(finding).to_contain_text("Fix")
    expect(finding.get_by_role("link", name="PAIR-001")).to_have_attribute(
        "href", re.compile("/rules/anthropic/pair-001/$")
    )
    page.get_by_text("A request like it that is accepted").first.click()
    assert not axe(page)


def test_on_a_phone_the_verdict_begins_on_the_first_screen(judge):
    judge.page.set_viewport_size({"width": 390, "height": 844})
    judge.ask(
        '{"model": "gpt-4.1", "messages": [{"role": "tool", "tool_call_id": "call_1", "content": "5"}]}'
    )
    expect(judge.page.get_by_role("heading", name="1 broken rule")).to_be_in_viewport(ratio=1)
    mark = judge.page.locator(".judge-wrong")
    expect(mark).to_have_text('{"role": "tool", "tool_call_id": "call_1", "content": "5"}')
    assert judge.page.evaluate("document.documentElement.scrollWidth") == 390


def test_the_choice_of_another_provider_counts(judge):
    body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hi"}], "temperature": 7}
    (request,) = judge.ask(json.dumps(body))["requests"]
    assert "REQ-013" in [finding["rule"] for finding in request["findings"]]
    judge.page.get_by_label("Wire format").select_option("anthropic")
    expect(judge.page.locator(".judge-verdict")).to_contain_text("Judged as anthropic, anthropic")
    judge.page.get_by_label("Model").fill("claude-haiku-4-5")
    expect(judge.page.locator(".judge-verdict")).to_contain_text("claude-haiku-4-5")


def test_an_error_text_shows_a_refused_and_an_accepted_request(judge):
    judge.ask(
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1."
    )
    verdict = judge.page.locator(".judge-verdict")
    expect(verdict.get_by_text("A request that is refused").first).to_be_visible()
    expect(verdict.get_by_text("A request like it that is accepted").first).to_be_visible()


def test_a_text_of_another_kind_is_told(judge):
    judge.ask("<img src=x onerror=alert(1)>")
    expect(judge.page.locator(".judge-verdict")).to_contain_text("no rule has an error text like it")
    assert judge.page.locator(".judge-verdict img").count() == 0


def test_it_works_offline_and_asks_no_other_host(judge):
    judge.page.context.set_offline(offline=True)
    assert judge.ask('{"model": "gpt-4.1", "messages": []}')["requests"][0]["findings"]
    assert {url for url in judge.requests if not url.startswith((judge.site, f"blob:{judge.site}"))} == set()


KEPT = """async () => {
  const names = await caches.keys(), kept = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
  return kept.flat().map(({ url }) => url.split("/").pop()).sort();
}"""
LARGE = ["judge.zip", "pyodide.asm.wasm.gz.bin", "python_stdlib.zip", "snapshot.gz.bin"]


def wait_until_kept(page):
    """Waits for the browser, which writes the large files while the page works already.

    Playwright's `wait_for_function` does not await an async function: its promise counts as true.
    """
    for _ in range(600):
        if page.evaluate(KEPT) == LARGE:
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"kept after a minute: {page.evaluate(KEPT)}")


def test_a_later_visit_reads_no_large_file_and_no_index_of_the_search(judge):
    wait_until_kept(judge.page)
    judge.requests.clear()
    judge.page.reload()
    expect(judge.page.locator(".judge-state")).to_have_text(READY)
    assert [url for url in judge.requests if url.endswith((".bin", ".zip", "search_index.json"))] == []
    assert judge.page.get_by_role("link", name="Search").get_attribute("href").endswith("?q=")


def test_the_policy_refuses_other_hosts_in_the_page_and_in_the_worker(judge):
    attempt = "fetch('http://localhost:9/').then(() => 'sent', (error) => String(error))"
    blocked = []
    judge.page.on("console", lambda message: blocked.append(message.text))
    (worker,) = [each for each in judge.page.workers if each.url.startswith("blob:")]  # not the site's search
    for place in (judge.page, worker):
        assert "Failed to fetch" in place.evaluate(attempt)
    expect(judge.page.locator(".judge-state")).to_have_text(READY)  # the messages of the console have arrived
    assert sum("Content Security Policy" in text for text in blocked) == 2


def test_a_link_opens_the_same_request(judge, site):
    text = '{"model": "claude-sonnet-5", "messages": [{"role": "user", "content": "Zürich 日本"}]}'
    judge.ask(text)
    judge.page.get_by_role("button", name="Copy a link").click()
    expect(judge.page).to_have_url(re.compile("#paste="))
    link = judge.page.url
    judge.page.goto("about:blank")
    judge.page.goto(link)
    expect(judge.page.locator(".judge-finding").first).to_be_visible()
    assert judge.page.get_by_label("curl").input_value() == text


def test_a_text_behind_the_address_is_judged(judge, site):
    judge.page.goto("about:blank")
    judge.page.goto(f"{site}/judge/#text=Not+the+same+number+of+function+calls+and+responses")
    expect(judge.page.locator(".judge-finding").first).to_contain_text("mistral/PAIR-001")


def test_python_starts_before_the_styles_are_read(page, site):
    html = page.request.get(f"{site}/judge/").text()
    assert 0 < html.index("judgeStarted =") < html.index('rel="stylesheet"')
