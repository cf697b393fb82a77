"""The page of providers: the declared features, and the results of the last run of the suite.

Nothing here is written manually. The declarations come from our adapter, and the results from
`build/conformance/report.json`, which a run of the suite writes. Without that file, the suite is run.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import ellmer_core as ec
from ellmer_conformance.adapters.ellmer_core import Provider, providers
from ellmer_conformance.scenarios.cases import all_cases
from ellmer_conformance.scenarios.combinations import case_named
from ellmer_core.wire.base import Wire
from ellmer_core.wire.interfaces import IMAGES

ROOT = Path(__file__).parents[2]
REPORT = ROOT / "build" / "conformance" / "report.json"

FAILED = frozenset({"fail", "not-testable", "harness-error", "expected-fail", "unexpected-pass"})

#: The first bytes of an image of each type, in base64.
STARTS = {
    "image/png": "iVBORw0KGgo=",
    "image/jpeg": "/9j/",
    "image/gif": "R0lGODlh",
    "image/webp": "UklGRgAAAABXRUJQ",
}

LOG = logging.getLogger("mkdocs.hooks.providers")
NO_REPORT = (
    "There is no report of the suite in build/conformance, so all cases are run now. This takes about a minute, once. "
    "`./nox -s conformance` writes the report, too."
)

Row = Mapping[str, Any]
WireAndProvider = tuple[str, str]

INTRODUCTION = """
---
hide: [toc]
---
# Providers

Each provider has a function, such as `chat_groq()`. `chat("groq/some-model")` finds it by its name.

The first table compares what each provider's module declares, for any model, with the results of {plays} tests:

- **✓** The feature is declared, and the tests pass.
- **–** The feature is not supported. The tests show that it is refused with an error, and never silently dropped.
- **✗** A test failed.
- **?** No test covers the feature.

Images and PDFs that a tool returns are sent after the tool results. With `tool_media="native"`, they are sent *inside*
the results if the API supports this. Structured output uses a schema. If the API has no schemas, the prompt asks for it
*in words*. *Rules kept* counts the applicable rules of the provider's contract. Recordings are *live* if they come from
the provider itself; the others were made with the suite's strict server.
"""

PROFILES = """
## Default models

This table shows the profile of each default model, as in `chat.profile`. The tables for all models are in
`ellmer_core/models/profiles/`. A parameter that the model does not accept is left out, with one warning.
"""


@dataclass
class Seen:
    """The results of one provider: its rows, and the origin of its recordings."""

    rows: list[Row] = field(default_factory=list)
    origins: set[str] = field(default_factory=set)


def page() -> str:
    """Returns both tables."""
    told = report()
    results = seen(told)
    able = [line(provider, results.get(provider.key, Seen())) for provider in providers()]
    settings = [
        [
            f"`chat_{provider.name}()`",
            coded(provider.wire.default_model),
            ", ".join(map(coded, provider.wire.key_vars)),
        ]
        for provider in providers()
    ]
    heads = ["provider", "wire format", *(column.title for column in COLUMNS), "rules kept", "recorded"]
    return "\n\n".join([
        INTRODUCTION.strip().format(plays=len(told["plays"])),
        table(heads, able),
        "## Models and keys",
        table(["provider", "default model", "key in"], settings),
        PROFILES.strip(),
        table(["provider", "model", *PROFILE_COLUMNS], [profiled(provider) for provider in providers()]),
    ])  # fmt: skip


def profiled(provider: Provider) -> list[str]:
    """Returns the profile of a provider's default model as text."""
    wire = ec.Chat(provider.wire(model=provider.place.model)).wire
    return [
        f"`chat_{provider.name}()`",
        coded(provider.place.model),
        *(cell(wire) or "–" for cell in PROFILE_COLUMNS.values()),
    ]


def thinking(wire: Wire) -> str:
    """Returns the parameters with which the model is asked to think."""
    profile = wire.profile
    words = dict.fromkeys([*(profile.efforts or ()), *profile.levels])
    budget = f"{profile.budget[0]:,} to {profile.budget[1]:,} tokens" if profile.budget else ""
    return ", ".join(filter(None, [*words, budget]))


def images(wire: Wire) -> str:
    """Returns the media types that it accepts from a user."""
    types = (*IMAGES, "image/heic", "image/heif")
    taken = [
        type for type in types if not wire.refuses(ec.ContentImageInline(type, STARTS.get(type, "AAAA")))
    ]
    return ", ".join(type.removeprefix("image/") for type in taken)


def largest(wire: Wire) -> str:
    """Returns the maximum number of tokens of an answer."""
    _, most = wire.profile.ranges.get("max_tokens", (0, 0))
    return f"{most:,}" if most else ""


#: The fields of a profile that are shown.
PROFILE_COLUMNS: Mapping[str, Callable[[Wire], str]] = {
    "does not take": lambda wire: ", ".join(wire.profile.refuses),
    "nor while it thinks": lambda wire: ", ".join(wire.profile.refuses_thinking),
    "thinking": thinking,
    "largest `max_tokens`": largest,
    "default": lambda wire: f"{wire.profile.max_tokens:,}" if wire.profile.max_tokens else "",
    "images": images,
    "structured output": lambda wire: "by a schema" if wire.profile.structured == "schema" else "in words",
    "sources": lambda wire: " ".join(f"[{n}]({url})" for n, url in enumerate(wire.profile.sources, 1)),
}


def line(provider: Provider, seen: Seen) -> list[str]:
    """Returns a provider's line of the first table."""
    return [
        f"`chat_{provider.name}()`",
        f"`{provider.wire.name}`",
        *(column.cell(provider, seen.rows) for column in COLUMNS),
        rules_kept(seen.rows),
        " and ".join(sorted(seen.origins)).replace("strict-server", "strict server") or "–",
    ]


def rules_kept(rows: Iterable[Row]) -> str:
    """Returns `41/41`: the applicable MUST rules, and those that every case and mode keeps."""
    kept: dict[str, bool] = {}
    for row in rows:
        if row["level"] == "MUST" and not row.get("preview") and row["verdict"] in {"pass", "fail"}:
            kept[row["rule"]] = kept.get(row["rule"], True) and row["verdict"] == "pass"
    return f"{sum(kept.values())}/{len(kept)}" if kept else "–"


# declarations and their tests -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """A feature of a provider: its declaration, the rows of the report that show it, and its text."""

    title: str
    declared: Callable[[Provider], bool]
    shown: Callable[[Provider, Row], bool]
    how: Callable[[Provider], str] = lambda _: ""
    refusable: bool = True  # an unsupported input is refused; an unsupported output is only missing

    def cell(self, provider: Provider, rows: Iterable[Row]) -> str:
        """Returns the cell, which shows whether the rows agree with the declaration."""
        verdicts = {row["verdict"] for row in rows if self.shown(provider, row)}
        if verdicts & FAILED:
            return "✗"
        if not self.declared(provider):
            return "–" if "refused-as-declared" in verdicts or not self.refusable else "–?"
        return f"{'✓' if 'pass' in verdicts else '?'} {self.how(provider)}".strip()


@cache
def needs_of(case: str) -> frozenset[str]:
    """Returns the capabilities that a case needs. The tables ask this for every row of the report."""
    found = case_named(case) or all_cases()[case]
    return found.needs


def need(title: str, name: str, how: Callable[[Provider], str] = lambda _: "") -> Column:
    """Returns a column for a capability of cases. Its cases need no other refused capability."""

    def shown(provider: Provider, row: Row) -> bool:
        needs = needs_of(row["case"])
        return name in needs and set(provider.capabilities.refused(needs)) <= {name}

    return Column(title, lambda provider: not provider.capabilities.refused([name]), shown, how)


def support(title: str, name: str, shows: Callable[[Row], bool]) -> Column:
    """Returns a column for a field of `Wire.supports` that is not a capability of a case."""

    def shown(provider: Provider, row: Row) -> bool:
        return shows(row) and not provider.capabilities.refused(needs_of(row["case"]))

    return Column(title, lambda provider: getattr(provider.wire.supports, name), shown, refusable=False)


def inside(provider: Provider) -> str:
    return "or inside" if provider.wire.supports.native_tool_media else ""


def asked_for(provider: Provider) -> str:
    return "" if provider.wire.supports.structured else "in words"


COLUMNS = (
    need("tools", "tools"),
    need("images", "image_in_user"),
    need("PDFs", "pdf_in_user"),
    need("images of tools", "image_in_tool_result", inside),
    need("PDFs of tools", "pdf_in_tool_result"),
    need("structured output", "structured", asked_for),
    support("thinking", "thinking", lambda row: row["case"] == "thinking_with_tools"),
    support(
        "usage in streams",
        "usage_in_stream",
        lambda row: row["rule"] == "USG-001" and "stream" in row["mode"],
    ),
)


# the report -----------------------------------------------------------------------------------------------------


@cache
def report() -> dict[str, Any]:
    """Returns the report of the last run of the suite, or of a first one."""
    if not REPORT.exists():
        LOG.info("%s", NO_REPORT)
        run = f"from ellmer_conformance.cli.runs.run import command; command(['--report', {str(REPORT.parent)!r}])"
        subprocess.run([sys.executable, "-c", run], cwd=ROOT, check=False, stdout=subprocess.DEVNULL)  # noqa: S603 - it is ours
    found: dict[str, Any] = json.loads(REPORT.read_text("utf-8"))
    return found


def seen(told: Mapping[str, Any]) -> Mapping[WireAndProvider, Seen]:
    """Returns the report's results for our own adapter, by wire format and provider."""
    found: dict[WireAndProvider, Seen] = defaultdict(Seen)
    for row in told["results"]:
        if row["adapter"] == "ellmer-core" and row["verdict"] != "not-applicable":
            found[row["wire"], row["provider"]].rows.append(row)
    for play in told["plays"]:
        if play["adapter"] == "ellmer-core" and play["recorded_from"]:
            found[play["wire"], play["provider"]].origins.add(play["recorded_from"])
    return found


# Markdown -------------------------------------------------------------------------------------------------------


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    """Returns a table in Markdown."""
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


def coded(name: str) -> str:
    return f"`{name}`" if name else ""
