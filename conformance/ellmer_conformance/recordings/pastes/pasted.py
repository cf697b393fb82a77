"""Reads what a person pastes into the page of the judge: a request in any usual form, or an error text.

The forms are a command (`curl`, HTTPie, PowerShell), a raw HTTP request, a HAR or any recording that the harness reads, a part
of one, a debug log of an SDK, a part of a program, and a body alone, as JSON, YAML or base64.
"""

from __future__ import annotations

import html
import json
import re
import zlib
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote_plus, urljoin

import yaml

from ellmer_harness.recordings import Unreadable
from ellmer_harness.recordings.untrusted_files import bounded_yaml

from ...contract.observed.exchange import Request
from ...contract.rule import Violation
from ..recorded_requests import Recording, read
from .commands import (
    CURL,
    aws,
    curl,
    http_file,
    httpie,
    json_of,
    powershell,
    raw,
    raw_request,
    text_of,
    unescaped,
    with_scheme,
)
from .literals import dictionaries, literal, strings
from .truncated import completed, is_certain
from .unknown import is_known, is_unknown
from .unreadable import of_a_library, unreadable

__all__ = ["Pasted", "pasted"]

Json = dict[str, Any]


@dataclass(frozen=True)
class Pasted:
    """The content of a paste.

    Args:
        form: What it is, in words.
        recordings: Its exchanges. A body alone has no URL.
        error: The error text, if there is no request; empty (default) otherwise.
        partial: What the paste does not show of the requests, in words. Only what no other part could change is judged then.
            Default: empty, they are whole.
    """

    form: str
    recordings: list[Recording] = field(default_factory=list)
    error: str = ""
    partial: str = ""

    @property
    def left_out(self) -> str:
        """What is not judged, in words; empty if all is."""
        marked = any(b"\\u2039" in (each.body or b"") for each in self.recordings)
        return self.partial or (UNKNOWN if marked else "")

    def is_certain(self, request: Request, violation: Violation) -> bool:
        """Tells whether a violation is one whatever the paste does not show.

        Args:
            request: One of its requests.
            violation: A violation in the request.
        """
        alone = self.form in (LIST, PROGRAM) and request.body.keys() <= {"messages", "contents"}
        if (alone and "/" not in violation.pointer) or not is_known(request, violation):
            return False
        return not self.partial or is_certain(request, violation)


LIST, PROGRAM = "a list of messages", "a log or a part of a program"
UNKNOWN = "what stands in ‹marks›, because only the program knows it"
CUT = "the end of the request, which is cut off"
TRACED = "what the trace does not show of the request, such as its tools"


def pasted(text: str) -> Pasted:
    """Returns the content of a paste.

    Args:
        text: The paste.

    Raises:
        ValueError: If it begins like one of the forms, but cannot be read. The message says why.
    """
    text = _plain(text)
    if problem := of_a_library(text):
        raise ValueError(problem)
    found, damage = _recorded(text)
    if found:
        return found
    value = json_of(text)
    if found := _body(text, value) or _requests(text, value):
        return found
    if damage:
        raise damage
    return _no_request(text, value)


def _recorded(text: str) -> tuple[Pasted | None, Unreadable | None]:
    """Returns the requests of a raw HTTP request or a recording, or the reason why the recording cannot be read."""
    if match := raw.match(http_file(text)):
        return Pasted("an HTTP request", [raw_request(match)]), None
    try:
        found = recorded(_whole(text))
    except Unreadable as error:
        return None, error
    return Pasted("a recording", found) if found else None, None


def _body(text: str, value: Any) -> Pasted | None:
    """Returns the requests of a text that is one value, or a command of HTTPie."""
    if found := [alone(body) for body in traced(value)]:
        return Pasted("a trace of Langfuse", found, partial=TRACED)
    if body := json_body(value if value is not None else literal(text) or yaml_of(text)):
        return body
    if found := collected(value):
        return Pasted("a collection of Postman", found)
    if value is None and (command := httpie(text)) and isinstance(json_of(text_of(command)), dict):
        return Pasted("a command", [command])
    return None


def _requests(text: str, value: Any) -> Pasted | None:
    """Returns the requests in a command, a log or a program."""
    command = _command(text)
    if command and isinstance(json_of(text_of(command)), dict):
        return Pasted("a command", [command])
    if value is None and (found := next(filter(None, map(logged, _unquoted(text))), [])):
        return Pasted(PROGRAM, found)
    if found := [alone(body) for body in islice(bodies_in(value), _MOST)]:
        return Pasted("JSON with a request in it", found)
    inner = (_requests(each, None) for each in islice(texts_in(value), _MOST))
    if found := [recording for each in inner if each for recording in each.recordings]:
        return Pasted("a log in JSON", found)
    if value is None and (found := logged(completed(text))):
        return Pasted("a request", found, partial=CUT)
    return None


def _command(text: str) -> Recording | None:
    return aws(text) or powershell(text) or curl(text)


def _no_request(text: str, value: Any) -> Pasted:
    """Returns the error text that a paste without a request is, or raises what is wrong with it."""
    if problem := unreadable(text, value):
        raise ValueError(problem)
    if (command := _command(text)) or CURL.match(text):
        raise ValueError(_unread(command))
    return Pasted("an error text", error=text)


def texts_in(value: Any, depth: int = 0) -> Iterator[str]:
    """Yields the strings in a JSON value that have several lines and a brace, as the messages of a log have."""
    if isinstance(value, str) and "{" in value and "\n" in value:
        yield value
    inner = value.values() if isinstance(value, dict) else value
    for each in inner if isinstance(value, (dict, list)) and depth < _DEEPEST else ():
        yield from texts_in(each, depth + 1)


def _unquoted(text: str) -> Iterator[str]:
    """Yields a text as it is, its strings, and the text as the content of a string, of a string in a string, of a string of C#
    (`@"{""a"": 1}"`), and without a margin.
    """
    yield text
    yield from strings(text)
    yield (once := unescaped(text))
    yield unescaped(once)
    yield text.replace('""', '"')
    yield _without_margin(text)


def json_body(value: Any) -> Pasted | None:
    """Returns the body in a JSON value: in a string, in a list of messages, or under a usual key."""
    if isinstance(value, str):
        value = json_of(value)
    if isinstance(value, list) and _messages({"messages": value}):
        name = "contents" if all("parts" in each for each in value) else "messages"
        return Pasted(LIST, [alone({name: value})])
    body = body_of(value)
    return Pasted("the body of a request", [alone(body)]) if body else None


#: The lines around the values of a traceback that rich prints.
_BOX = "│┃╭╮╰╯─━┏┓┗┛"
_BOXED = re.compile(r"^\s{0,20}[│┃].*[│┃]\s{0,20}$", re.MULTILINE)
#: What a mail, a diff or an editor writes before each line.
_PREFIXES = [
    re.compile(r"(?:>[ ]?){1,9}"),
    re.compile(r"\+"),
    re.compile(r"[ ]{0,8}\d{1,6}(?:[:|]|(?=[ ]|$))[ ]?"),
]


def _plain(text: str) -> str:
    """Returns the paste without what is around it: the marks of Markdown, the colours of a terminal, the prefixes of its lines,
    an encoding.
    """
    text = re.sub(r"\x1b\[[\d;]*m", "", text).strip().removeprefix("\ufeff")
    if len(_BOXED.findall(text)) > 1:
        text = text.translate(dict.fromkeys(map(ord, _BOX), " ")).strip()
    if fenced := re.search(r"^(`{3,}|~{3,})\w*\n(.*?)\n\1", text, re.DOTALL | re.MULTILINE):
        text = fenced[2].strip()
    text = _without_prefixes(_PROMPT.sub("", text) if _PROMPT.match(text) else text)
    if "&quot;" in text and '"' not in text:
        text = html.unescape(text)
    if encoded := re.match(r"(?:[\w-]+=)?(?=%7[Bb])", text):
        text = unquote_plus(text[encoded.end() :].partition("&")[0])
    if '"' not in text and re.match(r"[{\[][{\[\s]{0,20}[\u201c\u201d]", text):
        text = text.translate(dict.fromkeys(map(ord, "\u201c\u201d"), '"'))
    return _from_base64(text) or _from_hex(text) or text


#: What Python and IPython print before each line that a person types.
_PROMPT = re.compile(r"^(?:>>> ?|\.\.\. ?|In \[\d{1,6}\]: ?|[ ]{1,12}\.\.\.: ?)", re.MULTILINE)


def _without_prefixes(text: str) -> str:
    lines = text.splitlines()
    for prefix in _PREFIXES:
        if len(lines) > 1 and all(prefix.match(line) for line in lines if line.strip()):
            return "\n".join(prefix.sub("", line, count=1) for line in lines).strip()
    return text


_OPENS = re.compile(r"(?=.{0,100}[{\[]\s*$).*?(?=[{\[]\s*$)")


def _without_margin(text: str) -> str:
    """Returns the text from the first line that opens a bracket at its end, without the margin that a log, an editor or a diff
    writes before each line; an empty string if there is none.
    """
    lines = text.splitlines()
    for at, line in enumerate(lines[:_MOST]):
        if (margin := _OPENS.match(line)) and margin[0].strip():
            return "\n".join(each[margin.end() :] for each in lines[at:])
    return ""


_BASE64 = re.compile(r"(?:data:[\w/+.-]{1,60};base64,)?([A-Za-z0-9+/_\s=-]{40,})")
_UNPACKED = 10_000_000


def _from_base64(text: str) -> str:
    """Returns the JSON that a text is in base64, compressed with gzip or not; an empty string if it is none."""
    if not (match := _BASE64.fullmatch(text)):
        return ""
    try:
        data = b64decode(
            "".join(match[1].split()).rstrip("=") + "==",
            altchars=b"-_" if re.search("[-_]", match[1]) else None,
        )
        data = zlib.decompressobj(31).decompress(data, _UNPACKED) if data.startswith(b"\x1f\x8b") else data
        found = data.decode().strip()
    except (ValueError, zlib.error):
        return ""
    return found if found.startswith(("{", "[")) else ""


#: A line of Wireshark's, tcpdump's and hexdump's dumps: the place, the bytes, the text.
_DUMPED = re.compile(
    r"^[ \t]*+(?:0x)?[0-9a-f]{4,8}:?[ ]{1,3}((?:[0-9a-f]{2,4}[ ]{1,2}){1,16})(?:[ |].*)?$",
    re.MULTILINE | re.IGNORECASE,
)
_SENT_AS = re.compile(rb"(?:POST|PUT) /\S* HTTP/1")


def _from_hex(text: str) -> str:
    """Returns the HTTP request in a dump of bytes as hexadecimal numbers; an empty string if there is none."""
    lines = [match[1] for match in _DUMPED.finditer(text + " ")]
    if len(lines) < 2:
        return ""
    try:
        data = bytes.fromhex("".join("".join(lines).split()))
    except ValueError:
        return ""
    begins = _SENT_AS.search(data)
    return data[begins.start() :].decode(errors="replace") if begins else ""


def _unread(command: Recording | None) -> str:
    """Returns the reason why a command is no request."""
    if command is None:
        return "The curl command cannot be read: no closing quotation."
    if not command.body or command.body.startswith(b"@"):
        return "The curl command has no data: paste the JSON of the request in place of the file."
    try:
        json.loads(command.body)
    except ValueError as error:
        return f"The data of the curl command are not JSON: {error}."
    return "The data of the curl command are no JSON object."


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


def _whole(text: str) -> str:
    """Returns a part of a recording as a whole one: an entry of a HAR, its request, or the interactions of a cassette."""
    if re.match(r"- request:", text):
        return f"interactions:\n{text}\nversion: 1\n"
    value = json_of(text)
    if isinstance(value, dict) and "postData" in value:
        value = {"request": value}
    entries = value if isinstance(value, list) else [value]
    if not all(isinstance(each, dict) and "postData" in _object(each.get("request")) for each in entries):
        return text
    answer = {"status": 0, "headers": [], "content": {"text": ""}}
    return json.dumps(
        {"log": {"version": "1.2", "entries": [{"response": answer, **each} for each in entries]}}
    )


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def yaml_of(text: str) -> Any:
    """Returns the body that a text is in YAML, or `None`."""
    if _SHORTENED.search(text) or not re.search(
        r"^[ ]{0,20}(?:messages|contents|input):", text, re.MULTILINE
    ):
        return None
    try:
        return next(bodies_in(yaml.safe_load(bounded_yaml(text))), None)
    except (yaml.YAMLError, Unreadable, ValueError):
        return None


def alone(body: Json) -> Recording:
    """Returns a body without its URL."""
    return Recording("", "POST", "", {}, json.dumps(body).encode())


_DEEPEST = 20  # objects around a body, or folders around a request of Postman


def body_of(value: Any, depth: int = 0) -> Json | None:
    """Returns the body in a value: the value itself, or what an SDK, a log or a program has under a usual key."""
    if not isinstance(value, dict):
        return None
    if any(_is_list(value.get(name)) for name in ("messages", "contents")) or _responses(value):
        return value
    inner = (value.get(name) for name in _HOLDERS) if depth < _DEEPEST else ()
    values = (json_of(each) if isinstance(each, str) else each for each in inner)
    return next((body for each in values if (body := body_of(each, depth + 1))), None)


def _is_list(value: Any) -> bool:
    """Tells whether a value is a list that is not all unknown."""
    return isinstance(value, list) and (not value or not all(map(is_unknown, value)))


_MOST = 50  # requests in one value
#: Keys whose values are answers.
_ANSWERED = {"response", "responses", "output", "answer", "result", "completion"}


def bodies_in(value: Any, depth: int = 0) -> Iterator[Json]:
    """Yields the bodies anywhere in a JSON value, also in its strings, except in answers."""
    if isinstance(value, str):
        value = json_of(_from_base64(value) or value) if len(value) > 2 else None
    if isinstance(value, str) and depth < _DEEPEST:  # JSON in JSON
        yield from bodies_in(value, depth + 1)
    if body := body_of(value, _DEEPEST):
        yield body
    elif depth < _DEEPEST:
        inner = [v for k, v in value.items() if k not in _ANSWERED] if isinstance(value, dict) else value
        for each in inner if isinstance(inner, list) else ():
            yield from bodies_in(each, depth + 1)


def traced(value: Any, depth: int = 0) -> Iterator[Json]:
    """Yields the requests of the generations that a trace of Langfuse has."""
    found = _object(value)
    if str(found.get("type")).upper() == "GENERATION" and isinstance(found.get("model"), str):
        asked = found.get("input")
        body = asked if isinstance(asked, dict) else {"messages": asked}
        if _messages(body):
            yield {"model": found["model"], **_object(found.get("modelParameters")), **body}
    inner = value if isinstance(value, list) else found.values()
    for each in inner if depth < _DEEPEST else ():
        yield from traced(each, depth + 1)


def _messages(body: Json) -> bool:
    """Tells whether a body has a list of messages with roles."""
    messages = body.get("messages")
    return (
        isinstance(messages, list)
        and bool(messages)
        and all(isinstance(each, dict) and "role" in each for each in messages)
    )


def collected(value: Any, depth: int = 0) -> list[Recording]:
    """Returns the requests of a collection of Postman: in its items, and in the folders among them."""
    found: list[Recording] = []
    items = value.get("item") if isinstance(value, dict) and depth < _DEEPEST else ()
    for item in items if isinstance(items, list) else ():
        request = _object(_object(item).get("request"))
        body = _object(request.get("body")).get("raw")
        if isinstance(body, str):
            if json_of(body) is None:  # Postman takes comments
                body = next((json.dumps(each) for _, _, each in dictionaries(body)), body)
            url = request.get("url")
            url = str(url.get("raw") if isinstance(url, dict) else url)
            name = str(item.get("name") or "")
            found.append(Recording(name, "POST", with_scheme(url), {}, body.encode()))
        found += collected(item, depth + 1)
    return found


_HOLDERS = ("json_data", "json", "body", "data", "request", "kwargs", "params", "payload", "options")


def _responses(value: Json) -> bool:
    return (
        (_is_list(asked := value.get("input")) or (isinstance(asked, str) and not is_unknown(asked)))
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


#: The URLs of SDKs whose requests look like those of others, by what a program calls.
_CALLS = {
    re.compile(r"\bollama\.(?:chat|Client|AsyncClient)\b"): "http://localhost:11434/api/chat",
    re.compile(r"\bcohere\.(?:Async)?ClientV2\b"): "https://api.cohere.com/v2/chat",
    re.compile(r"\bMistral\("): "https://api.mistral.ai/v1/chat/completions",
    re.compile(r"\b(?:Async)?Groq\("): "https://api.groq.com/openai/v1/chat/completions",
}
#: The call of Anthropic's SDK.
_MESSAGES = re.compile(r"(?<!threads)\.messages\.(?:create|stream)\(?\s*\Z")


def logged(text: str) -> list[Recording]:
    """Returns the requests in a log: every JSON object or Python dictionary that holds a body."""
    found, said = [], []
    for start, end, value in dictionaries(text):
        if (body := _as_sent(body_of(value) or next(bodies_in(value), None))) and not _SHORTENED.search(
            text, start, end
        ):
            line = f"line {text.count(chr(10), 0, start) + 1}"
            url = _url_of(value, text[:start], text[end:])
            sent = json.dumps(body).encode()
            found.append(Recording(line, "POST", url, _headers(value), sent, _status(text[end:])))
            said.append(body)
    return [each for each, body in zip(found, said, strict=True) if not _part_of_another(body, said)]


#: Options of the SDKs that are not sent in the body.
_OPTIONS = {"extra_headers", "extra_query", "extra_body", "timeout"}
#: Options of Google's SDK that are fields of the body. The others are in its `generationConfig`.
_OF_THE_BODY = {"tools", *("tool_config", "toolConfig", "system_instruction", "systemInstruction"), *("safety_settings", "safetySettings"),
    *("cached_content", "cachedContent", "labels")}  # fmt: skip


def _as_sent(body: Json | None) -> Json | None:
    """Returns the body that an SDK makes of the arguments of a call: without its options, and with those of Google's SDK in their
    places.
    """
    if not body:
        return body
    more = _object(body.get("extra_body"))
    body = {name: value for name, value in (body | more).items() if name not in _OPTIONS}
    if "contents" not in body or "config" not in body:
        return body
    config = _object(body["config"])
    beside = {name: value for name, value in config.items() if name in _OF_THE_BODY}
    inside = {
        name: value
        for name, value in config.items()
        if name not in _OF_THE_BODY | {"http_options", "httpOptions"}
    }
    sent = {name: value for name, value in body.items() if name != "config"} | beside
    return sent | ({"generationConfig": inside} if inside else {})


def _part_of_another(body: Json, others: list[Json]) -> bool:
    """Tells whether a body is only the list of messages that a call after it sends, perhaps with others behind them."""
    if body.keys() != {"messages"}:
        return False
    begun = body["messages"]
    same = [
        each
        for each in others
        if isinstance(each.get("messages"), list) and each["messages"][: len(begun)] == begun
    ]
    return len(same) > 1 and body is not same[-1]


def _url_of(value: Json, before: str, after: str) -> str:
    url = text if isinstance(text := value.get("url"), str) else ""
    if "://" in url:
        return url
    if url:
        name = next((each for each in _LOGGERS if re.search(rf"\b{each}\b", before[-300:])), "")
        return urljoin(_LOGGERS.get(name, "https://localhost/"), url.lstrip("/"))
    near: list[str] = [*_URL.findall(before[-2000:])[-1:], *_URL.findall(after[:2000])[:1]]
    if not near and _MESSAGES.search(before[-60:]):
        return "https://api.anthropic.com/v1/messages"
    return near[0] if near else next((url for call, url in _CALLS.items() if call.search(before)), "")


def _headers(value: Json) -> dict[str, str]:
    headers = value.get("headers")
    return (
        {str(name).lower(): str(each) for name, each in headers.items()} if isinstance(headers, dict) else {}
    )


def _status(after: str) -> int | None:
    match = _STATUS.search(after[:4000])
    return int(match[1]) if match else None
