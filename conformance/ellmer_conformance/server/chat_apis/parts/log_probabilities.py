"""Log probabilities, if a request asks for them: the real fields with made-up numbers.

OpenAI's, which Ollama and many others have too: https://developers.openai.com/api/reference/resources/chat
Google's: https://ai.google.dev/api/generate-content#LogprobsResult
Cohere's: https://docs.cohere.com/reference/chat
"""

from __future__ import annotations

from zlib import crc32

from ....contract.exchange import Json
from ....scenarios.script import Say
from ..base import words

__all__ = ["chosen_candidates", "log_probabilities", "of_tokens"]


def log_probabilities(text: str, alternatives: int = 0) -> list[Json]:
    """Returns each token of a text with its log probability, and the requested number of `alternatives`."""
    return [_token(piece, alternatives) for piece in words(Say(text))]


def chosen_candidates(text: str, alternatives: int = 0) -> Json:
    """Returns the same as Google has it."""
    pieces = words(Say(text))
    return {
        "topCandidates": [
            {"candidates": [_candidate(*each) for each in _ranked(piece, alternatives)]} for piece in pieces
        ],
        "chosenCandidates": [_candidate(piece, 0.0) for piece in pieces],
    }


def of_tokens(text: str) -> list[Json]:
    """Returns the same as Cohere has it."""
    return [{"text": piece, "token_ids": [_id(piece)], "logprobs": [0]} for piece in words(Say(text))]


def _ranked(piece: str, alternatives: int) -> list[tuple[str, float]]:
    """Returns a token and the next likely ones."""
    return [(piece if not rank else f"{piece}{rank}", -9.0 * rank) for rank in range(alternatives)]


def _candidate(token: str, probability: float) -> Json:
    return {"token": token, "tokenId": _id(token), "logProbability": probability}


def _id(token: str) -> int:
    return crc32(token.encode()) % 200_000


def _token(piece: str, alternatives: int) -> Json:
    others = [_probability(*each) for each in _ranked(piece, alternatives)]
    return {**_probability(piece, 0.0), "top_logprobs": others}


def _probability(token: str, logprob: float) -> Json:
    return {"token": token, "logprob": logprob, "bytes": list(token.encode())}
