"""Reads dictionaries as programs and logs write them: JSON with comments, Python's `repr` and calls, objects of JavaScript,
hashes of Ruby, arrays of PHP, maps of Go, tables of PowerShell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

__all__ = ["dictionaries", "literal", "strings"]

Json = dict[str, Any]
_MOST = 400  # braces that are tried
_DEEPEST = 120
_DECODER = json.JSONDecoder()

_SPACE = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/|#[^\n]*)*", re.DOTALL)
_JOINED = re.compile(rf"{_SPACE.pattern}(?:[+.]{_SPACE.pattern})?", re.DOTALL)
_STRING = re.compile(
    r"(?P<prefix>[bBrRuUfF]{0,2})(?P<quote>\"\"\"|'''|[\"'`])(?P<text>(?:[^\\]|\\.)*?)(?P=quote)", re.DOTALL
)
_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?:[fFmMdDlL]\b)?")
_NAME = re.compile(r"[A-Za-z_$][\w$.]*")
_KEYWORD = re.compile(r"([A-Za-z_]\w*)\s*=(?!=)\s*")
#: Where something may begin: a dictionary, the keywords of a call in Python, a list of messages, an array of PHP or Swift.
_TABLE = r"(?=\s*(?:'\w+'|\"\w+\")\s*(?:=>|:|->|to\b))"
_BEGINS = re.compile(
    rf"\{{|\(\s*(?=[A-Za-z_]\w*\s*=)|\bmessages\s*=\s*(?=\[)|\[{_TABLE}|\b(?:array|Dict|Map|mapOf)(?=\({_TABLE})"
)
#: What stands between a key and its value: in JSON, in Ruby and PHP, in PowerShell, in Scala, in Kotlin.
_GIVES = re.compile(r":|=>|->|=(?!=)|to\b")
#: A bracket after what says its type: `@{`, `[ordered]@{`, `%{`, `map[string]any{`, `[]string{`, `new object[] {`.
_BRACKET = re.compile(
    r"(?:new\b[\w<>\[\], ]{0,80}(?:\(\))?\s{0,40}(?=\{)|\[\w{1,20}\]@|[@%]|(?:\[\])?map\[\w{1,20}\][\w.*]{1,40}(?:\{\})?(?=\{)|\[\][\w.]{1,40}(?=\{))?([{\[(])"
)
#: Calls that make a list or a dictionary: in PHP, R, Python, Julia, Kotlin, Scala and Java.
_MAKERS = re.compile(
    r"(?:array|list|dict|Dict|Map|mapOf|mutableMapOf|List|listOf|arrayOf|List\.of|Map\.of)(?=\()"
)
_KEYED = re.compile(rf"{_TABLE}|(?=\s*[A-Za-z_]\w*\s*=)")
_SPREAD = re.compile(r"(\.\.\.|\*{1,2})[A-Za-z_][\w.]{0,80}")  # what another variable has is not known
_INDEXED = re.compile(r"\[\"(\w{1,60})\"\]")
_LOOSE = re.compile(r"\s*[;\n]\s*")
#: What TypeScript says about the type of a value.
_TYPED = re.compile(r"(?:as|satisfies)\s+[\w.<>\[\]]{1,80}")
_ASSIGNED = re.compile(r"(?<![\w.])\$?([A-Za-z_]\w*)(?::[^=\n]{0,60})?[ \t]*=[ \t]*(?=@?[\[{(]|[\"'`])")
#: Where a program adds to a list: `messages.append({`, `messages += [`.
_ADDS = re.compile(
    r"\b(?P<name>[A-Za-z_]\w*)(?:\s*\+=\s*|\.(?:append|push|extend|add)\(\s*)(?=[\[{@]|[A-Za-z_.]+\()"
)
#: Keywords of a call whose value may be a variable.
_NAMED = {"messages", "tools", "input", "contents", "system", "model", "instructions"}
#: What a log has in place of an object: `<openai.Omit object at 0x7f>`, `[Array]`.
_PRINTED = re.compile(r"<[^<>]*>|\[(?:Array|Object|Function[^\]]*|Circular[^\]]*)\]")
_KNOWN = {"true": True, "True": True, "$true": True, "false": False, "False": False, "$false": False}
_WRITERS = {"JSON.stringify", "json.dumps"}
#: The classes of Google's SDK whose fields are those of the body, and the functions that make a part of one field.
_SENT = re.compile(
    r"(?:[\w.]+\.)?(?:Content|Part|FunctionCall|FunctionResponse|FunctionDeclaration|Tool|ToolConfig|Blob|FileData|Schema"
    r"|FunctionCallingConfig|GenerateContentConfig|ThinkingConfig|Part\.from_(?P<field>text|function_call|function_response))"
)
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
        if isinstance(value, list):  # braces in braces that are no dictionary
            end = 0
        elif value:
            yield begin.start(), end, value
        begin = _BEGINS.search(text, end or begin.end())


def strings(text: str) -> Iterator[str]:
    """Yields the strings of a program that begin like JSON, such as `"{\\"model\\": …}"`, also of several parts with `+`."""
    for begin in islice(re.finditer(r"[\"'`](?=\s?\{)", text), _MOST):
        if match := _STRING.match(text, begin.start()):
            yield _strings(text, match)[0]


def literal(text: str) -> Any:
    """Returns the value that a text is, such as Python's `repr` of a list, or `None`."""
    try:
        value, end = _value(text.strip(), 0, 0, set())
    except (ValueError, RecursionError):
        return None
    return value if end == len(text.strip()) else None


def _beginning(text: str, begin: re.Match[str], failed: set[int]) -> tuple[Json, int]:
    """Returns the dictionary that begins there and its end, or an empty one and 0."""
    try:
        if begin[0] == "{":
            return _strict(text, begin.start()) or _value(text, begin.start(), 0, failed)
        if begin[0].startswith("("):
            return _keywords(text, begin.end(), 0, failed)
        if begin[0] == "[":
            return _table(text, begin.end(), 1, failed)
        if text.startswith("(", begin.end()):
            return _entries(text, begin.end() + 1, ")", 1, failed)
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


def _keywords(text: str, at: int, depth: int, failed: set[int]) -> tuple[Json, int]:
    """Returns the keywords of a call and the place after it."""
    found: Json = {}
    while not text.startswith(")", at := _after_space(text, at)):
        if not (keyword := _KEYWORD.match(text, at)):
            raise ValueError("no keyword")
        name, at = keyword[1], keyword.end()
        found[name], end = _value(text, at, depth + 1, failed)
        if found[name] is None and depth == 0 and name in _NAMED:
            found[name] = _variable(text, at)
        if isinstance(found[name], list):
            found[name], end = _with_others(text, found[name], end, failed)
        at = _after_comma(text, end, ")")
    return found, at + 1


def _with_others(text: str, first: list[Any], at: int, failed: set[int]) -> tuple[list[Any], int]:
    """Returns a list with those that `+` adds to it, and the place after them."""
    while text.startswith("+", after := _after_space(text, at)):
        begin = _after_space(text, after + 1)
        value, at = _value(text, begin, 1, failed)
        value = _variable(text, begin) if value is None else value
        first = [*first, *(value if isinstance(value, list) else ())]
    return first, at


def _variable(text: str, at: int) -> Any:
    """Returns the value that the program gives a variable before its name stands there, or `None`."""
    name = _NAME.match(text, at)
    before = [place for place in _assignments(text).get(name[0], ()) if place < at] if name else []
    if not name or not before:
        return None
    try:
        value, end = _value(text, before[-1], 2, set())
        return [*value, *_added(text, name[0], end, at)] if isinstance(value, list) else value
    except ValueError:
        return None


def _added(text: str, name: str, begin: int, end: int) -> Iterator[Any]:
    """Yields what a program adds to a list between two places: with `append`, `push`, `extend` or `+=`. What cannot be read is
    `None`.
    """
    for match in islice(_ADDS.finditer(text, begin, end), _MOST):
        if match["name"] == name:
            value, _ = _value(text, match.end(), 2, set())
            yield from value if isinstance(value, list) else [value]


@lru_cache(maxsize=2)
def _assignments(text: str) -> dict[str, list[int]]:
    """Returns the places of the values that a program gives its variables, by their names."""
    found: dict[str, list[int]] = {}
    for match in _ASSIGNED.finditer(text):
        found.setdefault(match[1], []).append(match.end())
    return found


def _value(text: str, at: int, depth: int, failed: set[int]) -> tuple[Any, int]:
    """Returns the value at a place and the place after it. A value of unknown kind is `None`. The brackets that were open at an
    error are added to `failed`: they need not be tried again.
    """
    if depth > _DEEPEST:
        raise ValueError("too deep")
    if match := _PRINTED.match(text, at):
        return None, match.end()
    if bracket := _BRACKET.match(text, at):
        table = bracket[1] == "[" and _BEGINS.match(text, bracket.end() - 1)
        read = _object if bracket[1] == "{" else _table if table else _list
        return read(text, bracket.end(), depth + 1, failed)
    if match := _STRING.match(text, at):
        return _strings(text, match)
    if match := _NUMBER.match(text, at):
        return json.loads(match[1]), match.end()
    return _named(text, at, depth, failed)


def _object(text: str, at: int, depth: int, failed: set[int]) -> tuple[Any, int]:
    """Returns the entries up to the closing brace, and the place after it. Braces in braces are a list of Go, Lua or C#."""
    if text.startswith(("{", "new ", "new["), _after_space(text, at)):
        return _list(text, at, depth, failed)
    return _entries(text, at, "}", depth, failed)


def _table(text: str, at: int, depth: int, failed: set[int]) -> tuple[Json, int]:
    """Returns the entries of an array of PHP."""
    return _entries(text, at, "]", depth, failed)


def _entries(text: str, at: int, ends: str, depth: int, failed: set[int]) -> tuple[Json, int]:
    found: Json = {}
    brace = at - 1
    failed.add(brace)
    while not text.startswith(ends, at := _after_space(text, at)):
        if spread := _SPREAD.match(text, at):
            at = _after_comma(text, spread.end(), ends)
            continue
        begin = at
        name, at = _key(text, at)
        at = _after_space(text, at)
        if depth == 1 and text[at] in ",}" and name in _NAMED:  # JavaScript: `{ model, messages }`
            found[name] = _variable(text, begin)
        else:
            gives = _GIVES.match(text, at)
            if not gives:
                raise ValueError("no colon")
            found[name], at = _value(text, _after_space(text, gives.end()), depth, failed)
            loose = gives[0] == "=" and _LOOSE.match(text, at)  # PowerShell: a line each
            at = loose.end() if loose else at
            if loose:
                continue
        at = _after_comma(text, at, ends)
    failed.remove(brace)
    return found, at + 1


def _key(text: str, at: int) -> tuple[str, int]:
    """Returns the key at a place and the place after it."""
    if indexed := _INDEXED.match(text, at):  # C#: `["role"] = "user"`
        return indexed[1], indexed.end()
    if key := _STRING.match(text, at):
        return _strings(text, key)
    if key := _NAME.match(text, at + text.startswith(":", at)):  # Ruby: `:role=>`
        return key[0], key.end()
    raise ValueError("no key")


def _list(text: str, at: int, depth: int, failed: set[int]) -> tuple[list[Any], int]:
    found: list[Any] = []
    bracket = at - 1
    failed.add(bracket)
    while not text.startswith(("]", ")", "}"), at := _after_space(text, at)):
        if spread := _SPREAD.match(text, at):
            others = _variable(text, at + len(spread[1]))
            found += others if isinstance(others, list) else []
            at = _after_comma(text, spread.end(), "])}")
            continue
        if keyword := re.compile(r"\w+\s*=\s*").match(text, at):  # of a call, such as Timeout(connect=5.0)
            at = keyword.end()
        value, at = _value(text, at, depth, failed)
        found.append(value)
        at = _after_comma(text, at, "])}")
    failed.remove(bracket)
    return found, at + 1


def _named(text: str, at: int, depth: int, failed: set[int]) -> tuple[Any, int]:
    """Returns a constant, the value that a program writes as JSON (`JSON.stringify({…})`), or an object with a role or a type
    (`Message(role="user")`). It is `None` for other names and calls, such as `NOT_GIVEN` and `Timeout(5)`.
    """
    if maker := _MAKERS.match(text, at):
        begin = maker.end() + 1
        if _KEYED.match(text, begin):
            return _entries(text, begin, ")", depth + 1, failed)
        values, end = _list(text, begin, depth + 1, failed)
        return (dict(zip(values[::2], values[1::2], strict=False)) if maker[0] == "Map.of" else values), end
    if not (match := _NAME.match(text, at)):
        raise ValueError("no value")
    end = match.end()
    if text.startswith("(", end):
        if _BEGINS.match(text, end) and _KEYWORD.match(text, end + 1):
            object_, end = _keywords(text, end + 1, depth + 1, failed)
            return _made(match[0], object_), end
        given, end = _list(text, end + 1, depth + 1, failed)
        return given[0] if given and match[0] in _WRITERS else None, end
    return _KNOWN.get(match[0]), end


def _made(name: str, fields: Json) -> Json | None:
    """Returns the object that a call makes of its keywords, if it is one that is sent."""
    sent = _SENT.fullmatch(name)
    if sent and sent["field"] not in (None, "text"):
        return {sent["field"]: fields}
    return fields if sent or fields.keys() & {"role", "type"} else None


def _strings(text: str, match: re.Match[str]) -> tuple[str, int]:
    """Returns a string. Strings side by side are one, as in Python, and so are those with `+` or `.` between. A quotation mark
    that is doubled is one, as in PowerShell.
    """
    found, end = _unescaped(match), match.end()
    while following := _STRING.match(text, _JOINED.match(text, end).end()):  # type: ignore[union-attr] # it matches nothing, too
        doubled = found and following.start() == end and text[end] == text[end - 1]
        found, end = f"{found}{text[end] if doubled else ''}{_unescaped(following)}", following.end()
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
    if typed := _TYPED.match(text, at):
        at = _after_space(text, typed.end())
    if text[at] == ",":
        return at + 1
    if text[at] not in ends and not text.startswith(("@{", "[ordered]@{"), at):  # PowerShell: a line each
        raise ValueError("no comma")
    return at
