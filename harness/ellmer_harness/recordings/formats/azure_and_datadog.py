"""Recordings of Azure's test proxy (JSON, several languages) and of DataDog's Java tests (`.rec`).

https://github.com/Azure/azure-sdk-tools/tree/main/tools/test-proxy
"""

from __future__ import annotations

import re
from typing import Any

from ...exchange.messages import Headers
from ..interaction import Interaction, json_bytes, value_of
from .vcr import moment

Json = dict[str, Any]


def is_test_proxy(value: Any) -> bool:
    """Tells whether a value is one exchange of Azure's test proxy."""
    return isinstance(value, dict) and isinstance(value.get("RequestUri"), str) and "StatusCode" in value


def of_test_proxy(value: Json, place: str) -> Interaction:
    """Returns the exchange."""
    sent, headers = _headers(value.get("RequestHeaders")), _headers(value.get("ResponseHeaders"))
    return Interaction(
        place=place,
        method=str(value.get("RequestMethod") or "POST").upper(),
        url=value["RequestUri"],
        sent=sent,
        body=_body(value.get("RequestBody"), sent),
        status=value["StatusCode"] if isinstance(value["StatusCode"], int) else None,
        headers=headers,
        content=_body(value.get("ResponseBody"), headers),
        when=moment(value_of(headers, "date")),
    )


def _headers(value: Any) -> Headers:
    return [
        (str(name).lower(), str(each))
        for name, field in (value or {}).items()
        for each in (field if isinstance(field, list) else [field])
    ]


def _body(value: Any, headers: Headers) -> bytes:
    """Returns a body: text is one string or its lines, and everything else is the parsed JSON."""
    in_lines = isinstance(value, list) and all(isinstance(line, str) for line in value)
    if in_lines and "json" not in value_of(headers, "content-type"):
        return "".join(value).encode(errors="surrogatepass")
    if isinstance(value, str):
        return value.encode(errors="surrogatepass")
    return b"" if value is None else json_bytes(value)


_REC = re.compile(  # the parts are found one after the other: what does not fit behind one is not looked for again
    rb"method: (?P<method>\w+)\s*\npath: (?P<path>\S+)\s*\n-- begin request body --\r?\n"
    rb"(?>(?P<sent>.*?)\r?\n?-- end request body --\s*\nstatus code: (?P<status>\d+)\s*\n-- begin response headers --\r?\n)"
    rb"(?>(?P<headers>.*?)-- end response headers --\s*\n-- begin response body --\r?\n)"
    rb"(?P<got>.*?)\r?\n?-- end response body --",
    re.DOTALL,
)
IS_REC = re.compile(rb"method: [A-Z]+\s*\npath: ")


def of_rec(data: bytes) -> Interaction:
    """Returns the exchange of a `.rec` file. Its path is relative to the base URL, which is not stored.

    Raises `ValueError` if it is truncated.
    """
    found = _REC.match(data)
    if found is None:
        raise ValueError("a part between `-- begin …` and `-- end …` is missing")
    lines = found["headers"].decode("latin-1").splitlines()
    headers = [
        (name.strip().lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)
    ]
    return Interaction(
        place="",
        method=found["method"].decode(),
        url="http:///" + found["path"].decode("latin-1").lstrip("/"),
        body=found["sent"],
        status=int(found["status"]),
        headers=headers,
        content=found["got"],
        when=moment(value_of(headers, "date")),
    )
