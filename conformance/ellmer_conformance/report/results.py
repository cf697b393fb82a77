"""The results of a run as values: rows (one verdict each) and their evidence, what follows from what, and runs without a
verdict.

`report.json` (version 1, schema in `report.schema.json`) is `Report.as_json()`. Evidence is stored once under its
digest: `exchanges` for failing rows, and `transcripts` for every run of a case.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, TypeVar

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
    combination: str = ""  # the case that was asked for, if this is its smallest failing part

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

    def as_json(self, *, rows: bool = True, headline: str = "") -> dict[str, Any]:
        """Returns the document for the file, with no results unless `rows` are wanted, and with how many causes there are."""
        return {
            "version": VERSION,
            "tool": self.tool,
            "adapters": self.adapters,
            "named": self.named,
            "capabilities": self.capabilities,
            "requirements": self.requirements,
            "summary": self.score,
            **({"real": self.real} if self.real else {}),
            **({"headline": headline} if headline else {}),
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
    """Returns the known fields. Raises `TypeError` if a value has another type than its default, or is not text and has no default."""
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
