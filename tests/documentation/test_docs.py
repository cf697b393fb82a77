"""The README and the pages: their code width, their style, and their figures.

`nox -s pages` runs their code.
"""

import json
import re
import tomllib
from importlib import import_module

import pytest
import yaml
from code_blocks import PAGES, ROOT, blocks

from devtools import figures, install_lines

#: Pages whose code fits a screen and whose prose keeps to CONTRIBUTING.md's style.
SHOWN = (
    "README.md",
    *(f"docs/{name}.md" for name in ("index", "quickstart", "tutorial", "chat/cookbook")),
    *(f"docs/conformance/{name}.md" for name in ("adapter-authors", "ci")),
)
WIDEST = 90  # columns
#: The target of a link or a picture, in Markdown or in HTML.
LINK = re.compile(r"(?:\]\(|(?:src|srcset|href)=\")([^)\s\"]+)")
ODD = re.compile(
    r"^(One that|Where nobody|Whoever|What (?!is\b)[a-z ]+ (is|are)\b[^?]*$)|\b(not fine|nobody (is|asks)|of ours)\b"
)


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


def test_no_figure_of_a_page_claims_too_much():
    """A figure may be smaller than what there is, until it is written again for a release."""
    assert not figures.differences(figures.figures(), exact=False)


def test_the_install_commands_work_before_and_after_the_release():
    """A release moves `Unreleased` of the changelog below a version. `python -m devtools.install_lines` changes the pages."""
    released = re.search(r"^## \[\d", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    texts = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in install_lines.pages()}
    changed = [name for name, text in texts.items() if install_lines.released(text) != text]
    early = [name for name, text in texts.items() if install_lines.NEEDS_RELEASE.search(text)]
    assert (changed if released else early) == []
    assert (early if released else changed)[:1] == ["README.md"]


def test_the_first_command_of_the_readme_installs_it():
    first = next(block.text for block in blocks("README.md") if block.language == "sh")
    assert install_lines.released(first).startswith("pip install 'ellmer-core[conformance]'\n")


def test_links_in_the_readme_of_the_wheel_are_absolute():
    hook = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["metadata"]["hooks"]
    text = (ROOT / "README.md").read_text("utf-8")
    for each in hook["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(each["pattern"], each["replacement"], text)
    targets = LINK.findall(text)
    assert len(targets) > 25
    assert not [target for target in targets if not target.startswith("https://")]
    images = "https://raw.githubusercontent.com/ellmer-core/ellmer-core/main/docs/images"
    for name in ("marked-message.png", "marked-message-phone.png", "strict-server.gif"):
        assert f"{images}/{name}" in targets


def test_the_animation_of_the_readme_stands_below_the_still_and_is_small():
    text = (ROOT / "README.md").read_text("utf-8")
    assert text.index("marked-message.png") < text.index("strict-server.gif") < text.index("```sh")
    assert (ROOT / "docs" / "images" / "strict-server.gif").stat().st_size < 100_000


def test_every_local_link_of_the_readme_exists():
    targets = LINK.findall((ROOT / "README.md").read_text("utf-8"))
    local = [target.partition("#")[0] for target in targets if "://" not in target]
    assert local
    assert not [target for target in local if not (ROOT / target).exists()]


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.stem)
def test_the_front_matter_of_a_page_is_yaml(page):
    """MkDocs shows one that is not as a part of the page."""
    text = page.read_text("utf-8")
    if text.startswith("---\n"):
        assert yaml.safe_load(text.split("---\n")[1]).keys() <= {"title", "description", "search", "hide"}


def test_no_command_begins_with_a_prompt():
    """A reader copies a block and runs it."""
    pages = ["README.md", "CONTRIBUTING.md", "harness/README.md", "conformance/README.md"]
    pages += [path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert not [
        f"{page}:{block.line}" for page in pages for block in blocks(page) if block.text.startswith("$ ")
    ]


def test_every_group_of_rules_has_a_title_on_the_site():
    from ellmer_conformance.cli.rules.list import all_rules

    groups = {rule.id.partition("-")[0] for rule, _ in all_rules()}
    page = (ROOT / "docs" / "_site" / "_rules.py").read_text("utf-8")
    assert not [group for group in groups if f'    "{group}": "' not in page]


@pytest.mark.parametrize(
    ("id", "cases"),
    [
        ("TXT-001", r"Cases: (`\w+`, ){7}`\w+` and \d+ more\."),
        ("APR-002", r"Cases: `approved_and_denied`\."),
        ("IMG-005", ""),  # another rule at another wire format
        ("gemini/IMG-032", r"Cases: none, because the rule was in force until 2026-05-29, and .*"),
    ],
)
def test_the_page_of_a_rule_names_the_cases_that_reach_it(monkeypatch, id, cases):
    from ellmer_conformance.contract.rules import behaviour, book

    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_site"))
    wire, _, id = id.rpartition("/")
    found = behaviour.book if id in behaviour.book.rules else book(wire or "openai-chat")
    page = import_module("_rules").rule_page(found, found.rules[id])
    (line,) = [line for line in page.splitlines() if line.startswith("Cases")] or [""]
    assert re.fullmatch(cases, line)


def test_prose_has_none_of_the_patterns_that_we_avoid():
    odd = [
        f"{page}:{number}: {line.strip()[:80]}"
        for page in SHOWN
        for number, line in enumerate(prose_of(page), 1)
        if ODD.search(line)
    ]
    assert not odd, "\n".join(odd)


def prose_of(page):
    """Returns the lines of a page, with code left blank."""
    code = False
    for line in (ROOT / page).read_text("utf-8").splitlines():
        code ^= line.lstrip().startswith("```")
        yield "" if code else line


def test_pages_have_one_word_for_each_thing():
    """A cassette is no tape, a provider no vendor, and what a page says is run or replayed, not played."""
    inside = {"architecture.md", "changelog.md"}  # for who works on the code
    pages = [ROOT / name for name in ("README.md", "harness/README.md", "conformance/README.md")]
    pages += [path for path in (ROOT / "docs").rglob("*.md") if path.name not in inside]
    found = [
        f"{path.name}:{number}: {line.strip()[:80]}"
        for path in pages
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if re.search(r"(?i)\b(vendors?|tapes?|plays?|playing|played(?! yet))\b", line)
    ]
    assert found == []


def test_what_rule_pages_say_about_other_projects_fits_the_rules(monkeypatch):
    from ellmer_conformance.contract import rules
    from ellmer_conformance.contract.rules import behaviour
    from ellmer_conformance.recordings.corpus.evidence import evidence_of

    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_site"))
    pages = import_module("_rules")
    books = [*rules.books(), behaviour.book]
    known = {rule.full_id: rule for book in books for rule in book.rules.values()}
    cited = {source.partition(" ")[0] for rule in known.values() for source in rule.source}
    cited |= {each for book in books for rule in book.rules.values() for each in evidence_of(book, rule)}
    assert {id for fix in pages.UPSTREAM["fix"] for id in fix["rules"]} <= known.keys()
    assert pages.UPSTREAM["states"].keys() <= cited
    assert {*pages.UPSTREAM["states"].values()} <= {"open", "closed", "merged"}
    assert [
        url for url, state in pages.UPSTREAM["states"].items() if state == "merged" and "/pull/" not in url
    ] == []
    page = pages.rule_page(rules.book("anthropic"), known["anthropic/PAIR-002"])
    assert "**LiteLLM:** `litellm.modify_params = True`" in page
    assert "/issues/497> (closed, November 2026)" in page
    texts = [pages.sourced(each) for each in cited if isinstance(each, str)]
    threads = [match for text in texts for match in pages.THREAD.finditer(text)]
    assert len(threads) > 400
    assert all(
        re.match(
            r" \(((open|closed|merged), November 2026|state not looked up)\)", match.string[match.end() :]
        )
        for match in threads
    )


def test_every_rule_page_has_a_pair_or_says_why_not(monkeypatch):
    from ellmer_conformance.contract import rules
    from ellmer_conformance.contract.rules import behaviour

    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_site"))
    pages = import_module("_rules")
    books = [*map(rules.book, rules.WIRES), behaviour.book]
    shown = {rule.full_id: pages.shown(book, rule) for book in books for rule in book.rules.values()}
    assert all("side-by-side" in text and "that keeps it" in text for text in shown.values())
    assert {id for id, text in shown.items() if "There is no example" in text} == {"ollama/TRM-009"}
    assert behaviour.book.rules.keys() == pages.PAIRS.keys() | pages.BY_HAND.keys()
    assert not pages.PAIRS.keys() & pages.BY_HAND.keys()
    assert all({*pair} == {"bug", "broken", "kept"} for pair in pages.BY_HAND.values())
    assert "written by hand" in shown["STR-005"]


def test_each_rule_page_has_a_title_of_its_own(monkeypatch):
    """A search engine shows the API, the status and the id, also of a long text, and of one that rules share."""
    from ellmer_conformance.contract import rules

    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_site"))
    pages = import_module("_rules")
    books = map(rules.book, rules.WIRES)
    titles = [pages.result_title(book, rule) for book in books for rule in book.rules.values()]
    assert len(set(titles)) == len(titles) > 400
    (shared,) = [title for title in titles if title.endswith(" · anthropic/PAIR-001")]
    assert shared.startswith("tool_use ids were found without tool_result blocks immediately after")
    assert shared.endswith("… (anthropic, 400) · anthropic/PAIR-001")


@pytest.mark.parametrize("id", ["HIS-006", "STP-002", "AUT-001"])
def test_the_pair_of_clients_on_a_rule_page_is_what_they_do(id):
    from devtools.behaviour_pairs import TARGET, pairs
    from ellmer_conformance.scenarios.cases import scripts
    from ellmer_conformance.server import StrictServer

    with StrictServer(scripts()) as server:
        assert dict(pairs(server, frozenset({id})))[id] == json.loads(TARGET.read_text("utf-8"))[id]


#: Pages for those who work on this project. They begin in a clone.
IN_A_CLONE = {
    "docs/tested/index.md",
    "docs/tested/public-recordings.md",
    "docs/architecture.md",
}


@pytest.mark.parametrize("page", [page for page in PAGES if page not in IN_A_CLONE])
def test_a_page_with_commands_or_programs_says_how_to_install_them(page):
    runs = [
        block
        for block in blocks(page)
        if block.language == "python" or re.match(r"(conformance|ellmer-harness|pytest)\b", block.text)
    ]
    for first in runs[:1]:  # the reader has not seen what follows
        before = "\n".join((ROOT / page).read_text("utf-8").splitlines()[: first.line])
        assert re.search(r"quickstart\.md#install|pip install", before + first.text), first.line


@pytest.mark.parametrize(
    "file", ["docs/conformance/probe.md", "conformance/ellmer_conformance/cli/runs/probe.py"]
)
def test_what_is_said_about_the_questions_of_the_probe_is_their_number(file):
    from ellmer_conformance.live_apis.probe.questions import QUESTIONS

    names, streamed = {each.name for each in QUESTIONS}, [each for each in QUESTIONS if each.stream]
    text = " ".join((ROOT / file).read_text("utf-8").split())
    assert (len(names), len(streamed)) == (6, 5)
    assert re.search(r"sends six questions about .*, five of them also with a stream\.", text)


@pytest.mark.parametrize("page", PAGES)
def test_a_reader_sees_the_name_of_each_file_to_write(page):
    """It is in the text since the last block or heading, or in the first line of the file."""
    lines = (ROOT / page).read_text("utf-8").splitlines()
    for block in blocks(page):
        if "file" not in block.said:
            continue
        before = "\n".join(lines[: block.line - 1])
        told = re.sub(r"<!--.*?-->", "", re.split(r"^(?:```|#).*$", before, flags=re.MULTILINE)[-1])
        assert block.said["file"] in told + block.text.splitlines()[0], f"{page}:{block.line}"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_that_chats_says_how_to_do_it_without_a_key(page):
    chats = [block for block in blocks(page) if block.language == "python" and "chat_openai(" in block.text]
    text = (ROOT / page).read_text("utf-8")
    assert not chats or re.search(
        r"without a key|without-a-key|needs\s+no key|_API_KEY=any-key", text, re.IGNORECASE
    )


@pytest.mark.parametrize("page", PAGES)
def test_a_page_that_starts_a_server_says_that_it_needs_a_terminal_of_its_own(page):
    text = (ROOT / page).read_text("utf-8")
    serves = any(
        "serves" in block.said and block.text.startswith("conformance serve") for block in blocks(page)
    )
    assert not serves or re.search(r"(second|another) terminal", text)


def test_the_page_of_changes_escapes_text_and_leaves_code(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_site"))
    page, feed = import_module("_facts"), import_module("ellmer_conformance.facts.feed")
    entry = feed.Entry("2026-11-17", '`service_tier: "flex"` of a_b is <new>', "https://example.com")
    assert page._text(entry) == '[`service_tier: "flex"` of a\\_b is &lt;new&gt;](https://example.com)'
