"""The causes of failures: the first wrong thing in each run, and what follows from it or shows the same mistake."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..contract.counts import counted
from .results import Report, Row

# --- Causes, and the failures that follow from them ------------------------------------------------------

#: The rules about a play that has no result.
NO_RESULT = "RUN-"
#: The rule about a run that did not end. The line at which it was ended is a matter of the clock.
UNENDED = "RUN-002"
#: The verdicts of what is broken, also of what a baseline expects. What passes although one expects its failure is not.
_EXPECTED = "expected-fail"
_BROKEN = {"harness-error", "not-testable", "fail", _EXPECTED}
#: The rules that compare a play with what was expected of it as a whole.
_WHOLE = ("CAS-", "TXT-001")
#: The rule about a request that is not in the recording. It has no answer, and the run goes no further.
_UNRECORDED = "CAS-01"
#: Parts of a message that differ from play to play: quoted values, then lists and objects from the inside, then media and numbers.
_QUOTED = re.compile(r"""'[^']*'|"(?:[^"\\]|\\.)*"|`[^`]*`""")
_BRACKETS = re.compile(r"\[[^\[\]]*\]|\{[^{}]*\}")
_VALUES = re.compile(
    r"\b(?:image|application)/[\w.+-]+ [0-9a-f]{8}\b|\b[0-9a-f]{8}\b|"
    r"\b(?:[A-Za-z]++[_-]){1,12}(?:(?=\w*\d)\w{6,}|[0-9A-Za-z]{16,})|\b(?=[A-Za-z]*\d)[0-9A-Za-z]{9}\b|\d+"
)
#: Several of them: how many there are differs from play to play.
_MANY_VALUES = re.compile(r"\*(?:, \*)+")
_READ = 4000  # characters of a message by which it is told from others
_CALL = re.compile(r"\b\w+\(\*\)|(?<=\bthe call of )\w+")
#: The places in what a dying process prints.
_NODE_LINE = re.compile(r"(?<!\S)\S+\.[cm]?[jt]s:\d+")
_PYTHON_LINE = re.compile(r'File "[^"]+", line \d+')
#: Rules that show one event from several sides: what the model said goes back changed, media are lost, an answer is cut.
_EVENTS = (
    frozenset(
        {"HIS-002", "HIS-006", "HIS-009", "HIS-011", "HIS-012", "HIS-013", "PAR-001", "PAR-005", "TRM-007"}
    ),
    frozenset({"IMG-001", "TRM-001", "TRM-002", "TRM-007", "TRM-010", "TRM-011"}),
    frozenset({"STR-007", "STR-008", "STR-009", "STP-004"}),
)
#: Rules about how an answer is read and how a tool's schema is written. The failures of one show one missing piece, whatever a library
#: does without it in a format or a mode; some rules share one: nothing checks the form of an answer, or the end of a stream,
#: and what a schema loses is lost where it is converted.
_ONE_PIECE = re.compile(r"STR-\d+|STP-00[23]|ERR-00[67]|SCH-0(?:03|04|26|28)")
_MISSING_PIECE = {
    "STP-003": "STP-002",
    "ERR-007": "ERR-006",
    "STR-011": "STR-007",
    "STR-013": "STR-012",
    "STR-027": "STR-012",
    "STR-004": "STR-003",
    "SCH-028": "SCH-026",
}
#: The id of a call goes out as it came: used twice, or with characters that the API refuses.
_ID_AS_IT_CAME = re.compile(r"a second call |there is a second result |\S+ has other characters")
#: Rules about the form of one object of a request, and the places of its fields.
_FORM = re.compile(r"REQ-(?:009|010|10[1-7])")
_FIELD = re.compile(r"(/(?:content|parts|input|output|items)/\d+)(?:/.*)?$")
#: How the provider refuses a request that lost calls, and how HIS-006 says so where it refuses nothing. Which parts of an answer
#: a format loses depends on the case.
_TOO_FEW_CALLS = re.compile(r"(\d+) (?:responses|results) (?:to|for) (\d+) calls?")
_LOST = ("its text is lost", "calls are lost or merged")
#: The rules about a call that was lost: it is not run, and it has no result.
_AFTER_LOST = {"HIS-012", "PAR-001", "PAR-005"}
#: The rules about results.
_RESULTS = "PAIR-"
#: What the strict server answers if the media of a request are lost.
_NOTHING_SEEN = "the text is 'no image received'"
#: Rules about media of a format that a provider does not read: the declared type, and the bytes.
_ALIKE = {"IMG-010": "IMG-006"}
_ENOUGH = 0.5  # of the plays of a cause must show a failure that follows from it


@dataclass(frozen=True)
class Cause:
    """The first wrong thing in some runs: its row in each of them, and the failures that follow from it. `expected` is the number of
    other runs in which the baseline expects it.
    """

    rows: list[Row]
    follows: list[Row]
    expected: int = 0

    @property
    def symptoms(self) -> list[Row]:
        """The first row with each kind of message, because a missing piece shows itself differently in other formats and modes."""
        first: dict[str, Row] = {}
        for row in self.rows:
            first.setdefault(_symptom(row), row)
        return list(first.values())


def causes(report: Report) -> list[Cause]:
    """Returns the causes of all failures: those that could not be run and refused requests first. A failure may follow from one that
    the baseline expects. What passes although a baseline expects its failure has no cause: it is a problem of the baseline.
    """
    plays: dict[str, list[Row]] = defaultdict(list)
    for row in (row for row in report.rows if row.verdict in _BROKEN):
        plays[row.place].append(row)
    ordered = [_in_order(rows) for rows in plays.values()]
    together = _together(ordered)
    found: dict[str, Cause] = {}
    for rows in ordered:
        left = rows
        while left:
            first, others = left[0], left[1:]
            cause = found.setdefault(_key(first), Cause([], []))
            cause.rows.append(first)
            cause.follows.extend(row for row in others if _follows(row, first, together))
            left = [row for row in others if not _follows(row, first, together)]
    told = filter(None, map(_unexpected, _with_parts(_of_one_case(found.values()))))
    return sorted(told, key=lambda each: _weight(each.rows[0]))


def _unexpected(cause: Cause) -> Cause | None:
    """Returns what the baseline does not expect of a cause: the runs in which it, or a failure that follows from it, is new."""
    follows = [row for row in cause.follows if row.verdict != _EXPECTED]
    places = {row.place for row in [*cause.rows, *follows] if row.verdict != _EXPECTED}
    rows = [row for row in cause.rows if row.place in places]
    return Cause(rows, follows, len(cause.rows) - len(rows)) if rows else None


def _with_parts(found: Sequence[Cause]) -> list[Cause]:
    """Joins each cause with one that shows the same mistake from another side."""
    left = list(found)
    for cause in found:
        whole = next((each for each in left if each is not cause and is_part_of(cause, each)), None)
        if whole is not None:
            left = [each for each in left if each is not cause]
            whole.rows.extend(cause.rows)
            whole.follows.extend(cause.follows)
    return left


def _of_one_case(found: Iterable[Cause]) -> list[Cause]:
    """Joins causes for which providers refuse requests of the same case by the same rule or by one that is like it: each format puts it in its own way."""
    joined: list[Cause] = []
    for cause in found:
        first = cause.rows[0]
        same = next((each for each in joined if first.kind == "reject" and _share_a_case(each, cause)), None)
        if same is None:
            joined.append(cause)
            continue
        same.rows.extend(cause.rows)
        same.follows.extend(cause.follows)
    return joined


def _share_a_case(one: Cause, other: Cause) -> bool:
    of, theirs = (
        {(row.adapter, _ALIKE.get(row.rule, row.rule), row.case) for row in each.rows}
        for each in (one, other)
    )
    return not of.isdisjoint(theirs)


def headline(report: Report) -> str:
    """Returns `3 causes, 101 runs`, or `""` if nothing failed."""
    found = causes(report)
    places = {row.place for cause in found for row in cause.rows}
    runs = sum(play.place in places for play in report.plays) or len(places)
    return f"{counted(len(found), 'cause')}, {counted(runs, 'run')}" if found else ""


def consequences(report: Report) -> dict[str, str]:
    """Returns the failures that follow from others by id, each with the id of its cause in the same run."""
    found: dict[str, str] = {}
    for cause in causes(report):
        firsts = {row.place: row.id for row in cause.rows}
        found |= {row.id: firsts[row.place] for row in cause.follows}
    return found


def without_consequences(report: Report) -> list[Row]:
    """Returns the failures that follow from no other one: harness errors first."""
    followed = consequences(report)
    return [row for row in [*report.harness_errors, *report.failures] if row.id not in followed]


def _together(plays: Iterable[Sequence[Row]]) -> Mapping[tuple[str, str], float]:
    """Returns how often each rule is broken in the runs that have a failure with a key, after that failure."""
    counts: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for rows in plays:
        for key, last in {_key(row): number for number, row in reversed([*enumerate(rows)])}.items():
            counts[key] += 1
            pairs.update((key, rule) for rule in {row.rule for row in rows[last + 1 :]})
    return {pair: count / counts[pair[0]] for pair, count in pairs.items()}


def _follows(row: Row, cause: Row, together: Mapping[tuple[str, str], float]) -> bool:
    """Tells whether a failure follows from an earlier one in its run: a run that has no result or whose request was
    refused has no other cause, and otherwise the two are seen together.
    """
    ended = cause.verdict == "harness-error" or cause.rule.startswith((NO_RESULT, _UNRECORDED))
    refused = cause.kind == "reject" and not cause.preview
    unknown = _loses_parts(cause) and row.rule in _AFTER_LOST
    ran = _ran_cut(cause) and row.rule.startswith(_RESULTS)
    blind = row.message.startswith(_NOTHING_SEEN) and cause.pointer.startswith("/exchanges/")
    whole = row.rule.startswith(_WHOLE) or _is_one_event(row, cause) or blind or unknown or ran
    return ended or refused or whole or together.get((_key(cause), row.rule), 0) >= _ENOUGH


def _is_one_event(row: Row, cause: Row) -> bool:
    """Tells whether two failures show the same event, such as an answer that was cut, in the same request or reply."""
    place, other = (re.sub(r"^/varied/.*|/request.*", "", each.pointer) for each in (row, cause))
    return place == other and any({row.rule, cause.rule} <= event for event in _EVENTS)


def _key(row: Row) -> str:
    """Returns a key that failures of one cause share, whatever the case, the mode and the wire format."""
    if row.rule == UNENDED or _exited(row.message):
        return f"{row.adapter}\n{row.case if row.rule == UNENDED else _symptom(row)}"
    if row.rule == _UNRECORDED or _ONE_PIECE.fullmatch(row.rule):
        return f"{row.adapter}\n{_MISSING_PIECE.get(row.rule, row.rule)}"
    if row.rule.startswith("PAIR-") and _ID_AS_IT_CAME.match(row.message):
        return f"{row.adapter}\n{_ID_AS_IT_CAME.pattern}"
    if _FORM.fullmatch(row.rule) and _FIELD.search(row.pointer):
        return "\n".join(
            (row.adapter, row.wire, "form", _anywhere(replace(row, pointer=_FIELD.sub(r"\1", row.pointer))))
        )
    if _loses_parts(row):
        return "\n".join((row.adapter, row.wire, *_LOST))
    return "\n".join((row.adapter, row.rule, "" if _raised_at(row) else _anywhere(row), _symptom(row)))


def _loses_parts(row: Row) -> bool:
    """Tells whether parts of an answer do not go back."""
    counts = _TOO_FEW_CALLS.fullmatch(row.message)
    fewer = counts is not None and int(counts[1]) > int(counts[2])
    return fewer or (row.rule == "HIS-006" and row.message.startswith(_LOST))


def _symptom(row: Row) -> str:
    """Returns the message without what differs from run to run. A crash is known by its exception and the line that raised it,
    from wherever the adapter called.
    """
    sentence = next(iter(row.message.splitlines()), "")
    where = _raised_at(row)
    if where:
        return f"{_plain(sentence).partition(':')[0]}\n{where}"
    plain = _ORDER.sub("*", _plain(sentence[:_READ]))
    return _MANY_VALUES.sub("*", _CALL.sub("*", _VALUES.sub("*", _without_values(plain))))


def _without_values(sentence: str) -> str:
    """Returns the sentence with `*` for each quoted text, list and object, however deep."""
    left, found = _QUOTED.sub("*", sentence), 1
    while found:
        left, found = _BRACKETS.subn("*", left)
    return left


def _raised_at(row: Row) -> str:
    """Returns the line that raised a crash, if the message has it."""
    lines = row.message.splitlines()
    last = lines[-1] if row.rule.startswith(NO_RESULT) and len(lines) > 1 else ""
    return died_at(row.message) or last


def died_at(message: str) -> str:
    """Returns the line at which a command's process died, with its file and the two folders above it, or `""`. Node names it first,
    and Python last.
    """
    if not _exited(message):
        return ""
    places = _NODE_LINE.findall(message) or _PYTHON_LINE.findall(message)[::-1]
    return "/".join(places[0].split("/")[-3:]) if places else ""


def undescribed(message: str) -> str:
    """Returns the message without what explains it: the description of a variation, after its name, and the words of an error."""
    return _WORDS.sub("", _DESCRIBED.sub(r"\1", message)) if message.startswith("under ") else message


def _exited(message: str) -> bool:
    """Tells whether the process of a command died, in the run itself or under a variation."""
    return _plain(message).startswith("the command exited with ")


def _plain(sentence: str) -> str:
    """Returns the message without the name of a variation and without the words of the model."""
    sentence = re.sub(r"^(under [\w:-]+|cut \([^)]*\)), ", "", undescribed(sentence))
    return _OF_THE_MODEL.split(sentence, maxsplit=1)[0]


_DESCRIBED = re.compile(r"^(under [\w:-]+) \([^)]*\)(?=, )")
_WORDS = re.compile(r"; it raised: .*\Z", re.DOTALL)
#: What the model said, whether a request asked for it or not, and in which parts it goes back.
_OF_THE_MODEL = re.compile(
    r"[:,] the model said |, and no request asked for the model's answer |, and what goes back has "
)
#: The parts of an answer, one after the other: `text, then call`.
_ORDER = re.compile(r"\b\w+(?:, then \w+)+")


def _anywhere(row: Row) -> str:
    """Returns the pointer without numbers and without places inside of a tool's schema, which are those of a case. What the caller
    got under a variation is a reply, too. Where the API refuses nothing, the place inside of a request says only how its wire format
    holds what was lost.
    """
    pointer = row.pointer if row.kind == "reject" else re.sub(r"(/request)/.*$", r"\1", row.pointer)
    pointer = re.sub(r"/(properties|\$defs)/[^/]+", r"/\1/*", _IN_SCHEMA.sub(r"\1", pointer))
    return re.sub(r"/\d+", "/*", re.sub(r"^/varied/[^/]+$", "/replies/0", pointer))


#: The schema of a tool, in each format.
_IN_SCHEMA = re.compile(r"(/(?:parameters|parametersJsonSchema|input_schema|inputSchema|json))/.*")


def _in_order(rows: Iterable[Row]) -> list[Row]:
    """Returns the failures of a run, the first wrong thing first."""
    ordered = list[Row]()
    for row in sorted(rows, key=_order):
        told = next((at for at, each in enumerate(ordered) if _says_more(row, each)), len(ordered))
        ordered.insert(told, row)
    return ordered


def _says_more(row: Row, other: Row) -> bool:
    """Tells whether a failure shows what another one shows, but nearer to its cause."""
    if (row.rule, other.rule) in _NEARER or (row.rule.startswith(NO_RESULT) and other.rule in _NEVER_SENT):
        return True
    if other.rule == "HIS-006":
        return _was_misread(row, other)
    block = _FIELD.sub(r"\1", other.pointer)
    return row.rule.startswith("THK-") and bool(_ANY_FORM.fullmatch(other.rule)) and block in row.pointer


def _was_misread(row: Row, other: Row) -> bool:
    """Tells whether the value that is sent back in place of the model's words or calls also reached the caller or a tool. The answer was then read wrongly."""
    return row.rule in {"TXT-005", "PAR-005"} and bool(row.seen) and row.seen == other.seen


def _order(row: Row) -> tuple[bool, bool, int, bool, bool, bool, bool, bool]:
    """Returns the place of a failure in its run: comparisons of the whole come last, and outcomes after requests. That a request is not in
    the recording comes after what is wrong with it. A call that was
    cut runs before the request that has its result. In one request, what is lost of it says more than that it is another one.
    """
    inside = re.match(r"/exchanges(?:/(\d+))?", row.pointer)
    ran = _ran_cut(row)
    return (
        row.verdict != "harness-error",
        row.rule.startswith(_WHOLE) and row.rule != _UNRECORDED,
        _place(row, inside) if inside else 0 if ran else _LAST,
        row.rule == _UNRECORDED,
        row.kind != "reject",
        row.rule in _ECHOES,
        not row.rule.startswith(NO_RESULT),
        row.rule == _OTHER_REQUEST,
    )


def _place(row: Row, inside: re.Match[str]) -> int:
    """Returns the number of the request of a failure. What is in no request is missing from the first one."""
    return int(inside[1] or (0 if row.rule in _NEVER_SENT else _LAST - 1))


#: The rules about texts and media of the user that are in no request as they were given. A call that has no result explains it.
_NEVER_SENT = {"UNI-001", "IMG-001"}
#: The rules that show such a loss from another side: the turns have other words, or another number of parts.
_ECHOES = {"HIS-009", "IMG-002"}
#: The rule that compares a request with the one before it.
_OTHER_REQUEST = "HIS-002"
_LAST = 1 << 30
#: Pairs of rules that show one event in a run. The first is nearer to its cause: media that are lost explain why nothing follows that a
#: text points at, and tools that are not sent explain why the API refuses to choose one.
_NEARER = {
    ("TRM-001", "TRM-016"),
    ("IMG-001", "IMG-010"),
    ("IMG-030", "IMG-015"),
    ("OPT-003", "REQ-012"),
    ("OPT-002", "ERR-004"),
    ("SYS-001", "UNI-001"),
    ("HIS-008", "HIS-006"),
    ("PAR-005", "PAR-001"),
}
#: The rules about the form of an object, with the one about fields that it does not have.
_ANY_FORM = re.compile(rf"{_FORM.pattern}|REQ-004")


def _ran_cut(row: Row) -> bool:
    """Tells whether a call was run that was cut. It has a result that should not be there."""
    return (row.rule, row.pointer) == ("STR-008", "/tool_runs")


def _weight(row: Row) -> tuple[bool, bool, bool]:
    return row.verdict != "harness-error", row.kind != "reject", row.rule.startswith(_WHOLE)


# --- Two causes that are one mistake, which failures show from two sides ---------------------------------


def is_part_of(part: Cause, whole: Cause) -> bool:
    """Tells whether a cause shows the mistake of another one from another side."""
    return any(shows(part, whole) for shows in _SIDES)


def _rules(part: Cause, whole: Cause) -> tuple[str, str]:
    return part.rows[0].rule, whole.rows[0].rule


def _ways(cause: Cause, *names: str) -> set[tuple[str, ...]]:
    """Returns in which formats, modes or cases of a library a cause was seen."""
    return {tuple(getattr(row, name) for name in ("adapter", *names)) for row in cause.rows}


def _say(cause: Cause, words: str) -> bool:
    return all(row.message.endswith(words) for row in cause.rows)


def _loses_all_media(part: Cause, whole: Cause) -> bool:
    """A result's media are lost or become text, those that the format can have and those that it cannot."""
    alike = _rules(part, whole) in {("TRM-010", "TRM-001"), ("TRM-010", "TRM-002")}
    return alike and _ways(part, "wire") <= _ways(whole, "wire")


def _misses_the_end(part: Cause, whole: Cause) -> bool:
    """No error is raised for a page in place of a stream, because nothing checks that the stream ended."""
    if _rules(part, whole) != ("ERR-006", "STR-007") or not _say(part, "no error was raised"):
        return False
    streamed = {row.mode for row in part.rows} == {"stream"} and _ways(part) <= _ways(whole)
    return streamed or _ways(part, "wire", "mode") <= _ways(whole, "wire", "mode")


def _hands_anything_over(part: Cause, whole: Cause) -> bool:
    """A value that was cut is handed over, and so is one that does not fit: nothing compares them with the schema."""
    alike = _rules(part, whole) == ("STO-004", "STO-003") and _ways(part, "wire") <= _ways(whole, "wire")
    return alike and _say(part, " was handed over") and _say(whole, " was handed over")


def _goes_back_misread(part: Cause, whole: Cause) -> bool:
    """The value that is sent back in place of the model's words is the one that the caller got in other runs."""
    got = {(row.adapter, row.seen) for row in whole.rows}
    return _rules(part, whole) == ("HIS-006", "TXT-005") and all(
        row.seen and (row.adapter, row.seen) in got for row in part.rows
    )


_SAID = re.compile(r"""the (?:caller|model) did not say (['"])(.+?)\1""")


def _invents_the_same(part: Cause, whole: Cause) -> bool:
    """The library says one text of its own in two roles."""
    theirs, ours = (
        {
            (row.adapter, re.sub(r"\W", "", found[2]))
            for row in each.rows
            if (found := _SAID.match(row.message))
        }
        for each in (part, whole)
    )
    return _rules(part, whole) == ("HIS-011", "SYS-010") and bool(theirs) and theirs <= ours


_FOR_SILENCE = re.compile(
    r"""its text is changed: the model said nothing, and what goes back is (['"])(.+)\1"""
)


def _invents_for_silence(part: Cause, whole: Cause) -> bool:
    """The text of the library's own that stands in an empty answer is also what other answers without words become."""
    if _rules(part, whole) != ("HIS-006", "HIS-011"):
        return False
    found = [(row.adapter, _FOR_SILENCE.fullmatch(row.message)) for row in part.rows]
    theirs = {(adapter, match and match[2]) for adapter, match in found}
    return theirs <= {(row.adapter, match[2]) for row in whole.rows if (match := _SAID.match(row.message))}


def _writes_no_media_of_results(part: Cause, whole: Cause) -> bool:
    """The media that a tool returns are not written as their format has them: one format refuses them, and another one has them as text."""
    lost = {row.place for row in part.follows if row.rule.startswith(("IMG-", "TRM-"))}
    at_results = whole.rows[0].rule in _MEDIA_OF_RESULTS and all(row.place in lost for row in part.rows)
    refused = all(row.kind == "reject" and not row.preview for row in part.rows)
    apart = _ways(part, "wire").isdisjoint(_ways(whole, "wire"))
    return refused and at_results and apart and not _ways(part, "case").isdisjoint(_ways(whole, "case"))


#: The rules about media in the result of a tool.
_MEDIA_OF_RESULTS = {"TRM-001", "TRM-002"}


def _leaves_a_call_open(part: Cause, whole: Cause) -> bool:
    """A turn ends without results for the calls that are no JSON. The API refuses the next turn, if there is one."""
    malformed = all(row.case.startswith("malformed") for row in [*part.rows, *whole.rows])
    alike = _rules(part, whole) == ("PAIR-001", "PAR-001") and _ways(part, "wire", "mode") <= _ways(
        whole, "wire", "mode"
    )
    return malformed and alike and _say(whole, "and the caller got no error")


_RAISED = re.compile(r"(?:the call|send) raised (\w+)(?:: |\(['\"])(.+)")
_CLASS = re.compile(r"\b\w+(?:Error|Exception)\b")


def _raises_the_same(part: Cause, whole: Cause) -> bool:
    """The same error is raised while requests with different objects are written."""
    theirs, ours = ({_error_of(row) for row in each.rows} for each in (part, whole))
    return None not in theirs and theirs <= ours and _ways(part, "wire") <= _ways(whole, "wire")


def _error_of(row: Row) -> tuple[str, str] | None:
    found = next(filter(None, map(_RAISED.search, row.message.splitlines())), None)
    if found is None or not row.rule.startswith(NO_RESULT):
        return None
    return found[1], _CLASS.sub("*", found[2]).rstrip("'\")")


_USAGE = re.compile(r",? ?(?<!\d)\d+ input, \d+ output")


def _loses_the_usage(part: Cause, whole: Cause) -> bool:
    """Only the tokens of an answer differ, whatever else is in the stream."""
    return _ways(part, "wire") <= _ways(whole, "wire") and all(
        row.rule.startswith("STR-") and _has_other_usage(row.message) for row in [*part.rows, *whole.rows]
    )


def _has_other_usage(message: str) -> bool:
    before, _, after = message.partition(" and are ")
    said = before.partition(" were ")[2]
    return bool(said) and said != after and _USAGE.sub("", said) == _USAGE.sub("", after)


def _is_refused_here(part: Cause, whole: Cause) -> bool:
    """What one format refuses, others accept: two rules point at one place of a request."""
    at = {row.place: row.pointer for row in part.rows if row.kind == "reject"}
    cases = {(row.adapter, row.rule, row.case) for row in whole.rows if row.kind != "reject"}
    return any(
        row.pointer == at.get(row.place) and (row.adapter, row.rule, row.case) in cases
        for row in part.follows
    )


def _sends_a_history_as_it_is(part: Cause, whole: Cause) -> bool:
    """A first request has calls only if the caller gave them: they go out as they were given."""
    rows = [*part.rows, *whole.rows]
    return _ways(part) == _ways(whole) and all(
        row.kind == "reject"
        and row.pointer.startswith("/exchanges/0/")
        and row.rule.startswith(("PAIR-", "THK-"))
        for row in rows
    )


def _rewrites_the_answer(part: Cause, whole: Cause) -> bool:
    """A message of the model goes back as a new one: without its phase, without the id that its reasoning needs, and behind the calls."""
    alike = _rules(part, whole) in {("HIS-017", "ORD-008"), ("HIS-006", "ORD-008"), ("HIS-006", "HIS-017")}
    return alike and _ways(part, "wire") == _ways(whole, "wire") and _is_written_anew(part, whole)


def _is_written_anew(part: Cause, whole: Cause) -> bool:
    told = {"HIS-006": "the answer had text, then call", "HIS-017": "the phase "}
    return all(row.message.startswith(told.get(row.rule, "")) for row in [*part.rows, *whole.rows])


def _takes_the_item_for_the_call(part: Cause, whole: Cause) -> bool:
    """The id of an item stands for that of its call: without an item the `call_id` is empty, and without its id there is no call."""
    return _rules(part, whole) == ("STR-026", "PAIR-018") and _ways(part, "wire") == _ways(whole, "wire")


def _loses_the_stop_reason(part: Cause, whole: Cause) -> bool:
    """Where no stop reason arrives, neither does the one that says that the model failed to write its call."""
    alike = _rules(part, whole) == ("STP-007", "STP-001")
    told = [row.message.startswith("the model failed to write its call") for row in part.rows]
    none = [row.message.startswith("the caller got no stop reason") for row in whole.rows]
    return alike and all(told) and all(none) and _ways(part, "wire", "mode") <= _ways(whole, "wire", "mode")


#: How two causes may be one mistake. The first is a part of the second.
_SIDES = (
    _loses_all_media,
    _misses_the_end,
    _hands_anything_over,
    _goes_back_misread,
    _invents_the_same,
    _invents_for_silence,
    _writes_no_media_of_results,
    _leaves_a_call_open,
    _raises_the_same,
    _loses_the_usage,
    _is_refused_here,
    _sends_a_history_as_it_is,
    _rewrites_the_answer,
    _takes_the_item_for_the_call,
    _loses_the_stop_reason,
)
