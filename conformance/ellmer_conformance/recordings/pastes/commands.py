"""Reads the commands that send a request: `curl`, `wget`, HTTPie and PowerShell's own, and a raw HTTP request."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, urljoin

from ..recorded_requests import Recording
from .shells import assigned, commands, data_before, here_document, posix, powershell_word

__all__ = [
    "CURL",
    "UNKNOWN_HOST",
    "aws",
    "curl",
    "http_file",
    "httpie",
    "json_of",
    "powershell",
    "raw",
    "raw_request",
    "text_of",
    "unescaped",
    "with_scheme",
]


_DEEPEST = 900  # levels of JSON: newer versions of Python read more than what walks through it can bear


def json_of(text: str) -> Any:
    """Returns the value of a JSON text, or `None` if it is not JSON, or nested too deeply."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return None if text.count("{") + text.count("[") > _DEEPEST and _is_deep(value) else value


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(_DEEPEST):
        level = [inner for each in level for inner in _within(each)]
        if not level:
            return False
    return True


def _within(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def text_of(recording: Recording) -> str:
    """Returns the text of a recording's body."""
    return (recording.body or b"").decode()


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
    return next((each for each in found if json_of(text_of(each)) is not None), found[0] if found else None)


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


# AWS ---------------------------------------------------------------------------------------------------------------

_AWS = re.compile(r"\baws[ \t]+bedrock-runtime[ \t]+(converse(?:-stream)?)\b")
_AWS_OPTIONS = {
    "--messages": "messages",
    "--system": "system",
    "--tool-config": "toolConfig",
    "--inference-config": "inferenceConfig",
    "--additional-model-request-fields": "additionalModelRequestFields",
}


def aws(text: str) -> Recording | None:
    """Returns the request of `aws bedrock-runtime converse`, whose options are the fields of the body."""
    if not (match := _AWS.search(text)):
        return None
    words = iter(assigned(text, word) for word in posix(text[match.end() :]))
    model = ""
    body: dict[str, Any] = {}
    for word in words:
        option, value = _split(word)
        given = value if value is not None else next(words, "")
        if option == "--model-id":
            model = given
        elif option == "--cli-input-json":
            body |= json_of(given) or {}
        elif name := _AWS_OPTIONS.get(option):
            body[name] = json_of(given)
    model = model or str(body.pop("modelId", "unknown"))
    path = f"model/{quote(model, safe='')}/{match[1]}"
    return Recording(
        "", "POST", f"https://bedrock-runtime.us-east-1.amazonaws.com/{path}", {}, json.dumps(body).encode()
    )


# HTTPie ------------------------------------------------------------------------------------------------------------

_HTTPIE = re.compile(
    r"(?<![\w./:@-])(?:https?|xhs?)[ \t](?=[^\s./]{0,300}[./]|[^\n]{0,100}\b(?:POST|post)\s)"
)
#: Options of HTTPie with a value.
_HTTPIE_VALUED = {
    *["-a", "--auth", "-A", "--auth-type", "-s", "--style", "-p", "--print", "-o", "--output", "--timeout"]
}
_ITEM = re.compile(r"([\w-]+(?:\[\w*\])*)(:=@|=@|:=|==|=|:)(.*)", re.DOTALL)


def httpie(text: str) -> Recording | None:
    """Returns the request of a command of HTTPie, whose body is its items (`model=gpt-4.1 messages:='[]'`), `--raw`, or what it
    reads from standard input.
    """
    if not (match := _HTTPIE.search(text)):
        return None
    words = iter([assigned(text, word) for word in posix(text[match.start() :])[1:]])
    url, raw_body = "", here_document(text) or data_before(text)
    items: dict[str, Any] = {}
    for word in words:
        if word == "--raw" or word.startswith("--raw="):
            raw_body = word.partition("=")[2] or next(words, "")
        elif word in _HTTPIE_VALUED:
            next(words, "")
        elif not url and not word.startswith("-") and word.upper() != "POST":
            url = word
        elif url and (item := _ITEM.fullmatch(word)) and item[2] in {"=", ":="}:
            _put(
                items,
                re.findall(r"[\w-]+|(?<=\[)(?=\])", item[1]),
                json_of(item[3]) if item[2] == ":=" else item[3],
            )
    body = raw_body or (json.dumps(_with_lists(items)) if items else "")
    return Recording("", "POST", with_scheme(url), {}, body.encode()) if url else None


def _put(items: dict[str, Any], steps: list[str], value: Any) -> None:
    """Sets a value at `messages[0][role]`. An empty step is the next place of a list."""
    for step in steps[:-1]:
        inner = items.setdefault(step or str(len(items)), {})
        items = inner if isinstance(inner, dict) else {}
    items[steps[-1] or str(len(items))] = value


def _with_lists(value: Any) -> Any:
    """Returns a value in which objects whose keys are numbers are lists."""
    if not isinstance(value, dict):
        return value
    inner = {key: _with_lists(each) for key, each in value.items()}
    return [*inner.values()] if inner and all(key.isdigit() for key in inner) else inner


# A raw request -----------------------------------------------------------------------------------------------------

raw = re.compile(
    r"(?:\#\#[^\n]*\n)?(?:POST (?P<path>\S+)(?: HTTP/[\d.]+)?|:method: POST)\r?\n(?P<head>(?::?[\w-]+:[^\n]*\n)*)\r?\n(?P<body>.+)",
    re.DOTALL,
)


_SET = re.compile(r"^@([\w-]{1,60})[ \t]*=[ \t]*(\S{1,300})[ \t]*$", re.MULTILINE)
_BEFORE = re.compile(r"(?:[ \t]*(?:@[^\n]*|\#[^\n]*|//[^\n]*)?\n)*(?=POST )")


def http_file(text: str) -> str:
    """Returns the first request of a file of an editor's HTTP client, with its variables (`@host = …`); other texts as they are."""
    if not (before := _BEFORE.match(text)):
        return text
    values = dict(_SET.findall(before[0]))
    return re.sub(
        r"\{\{\s*([\w-]{1,60})\s*\}\}", lambda each: values.get(each[1], each[0]), text[before.end() :]
    )


def raw_request(match: re.Match[str]) -> Recording:
    """Returns an HTTP request as it is on the wire, without the answer that follows it."""
    pairs = (line.lstrip(":").split(":", 1) for line in match["head"].splitlines())
    headers = {name.strip().lower(): value.strip() for name, value in pairs}
    host = headers.get("host") or headers.get("authority") or "localhost"
    path = match["path"] or headers.get("path", "/")
    url = with_scheme(path) if path.startswith("{{") else urljoin(f"https://{host}", path)
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
    """Returns the URL with a scheme (`https` if it has none), and with `UNKNOWN_HOST` for a variable at its beginning."""
    url = re.sub(r"^(?:\$\{?\w+\}?|\{\{[\w .-]{1,60}\}\})", f"https://{UNKNOWN_HOST}", url)
    return url if "://" in url else f"https://{url}"
