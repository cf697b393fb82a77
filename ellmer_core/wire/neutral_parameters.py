"""The parameters of a model under names that all providers share. A wire renames them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["params"]


def params(
    *,
    temperature: float | None = None,
    top_p: float | None = None,
    top_k: int | None = None,
    frequency_penalty: float | None = None,
    presence_penalty: float | None = None,
    seed: int | None = None,
    max_tokens: int | None = None,
    log_probs: bool | None = None,
    stop_sequences: Sequence[str] | None = None,
    reasoning_effort: str | None = None,
    reasoning_tokens: int | None = None,
    thinking: str | int | None = None,
    **extra: Any,
) -> dict[str, Any]:
    """Collects parameters of a model, for `chat_openai(params=…)` and its like. `None` leaves a parameter to the provider.

    A parameter that the model does not accept is left out with a warning.

    Args:
        temperature: Randomness; 0 is the least. The largest value differs by provider (1 or 2).
        top_p: Share of the probability that tokens are drawn from, 0 to 1.
        top_k: Number of the most likely tokens that tokens are drawn from.
        frequency_penalty: Penalty for tokens by how often they occurred, usually -2 to 2.
        presence_penalty: Penalty for tokens that occurred, usually -2 to 2.
        seed: Seed for repeatable answers, where the provider has one.
        max_tokens: Largest number of tokens of an answer, reasoning included.
        log_probs: Whether the provider returns log probabilities of the tokens.
        stop_sequences: Texts that end the answer.
        reasoning_effort: The provider's own word for how much the model thinks.
        reasoning_tokens: Number of tokens to think with.
        thinking: One setting for all providers: `"off"`, `"low"`, `"medium"`, `"high"`, `"max"`, or a number of tokens.
        **extra: Parameters by the provider's own names.

    Returns:
        The parameters that are not `None`.

    Examples:
        >>> params(temperature=0.2, max_tokens=500)
        {'temperature': 0.2, 'max_tokens': 500}
    """
    named = {
        "temperature": temperature,
        "top_p": top_p,
        "top_k": top_k,
        "frequency_penalty": frequency_penalty,
        "presence_penalty": presence_penalty,
        "seed": seed,
        "max_tokens": max_tokens,
        "log_probs": log_probs,
        "stop_sequences": _texts(stop_sequences),
        "reasoning_effort": reasoning_effort,
        "reasoning_tokens": reasoning_tokens,
        "thinking": thinking,
    }
    return {name: value for name, value in (named | extra).items() if value is not None}


def _texts(sequences: Sequence[str] | None) -> list[str] | None:
    """Returns a list of texts. A single string becomes a list of one, because its letters would be wrong stop
    sequences.
    """
    if sequences is None:
        return None
    return [sequences] if isinstance(sequences, str) else list(sequences)


#: The names that every provider shares.
NEUTRAL = frozenset(params.__kwdefaults__ or ()) - {"thinking"}
