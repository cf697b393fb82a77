"""Log probabilities where a request asks for them: the real fields, with made-up numbers.

https://platform.openai.com/docs/api-reference/chat/object
"""

from __future__ import annotations

from ...contract.exchange import Json
from ...scenarios.script import Say
from .base import words

__all__ = ["log_probabilities"]


def log_probabilities(text: str, alternatives: int = 0) -> list[Json]:
    """Returns each token of a text with its log probability, and as many `alternatives` as were asked for."""
    return [_token(piece, alternatives) for piece in words(Say(text))]


def _token(piece: str, alternatives: int) -> Json:
    others = [
        _probability(piece if not rank else f"{piece}{rank}", -9.0 * rank) for rank in range(alternatives)
    ]
    return {**_probability(piece, 0.0), "top_logprobs": others}


def _probability(token: str, logprob: float) -> Json:
    return {"token": token, "logprob": logprob, "bytes": list(token.encode())}
