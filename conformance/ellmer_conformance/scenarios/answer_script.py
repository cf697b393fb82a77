"""The script of a server in a file: which answer each request gets, in neutral terms, for every wire format.

    answers:
      - when: {user: {contains: weather}, tool: get_weather}
        calls: [{name: get_weather, arguments: {city: Paris}}]
      - when: {result: get_weather}
        text: It is 21 °C in Paris.

The first entry that matches decides. The same fields in Python are those of `AnswerScript`; `answer_script.schema.json`
is their JSON Schema.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from ellmer_harness.recordings.untrusted_files import bounded_json, bounded_yaml

from ..files import file_text
from .answer import Answer, Call, Refuse, Run, Said, Say, Search, Show, Stop, Think, Usage
from .messages import Source
from .script import Delivery, Ending, Failure, FailureKind, ScriptError, Step

__all__ = [
    "AnswerEntry",
    "AnswerScript",
    "Condition",
    "Pace",
    "ScriptError",
    "TextMatch",
    "load",
    "script_of",
]


def _meant(word: str, known: Iterable[str]) -> str:
    """Returns what a wrong word may have meant, as the end of a sentence."""
    near = get_close_matches(word, list(known), 1)
    return f"; did you mean {near[0]!r}?" if near else ""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _names_its_fields(cls, value: Any) -> Any:
        extra = sorted(map(str, value.keys() - cls.model_fields.keys())) if isinstance(value, Mapping) else []
        if extra:
            raise ValueError(
                f"there is no field {extra[0]!r} here; the fields are {', '.join(cls.model_fields)}"
                + _meant(extra[0], cls.model_fields)
            )
        return value


class TextMatch(_Strict):
    """A condition for a text. Each field that is set must fit.

    Args:
        exact: The text must be equal to it.
        contains: The text must contain it, in capital or small letters.
        regex: The regular expression must be found in the text.

    Examples:
        >>> TextMatch(contains="weather").fits("The Weather?")
        True
    """

    exact: str | None = None
    contains: str | None = None
    regex: str | None = None

    @field_validator("regex")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        try:
            re.compile(value or "")
        except re.error as error:
            raise ValueError(f"{value!r} is not a regular expression: {error}") from error
        return value

    def fits(self, text: str) -> bool:
        """Tells whether a text fits.

        Args:
            text: The text.
        """
        return (
            self.exact in {None, text}
            and (self.contains is None or self.contains.lower() in text.lower())
            and (self.regex is None or re.search(self.regex, text) is not None)
        )


TextCondition = str | TextMatch


class Condition(_Strict):
    """The requests that an entry answers. Each field that is set must fit; an empty condition fits every request.

    Args:
        user: The user's last text. A string must be equal to it.
        model: The model's name.
        tool: Name of a tool that the request offers.
        result: Name of a tool whose result the request adds; `true` for a result of any tool, `false` for none.
        nth: Number of the request in its session, from 1. Refused requests do not count.
        header: Headers by lower-case name.
        session: The session: the name after the case in the base URL, or the header `x-session-id`.
        wire: The wire format.
        stream: Whether the request asks for a stream.

    Examples:
        >>> Condition(user="Hi").user
        'Hi'
    """

    user: TextCondition | None = None
    model: TextCondition | None = None
    tool: str | None = None
    result: str | bool | None = None
    nth: Annotated[int, Field(ge=1)] | None = None
    header: Mapping[str, TextCondition] = {}
    session: TextCondition | None = None
    wire: str | None = None
    stream: bool | None = None


class ScriptCall(_Strict):
    """A tool call.

    Args:
        name: Name of the tool.
        arguments: The arguments. A string is sent as it is, where the format has text there.
        id: Identifier of the call. Default: the server makes one.

    Examples:
        >>> ScriptCall(name="get_weather", arguments={"city": "Paris"}).name
        'get_weather'
    """

    name: str
    arguments: Mapping[str, Any] | str = {}
    id: str = ""


class ScriptSource(_Strict):
    """A source of the text; see `Source`.

    Args:
        url: Address of the source.
        title: Title of the source.
        quote: The words of the source.
        cited: The words of the text that come from it. Default: the whole text.

    Examples:
        >>> ScriptSource(url="https://example.com", title="Example").cited
        ''
    """

    url: str
    title: str = ""
    quote: str = ""
    cited: str = ""


class ScriptSearch(_Strict):
    """A web search that the provider runs itself.

    Args:
        query: The query.
        found: The pages that were found.

    Examples:
        >>> ScriptSearch(query="weather in Paris").found
        ()
    """

    query: str
    found: Sequence[ScriptSource] = ()


class ScriptCode(_Strict):
    """A program that the provider runs itself.

    Args:
        code: The program, in Python.
        output: What it wrote.

    Examples:
        >>> ScriptCode(code="print(1)", output="1").output
        '1'
    """

    code: str
    output: str = ""


class ScriptMedia(_Strict):
    """An image or a sound that the model made.

    Args:
        data: The bytes as base64.
        type: Media type. Default: `"image/png"`.
        words: The words of a sound, or the prompt of an image.

    Examples:
        >>> ScriptMedia(data="UklGRg==", type="audio/wav", words="Hello!").words
        'Hello!'
    """

    data: str
    type: Annotated[str, Field(pattern="^(image|audio)/")] = "image/png"
    words: str = ""

    @field_validator("data")
    @classmethod
    def _is_base64(cls, value: str) -> str:
        try:
            base64.b64decode(value, validate=True)
        except binascii.Error as error:
            raise ValueError(f"{value[:40]!r} is not base64: {error}") from error
        return value


class ScriptUsage(_Strict):
    """Token counts; see `Usage`.

    Args:
        input: Tokens of the request, including `cached`.
        output: Tokens of the answer, including `reasoning`.
        cached: Tokens of the request that were read from a cache.
        reasoning: Tokens of the reasoning.

    Examples:
        >>> ScriptUsage(input=9, output=7).cached
        0
    """

    input: int = 10
    output: int = 5
    cached: int = 0
    reasoning: int = 0


class ScriptFailure(_Strict):
    """An error of the provider: one of a kind in its own words, or a status with a sentence in the provider's form.

    Args:
        kind: The kind of failure. Each provider has its own status and words for it.
        status: The HTTP status. Default: 500.
        message: The sentence.
        type: The provider's name for the type of the error.
        code: The provider's code of the error.
        headers: Headers of the reply, such as `retry-after`.

    Examples:
        >>> ScriptFailure(status=429, headers={"retry-after": "2"}).status
        429
    """

    kind: FailureKind | None = None
    status: Annotated[int, Field(ge=400, le=599)] = 500
    message: str = "The script answers with this error."
    type: str = ""
    code: str | None = None
    headers: Mapping[str, str] = {}


class RawReply(_Strict):
    """A reply for one wire format, byte for byte.

    Args:
        status: The HTTP status. Default: 200.
        headers: The headers. Default: the content type of the body or the events.
        body: The body: text, or a value that is sent as JSON.
        events: The events of a stream: texts, or values that are sent as JSON in `data:` lines.

    Examples:
        >>> RawReply(body={"object": "list", "data": []}).status
        200
    """

    status: Annotated[int, Field(ge=200, le=599)] = 200
    headers: Mapping[str, str] = {}
    body: Any = None
    events: Sequence[Any] | None = None


class Pace(_Strict):
    """The time and the pieces of a reply.

    Args:
        first: Seconds before the first piece.
        each: Seconds before each further piece.
        slices: Sizes of the pieces in bytes; the last size repeats. Default: one event for each piece.
        after: Number of bytes of the body after which `ending` comes. Default: all of them.
        ending: `"end"` (default), or how the connection breaks: `"reset"`, `"half-close"`, `"stall"`.
        garbage: Whether bytes that are not of the format come before `ending`.

    Examples:
        >>> Pace(after=100, ending="reset").first
        0.0
    """

    first: Annotated[float, Field(ge=0, le=600)] = 0.0
    each: Annotated[float, Field(ge=0, le=600)] = 0.0
    slices: Sequence[Annotated[int, Field(ge=1)]] = ()
    after: Annotated[int, Field(ge=0)] | None = None
    ending: Ending = "end"
    garbage: bool = False


_ANSWERS = ("text", "thinking", "calls", "searches", "code", "media", "refusal", "choices")
_EMPTY = Condition()
_AT_ONCE = Pace()


class AnswerEntry(_Strict):
    """One answer of a script and the requests that get it.

    The fields from `text` to `choices` may stand together. Otherwise an entry has one of `error`, `raw`, `steps` and
    `ask_model`. A wire format that has no place for one of them answers with an error that says so.

    Args:
        when: The requests. Default: all.
        text: The text; several texts are the pieces of a stream.
        thinking: The reasoning.
        calls: The tool calls.
        citations: The sources of the text.
        searches: The web searches that the provider runs itself.
        code: The programs that the provider runs itself.
        media: The images and sounds that the model made.
        refusal: The words with which the model refuses to answer.
        choices: The further choices; each has the fields of an answer.
        usage: The token counts.
        finish: The stop reason. Default: `"tool"` with calls, else `"stop"`.
        error: An error.
        raw: The bytes of a reply.
        steps: Entries that answer one request each, in order; the last one repeats. Their `when` is not used.
        ask_model: Whether the server's own model answers.
        pace: Time and pieces.
        times: Number of requests that the entry answers at most. Default: no limit.
        probability: How often it answers a request that fits, from 0 to 1. Default: always.
        seed: The seed of the probability. Default: 0.

    Examples:
        >>> AnswerEntry(text="Hello!").answer().text
        'Hello!'
    """

    when: Condition = _EMPTY
    text: str | Sequence[str] | None = None
    thinking: str | None = None
    calls: Sequence[ScriptCall] = ()
    citations: Sequence[ScriptSource] = ()
    searches: Sequence[ScriptSearch] = ()
    code: Sequence[ScriptCode] = ()
    media: Sequence[ScriptMedia] = ()
    refusal: str | None = None
    choices: Sequence[AnswerEntry] = ()
    usage: ScriptUsage | None = None
    finish: Stop | None = None
    error: ScriptFailure | None = None
    raw: RawReply | None = None
    steps: Sequence[AnswerEntry] = ()
    ask_model: bool = False
    pace: Pace = _AT_ONCE
    times: Annotated[int, Field(ge=1)] | None = None
    probability: Annotated[float, Field(ge=0, le=1)] = 1.0
    seed: int = 0

    @model_validator(mode="after")
    def _has_one_answer(self) -> AnswerEntry:
        answers = (
            any(getattr(self, name) for name in _ANSWERS) or self.text is not None or self.finish is not None
        )
        self._check_citations()
        found = [answers, self.error is not None, self.raw is not None, bool(self.steps), self.ask_model]
        if sum(found) != 1:
            raise ValueError(
                "an entry needs one kind of answer: content (such as text, thinking or calls), error, raw, steps, or ask_model: true"
            )
        return self

    def _check_citations(self) -> None:
        """Raises ValueError if a citation is of words that are not in the text."""
        text = self.text if isinstance(self.text, str) else "".join(self.text or ())
        for source in self.citations:
            if not text or source.cited not in text:
                raise ValueError(f"the cited words {source.cited!r} are not in the text {text[:80]!r}")

    def answer(self) -> Answer:
        """Returns the answer of the fields from `text` to `choices`. Searches and programs come before the text."""
        return self._answer

    @cached_property
    def _answer(self) -> Answer:
        pieces = (self.text,) if isinstance(self.text, str) else tuple(self.text or ())
        parts: list[Said] = [Think(self.thinking)] if self.thinking else []
        parts += [Search(each.query, tuple(map(_source, each.found))) for each in self.searches]
        parts += [Run(each.code, each.output) for each in self.code]
        if pieces:
            sources = tuple(map(_source, self.citations))
            parts.append(Say("".join(pieces), pieces if len(pieces) > 1 else (), sources))
        parts += [Refuse(self.refusal)] if self.refusal else []
        parts += [Show(base64.b64decode(each.data), each.type, each.words) for each in self.media]
        parts += map(_call, self.calls)
        usage = Usage(**self.usage.model_dump()) if self.usage else Usage()
        others = tuple(choice.answer() for choice in self.choices)
        return Answer(tuple(parts), self.finish, usage, others=others)

    def step(self) -> Step:
        """Returns the answer as a step of a script. An error with its own status, and a raw reply, are not steps."""
        step = Failure(self.error.kind) if self.error and self.error.kind else self.answer()
        pace = self.pace
        plain = not (pace.each or pace.slices or pace.ending != "end" or pace.after is not None)
        return step if plain else Delivery(step, tuple(pace.slices), pace.each, pace.after, pace.ending)


def _source(source: ScriptSource) -> Source:
    return Source(source.url, source.title, source.quote, source.cited)


def _call(call: ScriptCall) -> Call:
    if isinstance(call.arguments, str):
        return Call(call.name, {}, call.id, call.arguments)
    return Call(call.name, dict(call.arguments), call.id)


class AnswerScript(_Strict):
    """The script of a server.

    Args:
        answers: The entries. The first one that fits a request answers it.
        strict: Whether a request that no entry fits is an error. Default: the server's own model answers it.

    Examples:
        >>> AnswerScript(answers=[AnswerEntry(text="Hello!")]).strict
        False
    """

    answers: Sequence[AnswerEntry]
    strict: bool = False


def script_of(value: Any, place: str = "the script") -> AnswerScript:
    """Returns a script from its parsed form: an object with `answers`, or the list of them.

    Args:
        value: The object, the list, or an `AnswerScript`.
        place: Name of the script in error messages.

    Raises:
        ScriptError: It is not valid.

    Examples:
        >>> script_of([{"text": "Hello!"}]).answers[0].text
        'Hello!'
    """
    if isinstance(value, AnswerScript):
        return value
    try:
        return AnswerScript.model_validate({"answers": value} if isinstance(value, list) else value)
    except ValidationError as error:
        faults: dict[str, str] = {}
        for each in error.errors():
            faults.setdefault(_place(each), _sentence(each))
        told = [f"{where}: {sentence}" for where, sentence in faults.items()][:5]
        raise ScriptError(f"{place} is not valid: {'; '.join(told)}") from error


def _place(fault: Any) -> str:
    """Returns the place of a fault in the script, without the names of the types that were tried there."""
    parts = [part for part in fault["loc"] if isinstance(part, int) or re.fullmatch("[a-z_]+", part)]
    types = {"str", "int", "float", "bool", "list"} if fault["type"] != "missing" else set()
    return ".".join(str(part) for part in parts if part not in types) or "script"


def _sentence(fault: Any) -> str:
    """Returns what is wrong at one place, with the value that was found there."""
    sentence, found = str(fault["msg"]).removeprefix("Value error, "), fault["input"]
    if fault["type"] == "literal_error" and isinstance(found, str):
        known = re.findall("'([^']+)'", str(fault["ctx"]["expected"]))
        return f"{sentence}, and not {found!r}{_meant(found, known)}"
    if fault["type"] == "string_type" and isinstance(found, bool):
        return f"{sentence}; YAML reads yes, no, on and off as true and false if they are not in quotes"
    return sentence


def load(path: Path) -> AnswerScript:
    """Reads a script.

    Args:
        path: A file of YAML or JSON.

    Raises:
        ScriptError: It cannot be read or is not valid.
    """
    try:
        text = file_text(path)
        value = (
            json.loads(bounded_json(text)) if path.suffix == ".json" else yaml.safe_load(bounded_yaml(text))
        )
    except OSError as error:
        raise ScriptError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise ScriptError(f"{path} is neither YAML nor JSON: {error}") from error
    return script_of(value, str(path))


def write_schema() -> None:
    """Writes the JSON Schema of a script beside this module: `python -m ellmer_conformance.scenarios.answer_script`."""
    text = json.dumps(AnswerScript.model_json_schema(), indent=2) + "\n"
    Path(__file__).with_suffix(".schema.json").write_text(text, "utf-8")


if __name__ == "__main__":
    write_schema()
