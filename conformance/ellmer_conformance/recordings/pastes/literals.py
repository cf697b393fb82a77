"""Reads dictionaries as programs and logs write them: JSON with comments, Python's `repr` and calls, objects of JavaScript,
hashes of Ruby, arrays of PHP, maps of Go, tables of PowerShell. A text in marks stands for what only the program knows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

from .unknown import is_unknown, stands_for

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
_KEYWORD = re.compile(r"([A-Za-z_]\w*)\s*=(?![=>])\s*")
#: Where something may begin: a dictionary, the keywords of a call in Python, a list of messages, an array of PHP or Swift.
_TABLE = r"(?=\s*(?:'\w+'|\"\w+\")\s*(?:=>|:|->|to\b))"
_BEGINS = re.compile(
    rf"\{{|\(\s*(?=[A-Za-z_]\w*\s*=(?!>))|\bMap\.of(?=\(\s*\"\w+\"\s*,)|\bmessages\s*=\s*(?=\[)|\[{_TABLE}|\b(?:array|Dict|Map|mapOf)(?=\({_TABLE})"
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
_SPREAD = re.compile(r"(\.\.\.|\*{1,2})[A-Za-z_][\w.]{0,80}")
_INDEXED = re.compile(r"\[\"(\w{1,60})\"\]")
_LOOSE = re.compile(r"\s*[;\n]\s*")
#: What TypeScript says about the type of a value.
_TYPED = re.compile(r"(?:as|satisfies)\s+[\w.<>\[\]]{1,80}")
_ASSIGNED = re.compile(r"(?<![\w.])\$?([A-Za-z_]\w*)(?::[^=\n]{0,60})?[ \t]*=[ \t]*(?=@?[\[{(]|[\"'`])")
#: Where a program adds to a list: `messages.append({`, `messages += [`.
_ADDS = re.compile(
    r"\b(?P<name>[A-Za-z_]\w*)(?:\s*\+=\s*|\.(?:append|push|extend|add)\(\s*)(?=[\[{@]|[A-Za-z_.]+\()"
)
#: Keywords of a call whose value is a list of messages.
_LISTED = {"messages", "contents", "input"}
#: Keywords of a call whose value may be a variable.
_NAMED = {"messages", "tools", "input", "contents", "system", "model", "instructions"}
#: What a log has in place of an object: `<openai.Omit object at 0x7f>`, `[Array]`.
_PRINTED = re.compile(r"<[^<>]*>|\[(?:Array|Object|Function[^\]]*|Circular[^\]]*)\]")
_KNOWN = {"true": True, "True": True, "$true": True, "false": False, "False": False, "$false": False}
#: What stands for no value: in Python, JavaScript, Go, C, PowerShell, and in the SDKs.
_NOTHING = {
    "None",
    "null",
    "undefined",
    "nil",
    "NULL",
    "$null",
    "NOT_GIVEN",
    "not_given",
    "NotGiven",
    "omit",
    "Omit",
}
_WRITERS = {"JSON.stringify", "json.dumps"}
#: What an expression is made of, as far as its end is concerned.
_STEP = re.compile(r"//[^\n]*|#[^\n]*|[^\"'`()\[\]{},;\n/#]+|[()\[\]{},;\n/]")
#: A string in an expression: not longer than this, because most quotation marks of a text without programs open none.
_QUOTED = re.compile(r"(\"\"\"|'''|[\"'`])(?:[^\\]|\\.){0,4000}?\1", re.DOTALL)
_ENDS = {",", ")", "]", "}", ";"}
#: A line that ends or begins with one of these goes on.
_OPERATORS = tuple("+-*/%.?:|&<>=")
_NO_OPERATOR = re.compile(r":|->|=(?![=>])|\.{3}|…")
#: A request in a function, which is no part of the expression.
_ASKS = re.compile(r"\b(?:messages|contents|input)[\"']?\s*[:=]")
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
        if begin[0] in ("{", "Map.of"):
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
    return ({"messages": messages}, end) if messages else ({}, 0)


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
        if spread := _SPREAD.match(text, at):
            at = _spread_of(text, spread, found, ")", failed)
            continue
        if not (keyword := _KEYWORD.match(text, at)):
            raise ValueError("no keyword")
        name, at = keyword[1], keyword.end()
        found[name], end = _value(text, at, depth + 1, failed)
        if is_unknown(found[name]) and depth == 0 and name in _NAMED:
            found[name] = _variable(text, at)
        if isinstance(found[name], list) or name in _LISTED:
            found[name], end = _with_others(text, found[name], end, failed)
        found[name], end = _whole(text, at, found[name], end, failed)
        at = _after_comma(text, end, ")")
    return found, at + 1


def _spread_of(text: str, spread: re.Match[str], found: Json, ends: str, failed: set[int]) -> int:
    """Adds a key for the unknown ones that another dictionary adds, and returns the place after them."""
    _, end = _whole(text, spread.start(), None, spread.end(), failed)
    found[stands_for(spread[0])] = stands_for(spread[0])
    return _after_comma(text, end, ends)


def _with_others(text: str, first: Any, at: int, failed: set[int]) -> tuple[Any, int]:
    """Returns a list with those that `+` adds to it, and the place after them."""
    while text.startswith("+", after := _after_space(text, at)):
        begin = _after_space(text, after + 1)
        value, at = _value(text, begin, 1, failed)
        value = _variable(text, begin) if is_unknown(value) else value
        first = [*_as_list(first), *_as_list(value)]
    return first, at


def _as_list(value: Any) -> list[Any]:
    """Returns a list, or one with what stands for others."""
    return value if isinstance(value, list) else [value] if is_unknown(value) else []


def _whole(text: str, begin: int, value: Any, at: int, failed: set[int]) -> tuple[Any, int]:
    """Returns the value that ends at a place, and that place. If an expression goes on there (`"Hello " + name`), what stands
    for it, and its end.
    """
    after = _after_space(text, at)
    ends_line = "\n" in text[at:after] and not text.startswith(_OPERATORS, after)
    if text[after] in ",;)]}@" or _TYPED.match(text, after) or ends_line:
        return value, at
    if _NO_OPERATOR.match(text, after):
        raise ValueError("no comma")
    end = _expression(text, after, failed)
    return stands_for(text[begin:end]), end


def _expression(text: str, at: int, failed: set[int]) -> int:
    """Returns the place after an expression: a comma, a closing bracket, or the end of a line that does not go on. At an error, the
    brackets that are open are added to `failed`.
    """
    opened, begin, mark = list[int](), at, ""
    while step := _QUOTED.match(text, at) or _STEP.match(text, at):
        mark = step[0]
        if not opened and (mark in _ENDS or (mark == "\n" and not _goes_on(text, at))):
            break
        if mark in ("(", "[", "{"):
            opened.append(at)
        elif mark in (")", "]", "}"):
            opened.pop()
        at = step.end()
    if not step or mark == ";" or _ASKS.search(text, begin, at):
        failed.update(opened)
        raise ValueError("no end of an expression, or a request in it")
    return at


def _goes_on(text: str, at: int) -> bool:
    """Tells whether an expression goes on after the end of a line."""
    return text[max(0, at - 9) : at].rstrip(" \t\r").endswith(_OPERATORS) or text.startswith(
        _OPERATORS, _after_space(text, at)
    )


def _variable(text: str, at: int) -> Any:
    """Returns the value that the program gives a variable before its name stands there, or what stands for it."""
    name = _NAME.match(text, at)
    before = [place for place in _assignments(text).get(name[0], ()) if place < at] if name else []
    if not name or not before:
        return stands_for(name[0]) if name else None
    try:
        value, end = _value(text, before[-1], 2, set())
        return [*value, *_added(text, name[0], end, at)] if isinstance(value, list) else value
    except ValueError:
        return stands_for(name[0])


def _added(text: str, name: str, begin: int, end: int) -> Iterator[Any]:
    """Yields what a program adds to a list between two places: with `append`, `push`, `extend` or `+=`."""
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
    """Returns the value at a place and the place after it. What the text does not show is `None`, or a text that stands for it.
    The brackets that were open at an error are added to `failed`: they need not be tried again.
    """
    if depth > _DEEPEST:
        raise ValueError("too deep")
    if match := _PRINTED.match(text, at):
        return None, match.end()
    if bracket := _BRACKET.match(text, at):
        table = bracket[1] == "[" and _BEGINS.match(text, bracket.end() - 1)
        read = _object if bracket[1] == "{" else _table if table else _list
        value, end = read(text, bracket.end(), depth + 1, failed)
        grouped = bracket[0] == "(" and len(value) == 1 and text[at:end].rstrip(" \n\r\t)")[-1:] != ","
        return value[0] if grouped and isinstance(value, list) else value, end
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
            at = _spread_of(text, spread, found, ends, failed)
            continue
        begin = at
        name, at = _key(text, at)
        at = _after_space(text, at)
        if text[at] in ",}" and _NAME.match(text, begin):  # JavaScript: `{ model, messages }`
            found[name] = _variable(text, begin) if depth == 1 and name in _NAMED else stands_for(name)
        else:
            gives = _GIVES.match(text, at)
            if not gives:
                raise ValueError("no colon")
            value, end = _value(text, begin := _after_space(text, gives.end()), depth, failed)
            loose = gives[0] == "=" and _LOOSE.match(text, end)  # PowerShell: a line each
            found[name], at = (value, loose.end()) if loose else _whole(text, begin, value, end, failed)
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
            others, at = _whole(text, at, others, spread.end(), failed)
            found += _as_list(others)
            at = _after_comma(text, at, "])}")
            continue
        if keyword := _KEYWORD.match(text, at):  # of a call, such as Timeout(connect=5.0)
            at = keyword.end()
        value, end = _value(text, at, depth, failed)
        value, at = _whole(text, at, value, end, failed)
        found.append(value)
        at = _after_comma(text, at, "])}")
    failed.remove(bracket)
    return found, at + 1


def _named(text: str, at: int, depth: int, failed: set[int]) -> tuple[Any, int]:
    """Returns a constant, the value that a program writes as JSON (`JSON.stringify({…})`), or an object with a role or a type
    (`Message(role="user")`). Other names and calls are unknown.
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
        return _written(given[0]) if given and match[0] in _WRITERS else _other(match[0]), end
    return _KNOWN[match[0]] if match[0] in _KNOWN else _other(match[0]), end


def _written(value: Any) -> str:
    """Returns the JSON of a value; what stands for one stands for its JSON, too."""
    return value if is_unknown(value) else json.dumps(value)


def _other(name: str) -> str | None:
    """Returns what stands for the value of a name or a call, or `None` if it is none."""
    return None if name.rpartition(".")[2] in _NOTHING else stands_for(name)


def _made(name: str, fields: Json) -> Any:
    """Returns the object that a call makes of its keywords, if it is one that is sent; else what stands for it."""
    sent = _SENT.fullmatch(name)
    if sent and sent["field"] not in (None, "text"):
        return {sent["field"]: fields}
    return fields if sent or fields.keys() & {"role", "type"} else _other(name)


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
