"""Scripts that send a failed request to a server under test again, with the standard library or with curl."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

__all__ = ["NO_JSON", "WRONG_KEY", "curl", "python"]

#: The body that is not JSON, and the wrong key.
NO_JSON = '{"model": '
WRONG_KEY = "conformance-wrong-key"

_SCRIPT = """import os
from urllib.error import HTTPError
from urllib.request import Request, urlopen

URL = {url!r}
KEY = {key}
BODY = {body!r}

headers = {{name: value.replace("$KEY", KEY) for name, value in {headers}.items()}}
print("POST", URL, BODY, sep="\\n")
try:
    with urlopen(Request(URL, BODY.encode(), headers)) as answer:
        print(answer.status, answer.headers["content-type"])
        print(answer.read().decode("utf-8", "replace"))
except HTTPError as refusal:
    print(refusal.code, refusal.headers["content-type"])
    print(refusal.read().decode("utf-8", "replace"))
"""
_KEY = 'os.environ.get("KEY", "conformance-key-0000")'


def python(exchange: Mapping[str, Any], case: str) -> str:
    """Returns a script that sends the request again, with the key in the variable KEY, and prints the answer."""
    return _SCRIPT.format(
        url=exchange["url"],
        key=repr(WRONG_KEY) if case == "wrong_key" else _KEY,
        body=_body(exchange, case),
        headers=_headers(str(exchange["wire"])),
    )


def curl(exchange: Mapping[str, Any], case: str) -> str:
    """Returns one curl command that sends the request again."""
    key = WRONG_KEY if case == "wrong_key" else "$KEY"
    told = [
        f'"{name}: {value}"'.replace("$KEY", key) for name, value in _headers(str(exchange["wire"])).items()
    ]
    return " \\\n  ".join(
        [f"curl -sS -i {shlex.quote(str(exchange['url']))}"]
        + [f"-H {each}" for each in told]
        + [f"-d {shlex.quote(_body(exchange, case))}\n"]
    )


def _headers(wire: str) -> dict[str, str]:
    """Returns the headers with the key, and the format's other headers."""
    found = {"content-type": "application/json"}
    if wire == "anthropic":
        return found | {"x-api-key": "$KEY", "anthropic-version": "2023-06-01"}
    return found | ({"x-goog-api-key": "$KEY"} if wire == "gemini" else {"authorization": "Bearer $KEY"})


def _body(exchange: Mapping[str, Any], case: str) -> str:
    return NO_JSON if case == "no_json" else json.dumps(exchange["body"], ensure_ascii=False)
