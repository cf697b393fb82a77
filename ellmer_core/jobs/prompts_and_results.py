"""The code that parallel and batch chats share: prompts, structured answers in a list or a frame, a warning about
failures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any

from .._chat.answers import Input
from .._chat.chat import Chat
from .._chat.structured_output import Structured
from ..contents.content import Content
from ..contents.json_serialization import contents_record
from ..errors import UsageError
from ..log import warn
from ..schemas.data_frames import Library, columns_of, data_frame
from ..schemas.type_functions import type_of

Prompt = Input | Sequence[Input]

#: Columns of a data frame about each answer, beside its data.
ABOUT = (".error", ".input_tokens", ".output_tokens", ".cost")


class Rows:
    """The form of structured answers: `type` and `convert` are for `Structured`. An outcome is `(data, chat)`, an
    error, or `None` if nothing was sent.
    """

    def __init__(self, type: Any, frame: Library | None, *, convert: bool) -> None:
        self.columns = columns_of(type, array=False) if frame else []
        self.type = type_of(type) if frame else type  # rows are dicts, whatever class the type is
        self.convert = convert or frame is not None
        self.frame = frame

    def collected(self, outcomes: Sequence[Any]) -> Any:
        """Returns the data in a list, or in a data frame with a row for each outcome."""
        if self.frame is None:
            return [outcome[0] if isinstance(outcome, tuple) else None for outcome in outcomes]
        return data_frame([_row(outcome) for outcome in outcomes], [*self.columns, *ABOUT], self.frame)


def all_inputs(prompts: Iterable[Prompt]) -> list[tuple[Input, ...]]:
    """Returns each prompt as an input of `chat()`. A prompt of several contents is a list or a tuple."""
    if isinstance(prompts, str | Content) or not isinstance(prompts, Iterable):
        raise UsageError(f"Prompts must be a list, not {type(prompts).__name__}.")
    return [_inputs(prompt) for prompt in prompts]


def _inputs(prompt: Prompt) -> tuple[Input, ...]:
    return tuple(prompt) if isinstance(prompt, (list, tuple)) else (prompt,)  # type: ignore[return-value]  # checked by the chat


def warn_of_failures(outcomes: Sequence[Any]) -> None:
    """Warns how many prompts failed, with the first error."""
    errors = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    unsent = sum(outcome is None for outcome in outcomes)
    if errors:
        failed = f"{len(errors)} of {len(outcomes)} prompts failed ({type(errors[0]).__name__}: {errors[0]})"
        more = f", and {unsent} were not sent" if unsent else ""
        warn(failed + more)


def warn_of_interruption(outcomes: Sequence[Any]) -> None:
    """Warns how many prompts were answered before Ctrl-C."""
    answered = sum(outcome is not None and not isinstance(outcome, Exception) for outcome in outcomes)
    message = (
        f"Interrupted: {answered} of {len(outcomes)} prompts were answered; the others are None or an error."
    )
    warn(message)


def _row(outcome: tuple[Any, Chat] | Exception | None) -> dict[str, Any]:
    if not isinstance(outcome, tuple):
        return {".error": str(outcome or "not sent")}
    data, chat = outcome
    used = chat.get_tokens()[-1]
    about = (None, used["input"], used["output"], used["cost"])
    return {**data, **dict(zip(ABOUT, about, strict=True))}


def fingerprints(chat: Chat, prompts: Any, wanted: Structured | None) -> dict[str, str]:
    """Returns fingerprints of the prompts, the model, the history and the type, for a file that belongs to them."""
    wire = chat.wire
    return {
        "provider": _hash([wire.name, wire.provider, wire.model, wire.base_url]),
        "parameters": _hash([dict(wire.params), dict(wire.api_args)]),
        "prompts": _hash(prompts),
        "history": _hash(contents_record(chat.get_turns(include_system_prompt=True))),
        "type": _hash(wire.schema(wanted.sent) if wanted else None),
    }


def prompts_record(prompts: Iterable[tuple[Input, ...]]) -> list[Any]:
    """Returns prompts as JSON."""
    return [[contents_record(i) if isinstance(i, Content) else i for i in prompt] for prompt in prompts]


def _hash(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
