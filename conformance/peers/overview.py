# ruff: noqa: INP001 - beside the script that imports it
"""The page that compares: who was played when, and the matrix of rules and libraries."""

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

The same cases, played through other libraries against the strict server: no provider was called. A failure means that
a documented, recorded or stated rule was broken, not that an account was refused anything. Every failing cell leads to
the exchange, the place in it, and a script that shows it again with nothing but the library and this package; a failure
that its script does not show is not here. (Those pages are made with the site: `./nox -s docs -- serve`.)

The bridges are short and public (`conformance/ellmer_conformance/adapters/`): each uses the library's own chat, history
and tool loop where it has one. `openai`, `anthropic` and `google-genai` are the raw SDKs in a loop of our own: the
control. *sdk* says that the SDK below fails in the same case. The AI SDK is played as a command
(`examples/driver-ai-sdk`). Of instructor only the structured cases are played: all else is the SDK's that it wraps; of
smolagents it is the model class, as its agents wrap each question in prompts of their own.

Do not rank libraries by the number of their marks: rules share causes, and not every library speaks every format. If a
cell is wrong, the bridge or the rule is: please tell us.
"""


def overview(results: Mapping[str, Json], known: Mapping[str, Mapping[tuple[str, str], Json]]) -> str:
    """Who, when, and the matrix."""
    parts = [INTRO, table(["library", "played on", "with"], [who(result) for result in results.values()])]
    legend = [f"**{MARKS[cause]}** {text}" for cause, text in CAUSES.items()]
    legend += ["✓ kept", "! a SHOULD is not", "– refused, as it says", "· not applicable, or not spoken"]
    parts += ["\n".join(f"- {line}" for line in legend)]
    for wire in WIRES:
        peers = [peer for peer, result in results.items() if wire in result["verdicts"]]
        parts += [f"## {wire}", matrix(wire, peers, results, known)]
    return "\n\n".join(parts) + "\n"


def who(result: Json) -> list[str]:
    """Returns a row about a library: when and with what it was played."""
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
    """Rules that somebody breaks, by library; how many all keep."""
    rules = sorted({rule for peer in peers for rule in results[peer]["verdicts"][wire]})
    shown = [rule for rule in rules if any((wire, rule) in known[peer] for peer in peers)]
    rows = [
        [linked(rule, wire), *(mark(peer, wire, rule, results[peer], known[peer]) for peer in peers)]
        for rule in shown
    ]
    told = f"{len(rules) - len(shown)} further rules are broken by none of them."
    return f"{table(['rule', *peers], rows)}\n\n{told}"


def mark(peer: str, wire: str, rule: str, result: Json, cells: Mapping[tuple[str, str], Json]) -> str:
    """Returns one cell."""
    cell = cells.get((wire, rule))
    if cell is None:
        return OTHER[result["verdicts"][wire].get(rule, "not-applicable")]
    sdk = " *sdk*" if cell["sdk"] else ""
    return f"[{MARKS[cell['cause']]}](peers/{peer}.md#{anchor(cell)}){sdk}"
