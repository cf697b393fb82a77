"""Doubleword: error bodies with a sentence, a type and the status."""

from __future__ import annotations

from collections.abc import Mapping

from ....observed.exchange import Request
from ....rule import Refusal
from ....rulebook import UnsupportedFeature, add_feature_rules
from .._refusals_and_examples import ASK, body
from ._elsewhere import compact, elsewhere

#: Recorded by others, in public.
_TESTS = (
    "https://github.com/0xPlaygrounds/rig/blob/b75850e899498647563af2d644ee72d28ac7a69e/tests/"
    "cassettes/doubleword/error_matrix/"
)


def _flat(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    return compact({"code": refusal.status, "message": refusal.message, "type": refusal.type})


doubleword = elsewhere("doubleword", error_body=_flat, without=["REQ-013"])


def _hot(request: Request) -> str | None:
    value = request.body.get("temperature")
    return "/temperature" if isinstance(value, int | float) and not 0 <= value <= 2 else None


add_feature_rules(
    doubleword,
    [
        UnsupportedFeature(
            "REQ-057",
            "`temperature` is between 0 and 2.",
            (),
            Refusal("Validation: Temperature must be between 0 and 2, got {value}", type="Bad Request"),
            ("recorded refusal (Qwen3.5-9B)", f"{_TESTS}invalid_temperature_blocking.yaml"),
            _hot,
            body(ASK, temperature=2),
            body(ASK, temperature=100),
            fix="check the caller's value before the request.",
        )
    ],
)
