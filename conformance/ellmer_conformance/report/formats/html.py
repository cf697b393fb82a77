"""The report as one HTML page, which contains its data, style and program.

The page's parts are in `page/`. The program draws two matrices from the data that is inserted here.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.resources import files
from typing import Any

from ..causes import consequences
from ..report_json import sentence
from ..results import FINE, VERDICTS, Play, Report, Row, sentences
from .terminal import MARKS


def page(report: Report, folder: str) -> str:
    """Returns the page of the report in a folder."""
    parts = files("ellmer_conformance.report.formats").joinpath("page")
    program = parts.joinpath("page.js").read_text(encoding="utf-8")
    text = parts.joinpath("page.html").read_text(encoding="utf-8")
    for mark, content in (
        ("/*STYLE*/", parts.joinpath("page.css").read_text(encoding="utf-8")),
        ("/*POLICY*/", _policy(program)),
        ("/*PROGRAM*/", program),
        ("/*DATA*/", _inert(json.dumps(_data(report, folder), ensure_ascii=False, separators=(",", ":")))),
    ):
        text = text.replace(mark, content)
    return text


def _policy(program: str) -> str:
    """Returns the content security policy: only this program runs, and nothing is loaded from elsewhere."""
    digest = b64encode(sha256(program.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _inert(text: str) -> str:
    """Returns JSON that cannot end the script element, whatever a message contains."""
    return text.replace("<", "\\u003c")


class _Table:
    """Stores each value once, by number."""

    def __init__(self) -> None:
        self.numbers: dict[Hashable, int] = {}
        self.values: list[Any] = []

    def number(self, key: Hashable, value: Any = None) -> int:
        """Returns the number of a value. A new value is added."""
        if key not in self.numbers:
            self.numbers[key] = len(self.values)
            self.values.append(key if value is None else value)
        return self.numbers[key]


@dataclass
class _Tables:
    """The tables of a report, under the names that the program uses."""

    places: _Table = field(default_factory=_Table)
    cases: _Table = field(default_factory=_Table)
    modes: _Table = field(default_factory=_Table)
    plays: _Table = field(default_factory=_Table)
    transcripts: _Table = field(default_factory=_Table)
    rules: _Table = field(default_factory=_Table)
    evidence: _Table = field(default_factory=_Table)

    def enter_plays(self, report: Report) -> None:
        """Adds every run with its provider, case, mode and transcript."""
        for play in report.plays:
            place = self.places.number((play.adapter, play.wire, play.provider))
            printed = report.transcripts.get(play.transcript, "")
            shown = self.transcripts.number(printed) if printed else -1
            case, mode = self.cases.number(play.case), self.modes.number(play.mode)
            self.plays.number(_place(play), [place, case, mode, play.cassette, play.recorded_from, shown])

    def rows(self, report: Report, folder: str) -> Iterator[list[int]]:
        """Yields each row: its run, its rule, its verdict, the number of checks, the evidence, and whether it is a
        consequence of another.
        """
        texts = {(text["wire"], text["provider"], text["id"]): _shown_texts(text) for text in report.rules}
        followed, plays = consequences(report), self.plays.numbers
        verdicts = {verdict: number for number, verdict in enumerate(VERDICTS)}
        numbers: dict[Hashable, int] = {}
        for row in report.rows:
            if row.verdict == "not-applicable":
                continue
            where = row.wire, row.provider, row.rule
            if where not in numbers:
                numbers[where] = self.rules.number(*(texts.get(where) or _shown_texts(_unknown(row))))
            fine = row.verdict in FINE
            proof = -1 if fine else self.evidence.number(_key(row), _evidence(row, report, folder))
            follows = int(bool(followed) and row.id in followed)
            yield [plays[_place(row)], numbers[where], verdicts[row.verdict], row.checked, proof, follows]


def _data(report: Report, folder: str) -> dict[str, Any]:
    """Returns the program's data: tables of values, and rows of indexes into them. Not-applicable rows are left out."""
    tables = _Tables()
    tables.enter_plays(report)
    rows = list(tables.rows(report, folder))
    return {
        "tool": report.tool,
        "requirements": report.requirements,
        "score": [[name, sentence(counts), counts] for name, counts in report.score.items()],
        "problems": [*report.problems, *sentences(report.unjudged)],
        "exit": report.exit_code,
        "verdicts": [[verdict, MARKS[verdict][0]] for verdict in VERDICTS],
        **{name: table.values for name, table in vars(tables).items()},
        "rows": rows,
        "skipped": report.skipped,
    }


def _place(of: Row | Play) -> Hashable:
    return of.adapter, of.wire, of.provider, of.case, of.mode


def _shown_texts(text: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Returns the shown texts of a rule. Equal texts of several formats are shown once."""
    texts = {name: value for name, value in text.items() if name not in {"wire", "provider"}}
    return json.dumps(texts, sort_keys=True), texts


def _unknown(row: Row) -> dict[str, Any]:
    """Returns a rule whose text is not in the report."""
    fields = {"id": row.rule, "level": row.level, "kind": row.kind, "preview": row.preview}
    return {**fields, "sentence": "", "explain": "", "source": []}


def _key(row: Row) -> Hashable:
    return row.rule, row.wire, row.provider, row.pointer, row.message, row.exchange


def _evidence(row: Row, report: Report, folder: str) -> dict[str, Any]:
    names = (
        "pointer",
        "message",
        "provider_error",
        "status",
        "excerpt",
        "reason",
        "issue",
        "fingerprint",
        "page",
    )
    exchange = report.exchanges.get(row.exchange)
    shown = json.dumps(exchange, indent=1, ensure_ascii=False)[:60_000] if exchange else ""
    commands = [row.explain_command, report.run_command(row), row.repro_command(folder)]
    return {**{name: getattr(row, name) for name in names}, "exchange": shown, "commands": commands}
