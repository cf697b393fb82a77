"""The results of a run as values: rows (one verdict each) and their evidence, what follows from what, and runs without a
verdict.

`report.json` (version 1, schema in `report.schema.json`) is `Report.as_json()`. Evidence is stored once under its
digest: `exchanges` for failing rows, and `transcripts` for every run of a case.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, TypeVar

from ..contract.counts import counted
from .joined_causes import NO_RESULT, is_part_of

# --- Rows and reports ------------------------------------------------------------------------------------


VERSION = 1

#: From the worst to the best: a cell of a matrix shows the first of its rows.
VERDICTS = (
    "harness-error",  # an error of the runner or the harness, or a corrupt cassette; not of the adapter
    "fail",
    "not-testable",  # the adapter could not be put to the test: counts as a failure
    "unexpected-pass",  # the baseline expects it to fail
    "expected-fail",  # the baseline expects it
    "warn",  # a SHOULD, or a rule that no evidence backs yet
    "differs-as-declared",  # the adapter says that the library does so on purpose
    "refused-as-declared",  # the adapter says it cannot, and refuses in the open
    "pass",
    "not-applicable",  # the rule never met its subject
)
#: Results that make a run fail. (A harness error means that it could not be run.)
FAILING = frozenset({"fail", "not-testable", "unexpected-pass"})
#: Results that need no explanation.
FINE = frozenset({"pass", "refused-as-declared", "differs-as-declared", "not-applicable"})


def ids_of(rule: str, wire: str, provider: str) -> tuple[str, ...]:
    """Returns all ids of a rule: the short one, and those with a wire format and a provider.

    Examples:
        >>> ids_of("REQ-007", "openai-chat", "groq")
        ('REQ-007', 'openai-chat/REQ-007', 'openai-chat/groq/REQ-007')
    """
    return rule, f"{wire}/{rule}", f"{wire}/{provider}/{rule}"


@dataclass(frozen=True)
class Row:
    """One verdict. `checked` is the number of places that the rule checked; `pass` needs at least 1."""

    adapter: str
    wire: str
    provider: str
    case: str
    mode: str
    rule: str
    level: str
    kind: str
    verdict: str
    checked: int
    pointer: str = ""  # of the first violation, into the run: /exchanges/1/request/messages/3
    message: str = ""
    provider_error: str = ""
    preview: bool = False  # a rule without evidence from the provider: reported, but not a failure
    status: int = 0  # with which the provider says its error; 0 where it would not notice
    excerpt: str = ""  # the lines of the request's body around the pointer
    exchange: str = ""  # which of the report's exchanges
    fingerprint: str = ""  # of the failure: the same for the same mistake
    reason: str = ""  # from the baseline, where the failure is expected
    issue: str = ""
    page: str = ""  # the permanent address of the rule's page
    seen: str = ""  # a digest of what somebody got, or what goes back, in place of what the model said

    @property
    def id(self) -> str:
        """`adapter/wire/provider/case[mode]/RULE`, the argument of `conformance repro`."""
        return f"{self.place}/{self.rule}"

    @property
    def place(self) -> str:
        """The id of its run."""
        return f"{self.adapter}/{self.wire}/{self.provider}/{self.case}[{self.mode}]"

    @property
    def rule_ids(self) -> tuple[str, ...]:
        """All ids by which filters and baselines know the rule."""
        return ids_of(self.rule, self.wire, self.provider)

    @property
    def explain_command(self) -> str:
        """The command that explains the rule and its fix."""
        return f"conformance explain {self.rule} --wire {self.wire} --provider {self.provider}"

    def repro_command(self, folder: str) -> str:
        """Returns the command that writes a standalone script, from the report in the folder."""
        return f"conformance repro {shlex.quote(self.id)} --report {shlex.quote(folder)}"

    def as_json(self) -> dict[str, Any]:
        """Returns the row without empty optional fields."""
        found = dict(vars(self))
        for name in RARE:
            if not found[name]:
                del found[name]
        return found


#: The fields that most rows do not have.
RARE = tuple(f.name for f in fields(Row)[10:])


@dataclass(frozen=True)
class Play:
    """One run of a case: the common values of its rows."""

    adapter: str
    wire: str
    provider: str
    case: str
    mode: str
    cassette: str = ""
    recorded_from: str = ""  # "live", "strict-server", or "" where nothing was opened
    transcript: str = ""  # which of the report's transcripts
    way: str = "cassette"  # how it was played: as `Run.way`

    @property
    def place(self) -> str:
        """The id of the run in its rows."""
        return f"{self.adapter}/{self.wire}/{self.provider}/{self.case}[{self.mode}]"


@dataclass
class Report:
    """All rows of a run of the suite, and the evidence."""

    rows: list[Row] = field(default_factory=list)
    plays: list[Play] = field(default_factory=list)
    exchanges: dict[str, dict[str, Any]] = field(default_factory=dict)  # method, url, body, status, answer
    transcripts: dict[str, str] = field(default_factory=dict)
    skipped: list[dict[str, str]] = field(default_factory=list)  # adapter, wire, case, reason
    problems: list[str] = field(default_factory=list)  # of the baseline: each fails the run
    unjudged: list[str] = field(default_factory=list)  # plays without a verdict: the run is incomplete
    rules: list[dict[str, Any]] = field(default_factory=list)  # the texts of the rules that were judged
    requirements: str = ""  # the set that the score counts against
    score: dict[str, dict[str, int]] = field(default_factory=dict)  # by "adapter wire"
    tool: dict[str, str] = field(default_factory=dict)
    capabilities: dict[str, dict[str, str]] = field(
        default_factory=dict
    )  # by "adapter wire/provider", as declared
    real: dict[str, dict[str, int]] = field(default_factory=dict)  # by "adapter wire": recorded conversations
    named: dict[str, str] = field(default_factory=dict)  # how each adapter was asked for, by its name

    @classmethod
    def joined(cls, reports: Iterable[Report]) -> Report:
        """Returns one report of several: parts of one run, or runs of several adapters. Later rows replace equal
        ones.
        """
        parts = list(reports)
        rows = {row.id: row for part in parts for row in part.rows}
        return cls(
            rows=list(rows.values()),
            plays=_unique(play for part in parts for play in part.plays),
            exchanges={key: value for part in parts for key, value in part.exchanges.items()},
            transcripts={key: value for part in parts for key, value in part.transcripts.items()},
            skipped=_unique(skip for part in parts for skip in part.skipped),
            problems=_unique(problem for part in parts for problem in part.problems),
            unjudged=_unique(play for part in parts for play in part.unjudged),
            rules=_unique(rule for part in parts for rule in part.rules),
            named={name: asked for part in parts for name, asked in part.named.items()},
            capabilities={place: able for part in parts for place, able in part.capabilities.items()},
            real={name: counts for part in parts for name, counts in part.real.items()},
        )

    @property
    def adapters(self) -> list[str]:
        """The adapters under test."""
        return sorted({play.adapter for play in self.plays})

    @property
    def failures(self) -> list[Row]:
        """The rows that fail the run."""
        return [row for row in self.rows if row.verdict in FAILING]

    @property
    def harness_errors(self) -> list[Row]:
        """The rows with errors of the harness or the suite."""
        return [row for row in self.rows if row.verdict == "harness-error"]

    def run_command(self, row: Row) -> str:
        """Returns the command that runs the row's case again in the same way."""
        source = next((play.way for play in self.plays if play.place == row.place), "cassette")
        adapter = shlex.quote(self.named.get(row.adapter, row.adapter))
        return (
            f"conformance run --adapter {adapter} --wire {row.wire} --provider {row.provider} --case {row.case} "
            f"--mode {row.mode}{'' if source == 'cassette' else ' --against server'}"
        )

    @property
    def exit_code(self) -> int:
        """0: no problem; 1: rules are broken or the baseline is wrong; 2: a part could not be run."""
        return 2 if self.harness_errors or self.unjudged else int(bool(self.failures or self.problems))

    def as_json(self, *, rows: bool = True) -> dict[str, Any]:
        """Returns the document for the file, with no results unless `rows` are wanted."""
        return {
            "version": VERSION,
            "tool": self.tool,
            "adapters": self.adapters,
            "named": self.named,
            "capabilities": self.capabilities,
            "requirements": self.requirements,
            "summary": self.score,
            **({"real": self.real} if self.real else {}),
            **({"headline": headline(self)} if self.failures or self.harness_errors else {}),
            "problems": self.problems,
            "unjudged": self.unjudged,
            "cassettes": {p.cassette: p.recorded_from for p in self.plays if p.recorded_from},
            "skipped": self.skipped,
            "plays": [dict(vars(play)) for play in self.plays],
            "results": [row.as_json() for row in self.rows] if rows else [],
            "rules": self.rules,
            "exchanges": self.exchanges,
            "transcripts": self.transcripts,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Report:
        """Returns the report of a document. Fields of a later minor version are left out."""
        return cls(
            rows=[Row(**_typed(Row, row)) for row in document["results"]],
            plays=[Play(**_typed(Play, play)) for play in document["plays"]],
            exchanges=dict(document["exchanges"]),
            transcripts=dict(document["transcripts"]),
            skipped=list(document["skipped"]),
            problems=list(document["problems"]),
            unjudged=list(document.get("unjudged", ())),  # reports of the first version have none
            rules=list(document["rules"]),
            requirements=document["requirements"],
            score=dict(document["summary"]),
            real=dict(document.get("real", {})),
            tool=dict(document["tool"]),
            named=dict(document["named"]),
            capabilities=dict(document.get("capabilities", {})),
        )


def worst(rows: Iterable[Row]) -> str:
    """Returns the verdict for a cell of a matrix; `not-applicable` if there is none."""
    return min((row.verdict for row in rows), key=VERDICTS.index, default="not-applicable")


_T = TypeVar("_T")


def _unique(values: Iterable[_T]) -> list[_T]:
    """Returns distinct values in order. Values may be dictionaries."""
    return list({repr(value): value for value in values}.values())


def _known(kind: type, value: Mapping[str, Any]) -> Mapping[str, Any]:
    names = _names(kind)
    if value.keys() <= names:
        return value
    return {name: each for name, each in value.items() if name in names}


def _typed(kind: type, value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the known fields. Raises `TypeError` if a value has another type than its default, or is no text without one."""
    known = _known(kind, value)
    for name, wanted in _types(kind).items():
        if not isinstance(known.get(name, wanted()), wanted):
            raise TypeError(f"{name} is {type(known[name]).__name__}, not {wanted.__name__}")
    return known


@cache
def _types(kind: type) -> Mapping[str, type]:
    types = {each.__name__: each for each in (str, int, bool)}
    return {each.name: types[str(each.type)] for each in fields(kind)}


@cache
def _names(kind: type) -> frozenset[str]:
    return frozenset(f.name for f in fields(kind))


# --- Causes, and the failures that follow from them ------------------------------------------------------


#: The rules that compare a play with what was expected of it as a whole.
_WHOLE = ("CAS-", "TXT-001")
#: Parts of a message that differ from play to play: quoted values, then lists and objects from the inside, then media and numbers.
_QUOTED = re.compile(r"""'[^']*'|"(?:[^"\\]|\\.)*"|`[^`]*`""")
_BRACKETS = re.compile(r"\[[^\[\]]*\]|\{[^{}]*\}")
_VALUES = re.compile(
    r"\b(?:image|application)/[\w.+-]+ [0-9a-f]{8}\b|\b[0-9a-f]{8}\b|"
    r"\b(?:[A-Za-z]+[_-])+(?:(?=\w*\d)\w{6,}|[0-9A-Za-z]{16,})|\b(?=[A-Za-z]*\d)[0-9A-Za-z]{9}\b|\d+"
)
#: Several of them: how many there are differs from play to play.
_MANY_VALUES = re.compile(r"\*(?:, \*)+")
_READ = 4000  # characters of a message by which it is told from others
_CALL = re.compile(r"\b\w+\(\*\)")
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
_ONE_PIECE = re.compile(r"STR-\d+|STP-00[23]|ERR-00[67]|SCH-0(?:03|26|28)")
_MISSING_PIECE = {
    "ERR-007": "ERR-006",
    "STR-011": "STR-007",
    "STR-013": "STR-012",
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
    """The first wrong thing in some runs: its row in each of them, and the failures that follow from it."""

    rows: list[Row]
    follows: list[Row]

    @property
    def symptoms(self) -> list[Row]:
        """The first row with each kind of message, because a missing piece shows itself differently in other formats and modes."""
        first: dict[str, Row] = {}
        for row in self.rows:
            first.setdefault(_symptom(row), row)
        return list(first.values())


def causes(report: Report) -> list[Cause]:
    """Returns the causes of all failures: those that could not be run and refused requests first."""
    plays: dict[str, list[Row]] = defaultdict(list)
    for row in [*report.harness_errors, *report.failures]:
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
    return sorted(_with_parts(_of_one_case(found.values())), key=lambda each: _weight(each.rows[0]))


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
    plays = {row.place for cause in found for row in cause.rows}
    return f"{counted(len(found), 'cause')}, {counted(len(plays), 'run')}" if found else ""


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
    if "unexpected-pass" in {row.verdict, cause.verdict}:
        return False
    ended = cause.verdict == "harness-error" or cause.rule.startswith(NO_RESULT)
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
    if _exited(row.message):
        return f"{row.adapter}\n{_symptom(row)}"
    if _ONE_PIECE.fullmatch(row.rule):
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
    return _MANY_VALUES.sub("*", _CALL.sub("*", _VALUES.sub("*", _without_values(_plain(sentence[:_READ])))))


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
#: What the model said, whether a request asked for it or not.
_OF_THE_MODEL = re.compile(r"[:,] the model said |, and no request asked for the model's answer ")


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
    """Tells whether the caller got, or a tool was run with, what goes back to the model in place of its words or calls: the answer
    was read wrongly before.
    """
    return row.rule in {"TXT-005", "PAR-005"} and bool(row.seen) and row.seen == other.seen


def _order(row: Row) -> tuple[bool, bool, int, bool, bool, bool, bool]:
    """Returns the place of a failure in its run: comparisons of the whole come last, and outcomes after requests. A call that was
    cut runs before the request that has its result. In one request, what is lost of it says more than that it is another one.
    """
    inside = re.match(r"/exchanges(?:/(\d+))?", row.pointer)
    ran = _ran_cut(row)
    return (
        row.verdict != "harness-error",
        row.rule.startswith(_WHOLE),
        _place(row, inside) if inside else 0 if ran else _LAST,
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


# --- Plays without a verdict -----------------------------------------------------------------------------


_TEST = "::test_conformance["
_SHOWN = 20  # by name; the report has all


def is_play(test: str) -> bool:
    """Tells whether a test's id is that of a run of a case."""
    return _TEST in test


def without_verdict(selected: Iterable[str], judged: Collection[str]) -> list[str]:
    """Returns the selected runs, by id, that no test judged."""
    return [_play_of(test) for test in selected if is_play(test) and test not in judged]


def sentences(plays: Sequence[str]) -> list[str]:
    """Returns the printed sentences about them."""
    told = [f"{play}: it was selected but has no verdict" for play in plays[:_SHOWN]]
    more = len(plays) - _SHOWN
    return [*told, *([f"and {more} more runs without a verdict are in the report"] if more > 0 else [])]


def _play_of(test: str) -> str:
    return test.partition(_TEST)[2].removesuffix("]")
