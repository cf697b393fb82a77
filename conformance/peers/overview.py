# ruff: noqa: INP001 - beside the script that imports it
"""The pages with the comparison: the results with dates, scores and causes, and the matrix of each wire format."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import findings
from failures import WIRES, Json
from prose import CAUSES, anchor, linked, sentence, table

MARKS = {"wire": "W", "loss": "L", "error": "E", "policy": "P", "caller": "C", "follows": "↳"}
OTHER = {
    "pass": "✓",
    "unexpected-pass": "✓",
    "warn": "!",
    "refused-as-declared": "–",
    "differs-as-declared": "~",
    "not-applicable": "·",
    "not-reproduced": "·",
    "harness-error": "·",
}

INTRO = """\
# Conformance of {count} libraries, as of {date}

The suite ran the same cases with each library, against the strict server. No provider was called. A failure means that
the library broke a documented, recorded or stated rule. It does not mean that a provider refused the request of a real
account. The rules are those of the requirement set {requirements}.

Each number of *MUST* is the number of kept rules, out of those that apply. Do not rank libraries by it, because rules share
causes, and not every library supports every format. If a result is wrong,
[please tell us](https://github.com/ellmer-core/ellmer-core/issues/new?template=wrong-verdict.yml).
"""

METHOD = """\
## How it was tested

The bridges are short and public (`conformance/peers/ellmer_peers/`). Each one uses the library's own chat, history
and tool loop, if there is one. `openai`, `anthropic` and `google-genai` are the raw SDKs in our own loop. They are
the control. The suite runs the AI SDK and LangChain.js as commands (`examples/driver-ai-sdk`, `examples/driver-langchain-js`). For
instructor, the suite runs only the structured cases, because the SDK that it wraps does everything else. For smolagents and DSPy, it
tests only the model class, because their agents put each question into prompts of their own. If a library breaks a
rule on purpose, its bridge declares this with a date. It is not counted as a failure.

The page of a library has, for each broken rule, the exchange, the place in it with the lines around it, and a script. The
script reproduces the failure with only the library and this package. Failures that their script does not reproduce are left
out.
"""

#: Rules in the table of those that most libraries break.
MOST = 15
#: Failures of the library itself, for which the results page has a column.
SHOWN = ("wire", "loss", "error", "policy", "caller")


def overview(results: Mapping[str, Json], known: Mapping[str, Mapping[tuple[str, str], Json]]) -> str:
    """Returns the results: libraries with their scores, their causes, and how it was tested."""
    last = max(results.values(), key=lambda result: str(result["date"]))
    intro = INTRO.format(count=len(results), date=last["date"], requirements=last["requirements"])
    scores = [[name(result), *(score(result, wire) for wire in WIRES)] for result in results.values()]
    counts = [[name(result), *caused(known[peer].values())] for peer, result in results.items()]
    versions = table(["library", "tested on", "with"], [who(result) for result in results.values()])
    broken = table(
        ["rule", "wire format", "sentence", "libraries"],
        [
            [linked(rule, wire), wire, sentence(rule, wire), ", ".join(peers)]
            for (wire, rule), peers in shared(known)
        ],
    )
    parts = [intro, "## MUST rules that were kept", table(["library", *WIRES], scores)]
    parts += [
        "Each wire format has a table of rules and libraries: " + ", ".join(map(matrix_link, WIRES)) + "."
    ]
    parts += ["## What was broken", "\n".join(f"- {text}" for text in legend())]
    parts += [table(["library", *(CAUSES[cause].partition(":")[0] for cause in SHOWN)], counts)]
    parts += [
        findings.overview(results),
        "## Rules that most libraries break",
        broken,
        METHOD.strip(),
        "## Versions",
        versions,
        "## Badges",
        "Each badge has the counts of one library and wire format, and the set of requirements.",
        "\n".join(
            f"- {name(result)}: {shown}" for result in results.values() if (shown := badges_of(result))
        ),
    ]
    return "\n\n".join(parts) + "\n"


def legend() -> list[str]:
    """Returns the meaning of each kind of failure."""
    return [
        f"**{kind}**: {meaning}" for kind, _, meaning in (CAUSES[cause].partition(": ") for cause in SHOWN)
    ]


def matrix_link(wire: str) -> str:
    return f"[{wire}](peers/rules-{wire}.md)"


def name(result: Json) -> str:
    """Returns the library with a link to its page."""
    return f"[{result['peer']}](peers/{result['peer']}.md)"


def score(result: Json, wire: str) -> str:
    """Returns the number of kept rules of a wire format. A library that is tested as a command has no score."""
    counts = result.get("score", {}).get(f"{result['peer']} {wire}")
    if counts:
        return f"{counts['must_passed']} of {counts['must_applicable']}"
    return f"[by rule](peers/rules-{wire}.md)" if wire in result["verdicts"] else "–"


def badges_of(result: Json) -> str:
    """Returns the badges of a library."""
    pairs = [each.split(" ", 1) for each in result.get("score", {})]
    return " ".join(badge(result, peer, wire, "peers/") for peer, wire in pairs)


def badge(result: Json, peer: str, wire: str, above: str = "") -> str:
    """Returns the badge of a wire format, with its counts as the text that replaces it."""
    counts = result["score"][f"{peer} {wire}"]
    told = f"{wire}: MUST {counts['must_passed']} of {counts['must_applicable']}"
    told += f", SHOULD {counts['should_passed']} of {counts['should_applicable']}"
    return f"![{told}]({above}badges/{peer}-{wire}.svg)"


def caused(cells: Iterable[Json]) -> list[str]:
    """Returns the number of broken rules by cause."""
    counts = Counter(cell["cause"] for cell in cells)
    return [str(counts[cause]) for cause in SHOWN]


def shared(known: Mapping[str, Mapping[tuple[str, str], Json]]) -> list[tuple[tuple[str, str], list[str]]]:
    """Returns the rules that most libraries break by themselves, each with links to the failures."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for peer, cells in known.items():
        for key, cell in cells.items():
            if cell["cause"] in {"wire", "loss", "error"} and not cell["sdk"]:
                found[key].append(f"[{peer}](peers/{peer}.md#{anchor(cell)})")
    return sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))[:MOST]


def matrix_page(
    wire: str, results: Mapping[str, Json], known: Mapping[str, Mapping[tuple[str, str], Json]]
) -> str:
    """Returns the page of one wire format: each rule that some library breaks, by library."""
    marks = [f"**{MARKS[cause]}** {text}" for cause, text in CAUSES.items()]
    marks += [
        "*sdk*: the library's SDK fails in the same case",
        "✓ kept",
        "! a SHOULD is broken",
        "~ a declared difference",
    ]
    marks += ["– refused, as declared", "· not applicable, or not supported"]
    peers = [peer for peer, result in results.items() if wire in result["verdicts"]]
    parts = [f"# {wire}: rules and libraries", "\n".join(f"- {line}" for line in marks)]
    return "\n\n".join([*parts, matrix(wire, peers, results, known)]) + "\n"


def who(result: Json) -> list[str]:
    """Returns a row about a library: the date and versions of its run."""
    date = result["date"].replace("-", "\N{NON-BREAKING HYPHEN}")
    if "not_installed" in result:
        return [result["peer"], date, f"could not be installed: {result['not_installed']}"]
    used = ", ".join(f"{name} {number}" for name, number in result["versions"].items())
    return [name(result), date, used]


def matrix(
    wire: str,
    peers: Sequence[str],
    results: Mapping[str, Json],
    known: Mapping[str, Mapping[tuple[str, str], Json]],
) -> str:
    """Returns the rules that some library breaks, by library, and the number of rules that all keep."""
    rules = sorted({rule for peer in peers for rule in results[peer]["verdicts"][wire]})
    shown = [rule for rule in rules if any((wire, rule) in known[peer] for peer in peers)]
    rows = [
        [linked(rule, wire, "../"), *(mark(peer, wire, rule, results[peer], known[peer]) for peer in peers)]
        for rule in shown
    ]
    told = f"{len(rules) - len(shown)} further rules are broken by no library."
    return f"{table(['rule', *peers], rows)}\n\n{told}"


def mark(peer: str, wire: str, rule: str, result: Json, cells: Mapping[tuple[str, str], Json]) -> str:
    """Returns one cell."""
    cell = cells.get((wire, rule))
    if cell is None:
        return OTHER[result["verdicts"][wire].get(rule, "not-applicable")]
    sdk = " *sdk*" if cell["sdk"] else ""
    return f"[{MARKS[cell['cause']]}]({peer}.md#{anchor(cell)}){sdk}"
