"""Pages of the site that are made from the code when it is built, so that nothing generated is committed.

A hook of mkdocs. `rules/` comes from the rule books, `providers.md` from the report of a run of the suite
(`_providers.py`), `api/` from what each package offers, and `suite.md`,
`harness.md`, `contributing.md` and `changelog.md` from the files beside the code. The comments that tell
`tests/documentation/test_docs.py` how to run a block are shown to readers only where they say why one is not run.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import _providers
from mkdocs.structure.files import File, Files

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.rule import Rule, verdict
from ellmer_conformance.contract.rulebook import RuleBook
from ellmer_conformance.contract.rules import behaviour
from ellmer_conformance.corpus import pins
from ellmer_conformance.corpus.evidence import Evidence, evidence_of

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig

ROOT = Path(__file__).parent.parent

#: Files beside the code that are pages, too, and where their links lead on the site.
MIRRORED = {
    "suite.md": "conformance/README.md",
    "harness.md": "harness/README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
}

#: The archives that recordings are cited from.
PINS = {pin.name: pin for pin in pins.load(pins.shipped())}

#: Modules whose names an author of rules, cases or adapters needs, besides what the package itself offers.
CONFORMANCE = (
    *("adapters", "scenarios.messages", "scenarios.script", "scenarios.case"),
    *("contract.exchange", "contract.rule", "contract.rulebook", "server"),
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the generated pages."""
    for path, content in pages():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Says under a block why it is not run; drops the other comments for the tests."""
    told = re.sub(
        r"<!-- not run: (.+?) -->", r'<small class="facts">Not run by the tests: \1.</small>\n', markdown
    )
    return re.sub(r"<!-- (model|file|continues)\b.*?-->\n?", "", told)


def pages() -> Iterator[tuple[str, str]]:
    """Every generated page: its path and its Markdown."""
    for path, source in MIRRORED.items():
        yield path, linked((ROOT / source).read_text("utf-8"))
    yield "providers.md", _providers.page()
    yield from peer_pages()
    yield from rule_pages()
    yield "api/ellmer_core.md", api_page("ellmer_core", by_module(import_module("ellmer_core")))
    yield "api/ellmer_harness.md", api_page("ellmer_harness", by_module(import_module("ellmer_harness")))
    offered = {f"ellmer_conformance.{name}": exported(f"ellmer_conformance.{name}") for name in CONFORMANCE}
    yield "api/ellmer_conformance.md", api_page("ellmer_conformance", offered)


def linked(markdown: str) -> str:
    """Links between the files of the repository, as links between pages; others become the file's name."""
    places = {source: page for page, source in MIRRORED.items()}

    def moved(match: re.Match[str]) -> str:
        text, target = match.groups()
        if "://" in target or target.startswith("#"):
            return match[0]
        before, inside, page = target.partition("docs/")
        page = places.get(target) or (page if inside and before in {"", "../"} else "")
        return f"[{text}]({page})" if page else text

    return re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", moved, markdown)


def peer_pages() -> Iterator[tuple[str, str]]:
    """A page for each other library that the suite was run with; the overview is committed."""
    sys.path.append(str(ROOT / "conformance" / "peers"))  # scripts beside each other
    yield from list(import_module("page").pages())[1:]


# rules ----------------------------------------------------------------------------------------------------------


def rule_pages() -> Iterator[tuple[str, str]]:
    """An index, a page for each wire format, and one for rules about whole conversations."""
    books = [*map(rules.book, rules.WIRES), behaviour.book]
    yield "rules/index.md", rule_index(books)
    for book in books:
        parts = [f"# {title(book)}", preamble(book), *(rule_text(book, rule) for rule in book.rules.values())]
        yield f"rules/{title(book)}.md", "\n\n".join(parts)


RULES = """
# Rules

A rule is one sentence of a provider's contract. It is the strict server's refusal, the verdict on a client's request,
what `conformance lint` looks for in recordings, and a row of the report.

- **MUST** or **SHOULD**: how much it matters.
- **reject**: the API refuses the request. **loss**: it may answer 200, and something is gone.
- **preview**: nothing recorded or specified backs it yet; it is reported and fails nobody.
"""


def rule_index(books: Iterable[RuleBook]) -> str:
    """How to read a rule, and every rule in a table."""
    rows = [
        [f"[{rule.id}]({title(book)}.md#{rule.id.lower()})", title(book), status(rule), cell(rule.sentence)]
        for book in books
        for rule in sorted(book.rules.values(), key=lambda rule: rule.id)
    ]
    told = f"There are {len(rows)}, counted once for each wire format."
    return "\n\n".join([RULES.strip(), told, table(["rule", "where", "level", "sentence"], rows)])


def rule_text(book: RuleBook, rule: Rule) -> str:
    """One rule: the sentence, why, where from, and the smallest request that breaks it."""
    facts = [status(rule), *([f"models: {', '.join(rule.models)}"] if rule.models else [])]
    parts = [
        f"## {rule.id} {{ #{rule.id.lower()} }}",
        f"**{prose(rule.sentence)}**",
        f"{' · '.join(map(prose, facts))}\n{{ .facts }}",
        prose(rule.explain),
        f"Source: {'; '.join(map(linking, rule.source))}",
        opened(book, rule) if rule.refuses else "",
        *(folded(book, rule, example) for example in rule.counterexamples[:1]),
    ]
    return "\n\n".join(filter(None, parts))


def opened(book: RuleBook, rule: Rule) -> str:
    """What it rests on besides its source, each with a page that shows it."""
    found = [
        each for each in evidence_of(book, rule) if not any(str(each) in source for source in rule.source)
    ]
    return f"Evidence: {'; '.join(map(shown, found))}" if found else ""


def shown(evidence: Evidence) -> str:
    """A link, or a recording of the corpus with the page of its archive's member."""
    if isinstance(evidence, str):
        return f"<{evidence}>"
    link = PINS[evidence.pin].link(evidence.member)
    return f"[recorded by {evidence.pin}]({link}), `{evidence.place}`"


def folded(book: RuleBook, rule: Rule, counterexample: dict[str, Any]) -> str:
    """A request that breaks the rule, what is found, and what the API says to it."""
    violation = verdict(rule, book.request(counterexample)).violations[0]
    lines = ["```json", *json.dumps(counterexample, indent=2, ensure_ascii=False).splitlines(), "```", ""]
    lines += [f"Found at `{violation.pointer or '/'}`: {prose(violation.message)}."]
    if rule.refusal:
        code, headers, body = book.refuse(violation)
        language = "json" if "json" in str(dict(headers)).lower() else "text"
        lines += [
            "",
            f"The API answers {code}:",
            "",
            f"```{language}",
            *body.decode().rstrip().splitlines(),
            "```",
        ]
    return "\n".join(['??? failure "A request that breaks it"', *(f"    {line}".rstrip() for line in lines)])


def preamble(book: RuleBook) -> str:
    """What the page is about."""
    if book is behaviour.book:
        return "What no single request shows: these hold for a whole conversation, over any wire format."
    return f"The wire format `{book.wire}`, as {book.vendor} has it, in the order in which the API checks."


def title(book: RuleBook) -> str:
    return "behaviour" if book is behaviour.book else book.wire


def status(rule: Rule) -> str:
    return f"{rule.level} · {'preview' if rule.preview else rule.kind}"


def prose(text: str) -> str:
    """Text from a docstring or a provider, with what Markdown would take for HTML or emphasis kept as it is."""
    return re.sub(r"(?<!`)([<>*_\[\]])(?!`)", r"\\\1", text) if "`" not in text else text.replace("<", "&lt;")


def linking(text: str) -> str:
    """Prose with its addresses as links."""
    parts = re.split(r"(https?://[^\s()]+)", text)
    return "".join(f"<{part}>" if part.startswith("http") else prose(part) for part in parts)


def cell(text: str) -> str:
    return prose(text).replace("|", "\\|")


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    """A table in Markdown."""
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


# API ------------------------------------------------------------------------------------------------------------


def by_module(package: Any) -> dict[str, list[str]]:
    """The names a package offers, by the module that each lives in."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in package.__all__:
        found[getattr(getattr(package, name), "__module__", package.__name__)].append(name)
    return dict(sorted(found.items(), key=lambda item: item[0].replace("._", ".")))


def exported(module: str) -> list[str]:
    return list(import_module(module).__all__)


def api_page(title: str, offered: Mapping[str, list[str]]) -> str:
    """Every name, under the first sentence of its module."""
    parts = [f"# {title}", summary(title)]
    for module, names in offered.items():
        parts += [f"## {module.removeprefix(title + '.').replace('_', ' ').strip()}", summary(module)]
        parts += [f"::: {module}.{name}" for name in names]
    return "\n\n".join(parts)


def summary(module: str) -> str:
    """The first paragraph of a module's docstring."""
    return prose((import_module(module).__doc__ or "").strip().split("\n\n")[0])
