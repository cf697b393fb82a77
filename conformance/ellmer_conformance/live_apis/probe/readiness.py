"""What a probed server is ready for: three tiers of rules, the features, a specification, and the clients.

A contract is *kept*, *contract broken* (with the rules), *feature absent* (the server refuses a feature, which breaks no rule), or
*not judged*. A client needs tiers, features and an answer to what it sends: "ready for Codex: no, because …".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from ...files import write_text
from ...report import Report, Row
from . import open_responses
from .profiles import Profile, profiles_of

__all__ = [
    "TIERS",
    "Client",
    "Feature",
    "Readiness",
    "Specification",
    "Tier",
    "lines",
    "readiness",
    "schema",
    "write",
]

State = Literal["kept", "contract broken", "feature absent", "not judged"]
FORM = 1  # the version of `readiness.json`

#: The tiers with their rules, the first one first needed.
TIERS: Mapping[str, tuple[str, ...]] = {
    "answers": ("SRV-001", "SRV-002", "SRV-003", "SRV-004", "SRV-005", "SRV-010", "SRV-011", "SRV-012", "SRV-013", "SRV-014", "SRV-015"),
    "tools and schemas": ("SRV-020", "SRV-021", "SRV-022"),
    "refusals": ("SRV-030", "SRV-031", "SRV-032", "SRV-033", "SRV-034"),
}  # fmt: skip
#: The questions of features that belong to the second tier.
_FEATURES = frozenset({"tools", "structured output"})


_SHOWN, _LONGEST = 3, 120  # reasons that are printed, and the characters of each


@dataclass(frozen=True)
class Tier:
    """A tier of a server: its state, the rules that are broken, and the features that are absent."""

    name: str
    state: State
    broken: Sequence[str] = ()
    absent: Sequence[str] = ()


@dataclass(frozen=True)
class Feature:
    """A feature of a server. `because` tells what the server answered, or which rule is broken."""

    name: str
    state: State
    because: str = ""


@dataclass(frozen=True)
class Specification:
    """A specification beside the provider's API: its version, and its additional rules of each tier."""

    name: str
    version: str
    state: State
    broken: Sequence[str] = ()
    absent: Sequence[str] = ()


@dataclass(frozen=True)
class Client:
    """A client: the version and the day of its recording, and whether the server is ready for it. `ready` is `None` if that was not
    judged.
    """

    name: str
    version: str
    recorded: str
    source: str
    ready: bool | None
    because: Sequence[str] = ()


@dataclass(frozen=True)
class Readiness:
    """What a server is ready for.

    Args:
        server: Name of the server.
        wire: The wire format.
        date: The day of the probe, as in `2026-11-25`.
        tiers: The tiers.
        features: The features that were asked for. Default: none.
        specifications: The specifications that hold for the wire format. Default: none.
        clients: The clients of the wire format. Default: none.
    """

    server: str
    wire: str
    date: str
    tiers: Sequence[Tier]
    features: Sequence[Feature] = ()
    specifications: Sequence[Specification] = ()
    clients: Sequence[Client] = field(default=())


def readiness(report: Report, server: str, wire: str) -> Readiness:
    """Returns what a probed server is ready for.

    Args:
        report: The report of the probe.
        server: Name of the server.
        wire: The wire format.
    """
    features = [_feature(each, report.rows) for each in report.skipped if "capability" in each]
    absent = [each.name for each in features if each.state == "feature absent"]
    tiers = [_tier(name, report.rows, absent) for name in TIERS]
    unsent = {each["case"]: each["reason"] for each in report.skipped if each.get("rule") == "SRV-006"}
    clients = [_client(each, tiers, report.rows, features, unsent) for each in profiles_of(wire)]
    specifications = [_open_responses(report.rows, absent)] if wire == open_responses.WIRE else []
    day = datetime.now(UTC).date().isoformat()
    return Readiness(server, wire, day, tiers, features, specifications, clients)


#: The rules that judge a feature beyond the status of its answer.
_JUDGED_BY = {
    "tools": ("SRV-020", "SRV-021"),
    "structured output": ("SRV-022",),
    "previous_response_id": ("OPR-009",),
    "allowed_tools": ("OPR-008",),
    "compaction": ("OPR-011",),
    "WebSocket": ("OPR-012", "OPR-013", "OPR-014"),
}


def _feature(told: dict[str, str], rows: Sequence[Row]) -> Feature:
    name, reason = told["capability"], told["reason"]
    if reason.startswith("not found"):
        return Feature(name, "feature absent", reason)
    rules = _broken(rows, _JUDGED_BY.get(name, ()))
    if reason.startswith("broken") or rules:
        return Feature(name, "contract broken", reason if reason.startswith("broken") else ", ".join(rules))
    return Feature(name, "kept")


def _broken(rows: Sequence[Row], rules: Sequence[str]) -> list[str]:
    return sorted({row.rule for row in rows if row.rule in rules and row.verdict in _WRONG})


_WRONG = {"fail", "warn", "expected-fail"}


def _state(broken: Sequence[str], absent: Sequence[str], *, judged: bool) -> State:
    if broken:
        return "contract broken"
    if not judged:
        return "not judged"
    return "feature absent" if absent else "kept"


def _tier(name: str, rows: Sequence[Row], absent: Sequence[str]) -> Tier:
    mine = [row for row in rows if row.rule in TIERS[name] and row.level == "MUST"]
    broken = sorted({row.rule for row in mine if row.verdict == "fail"})
    missing = [each for each in absent if name == "tools and schemas" and each in _FEATURES]
    judged = any(row.verdict in {"pass", "fail"} for row in mine)
    return Tier(name, _state(broken, missing, judged=judged), broken, missing if judged else ())


def _open_responses(rows: Sequence[Row], absent: Sequence[str]) -> Specification:
    broken = _broken(rows, open_responses.RULES)
    missing = [each for each in absent if each in open_responses.FEATURES]
    judged = any(row.rule in open_responses.RULES for row in rows)
    state = _state(broken, missing, judged=judged)
    return Specification(open_responses.NAME, open_responses.VERSION, state, broken, missing)


def _client(
    profile: Profile,
    tiers: Sequence[Tier],
    rows: Sequence[Row],
    features: Sequence[Feature],
    unsent: dict[str, str],
) -> Client:
    named = (profile.name, profile.version, profile.recorded, profile.source)
    if all(tier.state == "not judged" for tier in tiers):
        return Client(*named, None, ["nothing could be judged"])
    reasons = list(_reasons(profile, tiers, rows, features))
    if not reasons and profile.question in unsent:
        return Client(*named, None, [unsent[profile.question]])
    return Client(*named, not reasons, reasons)


def _reasons(
    profile: Profile, tiers: Sequence[Tier], rows: Sequence[Row], features: Sequence[Feature]
) -> Iterator[str]:
    """Yields the reasons why a server is not ready for a client: for each broken rule, its first message."""
    refused = next(
        (r for r in rows if r.case == profile.question and r.rule == "SRV-006" and r.verdict in _WRONG), None
    )
    if refused:
        yield f"it refuses what {profile.name} sends: {refused.message}"
    for each in features:
        if each.name in profile.needs and each.state == "feature absent":
            yield f"it has no {each.name}"
    wanted = {rule for tier in tiers if tier.name in profile.needs for rule in tier.broken}
    wanted |= {"SRV-020", "SRV-021"} if "tools" in profile.needs else set()
    for rule in sorted(wanted):
        row = next((row for row in rows if row.rule == rule and row.verdict == "fail"), None)
        if row:
            yield f"{rule} ({row.case}): {row.message}"


def lines(found: Readiness) -> Iterator[str]:
    """Yields what is printed: a line for each tier, each specification and each client.

    Args:
        found: What the server is ready for.

    Examples:
        >>> codex = Client("Codex", "0.171.0", "2026-11-28", "https://example.com", False, ["it has no tools"])
        >>> list(lines(Readiness("mine", "openai-responses", "2026-11-25", [Tier("answers", "kept")], clients=[codex])))
        ['answers: kept', 'ready for Codex 0.171.0: no, because it has no tools']
    """
    for tier in found.tiers:
        yield f"{tier.name}: {_state_in_words(tier)}"
    for each in found.specifications:
        yield f"{each.name} {each.version}: {_state_in_words(each)}"
    for client in found.clients:
        answer = {True: "yes", False: "no, because", None: "not judged, because"}[client.ready]
        yield f"ready for {client.name} {client.version}: {answer} {_in_short(client.because)}".rstrip()


def _state_in_words(one: Tier | Specification) -> str:
    absent = f"; feature absent: {', '.join(one.absent)}" if one.absent else ""
    if one.state == "feature absent":
        return absent.removeprefix("; ")
    broken = f" ({', '.join(one.broken)})" if one.broken else ""
    return f"{one.state}{broken}{absent}"


def _in_short(reasons: Sequence[str]) -> str:
    """Returns the first reasons, cut to a few lines of a terminal. `readiness.json` has all of them in full."""
    told = [each if len(each) <= _LONGEST else f"{each[:_LONGEST]}…" for each in reasons[:_SHOWN]]
    more = len(reasons) - len(told)
    return "; ".join([*told, *([f"and {more} more"] if more else [])])


def schema() -> dict[str, Any]:
    """Returns the JSON Schema of `readiness.json`."""
    found: dict[str, Any] = json.loads(Path(__file__).with_name("readiness.schema.json").read_text("utf-8"))
    return found


def write(found: Readiness, folder: Path) -> Path:
    """Writes `readiness.json`, which a website can show, and returns its path.

    Args:
        found: What the server is ready for.
        folder: The folder. It is made if it does not exist.
    """
    path = folder / "readiness.json"
    told = {"version": FORM, **asdict(found)}
    write_text(path, json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    return path
