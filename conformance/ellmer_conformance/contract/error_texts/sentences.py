"""What an error text says: the strings of its body, their sentences, and the words of a sentence."""

from __future__ import annotations

import json
import re
from ast import literal_eval
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache, partial
from typing import NamedTuple

__all__ = [
    "ESCAPED",
    "FUNCTION_WORDS",
    "PASSED_ON",
    "WORD",
    "Said",
    "Words",
    "is_sentence",
    "messages_in",
    "said",
    "sentences",
    "texts_in",
    "words",
]

_SENTENCE = 4  # words that a sentence must have
_LONGEST = 20_000  # characters that are read as what Python prints
#: What Bedrock puts before an error of the model's provider. It says nothing of the error.
PASSED_ON = re.compile(r"The model returned the following errors:? ?")
#: What Bedrock puts around an error of any kind.
_AROUND_ANY = re.compile(r"Malformed input request:? |,? please reformat your input and try again\b")
#: Words that any sentence may have.
FUNCTION_WORDS = frozenset(
    [
        "a",
        "an",
        "any",
        "are",
        "as",
        "at",
        "be",
        "been",
        "by",
        "can",
        "cannot",
        "for",
        "from",
        "has",
        "have",
        "if",
        "in",
        "is",
        "it",
        "its",
        "must",
        "no",
        "not",
        "of",
        "on",
        "or",
        "so",
        "than",
        "that",
        "the",
        "this",
        "to",
        "was",
        "were",
        "will",
        "with",
        "you",
        "your",
    ]
)
_FAULT = re.compile(
    r"""['"]type['"]: ?['"](\w+)['"],\s*(?:['"]msg['"]: ?(?:"[^"]*"|'[^']*'),\s*)?['"]loc['"]: ?[\[(]([^\[\]()]*)(?:[\])]|$)"""
    r"""(?:,\s*['"]msg['"]: ?(?:"([^"]*)"|'([^']*)'))?"""
)
#: A message in JSON or in what Python prints, in a body that is not whole. A quotation mark in it that nobody escaped does not end it.
_MESSAGE = re.compile(
    r"""['"](?:message|errorMessage|error_message|error|detail|msg)['"]: ?"""
    r"""(?:"([^"{}](?:[^"{}]|"(?!\s*(?:[,:}\])]|$)))+)"?|'([^'{}]{8,})'?)"""
)
#: A number in a JSON pointer, and the keyword of a schema before what its validator says.
_INDEX, _KEYWORD = (
    re.compile(r"/(\d+)(?=/|$)"),
    re.compile(r"^(?:type|required|enum|[a-z]+Properties|[a-z]+Of): "),
)
_PART_OF_PLACE = re.compile(r"\w+")
#: What stands before a body and says no more than its status: "Error: 400", "API Error: 400", "Error code: 400 -".
_LABEL = re.compile(r"[\w. ]{0,40}[:(]? ?[45]\d\d\)?:?(?: -)?\s*")
#: What pydantic says of a kind of fault.
_FAULTS = {"extra_forbidden": "Extra inputs are not permitted", "missing": "Field required"}
ESCAPED = re.compile(r"(?<!\\)\\+(?=['\"])")
#: A path that a terminal has broken: `messages.39.con     tent.0`.
_BROKEN_PATH = re.compile(r"(\.\w++)\s{3,}+(\w++\.)")
#: A quotation mark or an angle bracket by its number, as JSON of a web page has it: `\\u0027`.
_NUMBERED = re.compile(r"(?<!\\)\\++u00(2[27]|3[ce]|60)", re.IGNORECASE)
_END = re.compile(r"(?<=[.!?:;])\s+|\n+|\s[·|•]\s|[：，。；！？（）]")
_LINK = re.compile(r"https?://")
#: Where to read more, as any refusal may say.
_MORE = re.compile(r"(?:\b\w+(?: \w+){0,2}: ?)?https?://[^\s\"'}]+")
_NAME = re.compile(r"[^\W_]+")
#: A place in a template, a quoted name or value, a number, a path. What is longer is no value: the quotation mark is one of something else.
_VALUE = re.compile(
    r"\{\w*\}|'[^']{0,80}'|\"[^\"]{0,80}\"|`[^`]{0,80}`|\b\w*\d[\w.-]*|(?<![\w$])[\w$]++(?>(?:[.\[][\w\].$\[]++)+)"
)
WORD = re.compile(r"[^\W\d_]+|\*")
#: A bit for each word of a known text. The words that two texts share are the bits that both have.
_BITS = {"*": 1}


class Words(NamedTuple):
    """The words of a text in their order, how many different ones they are, and the bits of those that known texts have."""

    all: list[str]
    different: int
    bits: int


class Said(NamedTuple):
    """What a text says: its words, its words with those in names, and the bits of those of them that tell something."""

    text: str
    words: Words
    named: Words
    telling: int


def said(text: str, *, known: bool = False) -> Said:
    """Returns what a text says. The words of a known text get bits, by which they are found in others."""
    told = _MORE.sub(" ", _AROUND_ANY.sub(" ", PASSED_ON.sub(" ", text)))
    plain, tokens = words(told), _tokens(told)
    if known:
        for word in (*plain, *tokens):
            _BITS.setdefault(word, 1 << len(_BITS))
        return Said(text, _known_words(*plain), _known_words(*tokens), _bits({*tokens} - FUNCTION_WORDS))
    return Said(text, _words(plain), _words(tokens), _bits({*tokens} - FUNCTION_WORDS))


def _words(all: list[str]) -> Words:
    each = {*all}
    return Words(all, len(each), _bits(each))


@cache
def _known_words(*all: str) -> Words:
    """Returns the words of known texts. Texts that differ in names and numbers only have the same ones."""
    return _words([*all])


def _bits(words: Iterable[str]) -> int:
    found = 0
    for word in words:
        found |= _BITS.get(word, 0)
    return found


def sentences(text: str) -> list[str]:
    """Returns the sentences of a text that are long enough to be recognized, if it has several."""
    parts = [
        each for each in _END.split(text) if not _LINK.search(each)
    ]  # any refusal may say where to read more
    parts = [part for part in parts if is_sentence(words(part))]
    return parts if parts != [text] else []


def is_sentence(words: Iterable[str]) -> bool:
    """Tells whether there are enough words beside names for a sentence."""
    return sum(word != "*" for word in words) >= _SENTENCE


def texts_in(text: str) -> list[str]:
    """Returns the strings in an error body, and in those that its strings quote. A text around a body comes last, as that of a
    gateway or a client does, and a text without a body is returned alone.
    """
    value = _object_in(text)
    found = _found_in(value, text)
    inner = [each for string in found for each in texts_in(string)]
    is_whole = text.strip()[:1] in {"{", "["} or _LABEL.fullmatch(text.strip().partition("{")[0])
    around = text if value is None else _around(text)
    return [*inner, *([] if is_whole and found else [_unescaped(around)])]


def _unescaped(text: str) -> str:
    """Returns a text, perhaps a part of JSON, with its quotation marks as they are, and its paths whole."""
    whole = _BROKEN_PATH.sub(r"\1\2", text)
    return ESCAPED.sub("", _NUMBERED.sub(lambda found: chr(int(found[1], 16)), whole))


def messages_in(text: str) -> list[str]:
    """Returns the strings in an error body, and in those that its strings quote, without the text around them."""
    return [each for string in _found_in(_object_in(text), text) for each in texts_in(string)]


def _found_in(value: object, text: str) -> list[str]:
    return [each for each in _strings(value) if " " in each] if value is not None else _faults_in(text)


def _around(text: str) -> str:
    """Returns a text without the body in it, whose keys are no words of the error."""
    return text[: text.find("{")] + text[text.rfind("}") + 1 :]


def _faults_in(text: str) -> list[str]:
    """Returns what a body that was cut short says: the faults that a validator lists, with their places, or else its messages."""
    plain = _unescaped(text)
    faults = [
        f"{'.'.join(_PART_OF_PLACE.findall(place))}: {said}"
        for kind, place, *told in _FAULT.findall(plain)
        if (said := _FAULTS.get(kind) or "".join(told))
    ]
    return faults or [told for found in _MESSAGE.findall(plain) for told in found if " " in told]


def _object_in(text: str) -> object:
    """Returns the value in JSON that a text is or has, or what Python prints of one. It is `None` if there is none."""
    start, end = text.find("{"), text.rfind("}") + 1
    inside = text[start:end] if 0 <= start < end else ""
    lenient = partial(json.loads, strict=False)  # a terminal breaks lines within strings
    for told, read in ((text, lenient), (inside, lenient), (inside[:_LONGEST], literal_eval)):
        with suppress(ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            return read(told) if told else None
    return None


def _strings(value: object, levels: int = 100) -> Iterator[str]:
    match value:
        case _ if not levels:  # no error says anything so deep
            pass
        case {"loc": [*names], "msg": str(said)}:
            yield f"{'.'.join(map(str, names))}: {said}"
        case {"message": str(said), "param": str(place)} if place[:1] == "/":
            path = _INDEX.sub(r"[\1]", place[1:]).replace("/", ".")
            yield f"{path}: {_KEYWORD.sub('', said)}"
        case str():
            yield value
        case dict():
            for each in value.values():
                yield from _strings(each, levels - 1)
        case list():
            for each in value:
                yield from _strings(each, levels - 1)
        case _:
            pass


def words(text: str) -> list[str]:
    """Returns the words of a text in lower case. A name, path or number becomes `*`."""
    return WORD.findall(_VALUE.sub(" * ", text).lower())


def _tokens(text: str) -> list[str]:
    """Returns the words of a text in lower case, with those in names."""
    return _NAME.findall(text.lower())
