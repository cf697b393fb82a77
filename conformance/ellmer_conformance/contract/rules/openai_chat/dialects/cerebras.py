"""Cerebras: OpenAI's fields, and no object around them."""

from __future__ import annotations

from collections.abc import Mapping

from ....rule import Refusal
from . import compact, elsewhere


def _bare(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """Cerebras has OpenAI's fields, and no object around them (recorded)."""
    fields = {"message": refusal.message, "type": refusal.type, "param": refusal.param, "code": refusal.code}
    return compact(fields)


cerebras = elsewhere("cerebras", envelope=_bare)
