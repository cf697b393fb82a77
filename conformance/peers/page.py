# ruff: noqa: INP001 - a script, not a package
"""Makes `docs/peers.md` of `results/*.json`: `python conformance/peers/page.py`.

The pages of the libraries, with all the evidence, are made when the site is built (docs/_generate.py).
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ellmer_conformance import rules
from ellmer_conformance.rule import Rule
from ellmer_conformance.rules import behaviour

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs"

PEERS = (
    *("openai", "anthropic", "google-genai"),
    *("chatlas", "pydantic-ai", "langchain", "litellm", "any-llm", "llm"),
)
WIRES = ("openai-chat", "openai-responses", "anthropic", "gemini")
#: The raw SDK that a library sends through, by wire format: the control.
CONTROL = {
    "openai-chat": "openai",
    "openai-responses": "openai",
    "anthropic": "anthropic",
    "gemini": "google-genai",
}
#: Those that send by themselves.
OWN = {("litellm", "anthropic"), ("litellm", "gemini")}

CAUSES = {
    "wire": "wire violation: the API refuses the request",
    "loss": "silent loss: nobody is told, and something is gone or wrong",
    "error": "error: the library raises where the conversation could go on",
    "policy": "policy: a choice of the library's, which one may disagree with",
    "caller": "the caller's own: the library sends what it is given",
    "follows": "follows from a refused request, or an error, in all its cases",
}
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

#: Messages that tell of an exception.
RAISED = re.compile(r"\bit raises\b|\bsend raised\b|^\w*(Error|Exception|Behavior|Exceeded)\b: ")

Json = dict[str, Any]


def main() -> None:
    """Writes the page that is committed."""
    path, text = next(pages())
    (DOCS / path).write_text(text, "utf-8")


def pages() -> Iterator[tuple[str, str]]:
    """Every page: its path below docs/, and its Markdown, half characters in it as escapes."""
    for path, text in written():
        yield path, text.encode("utf-8", "backslashreplace").decode()


def written() -> Iterator[tuple[str, str]]:
    """Every page, as it comes."""
    results = {peer: result for peer in PEERS if (result := loaded(peer))}
    known = {name: placed(result, results) for name, result in results.items()}
    yield "peers.md", overview(results, known)
    for peer, result in results.items():
        yield f"peers/{peer}.md", details(result, known[peer])


def loaded(peer: str) -> Json:
    """The result of a peer; nothing where there is none yet."""
    file = HERE / "results" / f"{peer}.json"
    found: Json = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return found


def placed(result: Json, results: Mapping[str, Json]) -> dict[tuple[str, str], Json]:
    """The failing cells, each with its cause, and with the SDK that fails alike."""
    entries, cells = causes(), {}
    for cell in result["cells"]:
        cause, why = caused(result["peer"], cell, entries)
        sdk = inherited(result["peer"], cell, results)
        cells[cell["wire"], cell["rule"]] = cell | {"cause": cause, "why": why, "sdk": sdk}
    return {
        key: cell | after_error(cell, cells.get((cell["wire"], "TXT-005"))) for key, cell in cells.items()
    }


def after_error(cell: Json, text: Json | None) -> Json:
    """Nothing is lost on its own where the library raised in all the same plays: no text came either."""
    raised = bool(text and text["cause"] == "error" and set(cell["plays"]) <= set(text["plays"]))
    loss = cell["cause"] == "loss" and not varied(cell)
    return {"cause": "follows", "why": "See TXT-005."} if raised and loss else {}


def causes() -> list[Json]:
    """What somebody wrote down."""
    entries: list[Json] = tomllib.loads((HERE / "causes.toml").read_text("utf-8"))["cause"]
    return entries


def caused(peer: str, cell: Json, entries: Sequence[Json]) -> tuple[str, str]:
    """The kind of failure, and why where somebody wrote it down."""
    cases = {play.partition("[")[0] for play in cell["plays"]}
    for entry in entries:
        here = fits(peer, entry, "peer") and fits(cell["rule"], entry, "rule")
        if here and fits(cell["wire"], entry, "wire") and all(fits(case, entry, "case") for case in cases):
            return entry["cause"], entry["why"]
    if cell["follows"]:
        return "follows", f"See {cell['follows']}."
    if cell["kind"] == "reject":
        return "wire", ""
    return ("error" if RAISED.search(cell["shown"]["message"][:200]) else "loss"), ""


def fits(value: str, entry: Json, name: str) -> bool:
    """Whether an entry's globs let a value through."""
    globs = entry.get(name, "*")
    return any(fnmatchcase(value, glob) for glob in ([globs] if isinstance(globs, str) else globs))


def inherited(peer: str, cell: Json, results: Mapping[str, Json]) -> str:
    """The raw SDK, where it breaks the same rule in one of the same plays, of its own doing."""
    control = CONTROL[cell["wire"]]
    if control == peer or (peer, cell["wire"]) in OWN:
        return ""
    plays = {
        play
        for each in results.get(control, {}).get("cells", [])
        if (each["wire"], each["rule"]) == (cell["wire"], cell["rule"])
        and caused(control, each, causes())[0] != "caller"
        for play in each["plays"]
    }
    return control if plays & set(cell["plays"]) else ""


# the overview -----------------------------------------------------------------------------------------------

INTRO = """\
# Other libraries

The same cases, played through other libraries against the strict server: no provider was called. A failure means that
a documented, recorded or stated rule was broken, not that an account was refused anything. Every failing cell leads to
the exchange, the place in it, and a script that shows it again with nothing but the library and this package; a failure
that its script does not show is not here. (Those pages are made with the site: `./nox -s docs -- serve`.)

The bridges are short and public (`conformance/ellmer_conformance/adapters/`): each uses the library's own chat, history
and tool loop where it has one. `openai`, `anthropic` and `google-genai` are the raw SDKs in a loop of our own: the
control. *sdk* says that the SDK below fails in the same case.

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
    """A row about a library: when and with what it was played."""
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


def linked(rule: str, wire: str, up: str = "") -> str:
    """The rule, as a link to its page, with its sentence to be read on the way."""
    own = rule in rules.book(wire).rules
    title = sentence(rule, wire).replace('"', "'").replace("|", "/")
    return f'[{rule}]({up}rules/{wire if own else "behaviour"}.md#{rule.lower()} "{title}")'


def sentence(rule: str, wire: str) -> str:
    """What the rule says."""
    found: Rule = rules.book(wire).rules.get(rule) or behaviour.book.rules[rule]
    return found.sentence


def mark(peer: str, wire: str, rule: str, result: Json, cells: Mapping[tuple[str, str], Json]) -> str:
    """One cell."""
    cell = cells.get((wire, rule))
    if cell is None:
        return OTHER[result["verdicts"][wire].get(rule, "not-applicable")]
    sdk = " *sdk*" if cell["sdk"] else ""
    return f"[{MARKS[cell['cause']]}](peers/{peer}.md#{anchor(cell)}){sdk}"


def anchor(cell: Json) -> str:
    """Of a cell's section."""
    return f"{cell['wire']}-{cell['rule'].lower()}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


# a library's page -------------------------------------------------------------------------------------------


def details(result: Json, cells: Mapping[tuple[str, str], Json]) -> str:
    """All failing cells of a library, with the evidence."""
    used = who(result)[2]
    parts = [f"# {result['peer']}", f"Played on {result['date']} with Python {result['python']}, {used}."]
    parts += [f"`{score}`: {counted(counts)}" for score, counts in result.get("score", {}).items()]
    ordered = sorted(cells.values(), key=lambda c: (WIRES.index(c["wire"]), c["cause"] == "follows"))
    parts += [section(cell) for cell in ordered] or ["Every rule that applies is kept."]
    return "\n\n".join(parts) + "\n"


def counted(counts: Mapping[str, int]) -> str:
    """The score in words."""
    return (
        f"MUST {counts['must_passed']} of {counts['must_applicable']}, "
        f"SHOULD {counts['should_passed']} of {counts['should_applicable']}"
    )


def section(cell: Json) -> str:
    """One failing cell."""
    shown = cell["shown"]
    plays = ", ".join(f"`{play}`" for play in cell["plays"][:8])
    more = f" and {len(cell['plays']) - 8} more" if len(cell["plays"]) > 8 else ""
    parts = [
        f"## {cell['wire']} {cell['rule']} {{ #{anchor(cell)} }}",
        f"{linked(cell['rule'], cell['wire'], '../')}: {sentence(cell['rule'], cell['wire'])}",
        kind(cell),
        f"At `{shown['pointer']}`{unsent(cell)}: {prose(' – '.join(shown['message'].splitlines()))}",
        *([f"The API says ({cell['status']}): {prose(cell['provider_error'])}"] if cell["status"] else []),
        *([f"The SDK below, {cell['sdk']}, fails in the same case."] if cell["sdk"] else []),
        f"In {plays}{more}.",
        *([fenced("text", cell["excerpt"])] if cell["excerpt"] else []),
        *([folded(titled(cell), exchanged(cell["exchange"]))] if cell["exchange"] else []),
        folded("A script that shows it again", fenced("python", cell["script"].rstrip())),
    ]
    return "\n\n".join(parts)


def kind(cell: Json) -> str:
    """The kind of failure, and why; or what the kind is."""
    name, _, meaning = CAUSES[cell["cause"]].partition(": ")
    return f"**{name.capitalize()}.** {cell['why'] or f'{meaning[0].upper()}{meaning[1:]}.'}"


def titled(cell: Json) -> str:
    """What the exchange is: of a variation, the report has the one that was varied."""
    return "The exchange, as it was before the variation" if varied(cell) else "The exchange"


def varied(cell: Json) -> bool:
    """Whether it failed in a variation of the case."""
    pointer: str = cell["shown"]["pointer"]
    return pointer.startswith("/varied/")


def unsent(cell: Json) -> str:
    """Says so where the pointer leads to a request that should have been."""
    missing = cell["shown"]["pointer"].startswith("/exchanges/") and not cell["exchange"]
    return ", a request that was never sent" if missing else ""


def prose(text: str) -> str:
    """Text that Markdown leaves alone."""
    short = text if len(text) <= 400 else f"{text[:400]}…"
    return f"`{short.replace('`', chr(39)).strip()}`"


def exchanged(kept: Json) -> str:
    """Request and answer."""
    body = json.dumps(kept["body"], indent=1, ensure_ascii=False)
    parts = [f"`{kept['method']} /{kept['path']}`", fenced("json", body)]
    if "status" in kept:
        parts += [f"answered with {kept['status']}:", fenced("text", kept["answer"].strip())]
    return "\n\n".join(parts)


def fenced(language: str, text: str) -> str:
    """A code block, whatever is in it."""
    return f"````{language}\n{text}\n````"


def folded(title: str, text: str) -> str:
    """What is shown on a click."""
    lines = "\n".join(f"    {line}" if line else "" for line in text.splitlines())
    return f'??? note "{title}"\n\n{lines}'


if __name__ == "__main__":
    main()
