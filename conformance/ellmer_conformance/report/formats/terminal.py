"""The report on a terminal: the matrix, the failures, what was left out, and the capabilities."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from textwrap import wrap
from typing import IO, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...contract.counts import counted
from ...scenarios.case import MODES
from ..causes import Cause, causes, headline
from ..report_json import sentence
from ..results import FINE, Report, Row, sentences, worst
from .terminal_escaping import printable

# --- The matrix ------------------------------------------------------------------------------------------


#: The look of each verdict: a mark one cell wide, and a style.
MARKS = {
    "pass": ("✓", "green"),
    "fail": ("✗", "bold red"),
    "warn": ("!", "yellow"),
    "expected-fail": ("x", "yellow"),
    "unexpected-pass": ("+", "bold red"),
    "not-testable": ("?", "bold red"),
    "harness-error": ("E", "bold magenta"),
    "refused-as-declared": ("-", "green"),
    "differs-as-declared": ("~", "green"),
    "not-applicable": ("·", "dim"),
}
_NARROW = 100  # columns that show no whole matrix
_MANY = 20  # cases that little space does not list if none of them fails
#: Verdicts that end no run with a failure, the worst one last, and what is said of the cases that have them.
_KINDS = {
    "": ("keeps every rule", "keep every rule"),
    "warn": ("has warnings only", "have warnings only"),
    "expected-fail": ("fails as the baseline expects", "fail as the baseline expects"),
}
_GAP = 3  # cells between two columns

WireAndProvider = tuple[str, str]


def to_show(rows: Sequence[Row], width: int) -> tuple[Sequence[Row], str]:
    """Returns the rows for the matrix, and what is to be said of the cases that are left out. In little space, those without a failure
    are left out if another case fails, or if there are many.
    """
    cases = {row.case for row in rows}
    wrong = {row.case for row in rows if row.verdict not in {*FINE, *_KINDS}}
    if width > _NARROW or (not wrong and len(cases) <= _MANY):
        return rows, ""
    others = _others(row for row in rows if row.case not in wrong)
    told = f"of the other {others}" if wrong and others else others
    return [row for row in rows if row.case in wrong], told


def _others(rows: Iterable[Row]) -> str:
    """Returns how many cases without a failure keep every rule, have advice only, or fail as expected."""
    kinds, cases = list(_KINDS), dict[str, int]()
    for row in rows:
        kind = kinds.index(row.verdict) if row.verdict in _KINDS else 0
        cases[row.case] = max(kind, cases.get(row.case, 0))
    counts = sorted(Counter(cases.values()).items())
    told = [f"{times} {_KINDS[kinds[kind]][times > 1]}" for kind, times in counts]
    return f"{counted(len(cases), 'case')}: {', '.join(told)}" if told else ""


def tables(rows: Sequence[Row], width: int, modes: Sequence[str]) -> Iterator[Table]:
    """Yields the matrix: cases by providers, with a mark for each mode. Providers with only some cases have a table of these cases."""
    cells: dict[tuple[str, WireAndProvider, str], list[Row]] = defaultdict(list)
    for row in rows:
        cells[row.case, (row.wire, row.provider), row.mode].append(row)
    played: dict[WireAndProvider, set[str]] = defaultdict(set)
    for case, place, _ in cells:
        played[place].add(case)
    most = max(map(len, played.values()), default=0)
    names = list(dict.fromkeys(row.case for row in rows))
    whole = [place for place in played if 2 * len(played[place]) > most]
    for places in filter(None, (whole, [place for place in played if place not in whole])):
        cases = [case for case in names if any(case in played[place] for place in places)]
        at = {
            (case, place): _cell(worst(cells[case, place, mode]) for mode in modes)
            for case in cases
            for place in places
        }
        if len(places) <= len(cases):
            body = [(printable(case), [at[case, place] for place in places]) for case in cases]
            yield from _table("case", [_words(place) for place in places], body, width)
        else:
            body = [(_name(place), [at[case, place] for case in cases]) for place in places]
            yield from _table("provider", [printable(case).split("_") for case in cases], body, width)


def _table(
    first: str,
    heads: Sequence[Sequence[str]],
    rows: Sequence[tuple[str, Sequence[Text]]],
    width: int,
) -> Iterator[Table]:
    """Yields a table in pieces that fit the width."""
    for some in _fitting(heads, width - max(map(len, [first, *(name for name, _ in rows)])) - _GAP):
        table = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
        table.add_column(first, no_wrap=True)
        for place in some:
            table.add_column(Text("\n".join(heads[place])), justify="center", no_wrap=True)
        for name, cells in rows:
            table.add_row(Text(name), *(cells[place] for place in some))
        yield table


def _fitting(heads: Sequence[Sequence[str]], width: int) -> list[list[int]]:
    """Returns the columns by number, for each table."""
    tables: list[list[int]] = [[]]
    left = width
    for place, words in enumerate(heads):
        needed = max(len(MODES), *map(len, words)) + _GAP
        if needed > left and tables[-1]:
            tables.append([])
            left = width
        tables[-1].append(place)
        left -= needed
    return tables


def _words(place: WireAndProvider) -> list[str]:
    """Returns a heading in short lines: the wire format, and the provider unless it is clear from the format."""
    wire, provider = map(printable, place)
    return [*wire.split("-"), *([] if provider in wire else re.split("[-_]", provider))]


def _name(place: WireAndProvider) -> str:
    """Returns the provider, with the wire format unless it is the most common one."""
    wire, provider = map(printable, place)
    return provider if wire == "openai-chat" else f"{provider} ({wire})"


def _cell(verdicts: Iterable[str]) -> Text:
    cell = Text()
    for verdict in verdicts:
        cell.append(*MARKS[verdict])
    return cell


def modes_of(rows: Sequence[Row]) -> list[str]:
    """Returns the modes of the rows, in the order of the marks in a cell."""
    used = {row.mode for row in rows}
    return [mode for mode in MODES if mode in used]


def legend(rows: Sequence[Row]) -> Text:
    """Returns what each mark of the matrix means."""
    used = {row.verdict for row in rows}
    legend = Text()
    for verdict, mark in MARKS.items():
        if verdict in used:
            legend.append(*mark).append(f" {verdict}   ", style="dim")
    if _has_gaps(rows):
        legend.append(*MARKS["not-applicable"]).append(" not run", style="dim")
    return legend


def _has_gaps(rows: Sequence[Row]) -> bool:
    """Tells whether a case of an adapter did not run in one of the modes, or at one of the providers, of the matrix."""
    for adapter in {row.adapter for row in rows}:
        ran = {(row.case, row.mode, row.wire, row.provider) for row in rows if row.adapter == adapter}
        cases, modes, *_ = map(set, zip(*ran, strict=True))
        if len(ran) < len(cases) * len(modes) * len({place[2:] for place in ran}):
            return True
    return False


# --- Capabilities ----------------------------------------------------------------------------------------


def abilities(able: object) -> dict[str, str]:
    """Returns an adapter's `Capabilities` as texts."""
    found = {}
    for name, value in vars(able).items():
        found[name] = value if isinstance(value, str) else " ".join(value)
    return found


def rows(report: Report) -> Iterator[tuple[str, str, str]]:
    """Yields an adapter, its providers, and their declared capabilities. Providers with equal ones share a row."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, able in report.capabilities.items():
        adapter, _, place = name.rpartition(" ")
        groups[adapter, _sentence(able)].append(place)
    for (adapter, text), places in groups.items():
        yield adapter, ", ".join(places), text


def _sentence(able: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in able.items())


def declared_differences(report: Report) -> Iterator[str]:
    """Yields what each adapter does on purpose: the rule, the number of runs and the reason."""
    found = Counter(
        (row.adapter, row.rule, row.reason) for row in report.rows if row.verdict == "differs-as-declared"
    )
    for (adapter, rule, reason), times in found.items():
        yield f"{adapter} differs on purpose ({rule}, {counted(times, 'run')}): {reason}"


# --- Failures --------------------------------------------------------------------------------------------


_LINES = 12  # of a message
_FAILURES = 20  # in full; the page has all
_SYMPTOMS = 3  # of a cause, beside its first one
#: Fields of a row with text from elsewhere.
_SAID = ("adapter", "wire", "provider", "case", "pointer", "message", "excerpt", "provider_error")


def failure(group: Sequence[Row], folder: Path | None, width: int, fix: str = "") -> Text:
    """Returns a cause: its first failure with the lines of the request, what to do, and what to open and to run."""
    told: dict[str, Any] = {name: printable(getattr(group[0], name)) for name in _SAID}
    row = replace(group[0], **told)
    text = Text().append(MARKS[row.verdict][0], style=MARKS[row.verdict][1])
    text.append(f" {row.rule} ({row.verdict}) ", style="bold")
    text.append(_wrapped(_cut(row.message), width, len(text)))
    text.append(f"\n    at {row.pointer}")
    if row.excerpt:
        lines = [cut(f"    {line}", width) for line in row.excerpt.splitlines()]
        text.append("\n" + "\n".join(lines), style="dim")
    if row.provider_error:
        answer = f"    the provider would answer ({row.status}): {row.provider_error}"
        text.append(f"\n{_wrapped(answer, width)}")
    places = list(dict.fromkeys(printable(f"{r.wire}/{r.provider}/{r.case}[{r.mode}]") for r in group))
    more = f" and {len(places) - 3} more" if len(places) > 3 else ""
    text.append("\n" + _wrapped(f"    in {', '.join(places[:3])}{more}", width), style="dim")
    text.append("\n" + _wrapped(f"    to do: {fix}", width) if fix else "")
    text.append(f"\n    {row.page}" if row.page else "", style="dim")
    text.append(f"\n    {row.explain_command}", style="dim")
    again = f"\n    {row.repro_command(str(folder))}" if folder else ""
    return text.append(again, style="dim")


def _wrapped(told: str, width: int, used: int = 0) -> str:
    """Returns lines that fit a width. Further ones are indented, and no word is broken: an address can be opened. `used` says how many
    characters stand before the first line.
    """
    lines = [
        wrap(
            line,
            max(width, _NARROWEST),
            initial_indent=" " * used,
            subsequent_indent=" " * _INDENT,
            **_WHOLE_WORDS,
        )
        or [line]
        for line, used in zip(told.splitlines(), chain([used], repeat(0)), strict=False)
    ]
    return (
        "\n".join(chain.from_iterable(lines)).lstrip(" ") if used else "\n".join(chain.from_iterable(lines))
    )


#: How a long line goes on, and the columns that it has at least.
_INDENT, _NARROWEST = 4, 40
_WHOLE_WORDS: Mapping[str, Any] = {"break_long_words": False, "break_on_hyphens": False}


def _fix(explain: str) -> str:
    """Returns the first sentence of how to fix what breaks a rule."""
    return " ".join(explain.split()).partition("Fix: ")[2].partition(". ")[0].rstrip(".")


def _cut(message: str) -> str:
    lines = message.splitlines()
    return "\n".join(
        [*lines[:_LINES], f"… {len(lines) - _LINES} more lines"] if len(lines) > _LINES else lines
    )


# --- What was left out -----------------------------------------------------------------------------------


#: The names of the ways to run a case, except the usual one.
_WAYS = {
    "server": "run against the strict server",
    "command": "run by a command",
    "observe": "observed by the strict server",
    "proxy": "observed by a proxy",
    "probe": "a server, tested by the suite",
    "recordings": "answered with recorded answers of real APIs",
}


def unseen(report: Report) -> Iterator[str]:
    """Yields the way of the run, and the rules that it cannot judge, by reason. Recordings can show all rules."""
    for source in dict.fromkeys(play.way for play in report.plays if play.way in _WAYS):
        if any(play.way == "cassette" for play in report.plays):  # and show these rules
            cases = dict.fromkeys(play.case for play in report.plays if play.way == source)
            yield f"{_WAYS[source]}: {', '.join(cases)}"
            continue
        yield _WAYS[source]
        yield from _found_out(report) if source == "probe" else ()
        yield from _not_judged(report)


def _found_out(report: Report) -> Iterator[str]:
    """Yields the features that were found in a server."""
    able = [f"{skip['capability']}: {skip['reason']}" for skip in report.skipped if "capability" in skip]
    yield from [f"  capabilities: {'; '.join(able)}"] if able else []


def _not_played(report: Report) -> Iterator[str]:
    """Yields the cases that were not run, by reason."""
    left: dict[str, dict[str, None]] = defaultdict(dict)
    for skip in report.skipped:
        if "rule" not in skip and "capability" not in skip:
            left[skip["reason"]][skip["case"]] = None
    yield from (f"  not run: {', '.join(names)}: {reason}" for reason, names in left.items())


def _not_judged(report: Report) -> Iterator[str]:
    """Yields the rules without any verdict, by reason."""
    shown = {row.rule for row in report.rows}
    left: dict[str, dict[str, None]] = defaultdict(dict)
    for skip in report.skipped:
        if "rule" in skip and skip["rule"] not in shown:
            left[skip["reason"]][skip["rule"]] = None
    for reason, rules in left.items():
        ids = list(rules)
        some = f"{', '.join(ids[:6])}, … ({len(ids)} rules)" if len(ids) > 8 else ", ".join(ids)
        yield f"  not judged: {some}: {reason}"


# --- The whole report ------------------------------------------------------------------------------------


#: Ends a line that is too long for the terminal; the option prints it in full.
_MORE = " … (--details)"


def cut(line: str, width: int, end: str = "…") -> str:
    """Returns at most `width` characters of a line."""
    return line if len(line) <= width else f"{line[: width - len(end)]}{end}"


def _cut_words(line: str, width: int, end: str) -> str:
    """Returns whole words of a line, at most `width` characters. A word that is too long by itself is cut."""
    if len(line) <= width:
        return line
    words = line[: width - len(end) + 1].rpartition(" ")[0].rstrip(" ,:;(")
    return f"{words}{end}" if len(words) > width // 2 else cut(line, width, end)


def verdict(report: Report) -> Text:
    """Returns the verdict of the whole run, in one line: the first one of the report, and the last one."""
    told = headline(report)
    if told:
        return Text(f"✗ {told}", style="bold red")
    if report.unjudged:
        return Text(f"✗ {counted(len(report.unjudged), 'run')} without a verdict", style="bold red")
    if report.problems:
        return Text(f"✗ {counted(len(report.problems), 'problem')} of the baseline", style="bold red")
    return Text(f"✓ nothing failed in {counted(len(report.plays), 'run')}", style="green")


def summary(report: Report) -> Iterator[str]:
    """Yields at most one line for each of what is declared (or found in a server), what is not judged, and what is not run."""
    if declared := "; ".join([*_differences_in_short(report), *_refused_in_short(report)]):
        yield f"declared: {declared}"
    able = [f"{skip['capability']}: {skip['reason']}" for skip in report.skipped if "capability" in skip]
    yield from [f"capabilities: {'; '.join(able)}"] if able else []
    shown = {row.rule for row in report.rows}
    skipped = [skip for skip in report.skipped if "rule" in skip and skip["rule"] not in shown]
    if any(play.way in _WAYS for play in report.plays) and skipped:
        yield f"not judged: {_in_short(skipped, 'rule')}"
    if left := [skip for skip in report.skipped if "rule" not in skip and "capability" not in skip]:
        yield f"not run: {_in_short(left, 'case')}"


def _in_short(skipped: Sequence[Mapping[str, str]], name: str) -> str:
    """Returns how many rules or cases were left out, their names, and the number of reasons."""
    names = list(dict.fromkeys(skip[name] for skip in skipped))
    reasons = list(dict.fromkeys(skip["reason"] for skip in skipped))
    listed = ", ".join(names)
    if len(reasons) > 1:
        return f"{counted(len(names), name)}, for {len(reasons)} reasons (--details): {listed}"
    return f"{counted(len(names), name)}: {listed} ({reasons[0]})"


def _differences_in_short(report: Report) -> Iterator[str]:
    found = [row for row in report.rows if row.verdict == "differs-as-declared"]
    if found:
        rules = ", ".join(dict.fromkeys(row.rule for row in found))
        yield f"differences in {counted(len({row.place for row in found}), 'run')} ({rules})"


def _refused_in_short(report: Report) -> Iterator[str]:
    """Yields how many features are refused."""
    names = [
        name for able in report.capabilities.values() for name, said in able.items() if said == "refused"
    ]
    refused = list(dict.fromkeys(names))
    if refused:
        yield f"{counted(len(refused), 'feature')} refused: {', '.join(refused)}"


_WIDE = 250  # columns without a terminal: a viewer of logs wraps lines
_ADVICE = 12  # rules whose findings are not failures


def console(file: IO[str]) -> Console:
    """Returns a console that does not wrap tables if the output is not a terminal."""
    found = Console(file=file)
    return found if found.is_terminal else Console(file=file, width=_WIDE)


def print_report(
    report: Report,
    to: Console,
    folder: Path | None = None,
    *,
    details: bool = False,
    beside: Iterable[str] = (),
) -> None:
    """Prints the verdict and the matrix of each adapter, and goes on as `print_findings` does, with the same `report`, `to`, `folder`,
    `details` and `beside`.
    """
    to.print(verdict(report))
    shown = [_print_matrix(adapter, report, to) for adapter in report.adapters]
    if any(shown):
        to.print(legend(report.rows))
    print_findings(report, to, folder, details=details, beside=beside)


def print_findings(
    report: Report,
    to: Console,
    folder: Path | None = None,
    *,
    details: bool = False,
    beside: Iterable[str] = (),
) -> None:
    """Prints the part after the matrix: each cause once, what was left out in a line each or with `details` in full, and the score.

    Args:
        report: The report.
        to: Where it is printed.
        folder: The folder of the report. Default: it was not written.
        details: Whether all is printed that is declared, not judged and not run. Default: one line of each.
        beside: What else is to be said, before the last line. Default: nothing.
    """
    _print_failures(report, to, folder)
    for text in _beside(report, to.width):
        to.print(text, highlight=False, soft_wrap=True)
    for line in (
        _details(report) if details else (_cut_words(each, to.width, _MORE) for each in summary(report))
    ):
        to.print(_plain(line), style="dim", soft_wrap=True)
    for name, counts in report.score.items():
        to.print(_plain(f"{name}: {sentence(counts)}"), soft_wrap=True)
    for line in beside:
        to.print(_plain(line), soft_wrap=True)
    to.print(verdict(report))


def _details(report: Report) -> Iterator[str]:
    """Yields the declared capabilities and differences, and what was not judged or run, with the reasons."""
    for adapter, places, able in rows(report):
        yield f"{adapter} declares ({places}): {able}"
    yield from declared_differences(report)
    yield from unseen(report)
    yield from _not_played(report)


def _plain(text: str) -> Text:
    """Returns text whose foreign parts contain neither markup nor control characters."""
    return Text(printable(text))


def _print_failures(report: Report, to: Console, folder: Path | None) -> None:
    """Prints each cause once, with what follows from it folded into one line."""
    found = causes(report)
    shown = found[:_FAILURES]
    fixes = {(text["wire"], text["provider"], text["id"]): _fix(text["explain"]) for text in report.rules}
    for cause in shown:
        row = cause.rows[0]
        fix = fixes.get((row.wire, row.provider, row.rule), "")
        to.print(failure(cause.rows, folder, to.width, fix), soft_wrap=True)
        for row in cause.symptoms[1 : _SYMPTOMS + 1]:
            line = f"    also: {row.rule} {next(iter(row.message.splitlines()), '')} (in {row.wire}, {row.case}[{row.mode}])"
            to.print(_plain(_wrapped(line, to.width)), style="dim", soft_wrap=True)
        for line in _beneath(cause):
            to.print(_plain(_wrapped(line, to.width)), style="dim", soft_wrap=True)
    if len(found) > len(shown):
        to.print(f"… and {counted(len(found) - len(shown), 'more cause')} in the report", style="dim")
    if found and not folder:
        to.print("--report FOLDER writes a page with the exchange and a script for each failure", style="dim")


def _beneath(cause: Cause) -> Iterator[str]:
    """Yields what follows from a cause, and where it is known."""
    if cause.follows:
        rules = ", ".join(dict.fromkeys(row.rule for row in cause.follows))
        yield f"    it causes {counted(len(cause.follows), 'more failure')} in these runs: {rules}"
    if cause.expected:
        yield f"    the baseline expects it in {counted(cause.expected, 'other run')}"


def _beside(report: Report, width: int) -> Iterator[Text]:
    """Yields the lines that are not failures of a MUST: advice, runs without a verdict, problems of the baseline."""
    yield from _advice(report.rows, width)
    for line in sentences(report.unjudged):
        yield Text("✗ ", style="bold red").append(printable(line), style="default")
    for problem in report.problems:
        yield Text("✗ baseline: ", style="bold red").append(printable(problem), style="default")


def _advice(rows: Sequence[Row], width: int) -> Iterator[Text]:
    """Yields the findings that fail no run: each rule once in a line, with its first message and, if there is room, its first run."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.verdict == "warn":
            groups[row.rule].append(row)
    for rule, found in list(groups.items())[:_ADVICE]:
        head = f"{rule} ({'preview' if found[0].preview else 'SHOULD'}) "
        said = _said_of(found, width - len("! ") - len(head))
        yield Text().append("! ", style="yellow").append(head, style="bold").append(said)
    if len(groups) > _ADVICE:
        yield Text(
            f"… the report has {counted(len(groups) - _ADVICE, 'more rule')} of this kind", style="dim"
        )


def _said_of(found: Sequence[Row], width: int) -> str:
    """Returns the message of a finding, the number of its runs, and the first of them if the width has room for it."""
    message = printable((found[0].message.splitlines() or [""])[0])
    runs = counted(len(found), "run")
    whole = f"{message} (in {runs}, first {printable(found[0].case)}[{found[0].mode}])"
    if len(whole) <= width:
        return whole
    end = f" (in {runs})"
    return _cut_words(message, width - len(end), " …") + end


def _print_matrix(adapter: str, report: Report, to: Console) -> bool:
    """Prints the matrix of an adapter, and returns whether a case is shown."""
    rows = [row for row in report.rows if row.adapter == adapter]
    ways = {play.way for play in report.plays if play.adapter == adapter}
    way = f", {_WAYS.get(next(iter(ways)), '')}" if len(ways) == 1 and ways <= _WAYS.keys() else ""
    modes = modes_of(rows)
    title = _wrapped(f"{printable(adapter)}{way}: {' · '.join(modes)}", to.width)
    to.print(Text(title, style="italic"), soft_wrap=True)
    shown, others = to_show(rows, to.width)
    for table in tables(shown, to.width, modes):
        to.print(table)
    if others:
        to.print(others, style="dim")
    return bool(shown)
