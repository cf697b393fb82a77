"""Reads what a person pastes into the page of the judge: a request in any usual form, or an error text.

The forms are a `curl` command, a raw HTTP request, a HAR or any recording that the harness reads, a debug log of an
SDK, and the JSON of a body alone.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from ellmer_conformance.recordings.recorded_requests import Recording, read

__all__ = ["Pasted", "dictionaries", "pasted"]

Json = dict[str, Any]


@dataclass(frozen=True)
class Pasted:
    """The content of a paste.

    Args:
        form: What it is, in words.
        recordings: Its exchanges. A body alone has no URL.
        error: The error text, if there is no request; empty (default) otherwise.
    """

    form: str
    recordings: list[Recording] = field(default_factory=list)
    error: str = ""


def pasted(text: str, folder: Path) -> Pasted:
    """Returns the content of a paste.

    Args:
        text: The paste.
        folder: A folder for a temporary file, because recordings are read from files.

    Raises:
        ValueError: If it begins like one of the forms, but cannot be read. The message says why.
    """
    text = text.strip().removeprefix("\ufeff")
    if re.match(r"(\$\s*)?curl(\.exe)?\s", text):
        return Pasted("a curl command", [curl(text)])
    if match := _RAW.match(text):
        return Pasted("an HTTP request", [raw(match)])
    if found := recorded(text, folder):
        return Pasted("a recording", found)
    value = json_of(text)
    if body := body_of(value):
        return Pasted("the body of a request", [alone(body)])
    if value is None and (found := logged(text)):
        return Pasted("a debug log", found)
    return Pasted("an error text", error=text)


# A command and a raw request -------------------------------------------------------------------------------------

_RAW = re.compile(
    r"POST (?P<path>\S+)(?: HTTP/[\d.]+)?\r?\n(?P<head>(?:[\w-]+:.*\r?\n)*)\r?\n(?P<body>.+)", re.DOTALL
)
_DATA = {"-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--json"}
#: Options of curl with a value that is no part of the request.
_VALUED = {
    "-o",
    "--output",
    "-u",
    "--user",
    "-m",
    "--max-time",
    "-w",
    "--write-out",
    "-x",
    "--proxy",
    "--retry",
}
_VALUED |= {"-A", "--user-agent", "-b", "--cookie", "-e", "--referer", "--connect-timeout", "--cacert", "-c"}


def curl(command: str) -> Recording:
    """Returns the request of a `curl` command. Shell variables and files stay as they are written."""
    words = iter(_words(re.sub(r"^\$\s*", "", command))[1:])
    method, url, headers, data = "", "", {}, []
    for word in words:
        option, value = _split(word)
        if option in _DATA:
            data.append(value if value is not None else next(words, ""))
        elif option in {"-H", "--header"}:
            name, _, content = (value if value is not None else next(words, "")).partition(":")
            headers[name.strip().lower()] = content.strip()
        elif option in {"-X", "--request"}:
            method = value if value is not None else next(words, "")
        elif option == "--url" or not word.startswith("-"):
            url = url or (word if option != "--url" else value or next(words, ""))
        elif option in _VALUED and value is None:
            next(words, "")
    body = "&".join(data)
    if not body or body.startswith("@"):
        raise ValueError("The curl command has no data: paste the JSON of the request in place of the file.")
    return Recording("", method or "POST", _with_scheme(url), headers, body.encode())


def _words(command: str) -> list[str]:
    """Returns the words of a command for a POSIX shell. `$'…'` has escapes, as a browser copies it."""
    joined = re.sub(r"(\\|\^|`)\r?\n", " ", command)
    plain = re.sub(
        r"\$'((?:[^'\\]|\\.)*)'", lambda match: shlex.quote(_unescaped(match[1])), joined, flags=re.DOTALL
    )
    try:
        return shlex.split(plain)
    except ValueError as error:
        raise ValueError(f"The curl command cannot be read: {str(error).lower()}.") from error


def _unescaped(text: str) -> str:
    named = {"n": "\n", "t": "\t", "r": "\r"}
    found = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
    return re.sub(r"\\(.)", lambda match: named.get(match[1], match[1]), found, flags=re.DOTALL)


def _split(word: str) -> tuple[str, str | None]:
    """Returns an option and the value in the same word: `--data={}`, `-XPOST`."""
    if word.startswith("--"):
        option, equals, value = word.partition("=")
        return option, value if equals else None
    if len(word) > 2 and word[:2] in {"-X", "-H", "-d"}:
        return word[:2], word[2:]
    return word, None


def raw(match: re.Match[str]) -> Recording:
    """Returns an HTTP request as it is on the wire."""
    pairs = (line.split(":", 1) for line in match["head"].splitlines())
    headers = {name.strip().lower(): value.strip() for name, value in pairs}
    url = urljoin(f"https://{headers.get('host', 'localhost')}", match["path"])
    return Recording("", "POST", url, headers, match["body"].strip().encode())


def _with_scheme(url: str) -> str:
    url = re.sub(r"^\$\{?\w+\}?", "https://localhost", url)
    return url if "://" in url else f"https://{url}"


# Recordings and bodies -------------------------------------------------------------------------------------------


def recorded(text: str, folder: Path) -> list[Recording]:
    """Returns the exchanges of a recording in any format of the harness. Returns none if it is no recording."""
    lines = text.splitlines()
    each = len(lines) > 1 and all(json_of(line) is not None for line in lines if line.strip())
    suffix = ".jsonl" if each else ".json" if text.startswith(("{", "[")) else ".yaml"
    if suffix == ".yaml" and not re.search(
        r"^(interactions|http_interactions|requests|when)\s*:", text, re.MULTILINE
    ):
        return []
    file = folder / f"pasted{suffix}"
    file.write_text(text, "utf-8")
    return [each for each in read(file) or () if each.url]


def json_of(text: str) -> Any:
    """Returns the value of a JSON text, or `None` if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def alone(body: Json) -> Recording:
    """Returns a body without its URL."""
    return Recording("", "POST", "", {}, json.dumps(body).encode())


def body_of(value: Any) -> Json | None:
    """Returns the body in a value: the value itself, or what an SDK, a log or a program has under a usual key."""
    if not isinstance(value, dict):
        return None
    if any(isinstance(value.get(name), list) for name in ("messages", "contents")) or _responses(value):
        return value
    inner = (value.get(name) for name in _HOLDERS)
    values = (json_of(each) if isinstance(each, str) else each for each in inner)
    return next((body for each in values if (body := body_of(each))), None)


_HOLDERS = ("json_data", "json", "body", "data", "request", "kwargs", "params", "payload", "options")


def _responses(value: Json) -> bool:
    return (
        "input" in value
        and ("model" in value or "previous_response_id" in value)
        and "embedding" not in str(value.get("model"))
    )


# Logs ------------------------------------------------------------------------------------------------------------

_URL = re.compile(r"https?://[^\s'\"<>\\)]+")
_STATUS = re.compile(r"HTTP/[\d.]+ (\d{3})\b")
#: The base URLs of the SDKs that log a relative URL after the name of their logger.
_LOGGERS = {
    "openai": "https://api.openai.com/v1/",
    "anthropic": "https://api.anthropic.com/",
    "groq": "https://api.groq.com/",
    "cohere": "https://api.cohere.com/",
    "mistral": "https://api.mistral.ai/",
}
_NO_LITERAL = re.compile(r"<[^<>'\"]*>|\b(?:NOT_GIVEN|NotGiven|Omit)(?:\(\))?")
_MOST = 400  # braces that are tried


def logged(text: str) -> list[Recording]:
    """Returns the requests in a log: every JSON object or Python dictionary that holds a body."""
    found = []
    for start, end, value in dictionaries(text):
        if body := body_of(value):
            url = _url_of(value, text[:start], text[end:])
            found.append(
                Recording(
                    f"line {text.count(chr(10), 0, start) + 1}",
                    "POST",
                    url,
                    _headers(value),
                    json.dumps(body).encode(),
                    _status(text[end:]),
                )
            )
    return found


def dictionaries(text: str) -> Iterator[tuple[int, int, Json]]:
    """Yields the outermost dictionaries of a text, each with its first place and the place after it."""
    at = text.find("{")
    for _ in range(_MOST):
        if at < 0:
            return
        end = _closing(text, at)
        value = _literal(text[at:end]) if end else None
        if isinstance(value, dict):
            yield at, end, value
        at = text.find("{", end if isinstance(value, dict) else at + 1)


def _closing(text: str, start: int) -> int:
    """Returns the place after the bracket that closes the one at `start`, or 0."""
    depth, quote, at = 0, "", start
    while at < len(text):
        one = text[at]
        if quote:
            at += one == "\\"
            quote = "" if one == quote else quote
        elif one in "\"'":
            quote = one
        elif one in "{[(":
            depth += 1
        elif one in "}])":
            depth -= 1
            if not depth:
                return at + 1
        at += 1
    return 0


def _literal(text: str) -> Any:
    if (value := json_of(text)) is not None:
        return value
    try:
        return ast.literal_eval(_NO_LITERAL.sub("None", text))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def _url_of(value: Json, before: str, after: str) -> str:
    url = value.get("url") if isinstance(value.get("url"), str) else ""
    if "://" in url:
        return url
    if url:
        name = next((each for each in _LOGGERS if re.search(rf"\b{each}\b", before[-300:])), "")
        return urljoin(_LOGGERS.get(name, "https://localhost/"), url.lstrip("/"))
    near = [*_URL.findall(before[-2000:])[-1:], *_URL.findall(after[:2000])[:1]]
    return near[0] if near else ""


def _headers(value: Json) -> dict[str, str]:
    headers = value.get("headers")
    return (
        {str(name).lower(): str(each) for name, each in headers.items()} if isinstance(headers, dict) else {}
    )


def _status(after: str) -> int | None:
    match = _STATUS.search(after[:4000])
    return int(match[1]) if match else None
