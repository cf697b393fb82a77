"""An answer of the model in neutral terms: texts, reasoning, tool calls, searches, media and refusals, with a stop reason
and token counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from .messages import Source

Stop = Literal["stop", "tool", "length", "filter", "pause", "sequence"]


@dataclass(frozen=True)
class Say:
    """A text of the answer.

    Args:
        text: The words.
        pieces: The parts in which a stream sends it, in order. Default: a few words at a time.
        sources: The sources of the text. Default: none.

    Examples:
        >>> Say("Hello!", pieces=("Hel", "lo!")).text
        'Hello!'
    """

    text: str
    pieces: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True)
class Think:
    """Reasoning of the model. In the formats that sign it, the server signs it and checks the signature that comes back.

    Args:
        text: The words.

    Examples:
        >>> Think("The user greets me.").text
        'The user greets me.'
    """

    text: str


@dataclass(frozen=True)
class Call:
    """A tool call.

    Args:
        name: Name of the tool.
        arguments: The arguments by name. Default: empty.
        id: Identifier of the call. Default: the server makes one, which depends on the case and the position.
        text: Text that is sent instead of the arguments' JSON, where the format has text there. It is for arguments
            that are malformed or cut. Default: `None`, the JSON of the arguments is sent.

    Examples:
        >>> Call("get_weather", {"city": "Paris"}).arguments
        {'city': 'Paris'}
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    text: str | None = None


@dataclass(frozen=True)
class Search:
    """A web search that the provider runs itself.

    Args:
        query: The query.
        found: The pages that were found. Default: none.
        ran: The part of the search that is in this answer: `"whole"` (default), `"pending"` (only the request, before a pause) or
            `"rest"` (only the results, after a pause).

    Examples:
        >>> Search("weather in Paris").ran
        'whole'
    """

    query: str
    found: tuple[Source, ...] = ()
    ran: Literal["whole", "pending", "rest"] = "whole"


@dataclass(frozen=True)
class Run:
    """A program that the provider runs itself.

    Args:
        code: The program, in Python.
        output: What it wrote. Default: `""`.

    Examples:
        >>> Run("print(6 * 7)", "42\\n").code
        'print(6 * 7)'
    """

    code: str
    output: str = ""


@dataclass(frozen=True)
class Show:
    """An image or a sound that the model made.

    Args:
        data: The bytes.
        type: Media type. Default: `"image/png"`.
        words: The words of a sound, or the prompt of an image. Default: `""`.

    Examples:
        >>> Show(b"RIFF", "audio/wav", "Hello!").words
        'Hello!'
    """

    data: bytes = field(repr=False)
    type: str = "image/png"
    words: str = ""


@dataclass(frozen=True)
class Refuse:
    """The words with which a model refuses to answer, in the formats that have a place for them.

    Args:
        text: The words.

    Examples:
        >>> Refuse("I cannot help with that.").text
        'I cannot help with that.'
    """

    text: str


@dataclass(frozen=True)
class Usage:
    """Token counts of an answer.

    Args:
        input: Tokens of the request, including `cached`. Default: 10.
        output: Tokens of the answer, including `reasoning`. Default: 5.
        cached: Tokens of the request that were read from a cache. Default: 0.
        reasoning: Tokens of the reasoning. Default: 0.
        cache_write: Tokens of the request that were written to a cache; a part of `input`. Default: 0.

    Examples:
        >>> Usage(input=9, output=7).cached
        0
    """

    input: int = 10
    output: int = 5
    cached: int = 0
    reasoning: int = 0
    cache_write: int = 0


#: A part of an answer.
Said = Say | Think | Call | Search | Run | Show | Refuse


@dataclass(frozen=True)
class Answer:
    """An answer of the model.

    Args:
        parts: What it consists of: `Say`, `Think`, `Call`, `Search`, `Run`, `Show`, `Refuse`.
        stop: The stop reason. Default: `"tool"` if the answer calls tools, else `"stop"`.
        usage: The token counts. Default: `Usage()`.
        stop_sequence: The sequence that ended the answer, if the stop reason is `"sequence"`; empty by default.
        others: The other choices, if the answer has several. They have neither choices nor token counts of their own.
            Default: none.

    Examples:
        >>> Answer((Say("Hello"), Say("!"))).text
        'Hello!'
        >>> Answer((Call("get_weather"),)).reason
        'tool'
    """

    parts: tuple[Said, ...]
    stop: Stop | None = None
    usage: Usage = Usage()
    stop_sequence: str = ""
    others: tuple[Answer, ...] = ()

    @property
    def text(self) -> str:
        """All text of the answer."""
        return "".join(part.text for part in self.parts if isinstance(part, Say))

    @property
    def thinking(self) -> str:
        """All reasoning of the answer."""
        return "".join(part.text for part in self.parts if isinstance(part, Think))

    @property
    def calls(self) -> Sequence[Call]:
        """The tool calls of the answer."""
        return tuple(part for part in self.parts if isinstance(part, Call))

    @property
    def refusal(self) -> str:
        """The words with which the model refuses, or an empty text."""
        return "".join(part.text for part in self.parts if isinstance(part, Refuse))

    @property
    def shown(self) -> Sequence[Show]:
        """The images and sounds of the answer."""
        return tuple(part for part in self.parts if isinstance(part, Show))

    @property
    def reason(self) -> Stop:
        """The stop reason."""
        return self.stop or ("tool" if self.calls else "stop")
