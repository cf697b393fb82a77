"""The pages of the facts: a table to filter, a page for each family of models and for each feature, and what changed.

The data is published, too: `facts.json` with its schema, and a feed of the dated facts as Atom and as JSON.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from html import escape
from typing import Any

from ellmer_conformance import facts
from ellmer_conformance.facts import Cell, feed, openapi
from ellmer_conformance.facts import changes as dated
from ellmer_conformance.facts.examples import example
from ellmer_conformance.facts.features import FEATURES

QUIET = "---\nsearch: { exclude: true }\nhide: [toc]\n---\n"
MARKS = {"yes": "✓ yes", "no": "✗ no", "ignored": "ignored", "unknown": "?"}

INTRODUCTION = """
# Which model can do what

Which feature a model has, over which wire format, at which provider. Each answer links to what proves it: a recorded
request that the API accepted or refused, a rule, or the provider's own page. **?** means that nothing is known here.

- **yes**: the API answered a request that has it. A document may say so instead.
- **no**: the API refuses it, in its own words.
- **ignored**: the API accepts it and does nothing with it, by a document, or by a recorded answer that shows it.
- **≈ yes** and **≈ no** are inferred, and no proof of this very model and feature: the link is about another model of the same family
  at the same API, about the author of a format that the provider copies, or about another field that the same check refuses. The answer says which.

An answer without ≈ was opened: a recording that shows it by itself, a document that is quoted, or a page with the refusal of this very thing. Where the
rule is about some models, the page is about this one. **?** marks what a rule or the chat library's table says and no
opened page confirms; the words of the rule stand beside it.

<form class="facts" data-facts="table.json" markdown="0">
<label>Model or family <input name="model" placeholder="gpt-5" autocomplete="off"></label>
<label>Feature <select name="feature"><option value="">all</option>{features}</select></label>
<label>Provider <select name="provider"><option value="">all</option></select></label>
<label>Wire format <select name="wire"><option value="">all</option></select></label>
<label>Answer <select name="answer"><option value="">all</option><option>yes</option><option>no</option><option>ignored</option><option>unknown</option></select></label>
</form>
<p class="facts-count" role="status" markdown="0"></p>
<div class="facts-table" tabindex="0" role="region" aria-label="Facts" markdown="0"></div>

[Models side by side](compare.md) shows all features of one model, or of several.

## By family

{families}

## By feature

{listed}

## As data and as a feed

[facts.json](facts.json) has all answers, in the form of [facts.schema.json](facts.schema.json). `version` changes if a field is
changed or removed. On the command line, `conformance facts --model gpt-5-mini --provider openai` shows them, `--format json` prints the
data, and in Python it is `ellmer_conformance.facts.cells()`. `conformance facts --check FILE` lists where another table contradicts the evidence:
LiteLLM's, models.dev's, or LangChain's profiles. [What it found in November 2026](../conformance/tables-compared.md) can be sent to these projects.

## How the answers were checked

A test compares what recordings, rules, profiles and documents say, and names each place at which they differ. Another asks that each known answer that
rests on a rule links to a page that was opened and shows this very thing. A third counts the answers of the thirty models that the public recordings of most projects
use: in November 2026, 1,829 of 2,310 are known, 366 are inferred (≈), and 115 are unknown, or 5.0 %, which is what the test allows. Of all models, 17,045 answers are known,
6,564 are inferred, and 50,183 are unknown; of 1,613 of these a rule or the library's table says something, but no page of it was opened. A document is quoted with the day
on which its words were read, on the page or in a stored copy of it, which may be older than that day.

`python -m devtools.facts.drawn_facts --seed 20261150` draws a hundred known answers at random and opens what proves each; `--inferred` draws the others. A recording must have the
model, the feature and the answer, and a rule must find the example wrong. What was read on the page of a rule is kept with its day. On 28 November 2026, eleven
draws of a hundred were read, one after the other; what did not support its answer was changed for all answers of its kind before the next draw.
The first ten had 97, 98, 99, 98, 97, 97, 98, 99, 98 and 99 answers that their evidence supports, the eleventh (seed 20261150) has a hundred: 56 recordings that were read again, 21 pages with
the refusal of this very thing, and 23 quoted documents.

## As OpenAPI

{documents}

These are OpenAPI 3.1 documents of the chat endpoints, with the error answers and an example for each rule. A schema refuses
only what the API is on record to refuse at every model; what only the official types exclude is accepted. So a request that
fits a schema can still break a rule. `conformance facts --openapi --wire anthropic` prints one.

[What changed in the last 90 days](changes.md) is also a feed: [Atom](feed.atom) and [JSON](feed.json).
"""

COMPARISON = """
# Models side by side

All features of one model or of several, at each provider and over each wire format. An answer links to what proves it, and shows the
API's words. **?** means that nothing is known here. The address of this page names the models, so it can be sent.

<form class="facts" data-facts="../table.json" markdown="0">
<label>Models, with commas between them <input name="models" list="facts-models" size="40" autocomplete="off" value="gpt-5,claude-sonnet-4-5"></label>
<datalist id="facts-models"></datalist>
<button class="md-button">Compare</button>
</form>
<p class="facts-count" role="status" markdown="0"></p>
<div class="facts-table" tabindex="0" role="region" aria-label="Models side by side" markdown="0"></div>
"""


def pages() -> Iterator[tuple[str, str]]:
    """Yields the overview, the data, the feeds, and a page for each family, each feature and the changes."""
    _HELD.clear()
    cells = facts.cells()
    entries = feed.entries(cells, dated.changes())
    families, features = _by(cells, "family"), _by(cells, "feature")
    yield "facts/index.md", index(families)
    yield "facts/compare.md", f"{QUIET}{COMPARISON}"
    yield "facts/facts.json", json.dumps(facts.as_data(cells), ensure_ascii=False, separators=(",", ":"))
    yield "facts/table.json", json.dumps(table(cells), ensure_ascii=False, separators=(",", ":"))
    yield "facts/facts.schema.json", json.dumps(facts.schema(), indent=1)
    for wire, provider in openapi.places():
        document = openapi.document(wire, provider)
        yield openapi_page(wire, provider), json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    yield "facts/feed.atom", feed.atom(entries)
    yield "facts/feed.json", json.dumps(feed.json_feed(entries), ensure_ascii=False)
    yield "facts/changes.md", changes(entries)
    yield from ((f"facts/family/{name}.md", family_page(name, each)) for name, each in families.items())
    yield from (
        (f"facts/feature/{each.id}.md", feature_page(each.id, features[each.id])) for each in FEATURES
    )


def table(cells: Iterable[Cell]) -> dict[str, Any]:
    """Returns what the pages with a form load: the answers as lists of places in lists, each text once, as most texts occur often."""
    known = [cell for cell in cells if cell.answer != "unknown" or cell.note]
    models = _places((c.wire, c.provider, c.model, c.family) for c in cells)
    texts = _places(["", *(text for cell in known for text in (*_texts(cell), cell.feature))])
    features = _places(each.id for each in FEATURES)
    answers = _places(MARKS)
    return {
        "features": {each.id: {"title": each.title} for each in FEATURES},
        "models": list(models),
        "texts": list(texts),
        "cells": [
            [
                models[c.wire, c.provider, c.model, c.family],
                features.get(c.feature, len(features) + texts[c.feature]),
                answers[c.answer] + len(answers) * c.inferred,
                *(texts[text] for text in _texts(c)),
            ]
            for c in known
        ],
    }


def _places(values: Iterable[Any]) -> dict[Any, int]:
    return {value: place for place, value in enumerate(dict.fromkeys(values))}


def _texts(cell: Cell) -> tuple[str, ...]:
    proof = next(iter(cell.evidence), None)
    link, said = (proof.link, proof.said) if proof else ("", "")
    return link, said, cell.note, cell.since, cell.until, cell.last_seen


def openapi_page(wire: str, provider: str) -> str:
    return f"facts/openapi/{wire}-{provider}.json"


def _by(cells: Iterable[Cell], field: str) -> dict[str, list[Cell]]:
    found: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        found[getattr(cell, field)].append(cell)
    return dict(sorted(found.items()))


def index(families: Mapping[str, list[Cell]]) -> str:
    options = "".join(f'<option value="{each.id}">{escape(each.title)}</option>' for each in FEATURES)
    listed = " · ".join(f"[{each.title}](feature/{each.id}.md)" for each in FEATURES)
    names = " · ".join(f"[{name}](family/{name}.md)" for name in families)
    documents = " · ".join(
        f"[{wire} at {provider}](openapi/{wire}-{provider}.json)" for wire, provider in openapi.places()
    )
    return INTRODUCTION.format(features=options, families=names, listed=listed, documents=documents)


def changes(entries: list[feed.Entry]) -> str:
    """Returns the page of the last 90 days, and of the days to come."""
    today = date.today()  # noqa: DTZ011 - a provider's day has no time zone here
    lines = [f"- **{each.day}** {_text(each)}" for each in feed.recent(entries, today)]
    text = (
        "The days are those of the facts themselves: cells, rules, types, capabilities, API versions, and entries of the providers' "
        "changelogs. Days to come are announced by the provider.\n\n"
    )
    return f"{QUIET}# Facts of the last 90 days\n\n{text}" + "\n".join(lines or ["Nothing changed."])


def _text(entry: feed.Entry) -> str:
    parts = entry.title.split("`")  # every second one is code, in which nothing is escaped
    title = "`".join(part if at % 2 else _escaped(part) for at, part in enumerate(parts))
    return f"[{title}]({entry.link})" if entry.link else title


def _escaped(text: str) -> str:
    return escape(text, quote=False).replace("*", "\\*").replace("_", "\\_")


def family_page(name: str, cells: list[Cell]) -> str:
    """Returns the page of a family: for each provider and wire format, a table with the models side by side."""
    parts = [f"{QUIET}# {name}: what its models can do\n"]
    places: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    gone = [cell for cell in cells if cell.feature == "available"]
    for cell in cells:
        if cell.wire != "*" and not cell.feature.startswith("beta:"):
            places[cell.provider, cell.wire].append(cell)
    for (provider, wire), each in sorted(places.items()):
        parts += [f"## {provider}, {wire}\n", _side_by_side(f"{name} at {provider}", each)]
    if gone:
        rows = sorted({(c.since or c.until, c.model, c.evidence[0].link) for c in gone}, reverse=True)
        parts += ["## Shut down\n", *(f"- {day}: [{model}]({link})" for day, model, link in rows)]
    return "\n".join(parts)


#: Tables in HTML, by the marks that stand for them while Markdown is read, which takes long for 130,000 cells.
_HELD: dict[str, str] = {}


def _held(label: str, table: str) -> str:
    """Returns the mark of a table, whose region has a name."""
    region = f'<div class="facts-table" tabindex="0" role="region" aria-label="{escape(label)}">'
    mark = f'<div data-table="{len(_HELD)}"></div>'
    _HELD[mark] = f"{region}<table>{table}</table></div>"
    return f"{mark}\n"


def with_tables(html: str) -> str:
    """Returns a page with the tables in place of their marks.

    Args:
        html: The page.
    """
    return re.sub(r'<div data-table="\d+"></div>', lambda mark: _HELD[mark[0]], html)


def _side_by_side(label: str, cells: list[Cell]) -> str:
    models = sorted({cell.model for cell in cells})
    by = {(cell.feature, cell.model): cell for cell in cells}
    head = "".join(f'<th scope="col">{escape(model)}</th>' for model in models)
    rows = [
        f'<tr><th scope="row">{escape(each.title)}</th>'
        + "".join(_answer(by.get((each.id, model))) for model in models)
        + "</tr>"
        for each in FEATURES
        if any(by.get((each.id, model), _NONE).answer != "unknown" for model in models)
    ]
    top = f'<thead><tr><th scope="col">feature</th>{head}</tr></thead>'
    return _held(label, f"{top}<tbody>{''.join(rows)}</tbody>")


_NONE = Cell("", "", "", "", "", "unknown")


def _answer(cell: Cell | None) -> str:
    """Returns the table cell of a fact: the answer as a link to its evidence, with the API's words."""
    cell = cell or _NONE
    mark = f"≈ {cell.answer}" if cell.inferred else MARKS[cell.answer]
    proof = next(iter(cell.evidence), None)
    if proof is None or not proof.link:
        title = f' title="{escape(cell.note[:400], quote=True)}"' if cell.note else ""
        return f'<td class="{cell.answer}"{title}>{mark}</td>'
    words = escape(_words(cell), quote=True)
    return f'<td class="{cell.answer}"><a href="{escape(proof.link)}" title="{words}">{mark}</a></td>'


def _words(cell: Cell) -> str:
    proof = cell.evidence[0]
    said = {
        "accepted": "A request with it was accepted.",
        "elsewhere": "A request with it was accepted.",
    }.get(proof.kind, "")
    return " ".join(filter(None, (proof.said or said, proof.day, cell.note)))[:400]


def feature_page(name: str, cells: list[Cell]) -> str:
    """Returns the page of a feature: how each format asks for it, and the answer of every model."""
    feature = next(each for each in FEATURES if each.id == name)
    known = [cell for cell in cells if cell.answer != "unknown"]
    unknown = len(cells) - len(known)
    shown = {wire: example(feature, wire, "MODEL") for wire in sorted({cell.wire for cell in cells})}
    parts = [f"{QUIET}# {feature.title}\n", f"{len(known)} answers are known; {unknown} are unknown.\n"]
    for wire, body in shown.items():
        if body:
            block = "\n    ".join(json.dumps(body, indent=1).splitlines())
            parts.append(f'??? example "A request over {wire}"\n    ```json\n    {block}\n    ```\n')
    head = "".join(
        f'<th scope="col">{each}</th>'
        for each in ("model", "provider", "wire format", "answer", "the API's words")
    )
    rows = "".join(
        f'<tr><th scope="row">{escape(c.model)}</th><td>{escape(c.provider)}</td><td>{c.wire}</td>{_answer(c)}'
        f"<td>{escape(c.evidence[0].said[:300])}</td></tr>"
        for c in known
    )
    table = f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
    return "\n".join([*parts, _held(feature.title, table)])
