"""AWS Signature Version 4 for a request without a query, as pure functions of request, keys and time.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from urllib.parse import quote, urlsplit

__all__ = ["AwsKeys", "signed"]

_ALGORITHM = "AWS4-HMAC-SHA256"


@dataclass(frozen=True)
class AwsKeys:
    """An AWS key pair for `chat_aws_bedrock(credentials=…)`.

    Args:
        access_key: The access key id.
        secret_key: The secret access key; it is not part of `repr()`.
        token: The session token of temporary keys; `None` (default) for permanent keys.

    Examples:
        >>> AwsKeys("AKIAEXAMPLE", "secret").access_key
        'AKIAEXAMPLE'
    """

    access_key: str
    secret_key: str = field(repr=False)
    token: str | None = field(default=None, repr=False)


def signed(
    url: str, body: bytes, at: float, *, keys: AwsKeys, region: str, service: str, method: str = "POST"
) -> dict[str, str]:
    """Returns the headers that sign a request with `body` to `url` at the Unix time `at`. They are valid for five
    minutes.
    """
    time = datetime.fromtimestamp(at, UTC).strftime("%Y%m%dT%H%M%SZ")
    scope = f"{time[:8]}/{region}/{service}/aws4_request"
    headers = {"host": _host(url), "x-amz-date": time}
    if keys.token:
        headers["x-amz-security-token"] = keys.token
    text = f"{_ALGORITHM}\n{time}\n{scope}\n{_hash(_canonical(method, url, headers, body).encode())}"
    signature = _hmac(_signing_key(keys.secret_key, scope), text).hex()
    credential = f"Credential={keys.access_key}/{scope}"
    names = ";".join(headers)
    del headers["host"]  # the HTTP client writes it
    return {
        **headers,
        "authorization": f"{_ALGORITHM} {credential}, SignedHeaders={names}, Signature={signature}",
    }


def _canonical(method: str, url: str, headers: Mapping[str, str], body: bytes) -> str:
    """Returns the canonical request for the signature; `headers` are in alphabetical order."""
    path = quote(urlsplit(url).path or "/", safe="/~")  # what is percent-encoded already is encoded once more
    lines = [f"{name}:{' '.join(value.split())}" for name, value in headers.items()]
    return "\n".join([method, path, "", *lines, "", ";".join(headers), _hash(body)])


def _host(url: str) -> str:
    """Returns the host as HTTP clients write it: in lower case, without a default port."""
    parts = urlsplit(url)
    default = {"https": 443, "http": 80}.get(parts.scheme)
    return (parts.hostname or "") + (f":{parts.port}" if parts.port not in {None, default} else "")


def _signing_key(secret: str, scope: str) -> bytes:
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = _hmac(key, part)
    return key


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), sha256).digest()


def _hash(data: bytes) -> str:
    return sha256(data).hexdigest()
