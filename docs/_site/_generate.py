"""Pages of the site that are generated from the code when it is built, so that they are not committed.

This is a hook of mkdocs. `rules/` comes from the rule books (`_rules.py`), `facts/` from the facts (`_facts.py`), `providers.md` from the report of a run of
the suite (`_providers.py`), `habits.md` from the tables of `nox -s habits` (`_habits.py`), `api/` from the packages' public names, and `suite.md`, `harness.md`, `contributing.md`
and `changelog.md` from the files beside the code. The comments for `tests/pages` are not shown.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib import import_module
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import _facts
import _habits
import _providers
import _rules
from _judge import build as _judge
from _markdown import prose
from _policy import with_policy
from mkdocs.plugins import CombinedEvent, event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig

ROOT = Path(__file__).parents[2]
LOG = logging.getLogger("mkdocs.hooks.generate")

ADDRESS = "https://ellmer-core.github.io/ellmer-core/"

#: How many pages there are, and which ones are read and written, to report progress.
PAGES: list[File] = []
READ: list[str] = []
#: The text of the page that the search reads now.
COLOURED: list[str] = []
BUILT: list[str] = []

#: Files beside the code that are pages, too, and where their links lead on the site.
MIRRORED = {
    "conformance/suite.md": "conformance/README.md",
    "recordings/harness.md": "harness/README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
}

#: Modules whose names an author of rules, cases or adapters needs, besides what the package itself offers.
CONFORMANCE = (
    *("adapters", "adapters.base_adapter", "pytest.suite"),
    *("scenarios.messages", "scenarios.script", "scenarios.case"),
    *("contract.observed.exchange", "contract.rule", "contract.rulebook", "server"),
)


@event_priority(-100)  # after mike, which appends the version
def on_config(config: MkDocsConfig) -> None:
    """Gives the pages of a release the address that stays, so that a search engine does not list each version of a page."""
    if os.environ.get("MIKE_DOCS_VERSION", "dev") != "dev":
        config.site_url = f"{ADDRESS}latest/"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the generated pages."""
    LOG.info("Generating the pages of rules, facts, providers and the API …")
    for path, content in pages():
        files.append(File.generated(config, path, content=content))
    for file in judge_files():
        files.append(File.generated(config, f"judge/files/{file.name}", abs_src_path=str(file)))
    PAGES[:] = files.documentation_pages()
    READ.clear()  # `mkdocs serve` builds again
    BUILT.clear()
    return files


def on_page_content(html: str, page: Page, **_: Any) -> str:
    """Adds the tables of the facts. Makes empty headers of tables plain cells, because screen readers announce a header without
    a name. Search engines and tabs show a page's heading, because its name in the navigation is short.
    """
    if page.toc.items:
        page.meta.setdefault("title", page.toc.items[0].title)
    return _facts.with_tables(re.sub(r"<th( style=[^>]*)?></th>", r"<td\1></td>", html))


def _without_colours(_: Any, page: Page, **__: Any) -> None:
    """Gives the search the text of a page without the spans that colour code. They are most of its tags, which it reads slowly."""
    COLOURED.append(page.content or "")
    page.content = re.sub(r"</?span\b[^>]*>", "", COLOURED[0])


def _with_colours(_: Any, page: Page, **__: Any) -> None:
    """Gives a page its text back after the search has read it."""
    page.content = COLOURED.pop()


on_page_context = CombinedEvent(event_priority(100)(_without_colours), event_priority(-100)(_with_colours))


def on_post_page(output: str, page: Page, **_: Any) -> str:
    """Reports progress. Adds the security policy to the page of the judge."""
    progress(BUILT, page, "written")
    return with_policy(output) if page.file.src_uri == "judge.md" else output


def progress(done: list[str], page: Page, what: str) -> None:
    """Notes that a page is read or written, and says so for every hundredth."""
    done.append(page.url)
    if len(done) % 100 == 0:
        LOG.info("%d of %d pages are %s.", len(done), len(PAGES), what)


def judge_files() -> list[Path]:
    """Returns the files that the judge loads. Without npm, the site is built without them."""
    if absent := _judge.missing():
        LOG.info("The judge is left out, because there is no %s (apt-get install npm).", absent)
        return []
    LOG.info("Building the judge's Python (20 s, unless nothing changed) …")
    return sorted(_judge.build().iterdir())


#: Guides that the search shows before others.
FIRST = (
    *("quickstart", "tutorial", "install"),
    *("chat/index", "chat/library", "chat/tools", "chat/answers", "chat/cookbook", "chat/operation"),
    *("chat/errors", "chat/providers", "recordings/index", "recordings/migrate"),
    *("conformance/index", "conformance/adapter-authors", "conformance/ci", "conformance/server-scripts"),
)
#: The order of the search's results: guides, what compares or reports, rules, and what is made from the code. A word in a
#: title counts a thousand times a word in the text, and numbers below a thousandth are rounded to 0.
GUIDE, REPORT, RULE, REFERENCE = 1e12, 1e8, 1e4, 1.0
#: Pages that are no guides, by the beginnings of their paths.
TIERS = {
    **dict.fromkeys(("architecture", "contributing", "stability", "peers", "tested/", "facts/"), REPORT),
    **dict.fromkeys(("chat/chat-apps-compared", "chat/features", "conformance/servers-probed"), REPORT),
    **dict.fromkeys(
        ("conformance/mocks-compared", "conformance/tables-compared", "conformance/news"), REPORT
    ),
    "rules/": RULE,
    "api/": REFERENCE,
    "changelog": REFERENCE,
}

#: Pages of tables. The search does not read them, which would take a fifth of the build; it has their names from `facts/`.
TABLES = ("facts/family/", "facts/feature/")


def boost(path: str) -> float:
    """Returns how much the search counts a page."""
    name = path.removesuffix(".md")
    tier = next((tier for start, tier in TIERS.items() if name.startswith(start)), GUIDE)
    return 2 * tier if name in FIRST else tier


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Removes the comments for the tests of the pages. A page without a description has its first paragraph as one. The
    search puts guides first.
    """
    progress(READ, page, "read")
    found = {"exclude": True} if page.file.src_uri.startswith(TABLES) else {"boost": boost(page.file.src_uri)}
    page.meta.setdefault("search", found)
    shown = re.sub(
        r"<!-- (not run|ci|installs|serves|given|needs|part of|model|file|prints|exits)\b.*?-->\n?",
        "",
        markdown,
    )
    if first := first_paragraph(shown):
        page.meta.setdefault("description", first)
    return shown


def first_paragraph(markdown: str) -> str:
    """Returns the first paragraph as text without marks, for search engines; empty if there is none."""
    without_code = re.sub(r"^```.*?^```", "", markdown, flags=re.DOTALL | re.MULTILINE)
    paragraphs = (" ".join(each.split()) for each in re.split(r"\n\s*\n", without_code))
    first = next((each for each in paragraphs if re.match(r"[\w`*\[\"]", each) and len(each) > 40), "")
    plain = re.sub(r"!?\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])?|<[^>]*>", r"\1", first)
    return _rules.shortened(re.sub(r"[`*]", "", plain), 300)


def pages() -> Iterator[tuple[str, str]]:
    """Yields every generated page: its path and its Markdown."""
    for path, source in MIRRORED.items():
        yield path, linked((ROOT / source).read_text("utf-8"), Path(path).parent)
    yield "chat/providers.md", _providers.page()
    yield "tested/habits.md", _habits.page()
    yield from peer_pages()
    yield from _rules.pages()
    yield from _facts.pages()
    core = by_module(import_module("ellmer_core")) | {"ellmer_core.testing": exported("ellmer_core.testing")}
    yield "api/ellmer_core.md", api_page("ellmer_core", core)
    yield "api/ellmer_harness.md", api_page("ellmer_harness", by_module(import_module("ellmer_harness")))
    offered = {f"ellmer_conformance.{name}": exported(f"ellmer_conformance.{name}") for name in CONFORMANCE}
    yield "api/ellmer_conformance.md", api_page("ellmer_conformance", offered)


def linked(markdown: str, folder: Path) -> str:
    """Returns the text of a page in a folder with links between the repository's files as links between pages. Other
    links become the file's name.
    """
    places = {source: page for page, source in MIRRORED.items()}

    def moved(match: re.Match[str]) -> str:
        text, target = match.groups()
        if "://" in target or target.startswith("#"):
            return match[0]
        before, inside, page = target.partition("docs/")
        page = places.get(target) or (page if inside and before in {"", "../"} else "")
        return f"[{text}]({relpath(page, folder)})" if page else text

    return re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", moved, markdown)


def peer_pages() -> Iterator[tuple[str, str]]:
    """Yields the pages and badges of other libraries that the suite tested. The results page is committed."""
    sys.path.append(str(ROOT / "conformance" / "peers"))  # scripts beside each other
    yield from list(import_module("page").pages())[1:]


# API ------------------------------------------------------------------------------------------------------------


def by_module(package: Any) -> dict[str, list[str]]:
    """Returns the public names of a package by the modules that define them. Other names of the same function, and the
    functions that are made for each provider (`models_openai`), are left out.
    """
    found: dict[str, list[str]] = defaultdict(list)
    for name in package.__all__:
        module = getattr(getattr(package, name), "__module__", package.__name__)
        if hasattr(import_module(module), name):
            found[module].append(name)
    return dict(sorted(found.items(), key=lambda item: item[0].replace("._", ".")))


def exported(module: str) -> list[str]:
    return list(import_module(module).__all__)


#: `Chat` has half of its methods from a base class that is not public.
INHERITED = "\n    options: { inherited_members: true }"


def api_page(title: str, offered: Mapping[str, list[str]]) -> str:
    """Returns every name under the first sentence of its module."""
    parts = [f"# {title}", summary(title)]
    for module, names in offered.items():
        parts += [f"## {module.removeprefix(title + '.').replace('_', ' ').strip()}", summary(module)]
        parts += [f"::: {module}.{name}{INHERITED if name == 'Chat' else ''}" for name in names]
    return "\n\n".join(parts)


def summary(module: str) -> str:
    """Returns the first paragraph of a module's docstring."""
    return prose((import_module(module).__doc__ or "").strip().split("\n\n")[0])
