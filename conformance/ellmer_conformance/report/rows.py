"""Makes rows from a judged run, with the evidence for every failing row."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from ..adapters import Difference
from ..contract.live_key_redaction import redacted, redacted_value
from ..contract.observed.exchange import Exchange
from ..contract.observed.run import PROBE, Run, unrefused
from ..contract.observed.transcripts import normalised
from ..contract.rule import Verdict, Violation
from .causes import UNENDED, died_at, undescribed
from .results import FINE, Play, Report, Row

_LARGEST = 400_000  # characters of a body that a report keeps
_WIDEST = 110  # characters of a line of an excerpt
_BEFORE, _AFTER = 2, 3  # lines around the one that is pointed at
_READ = 10_000  # characters of a message in which what differs from run to run is looked for
#: The address of a conversation with the strict server; files; the numbers of lines of code; ids and digests.
_PASSING = re.compile(
    r"\bhttp://127\.0\.0\.1:\d+(?:/c/[^/\s]+/[^/\s]+)?|\S+\.json\b|(?<=\.py:)\d+|\b(?:\w*[_-])?(?=\w*\d)[0-9A-Za-z]{8,}\b"
)

#: The rule that forbids errors, and the rule about the text that the caller gets.
_RAISED, _TEXT = "RUN-003", "TXT-005"
#: The rules about calls without results, which a client may leave to the provider's error.
_OPEN_CALLS = ("PAIR-001", "PAIR-003", "TXT-002")


def judged(
    adapter: str, run: Run, verdicts: Iterable[Verdict], differences: Sequence[Difference] = ()
) -> Report:
    """Returns the report of one run: a row for each applicable rule, in the order of the books. `differences` are those that
    the adapter declares.
    """
    report = Report()
    transcript = redacted(normalised(run.transcript))
    if transcript:
        report.transcripts[_digest(transcript)] = transcript
    report.plays = [
        Play(
            adapter,
            run.wire,
            run.provider,
            run.case.name,
            run.mode,
            run.cassette,
            run.recorded_from,
            _digest(transcript) if transcript else "",
            run.way,
        )
    ]
    report.skipped = [
        {"adapter": adapter, "wire": run.wire, "case": "*", "rule": rule, "reason": reason}
        for rule, reason in run.unseen.items()
    ]
    rows = [row for found in verdicts if (row := _row(report, adapter, run, found, differences))]
    report.rows = _with_what_follows(rows)
    return report


def _with_what_follows(rows: Sequence[Row]) -> list[Row]:
    """Returns the rows, in which texts that are missing after a declared error or a declared refusal are declared, too."""
    ends = (r for r in rows if r.rule == _RAISED or r.kind == "reject")
    raised = next((r.reason for r in ends if r.verdict == "differs-as-declared"), "")
    return [
        replace(row, verdict="differs-as-declared", reason=raised)
        if raised and row.rule == _TEXT and row.verdict == "fail"
        else row
        for row in rows
    ]


def _row(
    report: Report, adapter: str, run: Run, verdict: Verdict, differences: Sequence[Difference]
) -> Row | None:
    """Returns a row, or `None` if the rule did not apply. Rows of all rules would take 100 MB."""
    rule = verdict.rule
    if not (verdict.checked or verdict.violations or run.refused):  # as most rules
        return None
    outcome, message = _outcome(run, verdict)
    if outcome == "not-applicable":
        return None
    place = (adapter, run.wire, run.provider, run.case.name, run.mode)
    reason = _declared(verdict, run.wire, differences) if outcome in {"fail", "warn"} else ""
    if reason:
        outcome = "differs-as-declared"
    row = Row(
        *place,
        rule.id,
        rule.level.value,
        rule.kind.value,
        outcome,
        verdict.checked,
        preview=rule.preview,
        reason=reason,
    )
    return row if outcome in FINE else Row(**vars(row) | _evidence(report, run, verdict, message))


def _evidence(report: Report, run: Run, verdict: Verdict, message: str) -> dict[str, Any]:
    """Returns the fields of a row that failed: where, what the provider says, and the exchange."""
    first: Violation | None = next(iter(verdict.violations), None)
    pointer = first.pointer if first else "/replies"
    refusal = first.refusal if first else None
    exchange = _pointed(run, pointer)
    seen = first.facts.get("seen") if first else None
    return {
        "pointer": pointer,
        "message": message,
        "provider_error": refusal.message if refusal else "",
        "status": refusal.status if refusal else 0,
        "excerpt": redacted(excerpt(exchange.request.body, pointer)) if exchange else "",
        "exchange": _kept(report, exchange) if exchange else "",
        "fingerprint": fingerprint(verdict.rule.id, pointer, message),
        "page": verdict.rule.page,
        "seen": _digest(repr(seen)) if seen is not None else "",
    }


def _declared(verdict: Verdict, wire: str, differences: Sequence[Difference]) -> str:
    """Returns the reasons for which the adapter declares all violations as differences, or an empty text if it does not."""
    reasons = dict[str, None]()
    for violation in verdict.violations:
        rule, message = verdict.rule.id, violation.message
        found = next((each for each in differences if each.allows(rule, message, wire)), None)
        if found is None:
            return ""
        reasons[f"{found.reason} (declared on {found.since})"] = None
    return "; ".join(reasons)


def _outcome(run: Run, verdict: Verdict) -> tuple[str, str]:
    """Returns the verdict's name and its message."""
    message = redacted(_writable(verdict.violations[0].message)) if verdict.violations else ""
    if run.trouble and verdict.violations and run.trouble.rule == "RUN-001":
        return ("harness-error" if run.trouble.ours else "not-testable"), message
    if run.refused and verdict.rule.id == PROBE:
        if verdict.outcome == "pass":
            return "refused-as-declared", ""
        if not verdict.checked and (problem := unrefused(run)):
            return "not-testable", problem
    raised = run.replies and run.replies[0].error
    if "dangling_call" in run.refused and verdict.rule.id in _OPEN_CALLS and raised and verdict.violations:
        return "refused-as-declared", ""
    return verdict.outcome, message


def _pointed(run: Run, pointer: str) -> Exchange | None:
    """Returns the exchange of a pointer. Under a variation, it is the first one with a different answer. Of a reply, it is the last one
    of its step. For other places after the exchanges, it is the last one.
    """
    varied = run.play_at(pointer)
    plain = {each.response.body for each in run.exchanges if each.response}
    for exchange in varied.exchanges if varied is not run else ():
        if exchange.response and exchange.response.body not in plain:
            return exchange
    found = re.match(r"/(exchanges|replies)/(\d+)", pointer)
    if found and found[1] == "exchanges":
        return varied.exchanges[int(found[2])] if int(found[2]) < len(varied.exchanges) else None
    of_step = [
        each
        for number, each in enumerate(varied.exchanges)
        if found and varied.step_of(number) == int(found[2])
    ]
    return next(reversed(of_step or varied.exchanges), None)


def _kept(report: Report, exchange: Exchange) -> str:
    """Adds the exchange to the report without headers, and returns its name."""
    request, response = exchange.request, exchange.response
    entry: dict[str, Any] = {
        "wire": request.wire,
        "provider": request.provider,
        "method": request.method,
        "url": redacted(request.url),
        "stream": request.stream,
        "body": redacted_value(request.body) if len(str(request.body)) <= _LARGEST else None,
    }
    if response:
        entry |= {
            "status": response.status,
            "answer": redacted(response.body[:_LARGEST].decode("utf-8", "replace")),
        }
    digest = _digest(json.dumps(entry, sort_keys=True, default=str))
    report.exchanges[digest] = entry
    return digest


def fingerprint(rule: str, pointer: str, message: str) -> str:
    """Returns a fingerprint that is equal for the same mistake: positions, ids and digests do not count, but words
    and values do. Of what a dying process printed, the line at which it died counts. Where a run that did not end was, does not.
    """
    place = re.sub(r"/\d+", "/*", pointer)
    plain = undescribed(message)
    what = died_at(message) or _PASSING.sub("*", plain[:_READ]) + plain[_READ:]
    what = "" if rule == UNENDED else what
    return "sha256:" + sha256(f"{rule}\n{place}\n{what}".encode()).hexdigest()[:16]


def excerpt(body: object, pointer: str) -> str:
    """Returns about six numbered lines of the body around a pointer, with `>` before the line of the pointer.

    It is empty if the pointer does not lead into the body.
    """
    inside = re.sub(r"^/exchanges/\d+/request", "", pointer)
    if not pointer.startswith("/exchanges/") or not inside:
        return ""
    lines = list(_lines(body, ""))
    meant = max(range(len(lines)), key=lambda i: (_shared(lines[i][0], inside), -i))
    first, last = max(0, meant - _BEFORE), min(len(lines), meant + _AFTER + 1)
    return "\n".join(
        f"{'>' if i == meant else ' '} {i + 1:4} {_short(lines[i][1])}" for i in range(first, last)
    )


def _lines(
    value: object, pointer: str, depth: int = 0, label: str = "", comma: str = ""
) -> Iterator[tuple[str, str]]:
    """Yields the value as indented JSON, each line with the pointer of its value."""
    pad = "  " * depth
    if not isinstance(value, dict | list) or not value:
        yield pointer, f"{pad}{label}{json.dumps(value, ensure_ascii=False, default=str)}{comma}"
        return
    items = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    yield pointer, f"{pad}{label}{opening}"
    for number, (key, each) in enumerate(items, 1):
        step = str(key).replace("~", "~0").replace("/", "~1")
        name = f"{json.dumps(key, ensure_ascii=False)}: " if isinstance(value, dict) else ""
        yield from _lines(each, f"{pointer}/{step}", depth + 1, name, "," if number < len(items) else "")
    yield pointer, f"{pad}{closing}{comma}"


def _shared(pointer: str, wanted: str) -> int:
    """Returns the number of steps that a line's pointer shares with the wanted pointer, or -1 if it is not on its
    path.
    """
    have, want = pointer.split("/"), wanted.split("/")
    return len(have) if want[: len(have)] == have else -1


def _writable(text: str) -> str:
    """Returns text with lone surrogates as escapes, because files and terminals cannot contain them."""
    return text.encode("utf-8", "backslashreplace").decode()


def _short(line: str) -> str:
    line = _writable(line)
    return line if len(line) <= _WIDEST else f"{line[:_WIDEST]}…"


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]
