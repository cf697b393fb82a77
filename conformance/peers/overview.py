# ruff: noqa: INP001 - beside the script that imports it
"""The page with the comparison: the dates and versions, and the matrix of rules and libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from failures import WIRES, Json
from prose import CAUSES, anchor, linked, table

MARKS = {"wire": "W", "loss": "L", "error": "E", "policy": "P", "caller": "C", "follows": "↳"}
OTHER = {
    "pass": "✓",
    "unexpected-pass": "✓",
    "warn": "!",
    "refused-as-declared": "–",
    "not-applicable": "·",
    "not-reproduced": "·",
    "harness-error": "·",
}

INTRO = """\
# Other libraries

These are the results of the same cases with other libraries, against the strict server. No provider was called. A
failure means that a documented, recorded or stated rule was broken; it does not mean that a provider refused the request
of a real account. Every failing cell links to the exchange, the place in it, and a script that reproduces the failure with
only the library and this package. Failures that their script does not reproduce are left out. (Those pages are made with
the site: `./nox -s docs -- serve`.)

The bridges are short and public (`conformance/ellmer_conformance/adapters/`). Each uses the library's own chat, history
and tool loop, if there is one. `openai`, `anthropic` and `google-genai` are the raw SDKs in a loop of our own, as the
control. *sdk* means that the library's SDK fails in the same case. The AI SDK is tested as a command
(`examples/driver-ai-sdk`). For instructor, only the structured cases are played, because the SDK that it wraps does all
else. For smolagents, only the model class is tested, because its agents put each question into prompts of their own.

Do not rank libraries by the number of their marks: rules share causes, and not every library supports every format. If a
cell is wrong, please tell us.
"""


def overview(results: Mapping[str, Json], known: Mapping[str, Mapping[tuple[str, str], Json]]) -> str:
    """Returns the page: libraries, dates and the matrix."""
    parts = [INTRO, table(["library", "played on", "with"], [who(result) for result in results.values()])]
    legend = [f"**{MARKS[cause]}** {text}" for cause, text in CAUSES.items()]
    legend += [
        "✓ kept",
        "! a SHOULD is broken",
        "– refused, as declared",
        "· not applicable, or not supported",
    ]
    parts += ["\n".join(f"- {line}" for line in legend)]
    for wire in WIRES:
        peers = [peer for peer, result in results.items() if wire in result["verdicts"]]
        parts += [f"## {wire}", matrix(wire, peers, results, known)]
    return "\n\n".join(parts) + "\n"


def who(result: Json) -> list[str]:
    """Returns a row about a library: the date and versions of its run."""
    date = result["date"].replace("-", "\N{NON-BREAKING HYPHEN}")
    if "not_installed" in result:
        return [result["peer"], date, f"could not be installed: {result['not_installed']}"]
    used = ", ".join(f"{name} {number}" for name, number in result["versions"].items())
    return [f"[{result['peer']}](peers/{result['peer']}.md)", date, used]


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
        [linked(rule, wire), *(mark(peer, wire, rule, results[peer], known[peer]) for peer in peers)]
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
    return f"[{MARKS[cell['cause']]}](peers/{peer}.md#{anchor(cell)}){sdk}"
