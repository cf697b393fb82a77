"""Prompts from templates, and the parameters of a model in words that every provider shares."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import UsageError

__all__ = ["interpolate", "interpolate_file", "params"]


def interpolate(template: str, /, **values: Any) -> str:
    """The template with each `{{ name }}` replaced by the value of that name.

    Single braces are text, so JSON can stand in a prompt; what a value contains is not looked at again.
    """

    def value(match: re.Match[str]) -> str:
        name = match[1].strip()
        if not name.isidentifier():
            raise UsageError(f"Between {{{{ and }}}} stands a name, not {name!r}.")
        if name not in values:
            raise UsageError(
                f"The template needs a value for `{name}`; given: {', '.join(values) or 'none'}."
            )
        return str(values[name])

    return re.sub(r"\{\{(.*?)\}\}", value, template, flags=re.DOTALL)


def interpolate_file(path: str | Path, /, **values: Any) -> str:
    """`interpolate()` with the text of a file (UTF-8)."""
    try:
        template = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    return interpolate(template, **values)


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
    """Parameters of a model for `chat(params=…)`; those that are None are left to the provider.

    `max_tokens` bounds the answer, reasoning included. `thinking` is one setting for all providers: `"off"`, `"low"`,
    `"medium"`, `"high"`, `"max"` or a number of tokens; `reasoning_effort` (a word) and `reasoning_tokens` (a budget)
    are what single providers call it. What the model does not take is left out with a warning; `extra` are parameters
    by the provider's own name.
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
    """A single string stands for a list of one; taken letter by letter it would stop almost anything."""
    if sequences is None:
        return None
    return [sequences] if isinstance(sequences, str) else list(sequences)


#: The names that every provider shares.
NEUTRAL = frozenset(params.__kwdefaults__ or ()) - {"thinking"}
