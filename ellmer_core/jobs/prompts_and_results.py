"""The code that parallel and batch chats share: prompts, results in a list or a frame, a warning about failures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypeVar

from .._chat.answers import Input
from .._chat.chat import Chat
from .._chat.structured_output import Structured
from ..base.log import warn
from ..base.values import Value
from ..contents.content import Content
from ..contents.json_serialization import contents_record
from ..errors import NotSentError, UsageError
from ..schemas.data_frames import Library, columns_of, data_frame
from ..schemas.type_functions import type_of
from ..tools.results import result_text

__all__ = ["PromptProgress", "PromptResults"]

Prompt = Input | Sequence[Input]
T = TypeVar("T")
#: The value for one prompt and the fork that gave it, or the error.
Outcome = tuple[Any, Chat] | Exception


@dataclass(frozen=True, eq=False, repr=False)
class PromptProgress(Value):
    """How many of the prompts are done, for a function that is passed as `progress=`.

    Args:
        done: Number of prompts that were answered or failed.
        total: Number of all prompts.
        failed: Number of prompts that failed.
        cost: US dollars of all answers so far; `None` where the price of one is not known.

    Examples:
        >>> PromptProgress(done=3, total=10, failed=1, cost=0.02).failed
        1
    """

    done: int
    total: int
    failed: int
    cost: float | None


class PromptResults(list[T]):
    """The results of many prompts: a list in the order of the prompts, which also says what failed and what it cost.

    Args:
        values: The results.
        errors: Why a prompt has no result, by index: the error of a prompt that failed, a `NotSentError` for one that was
            not sent. Default: none failed.
        cost: US dollars of all answers; `None` (default) where the price of one is not known.

    Examples:
        >>> texts = PromptResults(["Hello!", None], {1: NotSentError("The job was interrupted.")}, 0.01)
        >>> texts[0], str(texts.errors[1]), texts.cost
        ('Hello!', 'The job was interrupted.', 0.01)
    """

    def __init__(
        self, values: Iterable[T], errors: Mapping[int, Exception] | None = None, cost: float | None = None
    ) -> None:
        super().__init__(values)
        self.errors = dict(errors or {})
        self.cost = cost


#: Columns of a data frame about each answer, beside its data.
ABOUT = (".error", ".input_tokens", ".output_tokens", ".cost")


class Rows:
    """The form of structured answers: `type` and `convert` are for `Structured`."""

    def __init__(self, type: Any, frame: Library | None, *, convert: bool) -> None:
        self.columns = columns_of(type, array=False) if frame else []
        self.type = type_of(type) if frame else type  # rows are dicts, whatever class the type is
        self.convert = convert or frame is not None
        self.frame: Library | None = frame

    def collected(self, outcomes: Sequence[Outcome], cost: float | None) -> Any:
        """Returns the data in a list, or in a data frame with a row for each outcome."""
        if self.frame is None:
            return results(outcomes, cost)
        return data_frame([_row(outcome) for outcome in outcomes], [*self.columns, *ABOUT], self.frame)


def all_inputs(prompts: Iterable[Prompt]) -> list[tuple[Input, ...]]:
    """Returns each prompt as an input of `chat()`. A prompt of several contents is a list or a tuple."""
    if isinstance(prompts, str | Content) or not isinstance(prompts, Iterable):
        raise UsageError(f"Prompts must be a list, not {type(prompts).__name__}.")
    return [_inputs(place, prompt) for place, prompt in enumerate(prompts)]


def _inputs(place: int, prompt: Prompt) -> tuple[Input, ...]:
    values = prompt if isinstance(prompt, list | tuple) else [prompt]
    return tuple(_input(place, value) for value in values)


def _input(place: int, value: object) -> Input:
    if isinstance(value, str | Content):
        return value
    raise UsageError(
        f"prompts[{place}] must be a string, a content or a list of them, not {value!r:.60} ({type(value).__name__})."
    )


def results(outcomes: Sequence[Outcome], cost: float | None) -> PromptResults[Any]:
    """Returns the values of the outcomes, `None` where there is none."""
    values = [outcome[0] if isinstance(outcome, tuple) else None for outcome in outcomes]
    return PromptResults(values, errors_of(outcomes), cost)


def chats(outcomes: Sequence[Outcome], cost: float | None) -> PromptResults[Chat | Exception]:
    """Returns the forks of the outcomes. An error stands in the place of a fork that failed."""
    forks = [outcome[1] if isinstance(outcome, tuple) else outcome for outcome in outcomes]
    return PromptResults(forks, errors_of(outcomes), cost)


def texts(outcomes: Sequence[Outcome], cost: float | None) -> PromptResults[str | None]:
    """Returns the texts of the last answers, `None` where there is none."""
    return results([(_text(o[1]), o[1]) if isinstance(o, tuple) else o for o in outcomes], cost)


def _text(chat: Chat) -> str:
    """Returns the text of the last answer, or of the results that are the answer, also in a chat from a file."""
    final = chat._history.final_results()  # noqa: SLF001 - of this package
    turn = chat.last_turn("assistant")
    return "\n\n".join(map(result_text, final)) if final else turn.text if turn else ""


def cost_of(outcomes: Sequence[Outcome]) -> float | None:
    """Returns the cost of the last answers, or `None` where that of one is not known."""
    costs = [outcome[1].get_cost("last") for outcome in outcomes if isinstance(outcome, tuple)]
    return None if None in costs else sum(filter(None, costs))


def errors_of(outcomes: Sequence[Outcome]) -> dict[int, Exception]:
    """Returns the errors by index."""
    return {place: outcome for place, outcome in enumerate(outcomes) if isinstance(outcome, Exception)}


def warn_of_failures(errors: Mapping[int, Exception], total: int) -> None:
    """Warns how many of the prompts failed, with the first error."""
    failed = [error for error in errors.values() if not isinstance(error, NotSentError)]
    if failed:
        unsent = len(errors) - len(failed)
        first = f"{len(failed)} of {total} prompts failed ({type(failed[0]).__name__}: {failed[0]})"
        warn(first + (f", and {unsent} were not sent" if unsent else ""))


def _row(outcome: Outcome) -> dict[str, Any]:
    if not isinstance(outcome, tuple):
        return {".error": str(outcome)}
    data, chat = outcome
    used = chat.get_tokens()[-1]
    about = (None, used["input"], used["output"], used["cost"])
    return {**data, **dict(zip(ABOUT, about, strict=True))}


def fingerprints(chat: Chat, wanted: Structured | None, prompts: Any = None) -> dict[str, str]:
    """Returns fingerprints of the model, the history, the type and the prompts (if there are any), for a file that belongs to them."""
    wire = chat.wire
    return {
        "provider": _hash([wire.name, wire.provider, wire.model, wire.base_url]),
        "parameters": _hash([dict(wire.params), dict(wire.api_args)]),
        **({} if prompts is None else {"prompts": _hash(prompts)}),
        "history": _hash(contents_record(chat.get_turns(include_system_prompt=True))),
        "type": _hash(wire.schema(wanted.sent) if wanted else None),
    }


def prompt_fingerprints(prompts: Iterable[tuple[Input, ...]]) -> list[str]:
    """Returns a fingerprint of each prompt."""
    return [
        _hash([contents_record(i) if isinstance(i, Content) else i for i in prompt]) for prompt in prompts
    ]


def _hash(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
