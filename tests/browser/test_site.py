"""The whole site in a real browser: it asks no other host, is accessible, and its search puts guides before rules."""

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from playwright.sync_api import expect

ROOT = Path(__file__).parents[2]
GUIDES = (
    "answers",
    "tools",
    "library",
    "quickstart",
    "operation",
    "errors",
    "secrets",
    "providers",
    "cookbook",
    "judge",
)
PAGES = (
    *(
        "",
        "judge/",
        "quickstart/",
        "chat/library/",
        "conformance/suite/",
        "recordings/harness/",
        "conformance/adapter-authors/",
        "conformance/ci/",
        "chat/providers/",
    ),
    *("peers/", "rules/", "rules/anthropic/", "rules/anthropic/pair-001/", "tutorial/"),
    *("facts/", "facts/family/command/", "facts/feature/choices/", "facts/changes/", "facts/compare/"),
)


@pytest.fixture(scope="module")
def site(tmp_path_factory, files_served):
    """The address of the site."""
    folder = tmp_path_factory.mktemp("whole") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "-q", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, text=True, capture_output=True, check=False)
    assert built.returncode == 0, built.stderr
    return files_served(folder)


@pytest.mark.parametrize(("scheme", "names"), [("light", PAGES), ("dark", PAGES[:4])])
def test_the_pages_are_accessible_and_ask_no_other_host(page, site, axe, scheme, names):
    asked, problems = set(), {}
    page.on("request", lambda request: asked.add(request.url))
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    for name in names:
        page.goto(f"{site}/{name}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        if found := axe(page):
            problems[name] = found
    assert not problems
    assert not [url for url in asked if not url.startswith((site, f"blob:{site}", "data:"))]


@pytest.mark.parametrize(
    "words",
    [
        *("structured", "rate limit", "api key", "retry", "images", "tool image", "timeout", "pdf", "cache"),
        *("image in tool result", "tool_use ids", "streaming"),
    ],
)
def test_the_search_puts_guides_before_rules_and_these_before_the_api(page, site, words):
    page.goto(f"{site}/")
    page.get_by_role("textbox", name="Search").fill(words)
    results = page.locator(".md-search-result__item > a.md-search-result__link:first-of-type")
    expect(results.first).to_be_attached()
    expect(page.locator(".md-search-result__meta")).to_contain_text(re.compile(r"\d+ matching"))
    addresses = results.evaluate_all("links => links.map((link) => link.href)")
    found = [address.removeprefix(f"{site}/") for address in addresses]
    assert any(f"/{guide}/" in f"/{found[0]}" for guide in GUIDES), found[0]
    tiers = [next((tier for tier in ("rules/", "api/") if path.startswith(tier)), "") for path in found]
    assert tiers == sorted(tiers, key=("", "rules/", "api/").index), found


def test_each_page_has_a_title_that_says_what_it_is_about(page, site):
    titles = {}
    for name in PAGES:
        page.goto(f"{site}/{name}")
        titles[name] = page.title()
    assert len({*titles.values()}) == len(PAGES)
    assert titles[""] == "ellmer-core: your tests are green, and the API still answers 400"
    assert re.match(r"Conformance of \d+ libraries, as of 20[\d-]+ - ellmer-core$", titles["peers/"])


@pytest.mark.parametrize(("version", "canonical"), [("dev", "dev"), ("0.1.0", "latest/")])
def test_a_search_engine_is_given_one_address_for_all_releases(monkeypatch, version, canonical):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_site"))
    monkeypatch.setenv("MIKE_DOCS_VERSION", version)
    site = "https://ellmer-core.github.io/ellmer-core"
    config = SimpleNamespace(site_url=f"{site}/{version}")  # as mike leaves it
    import_module("_generate").on_config(config)
    assert config.site_url == f"{site}/{canonical}"


def test_the_page_of_a_rule_is_found_by_its_error_text(page, site):
    page.goto(f"{site}/rules/anthropic/pair-001/")
    expect(page).to_have_title(re.compile("tool_use ids were found without tool_result blocks"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("ids were found without")
    described = page.locator("meta[name=description]").get_attribute("content")
    assert described.startswith("Every tool call of an assistant turn has its result")
    canonical = page.locator("link[rel=canonical]").get_attribute("href")
    assert canonical.endswith("/rules/anthropic/pair-001/")
    left, right = (
        page.get_by_role("heading", name=name).bounding_box() for name in ("breaks it", "keeps it")
    )
    assert abs(left["y"] - right["y"]) < 2
    assert left["x"] < right["x"]


def test_models_stand_side_by_side_with_their_evidence(page, site):
    page.goto(f"{site}/facts/")
    page.get_by_label("Model or family").fill("gpt-5-mini")
    page.get_by_role("link", name="gpt-5-mini", exact=True).first.click()
    columns = page.get_by_role("columnheader")
    expect(columns.nth(1)).to_contain_text("gpt-5-mini")
    page.get_by_label("Models, with commas").fill("gpt-5-mini, claude-sonnet-4-5, gpt-nought")
    page.get_by_role("button", name="Compare").click()
    expect(columns.filter(has_text="claude-sonnet-4-5").first).to_be_visible()
    expect(page.get_by_role("status")).to_contain_text("No model here is called gpt-nought.")
    place = columns.all_inner_texts().index("gpt-5-mini\nopenai, openai-chat")
    temperature = page.get_by_role("row").filter(
        has=page.get_by_role("rowheader", name="Temperature", exact=True)
    )
    answer = temperature.get_by_role("cell").nth(place - 1).get_by_role("link")
    expect(answer).to_have_text("✗ no")
    assert "temperature" in answer.get_attribute("title").lower()
    assert page.url.endswith("models=gpt-5-mini%2Cclaude-sonnet-4-5%2Cgpt-nought")


def test_the_page_of_the_facts_loads_its_table_and_not_all_evidence(page, site):
    loaded = {}
    page.on("response", lambda response: loaded.setdefault(response.url.rsplit("/", 1)[-1], response))
    page.goto(f"{site}/facts/?model=claude-sonnet-4-5&feature=seed")
    expect(page.get_by_role("status")).to_contain_text("answers")
    shown = page.get_by_role("row").filter(has_text="Extra inputs are not permitted")
    expect(shown.first).to_contain_text("The page shows the same check refuse something else")
    assert "facts.json" not in loaded
    assert len(loaded["table.json"].body()) < 2_000_000


@pytest.mark.parametrize("name", ["", "judge/", "quickstart/", "rules/anthropic/pair-001/", "facts/compare/"])
def test_a_page_fits_a_phone(page, site, name):
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(f"{site}/{name}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    hidden = "code => code.scrollWidth > code.clientWidth"
    commands = "[...document.querySelectorAll('.language-sh code')]"
    assert not page.evaluate(f"{commands}.some({hidden})")  # a command is seen whole
