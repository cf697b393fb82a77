"""The check of AWS credentials: a bearer key, or the form of a signature."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ....contract.rule import Refusal
from ..base import WRONG_KEY

__all__ = ["unauthorized"]

_SIGNED = {
    "Credential": r"Credential=(?P<key>[^/,\s]+)/\d{8}/[\w-]+/bedrock/aws4_request",
    "Signature": r"Signature=[0-9a-f]{64}",
    "SignedHeaders": r"SignedHeaders=[\w;-]*host[\w;-]*",
}
_WRONG = Refusal("The security token included in the request is invalid.", 403, "UnrecognizedClientException")


def unauthorized(headers: Mapping[str, str]) -> Refusal | None:
    """Refuses a request without a bearer key and without a signature of the right form.

    The signature itself is not checked, since the secret is not known.
    """
    scheme, _, rest = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and rest:
        return _WRONG if rest == WRONG_KEY else None
    if scheme != "AWS4-HMAC-SHA256":
        return Refusal("Missing Authentication Token", 403, "MissingAuthenticationTokenException")
    lacking = [
        f"Authorization header requires '{name}' parameter." for name in _SIGNED if not _part(name, rest)
    ]
    if "x-amz-date" not in headers and "date" not in headers:
        either = "either a 'X-Amz-Date' or a 'Date' header."
        lacking.append(f"Authorization header requires existence of {either}")
    if lacking:
        return Refusal(" ".join(lacking), 403, "IncompleteSignatureException")
    found = _part("Credential", rest)
    return _WRONG if found and found["key"] == WRONG_KEY else None


def _part(name: str, authorization: str) -> re.Match[str] | None:
    return re.search(_SIGNED[name], authorization)
