"""What a probed server is ready for: three tiers of rules, and the requests of well-known clients.

A tier is *kept*, *broken* (with the rules), *in part* (a feature is absent: the server refuses it), or *not judged*. A client needs
tiers and the fields that it sends: "ready for Codex: no, because …".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from ...contract.exchange import Json
from ...report import Report, Row

__all__ = ["PROFILES", "TIERS", "Profile", "Readiness", "Tier", "lines", "profiles_of", "readiness", "write"]

State = Literal["kept", "broken", "in part", "not judged"]

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
class Profile:
    """What a client sends beside the conversation, and what it needs.

    Args:
        name: Name of the client.
        wire: The wire format that it speaks.
        fields: The fields of its requests. They are sent in one streamed question with a tool.
        needs: The tiers and features that it needs.
        source: Where its requests are written down.

    Examples:
        >>> PROFILES[0].name, PROFILES[0].fields["store"]
        ('Codex', False)
    """

    name: str
    wire: str
    fields: Json
    needs: tuple[str, ...]
    source: str

    @property
    def question(self) -> str:
        """The name of its question in the report."""
        return f"as {self.name}"


PROFILES: tuple[Profile, ...] = (
    Profile(
        "Codex",
        "openai-responses",
        {
            "instructions": "You are a coding agent.",
            "tool_choice": "auto",
            "parallel_tool_calls": True,
            "reasoning": {"effort": "medium", "summary": "auto"},
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "prompt_cache_key": "00000000-0000-0000-0000-000000000000",
        },
        ("answers", "tools"),
        "https://github.com/openai/codex/blob/main/codex-rs/codex-api/src/common.rs",
    ),
    Profile(
        "Claude Code",
        "anthropic",
        {
            "system": [
                {"type": "text", "text": "You are a coding agent.", "cache_control": {"type": "ephemeral"}}
            ],
            "metadata": {"user_id": "user_0000"},
        },
        ("answers", "tools"),
        "https://code.claude.com/docs/en/llm-gateway",
    ),
    Profile(
        "the OpenAI SDK",
        "openai-chat",
        {"tool_choice": "auto", "stream_options": {"include_usage": True}},
        ("answers", "tools", "structured output"),
        "https://developers.openai.com/api/reference/resources/chat",
    ),
)


@dataclass(frozen=True)
class Tier:
    """A tier of a server: its state, the rules that are broken, and the features that are absent."""

    name: str
    state: State
    broken: Sequence[str] = ()
    absent: Sequence[str] = ()


@dataclass(frozen=True)
class Readiness:
    """What a server is ready for.

    Args:
        server: Name of the server.
        wire: The wire format.
        date: The day of the probe, as in `2026-11-25`.
        tiers: The tiers.
        clients: For each client of the wire format, the reasons why the server is not ready for it; none if it is.
    """

    server: str
    wire: str
    date: str
    tiers: Sequence[Tier]
    clients: Mapping[str, Sequence[str]] = field(default_factory=dict)


def profiles_of(wire: str) -> list[Profile]:
    """Returns the profiles of the clients that speak a wire format.

    Args:
        wire: Name of the wire format.
    """
    return [profile for profile in PROFILES if profile.wire == wire]


def readiness(report: Report, server: str, wire: str) -> Readiness:
    """Returns what a probed server is ready for.

    Args:
        report: The report of the probe.
        server: Name of the server.
        wire: The wire format.
    """
    absent = [
        each["capability"]
        for each in report.skipped
        if "capability" in each and each["reason"].startswith("not found")
    ]
    tiers = [_tier(name, report.rows, absent) for name in TIERS]
    clients = {
        profile.name: list(_reasons(profile, tiers, report.rows, absent)) for profile in profiles_of(wire)
    }
    return Readiness(server, wire, datetime.now(UTC).date().isoformat(), tiers, clients)


def _tier(name: str, rows: Sequence[Row], absent: Sequence[str]) -> Tier:
    mine = [row for row in rows if row.rule in TIERS[name] and row.level == "MUST"]
    broken = sorted({row.rule for row in mine if row.verdict == "fail"})
    missing = [each for each in absent if name == "tools and schemas" and each in _FEATURES]
    judged = any(row.verdict in {"pass", "fail"} for row in mine)
    state: State = (
        "broken" if broken else "in part" if missing and judged else "kept" if judged else "not judged"
    )
    return Tier(name, state, broken, missing)


def _reasons(
    profile: Profile, tiers: Sequence[Tier], rows: Sequence[Row], absent: Sequence[str]
) -> Iterator[str]:
    """Yields why a server is not ready for a client. A rule is said with its first message."""
    if all(tier.state == "not judged" for tier in tiers):
        yield "nothing could be judged"
        return
    refused = next(
        (r for r in rows if r.case == profile.question and r.rule == "SRV-006" and r.verdict == "fail"), None
    )
    if refused:
        yield f"it refuses what {profile.name} sends: {refused.message}"
    yield from (f"it has no {each}" for each in absent if each in profile.needs)
    wanted = {rule for tier in tiers if tier.name in profile.needs for rule in tier.broken}
    wanted |= {"SRV-020", "SRV-021"} if "tools" in profile.needs else set()
    for rule in sorted(wanted):
        row = next((row for row in rows if row.rule == rule and row.verdict == "fail"), None)
        if row:
            yield f"{rule} ({row.case}): {row.message}"


def lines(found: Readiness) -> Iterator[str]:
    """Yields what is printed: a line for each tier, and one for each client.

    Args:
        found: What the server is ready for.

    Examples:
        >>> list(lines(Readiness("mine", "openai-responses", "2026-11-25", [Tier("answers", "kept")], {"Codex": ["it has no tools"]})))
        ['answers: kept', 'ready for Codex: no, because it has no tools']
    """
    for tier in found.tiers:
        more = ", ".join([*tier.broken, *(f"no {each}" for each in tier.absent)])
        yield f"{tier.name}: {tier.state}{f' ({more})' if more else ''}"
    for name, reasons in found.clients.items():
        yield f"ready for {name}: {'no, because ' + _in_short(reasons) if reasons else 'yes'}"


def _in_short(reasons: Sequence[str]) -> str:
    """Returns the first reasons, cut to a few lines of a terminal. `readiness.json` has all of them in full."""
    told = [each if len(each) <= _LONGEST else f"{each[:_LONGEST]}…" for each in reasons[:_SHOWN]]
    more = len(reasons) - len(told)
    return "; ".join([*told, *([f"and {more} more"] if more else [])])


def write(found: Readiness, folder: Path) -> Path:
    """Writes `readiness.json`, which a website can show, and returns its path.

    Args:
        found: What the server is ready for.
        folder: The folder. It is made if it does not exist.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "readiness.json"
    told: dict[str, Any] = asdict(found)
    told["clients"] = [
        {"name": name, "ready": not reasons, "because": reasons} for name, reasons in found.clients.items()
    ]
    path.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path
