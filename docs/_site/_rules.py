"""The pages of the rules: an index with a search by error text, one page for each wire format and for each rule.

The rules are published as data, too: `rules/rules.json` is the output of `conformance list --format json`. The search hands its
text to the judge's page, which finds the rule as `conformance explain` does.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from _cases import cases
from _markdown import cell, laid_out, linking, prose, table

from ellmer_conformance.cli.rules.list import all_rules, as_data
from ellmer_conformance.contract import rules
from ellmer_conformance.contract.error_texts.refusals import known_texts
from ellmer_conformance.contract.rule import Rule, verdict
from ellmer_conformance.contract.rulebook import RuleBook
from ellmer_conformance.contract.rules import behaviour
from ellmer_conformance.recordings.corpus import pins
from ellmer_conformance.recordings.corpus.evidence import Evidence, evidence_of

#: The archives that recordings are cited from.
PINS = {pin.name: pin for pin in pins.load(pins.shipped())}

#: Fixes in other libraries' terms, and the state of cited issues.
UPSTREAM = tomllib.loads((Path(__file__).parent / "_upstream.toml").read_text("utf-8"))

#: For rules about whole conversations: what a client that breaks the rule does, and what one that keeps it does
#: (`python -m devtools.behaviour_pairs` writes the file).
PAIRS = json.loads((Path(__file__).parent / "_pairs.json").read_text("utf-8"))

#: Pairs that are written by hand, of rules without one in the other file.
BY_HAND = tomllib.loads((Path(__file__).parent / "_pairs_by_hand.toml").read_text("utf-8"))

#: What the page of a rule says that has no pair.
NO_PAIR = {
    "ollama/TRM-009": "There is no example of a refused request: an image of this wire format has no declared media type.",
}

#: The subject of each group of rules.
GROUPS = {
    "APR": "approval of tool calls",
    "ASY": "cancellation and async calls",
    "AUT": "API keys",
    "CAS": "replayed recordings",
    "CIT": "citations",
    "EMP": "empty content",
    "ERR": "errors and retries",
    "HIS": "history",
    "IMG": "images and documents",
    "OPT": "options",
    "ORD": "the order of messages and results",
    "PAIR": "pairing of calls and results",
    "PAR": "parallel calls",
    "REQ": "the shape of requests",
    "RUN": "runs of cases",
    "SCH": "schemas of tools and answers",
    "STO": "structured output",
    "STP": "stop reasons",
    "STR": "streams",
    "SYS": "system prompts",
    "THK": "thinking",
    "TRM": "media in tool results",
    "TXT": "text",
    "UNI": "Unicode",
    "UPL": "uploaded files",
    "USG": "token counts",
}

#: What the words beside a rule's level mean.
KINDS = {
    "reject": "the API refuses a request that breaks the rule.",
    "loss": "the API may answer 200, but data is lost.",
    "preview": "no recording or specification backs the rule yet. It is reported, but it is never a failure.",
}

INTRODUCTION = f"""
# Rules

A rule is one sentence of a provider's contract. The strict server refuses requests that break it, the suite judges
clients by it, and `conformance lint` looks for it in recordings.

- A rule's **id**, such as `openai-chat/PAIR-001`, has one sentence. `PAIR-001` alone stands for the rules of all wire
  formats with this number.
- **MUST** or **SHOULD** is the level of the rule.
- **reject**: {KINDS["reject"]}
- **loss**: {KINDS["loss"]}
- **preview**: {KINDS["preview"]}

## Find a rule by its error text

<form class="find-rule" action="../judge/">
<label for="error-text">Paste the error message, or the whole error body, of a provider:</label>
<textarea id="error-text" rows="3"></textarea>
<button class="md-button">Find the rule</button>
</form>

On the command line, `conformance explain "text of the error"` does the same.

## Rules as data

Programs in other languages can read [rules.json](rules.json), which is the output of `conformance list --format json`.
It has all rules: their ids, sentences, wire formats, sources, evidence and error texts. `evidence` is a list of pages
that prove the rule, and includes its sources. `version` changes if a field is changed or removed, but not if a field
is added. `requirements` names the dated set of rules.
"""


def pages() -> Iterator[tuple[str, str]]:
    """Yields the index, the data, a page for each wire format, one for rules about whole conversations, and
    one a rule.
    """
    books = [*map(rules.book, rules.WIRES), behaviour.book]
    yield "rules/index.md", index(books)
    yield "rules/rules.json", json.dumps(as_data(all_rules()), indent=1, ensure_ascii=False)
    for book in books:
        yield f"rules/{title(book)}.md", wire_page(book)
        yield from (
            (f"rules/{title(book)}/{rule.id.lower()}.md", rule_page(book, rule))
            for rule in book.rules.values()
        )


def index(books: Iterable[RuleBook]) -> str:
    """Returns the index: how to read a rule, how to find one, and every rule by its group."""
    groups: dict[str, list[list[str]]] = defaultdict(list)
    for book in books:
        for rule in book.rules.values():
            link = f"[{rule.id}]({title(book)}/{rule.id.lower()}.md)"
            groups[rule.group].append([link, title(book), status(rule), cell(rule.sentence)])
    count = sum(map(len, groups.values()))
    parts = [INTRODUCTION.strip(), f"## All rules\n\nThere are {count}, counted once for each wire format."]
    for group, rows in sorted(groups.items()):
        parts += [f"### {group}: {GROUPS[group]} {{ #{group.lower()} }}"]
        parts += [table(["rule", "wire format", "level", "sentence"], sorted(rows))]
    return "\n\n".join(parts)


def wire_page(book: RuleBook) -> str:
    """Returns the rules of a wire format, by group."""
    parts = [f"# Rules of {title(book)}", f"[Rules](index.md) › {title(book)}\n{{ .facts }}", preamble(book)]
    for group, found in sorted(by_group(book).items()):
        parts += [f"## {group}: {GROUPS[group]} {{ #{group.lower()} }}"]
        parts += ["\n".join(f"- {entry(book, rule)}" for rule in sorted(found, key=lambda rule: rule.id))]
    return "\n\n".join(parts)


def entry(book: RuleBook, rule: Rule) -> str:
    """Returns a line of a wire format's page, with the anchor that older links have."""
    link = f"[{rule.id}]({title(book)}/{rule.id.lower()}.md)"
    return f'<a id="{rule.id.lower()}"></a>{link} {prose(rule.sentence)} <small>{status(rule)}</small>'


def by_group(book: RuleBook) -> Mapping[str, list[Rule]]:
    """Returns the rules of a book."""
    groups: dict[str, list[Rule]] = defaultdict(list)
    for rule in book.rules.values():
        groups[rule.group].append(rule)
    return groups


def rule_page(book: RuleBook, rule: Rule) -> str:
    """Returns the page of one rule. Its title and first line are the API's error text, which people search for."""
    wire, group = title(book), rule.group
    trail = f"[Rules](../index.md) › [{wire}](../{wire}.md) › [{group}: {GROUPS[group]}](../{wire}.md#{group.lower()})"
    models = [f"models: {', '.join(rule.models)}"] if rule.models else []
    facts = [rule.full_id, *models, f"{status(rule)}: {KINDS[kind(rule)]}"]
    words = error_text(book, rule) if rule.refusal else ""
    parts = [
        front_matter(book, rule),
        f"{trail}\n{{ .facts }}",
        f"# {prose(words)} {{ .error-text }}" if words else f"# {prose(rule.sentence)}",
        f"{book.provider}, status {rule.refusal.status}\n{{ .facts }}" if rule.refusal else "",
        f"**{prose(rule.sentence)}**" if words else "",
        f"{' · '.join(map(prose, facts))}\n{{ .facts }}",
        reasons(rule),
        shown(book, rule),
        in_libraries(rule),
        f"## Source\n\n{listed(map(sourced, rule.source))}",
        opened(book, rule) if rule.refuses else "",
        on_record(rule),
        "[Paste a request](../../judge.md) to judge it by this rule and all others.",
        cases(rule),
        f"On the command line: `conformance explain {rule.full_id}`",
    ]
    return "\n\n".join(filter(None, parts))


def error_text(book: RuleBook, rule: Rule) -> str:
    """Returns the provider's error text, with `…` for what differs from request to request. A text with few other words
    is that of an example. It is `""` if the provider does not refuse in words.
    """
    templates = {each.message for each in rule.refusals}
    known = [worded(text) if text in templates else text for text in known_texts(book, rule)]
    plain = (text for text in known if word_count(text) > 3 and text.count("…") < 3)
    words = " ".join(next(plain, max(known, key=word_count, default="")).split())
    return re.sub(r"^[\w.\[\]…]*…[\w.\[\]…]*: ", "", words)  # the place, which differs


def worded(template: str) -> str:
    """Returns the template of an error text as people read it."""
    return re.sub(r"\{\w*\}", "…", template).replace("{{", "{").replace("}}", "}")


def word_count(text: str) -> int:
    """Returns the number of words, without names and numbers."""
    return len(re.findall(r"\b[^\W\d_]+\b", text))


def front_matter(book: RuleBook, rule: Rule) -> str:
    """Returns the title and the description for search engines."""
    meta = {
        "title": result_title(book, rule),
        "description": shortened(f"{rule.sentence} {' '.join(rule.explain.split())}".replace("`", ""), 300),
        "hide": ["navigation", "toc"],
    }
    lines = (f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in meta.items())
    return "\n".join(["---", *lines, "---"])


def result_title(book: RuleBook, rule: Rule) -> str:
    """Returns what a search engine shows first: the error text, who says it, and the id, because rules can share a text."""
    words = error_text(book, rule).replace("`", "") if rule.refusal else ""
    if not words or not rule.refusal:
        return f"{rule.full_id}: {rule.sentence}"
    return f"{shortened(words, 84)} ({book.provider}, {rule.refusal.status}) · {rule.full_id}"


def shortened(text: str, most: int) -> str:
    """Returns at most this many characters, cut between words."""
    return text if len(text) <= most else f"{text[:most].rsplit(' ', 1)[0]} …"


#: Begins the list of facts in the explanation of a rule about shapes.
ON_RECORD = "What is on record:"


def reasons(rule: Rule) -> str:
    """Returns the explanation of a rule: why, and how to fix it, each in a paragraph."""
    text = rule.explain.partition(ON_RECORD)[0]
    return re.sub(r"(?:^|\s+)(Why|Fix): ", r"\n\n**\1:** ", prose(text)).strip()


def on_record(rule: Rule) -> str:
    """Returns the facts behind a rule about shapes, as a list."""
    facts = rule.explain.partition(ON_RECORD)[2].strip().splitlines()
    return f"## {ON_RECORD.removesuffix(':')}\n\n{chr(10).join(map(sourced, facts))}" if facts else ""


def in_libraries(rule: Rule) -> str:
    """Returns the fix in the terms of the libraries of which it is known."""
    found = [each for each in UPSTREAM["fix"] if rule.full_id in each["rules"]]
    lines = [f"**{each['library']}:** {each['fix']} ([source]({each['source']}))" for each in found]
    return f"## In your library\n\n{listed(lines)}" if lines else ""


#: A link to an issue, a pull request or a discussion, as Markdown has it.
THREAD = re.compile(r"<(https://github\.com/[\w.-]+/[\w.-]+/(?:issues|pull|discussions)/\d+)[^>]*>")


def sourced(text: str) -> str:
    """Returns a source with its links. Issues and pull requests have their state, or a remark that nobody looked it up."""
    day = f"{UPSTREAM['read']:%B %Y}"

    def with_state(match: re.Match[str]) -> str:
        state = UPSTREAM["states"].get(match[1])
        return f"{match[0]} ({f'{state}, {day}' if state else 'state not looked up'})"

    return THREAD.sub(with_state, linking(text))


def listed(lines: Iterable[str]) -> str:
    """Returns a list in Markdown, or the line alone if there is only one."""
    first, *others = lines
    return "\n".join(f"- {line}" for line in [first, *others]) if others else first


def opened(book: RuleBook, rule: Rule) -> str:
    """Returns the evidence besides the source, each with a page that shows it."""
    found = [
        each for each in evidence_of(book, rule) if not any(str(each) in source for source in rule.source)
    ]
    return f"## Evidence\n\n{listed(map(evidence, found))}" if found else ""


def evidence(each: Evidence) -> str:
    """Returns a link, or a recording of the corpus with the page of its archive's member."""
    if isinstance(each, str):
        return sourced(each)
    link = PINS[each.pin].link(each.member)
    return f"[recorded by {each.pin}]({link}), `{each.place}`"


def shown(book: RuleBook, rule: Rule) -> str:
    """Returns a request that breaks the rule and one that keeps it, side by side, with the API's answer. Rules about whole
    conversations have two clients instead.
    """
    if book is behaviour.book:
        return side_by_side(*clients(PAIRS.get(rule.id) or BY_HAND[rule.id]))
    kept = [f"## A request that keeps it\n\n{fenced(body)}" for body in rule.examples[:1]]
    broken = [column(book, rule, body) for body in rule.counterexamples[:1]]
    return side_by_side(*(broken or [f"## A request that breaks it\n\n{NO_PAIR[rule.full_id]}"]), *kept)


def side_by_side(*columns: str) -> str:
    """Returns columns that stand beside each other on a wide screen."""
    inside = (f'<div markdown="1">\n\n{each}\n\n</div>' for each in columns)
    return "\n\n".join(['<div class="side-by-side" markdown="1">', *inside, "</div>"])


def clients(pair: Mapping[str, str]) -> Iterator[str]:
    """Yields a client that breaks a rule, with the finding, and one that keeps it, in the same case."""
    wrong = ["## A client that breaks it", prose(pair["bug"]), block(pair["broken"])]
    yield "\n\n".join(filter(None, [*wrong, found_in(pair)]))
    same = "At the same place:" if pair["kept"] else "The suite finds nothing."
    yield "\n\n".join(filter(None, ["## A client that keeps it", same, block(pair["kept"])]))


def found_in(pair: Mapping[str, str]) -> str:
    """Returns the finding of the suite and its case, or that the example is written by hand."""
    if "case" not in pair:
        return "The example is written by hand: none of the broken clients that the suite is tested with breaks this rule in a case."
    end = "" if pair["finding"].endswith("…") else "."
    return (
        f"In the case `{pair['case']}` over `{pair['wire']}`, the suite finds: {prose(pair['finding'])}{end}"
    )


def block(text: str) -> str:
    """Returns what a client sends or returns as a code block."""
    return f"```text\n{text.strip()}\n```" if text else ""


def column(book: RuleBook, rule: Rule, counterexample: dict[str, Any]) -> str:
    """Returns a request that breaks the rule, the finding, and the API's answer."""
    violation = verdict(rule, book.request(counterexample)).violations[0]
    lines = ["## A request that breaks it", "", fenced(counterexample), ""]
    lines += [f"Found at `{violation.pointer or '/'}`: {prose(violation.message)}."]
    if rule.refusal:
        code, headers, body = book.refuse(violation)
        language = "json" if "json" in str(dict(headers)).lower() else "text"
        answer = body.decode().rstrip().splitlines()
        lines += ["", f"The API answers {code}:", "", f"```{language}", *answer, "```"]
    return "\n".join(lines)


def fenced(body: dict[str, Any]) -> str:
    """Returns a body as a code block."""
    return f"```json\n{laid_out(body)}\n```"


def preamble(book: RuleBook) -> str:
    """Returns the introduction of the page."""
    if book is behaviour.book:
        return "These rules are about whole conversations, over any wire format. No single request can show them."
    return f"These are the rules of the wire format `{book.wire}`, as {book.provider} applies them."


def title(book: RuleBook) -> str:
    """Returns the name of a book's pages."""
    return "behaviour" if book is behaviour.book else book.wire


def status(rule: Rule) -> str:
    """Returns the level and the kind."""
    return f"{rule.level} · {kind(rule)}"


def kind(rule: Rule) -> str:
    """Returns the kind of a rule, or that it is a preview."""
    return "preview" if rule.preview else str(rule.kind)
