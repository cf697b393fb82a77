"""Reads dictionaries as programs and logs print them: JSON with comments, Python's `repr`, JavaScript's objects."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

__all__ = ["dictionaries"]

Json = dict[str, Any]
_MOST = 400  # braces that are tried
_DEEPEST = 120
_DECODER = json.JSONDecoder()

_SPACE = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/|#[^\n]*)*", re.DOTALL)
_STRING = re.compile(
    r"(?P<prefix>[bBrRuUfF]{0,2})(?P<quote>\"\"\"|'''|[\"'`])(?P<text>(?:[^\\]|\\.)*?)(?P=quote)", re.DOTALL
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_NAME = re.compile(r"[A-Za-z_$][\w$.]*")
_KEYWORD = re.compile(r"([A-Za-z_]\w*)\s*=(?!=)\s*")
#: Where something may begin: a dictionary, the keywords of a call in Python, a list of messages.
_BEGINS = re.compile(r"\{|\(\s*(?=[A-Za-z_]\w*\s*=)|\bmessages\s*=\s*(?=\[)")
#: What a log has in place of an object: `<openai.Omit object at 0x7f>`, `[Array]`.
_PRINTED = re.compile(r"<[^<>]*>|\[(?:Array|Object|Function[^\]]*|Circular[^\]]*)\]")
_KNOWN = {"true": True, "True": True, "false": False, "False": False}
_WRITERS = {"JSON.stringify", "json.dumps"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0", "\n": ""}
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)


def dictionaries(text: str) -> Iterator[tuple[int, int, Json]]:
    """Yields the outermost dictionaries of a text, each with its first place and the place after it. The keywords of a call
    in Python are one, and so is a list that is named `messages`.
    """
    failed = set[int]()
    begin = _BEGINS.search(text)
    for _ in range(_MOST):
        while begin and begin.start() in failed:
            begin = _BEGINS.search(text, begin.end())
        if not begin:
            return
        value, end = _beginning(text, begin, failed)
        if value:
            yield begin.start(), end, value
        begin = _BEGINS.search(text, end or begin.end())


def _beginning(text: str, begin: re.Match[str], failed: set[int]) -> tuple[Json, int]:
    """Returns the dictionary that begins there and its end, or an empty one and 0."""
    try:
        if begin[0] == "{":
            return _strict(text, begin.start()) or _value(text, begin.start(), 0, failed)
        if begin[0].startswith("("):
            return _keywords(text, begin.end(), failed)
        messages, end = _list(text, begin.end() + 1, 1, failed)
    except ValueError:
        return {}, 0
    return {"messages": messages}, end


def _strict(text: str, at: int) -> tuple[Json, int] | None:
    """Returns the JSON object at a place and its end, or `None` if it is no strict JSON."""
    try:
        return _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None


def _keywords(text: str, at: int, failed: set[int]) -> tuple[Json, int]:
    """Returns the keywords of a call and the place after it."""
    found: Json = {}
    while not text.startswith(")", at := _after_space(text, at)):
        if not (keyword := _KEYWORD.match(text, at)):
            raise ValueError("no keyword")
        found[keyword[1]], at = _value(text, keyword.end(), 1, failed)
        at = _after_comma(text, at, ")")
    return found, at + 1


def _value(text: str, at: int, depth: int, failed: set[int]) -> tuple[Any, int]:
    """Returns the value at a place and the place after it. A value of unknown kind is `None`. The brackets that were open at an
    error are added to `failed`: they need not be tried again.
    """
    if depth > _DEEPEST:
        raise ValueError("too deep")
    if match := _PRINTED.match(text, at):
        return None, match.end()
    if text.startswith("{", at):
        return _object(text, at + 1, depth + 1, failed)
    if text.startswith(("[", "("), at):
        return _list(text, at + 1, depth + 1, failed)
    if match := _STRING.match(text, at):
        return _strings(text, match)
    if match := _NUMBER.match(text, at):
        return json.loads(match[0]), match.end()
    return _named(text, at, depth, failed)


def _object(text: str, at: int, depth: int, failed: set[int]) -> tuple[Json, int]:
    found: Json = {}
    brace = at - 1
    failed.add(brace)
    while not text.startswith("}", at := _after_space(text, at)):
        if key := _STRING.match(text, at):
            name, at = _strings(text, key)
        elif key := _NAME.match(text, at):
            name, at = key[0], key.end()
        else:
            raise ValueError("no key")
        at = _after_space(text, at)
        if not text.startswith(":", at):
            raise ValueError("no colon")
        found[name], at = _value(text, _after_space(text, at + 1), depth, failed)
        at = _after_comma(text, at, "}")
    failed.remove(brace)
    return found, at + 1


def _list(text: str, at: int, depth: int, failed: set[int]) -> tuple[list[Any], int]:
    found: list[Any] = []
    bracket = at - 1
    failed.add(bracket)
    while not text.startswith(("]", ")"), at := _after_space(text, at)):
        if keyword := re.compile(r"\w+\s*=\s*").match(text, at):  # of a call, such as Timeout(connect=5.0)
            at = keyword.end()
        value, at = _value(text, at, depth, failed)
        found.append(value)
        at = _after_comma(text, at, "])")
    failed.remove(bracket)
    return found, at + 1


def _named(text: str, at: int, depth: int, failed: set[int]) -> tuple[Any, int]:
    """Returns a constant, or the value that a program writes as JSON: `JSON.stringify({…})`. It is `None` for other names and
    calls, such as `NOT_GIVEN` and `Timeout(5)`.
    """
    if not (match := _NAME.match(text, at)):
        raise ValueError("no value")
    end = match.end()
    if text.startswith("(", end):
        given, end = _list(text, end + 1, depth + 1, failed)
        return given[0] if given and match[0] in _WRITERS else None, end
    return _KNOWN.get(match[0]), end


def _strings(text: str, match: re.Match[str]) -> tuple[str, int]:
    """Returns a string. Strings side by side are one, as in Python, and so are those with `+` between."""
    found, end = _unescaped(match), match.end()
    while following := _STRING.match(text, _SPACE.match(text, end).end()):  # type: ignore[union-attr] # it matches nothing, too
        found, end = found + _unescaped(following), following.end()
    return found, end


def _unescaped(match: re.Match[str]) -> str:
    if "r" in match["prefix"].lower():
        return match["text"]
    joined = _ESCAPED.sub(_escape, match["text"])
    return joined.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _escape(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    return chr(int(code, 16)) if code else _ESCAPES.get(match[4], match[4])


def _after_space(text: str, at: int) -> int:
    end = _SPACE.match(text, at).end()  # type: ignore[union-attr] # it matches nothing, too
    if end >= len(text):
        raise ValueError("no end")
    return end


def _after_comma(text: str, at: int, ends: str) -> int:
    at = _after_space(text, at)
    if text[at] == ",":
        return at + 1
    if text[at] not in ends:
        raise ValueError("no comma")
    return at
