"""Reads the commands that send a request: `curl`, `wget`, HTTPie and PowerShell's own, and a raw HTTP request."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urljoin

from ..recorded_requests import Recording
from .shells import assigned, commands, data_before, here_document, posix, powershell_word

__all__ = [
    "CURL",
    "UNKNOWN_HOST",
    "curl",
    "httpie",
    "json_of",
    "powershell",
    "raw",
    "raw_request",
    "unescaped",
    "with_scheme",
]


def json_of(text: str) -> Any:
    """Returns the value of a JSON text, or `None` if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


# curl and wget -----------------------------------------------------------------------------------------------------

CURL = re.compile(r"(\$\s*)?curl(\.exe)?\s")
_DATA = {
    *["-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--json", "--post-data", "--body-data"]
}
#: Options of curl with a value that is no part of the request.
_VALUED = {
    *[
        "-A",
        "--user-agent",
        "-b",
        "--cookie",
        "-c",
        "--cacert",
        "--connect-timeout",
        "-e",
        "--referer",
        "-m",
        "--max-time",
        "-o",
        "--output",
    ],
    *["--retry", "-u", "--user", "-w", "--write-out", "-x", "--proxy"],
}


def curl(text: str) -> Recording | None:
    """Returns the request of the `curl` command in a text, as the first shell reads it to whom its data are JSON."""
    here = here_document(text) or data_before(text)
    found = [_command([assigned(text, word) for word in words[1:]], here) for words in commands(text)]
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
    return Recording("", method or "POST", with_scheme(url), headers, _data("&".join(data), here).encode())


def _data(text: str, here: str) -> str:
    """Returns the data of a command: standard input is the text before it. Of an escape for programs on Windows
    (`'{\\"model\\": …}'` in PowerShell 5), the escape is removed.
    """
    if here and text.startswith(("@", "$(")):
        return here
    if text.startswith('{\\"') and json_of(text) is None:
        return unescaped(text)
    return text


def unescaped(text: str) -> str:
    """Returns a text without the escapes of its quotation marks and backslashes."""
    return re.sub(r"\\([\"\\])", r"\1", text)


_POWERSHELL = re.compile(r"\b(?:Invoke-(?:RestMethod|WebRequest)|irm|iwr)\b", re.IGNORECASE)


def powershell(text: str) -> Recording | None:
    """Returns the request of PowerShell's own command."""
    if not _POWERSHELL.search(text):
        return None
    uri, body = (
        re.search(rf"(?:-{name}[:\s]|^[ \t]*{name}[ \t]*=)\s*", text, re.IGNORECASE | re.MULTILINE)
        for name in ("Uri", "Body")
    )
    if not body:
        return None
    url = powershell_word(text, uri.end()) if uri else ""
    return Recording("", "POST", url, {}, powershell_word(text, _inside(text, body.end())).encode())


def _inside(text: str, at: int) -> int:
    """Returns the place of the text that a call turns into bytes: `([Text.Encoding]::UTF8.GetBytes("…"))`."""
    call = re.compile(r"\(?\[[\w.]{1,40}\]::UTF8\.GetBytes\(\s*").match(text, at)
    return call.end() if call else at


def _split(word: str) -> tuple[str, str | None]:
    """Returns an option and the value in the same word: `--data={}`, `-XPOST`."""
    if word.startswith("--"):
        option, equals, value = word.partition("=")
        return option, value if equals else None
    if len(word) > 2 and word[:2] in {"-X", "-H", "-d"}:
        return word[:2], word[2:]
    return word, None


# HTTPie ------------------------------------------------------------------------------------------------------------

_HTTPIE = re.compile(
    r"(?<![\w./:@-])(?:https?|xhs?)[ \t](?=[^\s./]{0,300}[./]|[^\n]{0,100}\b(?:POST|post)\s)"
)
#: Options of HTTPie with a value.
_HTTPIE_VALUED = {
    *["-a", "--auth", "-A", "--auth-type", "-s", "--style", "-p", "--print", "-o", "--output", "--timeout"]
}
_ITEM = re.compile(r"([\w-]+)(:=@|=@|:=|==|=|:)(.*)", re.DOTALL)


def httpie(text: str) -> Recording | None:
    """Returns the request of a command of HTTPie, whose body is its items (`model=gpt-4.1 messages:='[]'`), `--raw`, or what it
    reads from standard input.
    """
    if not (match := _HTTPIE.search(text)):
        return None
    words = iter([assigned(text, word) for word in posix(text[match.start() :])[1:]])
    url, raw_body, items = "", here_document(text) or data_before(text), {}
    for word in words:
        if word == "--raw" or word.startswith("--raw="):
            raw_body = word.partition("=")[2] or next(words, "")
        elif word in _HTTPIE_VALUED:
            next(words, "")
        elif not url and not word.startswith("-") and word.upper() != "POST":
            url = word
        elif url and (item := _ITEM.fullmatch(word)) and item[2] in {"=", ":="}:
            items[item[1]] = json_of(item[3]) if item[2] == ":=" else item[3]
    body = raw_body or (json.dumps(items) if items else "")
    return Recording("", "POST", with_scheme(url), {}, body.encode()) if url else None


# A raw request -----------------------------------------------------------------------------------------------------

raw = re.compile(
    r"(?:\#{2,}[^\n]*\n)?(?:POST (?P<path>\S+)(?: HTTP/[\d.]+)?|:method: POST)\r?\n(?P<head>(?::?[\w-]+:[^\n]*\n)*)\r?\n(?P<body>.+)",
    re.DOTALL,
)


def raw_request(match: re.Match[str]) -> Recording:
    """Returns an HTTP request as it is on the wire, without the answer that follows it."""
    pairs = (line.lstrip(":").split(":", 1) for line in match["head"].splitlines())
    headers = {name.strip().lower(): value.strip() for name, value in pairs}
    host = headers.get("host") or headers.get("authority") or "localhost"
    url = urljoin(f"https://{host}", match["path"] or headers.get("path", "/"))
    return Recording("", "POST", url, headers, _first_json(match["body"]).encode())


def _first_json(text: str) -> str:
    """Returns the JSON with which a text begins, without the size of its first chunk; the whole text if there is none."""
    text = re.sub(r"\A[0-9a-fA-F]{1,8}\r?\n(?=[{\[])", "", text.strip())
    try:
        return text[: json.JSONDecoder().raw_decode(text)[1]]
    except (ValueError, RecursionError):
        return text


#: The host of a URL that begins with a variable: `$BASE_URL/chat/completions`, `{{baseUrl}}/chat/completions`.
UNKNOWN_HOST = "variable.invalid"


def with_scheme(url: str) -> str:
    """Returns an absolute URL."""
    url = re.sub(r"^(?:\$\{?\w+\}?|\{\{[\w .-]{1,60}\}\})", f"https://{UNKNOWN_HOST}", url)
    return url if "://" in url else f"https://{url}"
