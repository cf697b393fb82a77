"""Recordings for mock servers: httpmock's (Rust, YAML), WireMock's and MockServer's (JSON). None of them stores the host, unless a header does.

https://docs.rs/httpmock/latest/httpmock/struct.MockServer.html, https://wiremock.org/docs/stubbing/,
https://www.mock-server.com/mock_server/creating_expectations.html
"""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from ..interaction import Interaction, beside, json_bytes, value_of
from .vcr import moment

Json = dict[str, Any]
_PATTERNS = ("urlPathPattern", "urlPathTemplate", "urlPattern")
_PATHS = ("url", "urlPath", *_PATTERNS)


def is_httpmock(value: Any) -> bool:
    """Tells whether a document is one exchange of httpmock."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("then"), dict)
        and isinstance(value.get("when"), dict)
        and isinstance(value["when"].get("path"), str)
    )


def of_httpmock(value: Json, place: str) -> Interaction:
    """Returns the exchange. Its URL has a host only if the file names one."""
    when, then = value["when"], value["then"]
    query = urlencode([(each["name"], each["value"]) for each in when.get("query_param") or []])
    headers = _named(then.get("header"))
    return Interaction(
        place=place,
        method=str(when.get("method") or "POST").upper(),
        url=f"http://{when.get('host') or ''}{when['path']}" + (f"?{query}" if query else ""),
        sent=_named(when.get("header")),
        body=_body_of(when),
        status=then.get("status"),
        headers=headers,
        content=_body_of(then),
        when=moment(value_of(headers, "date")),
    )


def _named(pairs: Any) -> list[tuple[str, str]]:
    return [(str(each["name"]).lower(), str(each["value"])) for each in pairs or []]


def _body_of(side: Json) -> bytes | None:
    """Returns a body that is stored as text, as JSON, or in base64."""
    for key in ("body", "json_body_str"):
        if isinstance(side.get(key), str):
            return bytes(side[key], "utf-8", "surrogatepass")
    if side.get("json_body") is not None:
        return json_bytes(side["json_body"])
    return b64decode(side["body_base64"]) if isinstance(side.get("body_base64"), str) else None


def is_wiremock(value: Any) -> bool:
    """Tells whether a value is a mapping of WireMock: a request with a path and patterns, and its answer."""
    if not isinstance(value, dict) or not isinstance(value.get("response"), dict):
        return False
    request = value.get("request")
    path = isinstance(request, dict) and next(
        (request[key] for key in _PATHS if isinstance(request.get(key), str)), ""
    )
    marked = isinstance(request, dict) and (
        request.keys() & {"bodyPatterns", "urlPath", *_PATTERNS} or "uuid" in value
    )
    return bool(path and str(path).startswith("/") and marked)


def of_wiremock(value: Json, place: str, folder: Path) -> Interaction:
    """Returns the exchange."""
    request, response = value["request"], value["response"]
    path = next(request[key] for key in _PATHS if isinstance(request.get(key), str))
    headers = [(str(k).lower(), str(v)) for k, v in (response.get("headers") or {}).items()]
    sent = [(str(k).lower(), _matched(v)) for k, v in (request.get("headers") or {}).items()]
    return Interaction(
        place=place,
        method=str(request.get("method") or "POST").upper(),
        url=f"http://{value_of(sent, 'host')}{path}",
        sent=sent,
        body=_pattern(request.get("bodyPatterns") or []),
        status=response.get("status"),
        headers=headers,
        content=_answer(response, folder),
        when=moment(value_of(headers, "date")),
    )


def _matched(value: Any) -> str:
    return str(next(iter(value.values()), "")) if isinstance(value, dict) else str(value)


def _pattern(patterns: list[Any]) -> bytes | None:
    """Returns the body that is matched as a whole."""
    for pattern in patterns:
        for key in ("equalToJson", "equalTo"):
            if (value := pattern.get(key)) is not None:
                return value.encode() if isinstance(value, str) else json_bytes(value)
    return None


def _answer(response: Json, folder: Path) -> bytes | None:
    if isinstance(response.get("body"), str):
        return bytes(response["body"], "utf-8", "surrogatepass")
    if response.get("jsonBody") is not None:
        return json_bytes(response["jsonBody"])
    if isinstance(response.get("base64Body"), str):
        return b64decode(response["base64Body"])
    name = response.get("bodyFileName")
    return beside(_files(folder), name) if isinstance(name, str) else None


def _files(folder: Path) -> Path:
    """Returns WireMock's folder of bodies, which is beside `mappings`. A mapping may be in a folder of `mappings`."""
    top = next((each for each in (folder, *folder.parents) if each.name == "mappings"), folder)
    return top.parent / "__files"


# --- MockServer ------------------------------------------------------------------------------------------


def is_mockserver(value: Any) -> bool:
    """Tells whether a value is an expectation of MockServer: a request with a path, and its answer."""
    if not isinstance(value, dict) or not isinstance(value.get("httpResponse"), dict):
        return False
    request = value.get("httpRequest")
    return isinstance(request, dict) and str(_text_of(request.get("path"))).startswith("/")


def of_mockserver(value: Json, place: str) -> Interaction:
    """Returns the exchange."""
    request, response = value["httpRequest"], value["httpResponse"]
    sent, headers = _several(request.get("headers")), _several(response.get("headers"))
    query = urlencode(_several(request.get("queryStringParameters"), lower=False))
    path = _text_of(request["path"])
    return Interaction(
        place=place,
        method=str(_text_of(request.get("method")) or "POST").upper(),
        url=f"http://{value_of(sent, 'host')}{path}" + (f"?{query}" if query else ""),
        sent=sent,
        body=_of_a_type(request.get("body")),
        status=response.get("statusCode", 200),
        headers=headers,
        content=_of_a_type(response.get("body")),
        when=moment(value_of(headers, "date")),
    )


def _text_of(value: Any) -> Any:
    """Returns a text that may be in an object: `{"value": "/chat"}`."""
    return value.get("value") if isinstance(value, dict) else value


def _several(named: Any, *, lower: bool = True) -> list[tuple[str, str]]:
    """Returns names with values, which are an object with a list for each name, or a list of objects."""
    if isinstance(named, list):
        named = {each["name"]: each.get("values") for each in named}
    return [
        (name.lower() if lower else name, str(_text_of(each)))
        for name, values in (named or {}).items()
        for each in (values if isinstance(values, list) else [values])
    ]


def _of_a_type(body: Any) -> bytes | None:
    """Returns a body: a text, a value in JSON, or an object that has it beside its type."""
    match body:
        case {"type": "JSON", "json": value} | {"json": value}:
            return bytes(value, "utf-8", "surrogatepass") if isinstance(value, str) else json_bytes(value)
        case {"string": str(text)} | str(text):
            return bytes(text, "utf-8", "surrogatepass")
        case {"base64Bytes": str(data)} | {"rawBytes": str(data)}:
            return b64decode(data)
        case dict() | list():
            return json_bytes(body)
    return None
