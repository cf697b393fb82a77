"""Reads commands as the shells read them: POSIX shells, fish, PowerShell and Windows' `cmd`.

A paste does not say its shell. So each is tried, the likely ones first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice

__all__ = ["assigned", "commands", "data_before", "here_document", "posix", "powershell_word"]

_NAMED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
_CURL = re.compile(r"(?<![\w./:@-])(?:curl(?P<exe>\.exe)?|wget)(?=[\s^`\\])")
_MOST = 20  # places where something may begin, each of which is read to its end
_HERE = re.compile(r"<<-?\s*(['\"]?)(\w+)\1[ \t]*\n(.*?)\n[ \t]*\2\b", re.DOTALL)


def commands(text: str) -> Iterator[list[str]]:
    """Yields the words of the first `curl` command in a text, as each shell reads them."""
    if not (match := _CURL.search(text)):
        return
    command = text[match.start() :].replace("\r\n", "\n")
    if here := _here(command):
        command = command[: here.start()] + command[here.end() :]
    for read in _likely(command, windows=bool(match["exe"])):
        try:
            yield read(command)
        except ValueError:  # a quotation without its end
            continue


def here_document(text: str) -> str:
    """Returns the text between `<<EOF` and `EOF`, or the word after `<<<`, or an empty string."""
    if word := re.search(r"<<<[ \t]*(?=['\"$])", text):
        return next(iter(posix(text[word.end() :])), "")
    return match[3] if (match := _here(text)) else ""


def assigned(text: str, word: str) -> str:
    """Returns the value that a script gives a variable, if the word is one (`$BODY`, `${BODY}`); else the word."""
    name = re.fullmatch(r"\$\{?(\w+)\}?", word)
    return _variables(text).get(name[1], word) if name else word


@lru_cache(maxsize=2)
def _variables(text: str) -> dict[str, str]:
    """Returns the values of a script's variables by name: `BODY='…'`, in fish `set -x BODY '…'`."""
    begins = islice(
        re.finditer(r"(?<![\w$?&])(?:set[ \t]+(?:-\w+[ \t]+)?(\w+)[ \t]+|(\w+)=)(?=['\"$])", text), _MOST
    )
    return {begin[1] or begin[2]: _first_word(text[begin.end() :]) for begin in begins}


def _first_word(text: str) -> str:
    """Returns the first word of a text as a shell reads it; empty if a quotation has no end."""
    try:
        return next(iter(posix(text)), "")
    except ValueError:
        return ""


def _here(text: str) -> re.Match[str] | None:
    begins = islice(re.finditer("<<", text), _MOST)
    return next((match for begin in begins if (match := _HERE.match(text, begin.start()))), None)


def data_before(text: str) -> str:
    """Returns the JSON that `echo`, `printf` or `jq -n` writes into the command after it, or an empty string."""
    pipe = re.search(r"\|\s*(?:curl|wget|https?|xhs?)\b", text)
    begins = islice(re.finditer(r"\b(?:echo|printf|jq)\b", text[: pipe.start()] if pipe else ""), _MOST)
    found = (posix(text[match.start() :]) for match in begins)
    return next((word for words in found for word in words if word.startswith(("{", "["))), "")


def _likely(command: str, *, windows: bool) -> list[Callable[[str], list[str]]]:
    if re.search(r"\^\n|\^\"", command):
        return [cmd, posix, powershell, fish]
    if windows or re.search(r"`\n", command):
        return [powershell, cmd, posix, fish]
    return [posix, fish, powershell, *([cmd] if '"' in command else [])]


# Words -----------------------------------------------------------------------------------------------------------

#: What stands outside of quotations: the end of a command, a quotation, an escape, a space, other text.
_PARTS = r"(?P<end>\n|;|\|\|?|&&|&(?=\s)|(?<!\S)\#)|(?P<space>\s+)"


def _words(command: str, pattern: re.Pattern[str], value: Callable[[re.Match[str]], str]) -> list[str]:
    """Returns the words up to the end of the command. `pattern` has `end`, `space`, and what `value` reads."""
    words: list[str] = []
    parts: list[str] = []
    at = 0
    while (match := pattern.match(command, at)) and not match["end"]:
        if not match["space"]:
            parts.append(value(match))
        elif parts:
            words.append("".join(parts))
            parts = []
        at = match.end()
    if not match and at < len(command):
        raise ValueError("no closing quotation")
    return [*words, "".join(parts)] if parts else words


_POSIX = re.compile(
    r"\\\n|" + _PARTS + r"|\$'(?P<ansi>(?:[^'\\]|\\.)*)'|'(?P<single>[^']*)'"
    r'|"(?P<double>(?:[^"\\]|\\.)*)"|\\(?P<escaped>.)|(?P<plain>[^\s\'"\\])',
    re.DOTALL,
)


def posix(command: str) -> list[str]:
    """Returns the words for a POSIX shell. `$'…'` has escapes, as a browser copies it."""

    def value(match: re.Match[str]) -> str:
        if match["ansi"] is not None:
            return _unescaped(match["ansi"])
        double = match["double"]
        if double is not None:
            return re.sub(r"\\(?:\n|([$`\"\\]))", lambda each: each[1] or "", double)
        return match["single"] or match["escaped"] or match["plain"] or ""

    return _words(command.replace("\\\n", " "), _POSIX, value)


def _unescaped(text: str) -> str:
    found = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
    return re.sub(r"\\(.)", lambda match: _NAMED.get(match[1], match[1]), found, flags=re.DOTALL)


_FISH = re.compile(
    _PARTS
    + r"|'(?P<single>(?:[^'\\]|\\.)*)'|\"(?P<double>(?:[^\"\\]|\\.)*)\"|\\(?P<escaped>.)|(?P<plain>[^\s'\"\\])",
    re.DOTALL,
)


def fish(command: str) -> list[str]:
    """Returns the words for fish, where a quotation in single quotes has `\\'`."""

    def value(match: re.Match[str]) -> str:
        if match["single"] is not None:
            return re.sub(r"\\(['\\])", r"\1", match["single"])
        return (
            re.sub(r"\\([$\"\\])", r"\1", match["double"] or "") or match["escaped"] or match["plain"] or ""
        )

    return _words(command.replace("\\\n", " "), _FISH, value)


_POWERSHELL = re.compile(
    _PARTS
    + r"|'(?P<single>(?:[^']|'')*)'|\"(?P<double>(?:[^\"`]|`.|\"\")*)\"|`(?P<escaped>.)|(?P<plain>[^\s'\"`])",
    re.DOTALL,
)


def powershell(command: str) -> list[str]:
    """Returns the words for PowerShell: a quotation is doubled, and the escape is a backtick."""
    return _words(command.replace("`\n", " "), _POWERSHELL, _of_powershell)


def _of_powershell(match: re.Match[str]) -> str:
    if match["single"] is not None:
        return match["single"].replace("''", "'")
    double = re.sub(
        r"`(.)|\"(\")", lambda each: each[2] or _NAMED.get(each[1], each[1]), match["double"] or ""
    )
    return double or match["escaped"] or match["plain"] or ""


def powershell_word(text: str, at: int) -> str:
    """Returns the value at a place of a PowerShell program: a quotation, a here-string, or what a variable is set to."""
    if here := re.compile(r"@(['\"])\r?\n(.*?)\r?\n\1@", re.DOTALL).match(text, at):
        return here[2]
    if name := re.compile(r"\$\w+").match(text, at):
        given = re.search(rf"{re.escape(name[0])}\s*=\s*", text[:at])
        return powershell_word(text, given.end()) if given else ""
    match = _POWERSHELL.match(text, at)
    return _of_powershell(match) if match else ""


# cmd -------------------------------------------------------------------------------------------------------------


def cmd(command: str) -> list[str]:
    """Returns the words for `cmd`: first it removes carets, then the program reads quotations itself."""
    words: list[str] = []
    word, quoted = "", False
    for part in re.findall(r'\\*"|\\+|\s+|[^\s"\\]+', _without_carets(command)):
        if part.isspace() and not quoted:
            words += [word] if word else []
            word = ""
        elif part.endswith('"'):
            slashes = len(part) - 1
            word += "\\" * (slashes // 2) + ('"' if slashes % 2 else "")
            quoted ^= not slashes % 2
        else:
            word += part
    if quoted:
        raise ValueError("no closing quotation")
    return [*words, word] if word else words


def _without_carets(command: str) -> str:
    """Returns the command without the escapes of `cmd`. Between quotation marks, a caret is a caret."""
    found, quoted = "", False
    for part in re.finditer(
        r'\^\n(?P<after>.?)|\^(?P<escaped>.)|(?P<doubled>(?<=[^\s=])""(?=\S))|(?P<other>.)',
        command,
        re.DOTALL,
    ):
        if part["doubled"]:
            found += '\\"' if quoted else '""'
        elif part["other"]:
            quoted ^= part["other"] == '"' and not found.endswith("\\")
            if part["other"] == "\n" and not quoted:
                return found
            found += part["other"]
        else:
            found += part[0] if quoted else part["after"] if part["escaped"] is None else part["escaped"]
    return found
