"""OpenRouter: a sentence and the status, for requests and the providers behind it."""

from __future__ import annotations

from collections.abc import Mapping

from ....rule import Refusal
from . import compact, elsewhere


def _numbered(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """OpenRouter's: a sentence and the status; whose request it was, once that is known."""
    known = {} if refusal.status == 401 else {"user_id": "user_conformance"}
    return compact({"error": {"message": refusal.message, "code": refusal.status}} | known)


openrouter = elsewhere("openrouter", envelope=_numbered)
