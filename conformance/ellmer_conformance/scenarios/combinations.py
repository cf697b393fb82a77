"""Cases by combination: a value of each factor (tools, results, options, thoughts, events …) makes a case.

`covering()` returns rows in which every pair of values occurs together (a pairwise covering array, with covertable). A
combination's name has a letter for each factor, so that a case can be made again from its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations as of_size
from typing import Any

from .case import MODES, Ask, Case, Mode, Outcome, ask
from .cases._media_and_tools import RED, REPORT, plan_trip, string_argument, weather
from .cases.options import ANOTHER
from .messages import Image, Part, Text, Tool, ToolCall, ToolResult, Turn
from .script import Answer, Call, Cut, Delivery, Failure, Said, Say, Step, Think, Usage

AREA = "combined"
#: The combinations that are played unless all are asked for: the first rows of an array over all values, one of them with an empty
#: prompt and one call at a time, one with another model for a turn with several calls, and one that is saved and restored with all that
#: a conversation has. They have a third of its pairs.
DEFAULT = tuple(
    f"combined_{letters}"
    for letters in (
        "baaagaaabab",
        "dbcbibbbcaa",
        "bedcebbcfbd",
        "cdcfbaacbbc",
        "cfadcabcebb",
        "cgbchacbcad",
        "bccafaababa",
        "bddaabbcgbb",
    )
)

#: Every factor with its values, the plain one first.
FACTORS: Mapping[str, tuple[str, ...]] = {
    "system": ("none", "one", "changed", "empty"),
    "tools": ("none", "one", "several", "optional", "nested", "no parameters", "long"),
    "calls": ("one", "parallel", "in sequence", "beside text"),
    "result": ("text", "error", "empty", "object", "digits", "error-like"),
    "option": (
        *("none", "tool_choice", "stop", "json", "cache", "model", "temperature", "limit"),
        *("one call", "no stop"),
    ),
    "thoughts": ("none", "thought"),
    "media": ("none", "image", "document"),
    "before": ("nothing", "a turn", "a call"),
    "event": ("none", "rate limit", "error", "cut", "length", "cancelled", "restored"),
    "after": ("one turn", "two turns"),
    "mode": MODES,
}
_LETTERS = "abcdefghij"
_PREFIX = "combined_"

#: The capabilities that a value needs.
_NEEDS: Mapping[tuple[str, str], frozenset[str]] = {
    ("system", "changed"): frozenset({"changed_prompt"}),
    ("option", "tool_choice"): frozenset({"tool_choice"}),
    ("option", "stop"): frozenset({"stop_sequences"}),
    ("option", "json"): frozenset({"json_mode"}),
    ("option", "cache"): frozenset({"prompt_caching"}),
    ("option", "model"): frozenset({"model_override"}),
    ("option", "temperature"): frozenset({"temperature", "model_override"}),
    ("option", "limit"): frozenset({"output_limit"}),
    ("option", "one call"): frozenset({"single_calls"}),
    ("option", "no stop"): frozenset({"stop_sequences"}),
    ("media", "image"): frozenset({"image_in_user"}),
    ("media", "document"): frozenset({"pdf_in_user"}),
}
#: Values that a wire format cannot express, as the hand-written cases say.
_INEXPRESSIBLE: Mapping[str, set[tuple[str, str]]] = {
    "openai-chat": {("option", "cache")},
    "openai-responses": {("option", "cache"), ("option", "stop"), ("option", "no stop")},
    "anthropic": {("option", "json"), ("option", "temperature")},
    "bedrock": {("option", "json"), ("option", "one call")},
    "gemini": {("option", "cache"), ("option", "one call")},
    "ollama": {("option", "cache"), ("option", "tool_choice"), ("option", "one call")},
    "mistral": {("option", "cache")},
    "cohere": {("option", "cache"), ("option", "one call"), ("media", "image")},
}

Combination = Mapping[str, str]


# --- Which combinations ----------------------------------------------------------------------------------


def possible_values(
    wire: str, modes: Sequence[str], refuses: Callable[[str], bool]
) -> dict[str, tuple[str, ...]]:
    """Returns the factors with the values that a wire format can express and a library has.

    Args:
        wire: Name of the wire format.
        modes: The modes of the library.
        refuses: Tells whether the library refuses a capability, by its name.
    """
    without = set(_INEXPRESSIBLE.get(wire, set()))
    without |= {place for place, needs in _NEEDS.items() if any(map(refuses, needs))}
    without |= {("mode", mode) for mode in MODES if mode not in modes}
    if refuses("tools"):
        without |= {("tools", value) for value in FACTORS["tools"][1:]} | {("before", "a call")}
    if not any("async" in mode for mode in modes):
        without.add(("event", "cancelled"))
    return {name: tuple(v for v in values if (name, v) not in without) for name, values in FACTORS.items()}


def covering(values: Mapping[str, tuple[str, ...]], seed: str = "") -> list[Combination]:
    """Returns combinations in which each possible pair of values occurs. The first ones have the most pairs.

    Args:
        values: The factors with their values.
        seed: Text that changes which array is made. Default: the same array every time.

    Raises:
        ImportError: covertable is not installed.

    Examples:
        >>> rows = covering({**FACTORS, "event": ("none", "cut"), "tools": ("none", "nested")})
        >>> any(row["tools"] == "nested" and row["event"] == "cut" for row in rows)
        True
    """
    return list(_covering(tuple(values.items()), seed))


@lru_cache(maxsize=64)
def _covering(values: tuple[tuple[str, tuple[str, ...]], ...], seed: str) -> tuple[Combination, ...]:
    from covertable import make  # type: ignore[import-untyped]  # it has no types  # noqa: PLC0415 - the usual selection does without it

    rows: Any = make(dict(values), constraints=_CONSTRAINTS, salt=seed)
    return tuple(rows)


def usual(values: Mapping[str, tuple[str, ...]]) -> list[Combination]:
    """Returns the combinations of `DEFAULT`. A value that is not among the given ones becomes the first of them.

    Args:
        values: The factors with their values.
    """
    rows = [_row(name) for name in DEFAULT]
    fitted = [
        {name: row[name] if row[name] in values[name] else values[name][0] for name in row} for row in rows
    ]
    return [row for row in fitted if is_possible(row)]


def is_possible(row: Combination) -> bool:
    """Tells whether the values of a combination go together.

    Args:
        row: The combination.
    """
    return all(fits(row) for _, fits in _FITS)


#: Without a prompt, be it that there is none or that it is empty.
_UNSAID = {"none", "empty"}
#: The options that another model gets.
_OF_ANOTHER = {"model", "temperature"}
_FITS: tuple[tuple[tuple[str, ...], Callable[[Combination], bool]], ...] = (
    (("tools", "calls"), lambda row: row["tools"] != "none" or row["calls"] == "one"),
    (("tools", "result"), lambda row: row["tools"] != "none" or row["result"] == "text"),
    (("tools", "before"), lambda row: row["tools"] != "none" or row["before"] != "a call"),
    (
        ("tools", "option"),
        lambda row: row["option"] not in {"tool_choice", "one call"} or row["tools"] != "none",
    ),
    (("calls", "option"), lambda row: row["option"] != "one call" or row["calls"] != "parallel"),
    (("tools", "option"), lambda row: row["option"] != "json" or row["tools"] == "none"),
    (("system", "option"), lambda row: row["option"] != "cache" or row["system"] not in _UNSAID),
    (("event", "mode"), lambda row: row["event"] != "cancelled" or "async" in row["mode"]),
    (("thoughts", "option"), lambda row: row["thoughts"] == "none" or row["option"] != "tool_choice"),
    (("thoughts", "system"), lambda row: row["thoughts"] == "none" or row["system"] != "changed"),
    (("event", "option"), lambda row: row["event"] == "none" or row["option"] != "json"),
    (("thoughts", "option"), lambda row: row["thoughts"] == "none" or row["option"] not in _OF_ANOTHER),
    (("media", "option"), lambda row: row["media"] == "none" or row["option"] not in _OF_ANOTHER),
)
_CONSTRAINTS = [{"operator": "fn", "requires": list(requires), "evaluate": fits} for requires, fits in _FITS]


def simpler(row: Combination) -> Iterator[Combination]:
    """Yields the combinations with some values made plain, those with the most plain values first.

    Args:
        row: The combination.
    """
    changed = [
        name for name, values in FACTORS.items() if row[name] != values[0] and name not in {"mode", "after"}
    ]
    for count in range(min(len(changed), _LARGEST_PART) + 1):
        for names in of_size(changed, count):
            plain = {
                name: row[name] if name in names or name == "mode" else values[0]
                for name, values in FACTORS.items()
            }
            if is_possible(plain) and plain != row:
                yield plain


#: Failures that need more values at once are reported with all values.
_LARGEST_PART = 2


# --- A combination as a case -----------------------------------------------------------------------------


def name_of(row: Combination) -> str:
    """Returns the name of a combination's case: a letter for each factor.

    Args:
        row: The combination.

    Examples:
        >>> name_of({name: values[0] for name, values in FACTORS.items()})
        'combined_aaaaaaaaaaa'
    """
    return _PREFIX + "".join(_LETTERS[FACTORS[name].index(row[name])] for name in FACTORS)


def case_named(name: str) -> Case | None:
    """Returns the case of a combination by its name, or `None` if there is no such name.

    Args:
        name: The name.

    Examples:
        >>> case_named("combined_aabaaaaaaab") is None, case_named("combined_abaaaaaaaaa").tools[0].name
        (True, 'get_weather')
    """
    letters = name.removeprefix(_PREFIX)
    if letters == name or len(letters) != len(FACTORS):
        return None
    if any(
        letter not in _LETTERS[: len(values)]
        for letter, values in zip(letters, FACTORS.values(), strict=True)
    ):
        return None
    row = _row(name)
    return combined(row) if is_possible(row) else None


def _row(name: str) -> Combination:
    letters = name.removeprefix(_PREFIX)
    return {
        name: values[_LETTERS.index(at)] for at, (name, values) in zip(letters, FACTORS.items(), strict=True)
    }


def row_of(case: Case) -> Combination | None:
    """Returns the combination of a case, or `None` for a hand-written one.

    Args:
        case: The case.
    """
    return _row(case.name) if case.area == AREA else None


def combined(row: Combination) -> Case:
    """Returns the case of a combination.

    Args:
        row: The value of each factor.
    """
    parts = _Parts(row)
    told = ", ".join(f"{name}: {row[name]}" for name, values in FACTORS.items() if row[name] != values[0])
    needs = {need for (name, value), found in _NEEDS.items() if row[name] == value for need in found}
    return Case(
        on_server=True,
        printed_alike=False,
        modes=(_mode(row["mode"]),),
        needs=frozenset(needs | ({"tools"} if parts.tools else set())),
        system={"none": None, "empty": ""}.get(row["system"], _PROMPT),
        tools=parts.tools,
        history=_HISTORIES[row["before"]],
        script=[*parts.script(), *(_answer(text) for _, text in _LATER)],
        steps=[parts.question(), *parts.later()],
        max_retries=int(row["event"] == "rate limit"),
        name=name_of(row),
        title=f"A combination: {told or 'everything plain'}.",
        area=AREA,
    )


_PROMPT = (
    " ".join(["You are brief, and you call the user Ada."] * 3) + "\n\n    100 % of the time, {{always}}."
)
_CHANGED_PROMPT = "You are verbose, and you call the user Bo."
#: What a template, a formatter or an editor changes: signs of formats, escapes, spaces at the end and the beginning of lines.
_ODD = "And then?  \n\tIs it 100% of {{name}}, or C:\\new\\table, or a%20b?"
_LATER = (("And after that?", "After that comes the evening."), (_ODD, "Then comes the night."))
_EARLIER = (Turn("user", (Text("Are you there?"),)), Turn("assistant", (Text("I am here, as ever."),)))
_EARLIER_CALL = (
    Turn("user", (Text("How warm is Quito?"),)),
    Turn("assistant", (ToolCall("call_Quito1", "get_weather", {"city": "Quito"}),)),
    Turn("user", (ToolResult("call_Quito1", "18C"),)),
    Turn("assistant", (Text("Quito has 18C."),)),
)
_HISTORIES = {"nothing": (), "a turn": _EARLIER, "a call": _EARLIER_CALL}
_OPTIONS = {
    "none": {},
    "tool_choice": {"tool_choice": "required"},
    "stop": {"stop": ["never said", "nor this"]},
    "json": {"json": True},
    "cache": {"cache": True},
    "model": {"model": ANOTHER},
    "temperature": {"temperature": 0, "model": ANOTHER},  # newer models refuse a temperature
    "limit": {"max_tokens": 500},
    "one call": {"parallel": False},  # and an empty list: what many clients drop because it is false
    "no stop": {"stop": []},
}


def _mode(name: str) -> Mode:
    return next(mode for mode in MODES if mode == name)


def _answer(text: str, *before: Said) -> Answer:
    return Answer((*before, Say(text)), usage=Usage(40, 9))


@dataclass(frozen=True)
class _Parts:
    """The parts of a combination's case."""

    row: Combination

    @property
    def tools(self) -> list[Tool]:
        """The tools, whose results are of the combination's kind."""
        return [replace(tool, run=self._returning(tool)) for tool in _TOOLS[self.row["tools"]]]

    def _returning(self, tool: Tool) -> Callable[..., Any]:
        return _RESULTS[self.row["result"]] if self.row["result"] != "text" else tool.run

    def script(self) -> list[Step]:
        """What the model says to the question, with the event at its last answer."""
        *calling, last = self._answers()
        return [*calling, *_EVENTS[self.row["event"]](last)]

    def _answers(self) -> list[Answer]:
        thought = (Think("The user wants to know something. "),) if self.row["thoughts"] == "thought" else ()
        final = self._final()
        if not self.tools:
            return [replace(final, parts=(*thought, *final.parts))]
        calls = [Call(tool.name, arguments) for tool, arguments in self._calls()]
        spoken = (Say("Let me look it up. "),) if self.row["calls"] == "beside text" else ()
        groups = [calls] if self.row["calls"] == "parallel" else [[call] for call in calls]
        answers = [Answer((*group,), usage=Usage(30, 12)) for group in groups]
        answers[0] = replace(answers[0], parts=(*thought, *spoken, *answers[0].parts))
        return [*answers, final]

    def _calls(self) -> list[tuple[Tool, Mapping[str, Any]]]:
        """Returns the calls. Two calls of one tool have different arguments, where it has arguments."""
        tools = self.tools
        wanted = 2 if self.row["calls"] in {"parallel", "in sequence"} else 1
        chosen = [tools[number % len(tools)] for number in range(wanted)]
        return [
            (tool, _ARGUMENTS[tool.name][number % len(_ARGUMENTS[tool.name])])
            for number, tool in enumerate(chosen)
        ]

    def _final(self) -> Answer:
        return _answer('{"city": "Paris"}' if self.row["option"] == "json" else "It is a fine day.")

    def question(self) -> Ask:
        """The user's question, and how its turn must end."""
        parts: list[Part | str] = ["What is it like today? As JSON."]
        parts += _MEDIA[self.row["media"]]
        event = self.row["event"]
        ended: Outcome = "incomplete" if event in {"error", "cut", "cancelled"} else "answered"
        return ask(
            *parts,
            text=self._final().text if ended == "answered" else "",
            outcome=ended,
            options=_OPTIONS[self.row["option"]],
            cancelled=event == "cancelled",
        )

    def later(self) -> Iterator[Ask]:
        """Yields the turns that follow."""
        turns = _LATER[: 2 if self.row["after"] == "two turns" else 1]
        for number, (question, answer) in enumerate(turns):
            yield ask(
                question,
                text=answer,
                reloaded=number == 0 and self.row["event"] == "restored",
                instructed=_CHANGED_PROMPT if number == 0 and self.row["system"] == "changed" else "",
            )


# --- Tools, results and events ---------------------------------------------------------------------------


def _fails(**_: Any) -> None:
    raise ValueError("the station is closed")


_RESULTS: Mapping[str, Callable[..., Any]] = {
    "error": _fails,
    "empty": lambda **_: "",
    "object": lambda **_: {"degrees": 21.5, "sky": ["clear", None], "warnings": {}},
    "digits": lambda **_: {"station": 2**53 + 1},
    "error-like": lambda **_: "0 errors and 0 failures were reported",
}
_ON_A_DAY: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "The city."},
        "day": {
            "type": "string",
            "enum": ["today", "tomorrow"],
            "description": "The day; today if left out.",
        },
        "hours": {"type": "integer", "enum": [1, 6, 24], "description": "How long; 24 if left out."},
    },
    "required": ["city"],
}
_forecast = Tool("get_forecast", "Forecast for a city.", lambda **told: f"fine in {told['city']}", _ON_A_DAY)
_today = Tool("today", "Today's date.", lambda: "2026-11-20")
_LONG = (
    "Reads the log of one station. " + "Each line has a time and a temperature. " * 40 + "The last sentence."
)
_log = Tool(
    "read_log", _LONG, lambda station: f"log of {station}", string_argument("station", "Its name. " * 60)
)
_TOOLS: Mapping[str, Sequence[Tool]] = {
    "none": (),
    "one": (weather,),
    "several": (weather, _today, _forecast),
    "optional": (_forecast,),
    "nested": (plan_trip,),
    "no parameters": (_today,),
    "long": (_log,),
}
_MEDIA: Mapping[str, Sequence[Part]] = {"none": (), "image": (Image(RED.data),), "document": (REPORT,)}
_ARGUMENTS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "get_weather": ({"city": "Paris"}, {"city": "Oslo"}),
    "today": ({},),
    "get_forecast": ({"city": "Rome"}, {"city": "Cairo", "day": "tomorrow", "hours": 6}),
    "plan_trip": (
        {"stops": [{"città": "Roma", "by": "train"}]},
        {"stops": [{"città": "Forlì", "by": "bus"}]},
    ),
    "read_log": ({"station": "North"}, {"station": "South, " * 200 + "and North"}),
}

_CUT_AT = 100  # bytes of an answer that arrive before its caller leaves

_EVENTS: Mapping[str, Callable[[Answer], Sequence[Step]]] = {
    "none": lambda last: (last,),
    "restored": lambda last: (last,),
    "rate limit": lambda last: (Failure("rate-limit"), last),
    "error": lambda _: (Failure("server-error"),),
    "cut": lambda last: (Cut(last),),
    "length": lambda last: (replace(last, stop="length"),),
    "cancelled": lambda last: (Delivery(last, slices=(_CUT_AT,), after=_CUT_AT, ending="stall"),),
}
