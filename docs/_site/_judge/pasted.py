"""Reads what a person pastes into the page of the judge: a request in any usual form, or an error text.

The forms are a command (`curl`, PowerShell), a raw HTTP request, a HAR or any recording that the harness reads, a debug
log of an SDK, and the JSON of a body alone.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote, urljoin

from explained import unreadable
from literals import dictionaries
from shells import commands, data_before, here_document, powershell_word

from ellmer_conformance.recordings.recorded_requests import Recording, read

__all__ = ["Pasted", "pasted"]

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


def pasted(text: str) -> Pasted:
    """Returns the content of a paste.

    Args:
        text: The paste.

    Raises:
        ValueError: If it begins like one of the forms, but cannot be read. The message says why.
    """
    text = _plain(text)
    if match := _RAW.match(text):
        return Pasted("an HTTP request", [raw(match)])
    if found := recorded(text):
        return Pasted("a recording", found)
    value = json_of(text)
    if found := json_body(value):
        return found
    if found := collected(value):
        return Pasted("a collection of Postman", found)
    return _within(text, value)


def _within(text: str, value: Any) -> Pasted:
    """Returns the request in a command, a log or a program, or the error text."""
    command = powershell(text) or curl(text)
    if command and isinstance(json_of(command.body.decode()), dict):
        return Pasted("a command", [command])
    if value is None and (found := logged(text) or logged(_ESCAPE.sub(r"\1", text))):
        return Pasted("a log or a part of a program", found)
    if problem := unreadable(text, value):
        raise ValueError(problem)
    if command or _CURL.match(text):
        raise ValueError(_unread(command))
    return Pasted("an error text", error=text)


def json_body(value: Any) -> Pasted | None:
    """Returns the body in a JSON value: in a string, in a list of messages, or under a usual key."""
    if isinstance(value, str):
        value = json_of(value)
    if isinstance(value, list) and value and all(isinstance(each, dict) and "role" in each for each in value):
        return Pasted("a list of messages", [alone({"messages": value})])
    body = body_of(value)
    return Pasted("the body of a request", [alone(body)]) if body else None


def _plain(text: str) -> str:
    """Returns the paste without the marks around it: of Markdown, of a terminal's colours, of a word processor."""
    text = re.sub(r"\x1b\[[\d;]*m", "", text).strip().removeprefix("\ufeff")
    if fenced := re.search(r"^(`{3,}|~{3,})\w*\n(.*?)\n\1", text, re.DOTALL | re.MULTILINE):
        text = fenced[2].strip()
    if "&quot;" in text and '"' not in text:
        text = html.unescape(text)
    if text.startswith(("%7B", "%7b")):
        text = unquote(text)
    if text.startswith(("{\u201c", "{ \u201c", "{\n")) and "\u201c" in text and '"' not in text:
        text = text.translate(dict.fromkeys(map(ord, "\u201c\u201d"), '"'))
    return text


def _unread(command: Recording | None) -> str:
    """Returns the reason why a command is no request."""
    if command is None:
        return "The curl command cannot be read: no closing quotation."
    if command.body.startswith(b"@") or not command.body:
        return "The curl command has no data: paste the JSON of the request in place of the file."
    try:
        json.loads(command.body)
    except ValueError as error:
        return f"The data of the curl command are not JSON: {error}."
    return "The data of the curl command are no JSON object."


# A command and a raw request -------------------------------------------------------------------------------------

_RAW = re.compile(
    r"POST (?P<path>\S+)(?: HTTP/[\d.]+)?\r?\n(?P<head>(?:[\w-]+:[^\n]*\n)*)\r?\n(?P<body>.+)", re.DOTALL
)
_CURL = re.compile(r"(\$\s*)?curl(\.exe)?\s")
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


def curl(text: str) -> Recording | None:
    """Returns the request of the `curl` command in a text, as the first shell reads it to whom its data are JSON."""
    here = here_document(text) or data_before(text)
    found = [_command(words[1:], here) for words in commands(text)]
    return next(
        (each for each in found if json_of(each.body.decode()) is not None), found[0] if found else None
    )


def _command(given: list[str], here: str) -> Recording:
    """Returns the request of the words of a command. Shell variables and files stay as they are written."""
    words = iter(given)
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
    return Recording("", method or "POST", _with_scheme(url), headers, _data("&".join(data), here).encode())


def _data(text: str, here: str) -> str:
    """Returns the data of a command: standard input is the text before it. Of an escape for programs on Windows
    (`'{\\"model\\": …}'` in PowerShell 5), the escape is removed.
    """
    if here and text.startswith(("@", "$(")):
        return here
    if text.startswith('{\\"') and json_of(text) is None:
        return _ESCAPE.sub(r"\1", text)
    return text


_ESCAPE = re.compile(r"\\([\"\\])")


_POWERSHELL = re.compile(r"\b(?:Invoke-(?:RestMethod|WebRequest)|irm|iwr)\b", re.IGNORECASE)


def powershell(text: str) -> Recording | None:
    """Returns the request of PowerShell's own command."""
    if not _POWERSHELL.search(text):
        return None
    uri, body = (re.search(rf"-{name}[:\s]\s*", text, re.IGNORECASE) for name in ("Uri", "Body"))
    if not body:
        return None
    url = powershell_word(text, uri.end()) if uri else ""
    return Recording("", "POST", url, {}, powershell_word(text, body.end()).encode())


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


def recorded(text: str) -> list[Recording]:
    """Returns the exchanges of a recording in any format of the harness. Returns none if it is no recording."""
    lines = text.splitlines()
    each = len(lines) > 1 and all(json_of(line) is not None for line in lines if line.strip())
    suffix = ".jsonl" if each else ".json" if text.startswith(("{", "[")) else ".yaml"
    if suffix == ".yaml" and not re.search(
        r"^(interactions|http_interactions|requests|when)\s*:", text, re.MULTILINE
    ):
        return []
    with TemporaryDirectory() as folder:  # recordings are read from files
        file = Path(folder, f"pasted{suffix}")
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


_DEEPEST = 20  # objects around a body, or folders around a request of Postman


def body_of(value: Any, depth: int = 0) -> Json | None:
    """Returns the body in a value: the value itself, or what an SDK, a log or a program has under a usual key."""
    if not isinstance(value, dict):
        return None
    if any(isinstance(value.get(name), list) for name in ("messages", "contents")) or _responses(value):
        return value
    inner = (value.get(name) for name in _HOLDERS) if depth < _DEEPEST else ()
    values = (json_of(each) if isinstance(each, str) else each for each in inner)
    return next((body for each in values if (body := body_of(each, depth + 1))), None)


def collected(value: Any, depth: int = 0) -> list[Recording]:
    """Returns the requests of a collection of Postman: in its items, and in the folders among them."""
    found: list[Recording] = []
    items = value.get("item") if isinstance(value, dict) and depth < _DEEPEST else ()
    for item in items if isinstance(items, list) else ():
        request = item.get("request") if isinstance(item, dict) else None
        body = request.get("body") if isinstance(request, dict) else None
        if isinstance(body, dict) and isinstance(body.get("raw"), str):
            url = request.get("url")
            url = str(url.get("raw") if isinstance(url, dict) else url)
            name = str(item.get("name") or "")
            found.append(Recording(name, "POST", _with_scheme(url), {}, body["raw"].encode()))
        found += collected(item, depth + 1)
    return found


_HOLDERS = ("json_data", "json", "body", "data", "request", "kwargs", "params", "payload", "options")


def _responses(value: Json) -> bool:
    return (
        "input" in value
        and ("model" in value or "previous_response_id" in value)
        and "embedding" not in str(value.get("model"))
    )


# Logs ------------------------------------------------------------------------------------------------------------

#: What Node.js prints in place of an inner object.
_SHORTENED = re.compile(r"[:,\[]\s*\[(?:Array|Object)\]")
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


def logged(text: str) -> list[Recording]:
    """Returns the requests in a log: every JSON object or Python dictionary that holds a body."""
    found = []
    for start, end, value in dictionaries(text):
        if (body := body_of(value)) and not _SHORTENED.search(text, start, end):
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
