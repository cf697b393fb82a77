"""Many prompts through a provider's batch API: they are submitted, waited for and collected, and can be interrupted
and resumed.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .._chat.chat import Chat
from .._chat.structured_output.validated_answer import Structured
from ..contents.turns import AssistantTurn
from ..conversation.response.answer_reading import cut_short
from ..errors import IncompleteResponseError, ResponseError
from ..schemas.data_frames import Library
from ..wire.base import StructuredMode
from .prompts_and_results import Prompt, Rows, warn_of_failures
from .resumable_batch import Job, Sleep

__all__ = ["batch_chat", "batch_chat_completed", "batch_chat_structured", "batch_chat_text"]


def batch_chat(
    chat: Chat,
    prompts: Iterable[Prompt],
    path: str | Path,
    *,
    wait: bool = True,
    ignore_hash: bool = False,
    sleep: Sleep = time.sleep,
) -> list[Chat | Exception] | None:
    """Sends each prompt to its own fork of the chat, all in one batch. A batch is cheaper, but may take a day.

    OpenAI, Anthropic, Google Gemini and Groq have batches. Tools are not sent. The state is kept in a file: when
    the function is called again with that file, in this process or another, it continues where it stopped.

    Args:
        chat: The chat whose system prompt, model and history each fork starts with.
        prompts: The prompts: strings, contents, or lists of those.
        path: File for the state of the batch.
        wait: Whether to wait until the batch is done. Default: `True`.
        ignore_hash: Whether to accept a file that belongs to other prompts or to another model. Default: `False`.
        sleep: Function that pauses between polls, given seconds. Default: `time.sleep`.

    Returns:
        The forks in the order of the prompts, with an error in place of one that failed; `None` if `wait` is false
        and the batch is not done.

    Raises:
        UsageError: The provider has no batches, or the file belongs to other prompts.
        ProviderError: The provider refused the batch.

    Examples:
        >>> chats = batch_chat(chat, ["Hello?", "Goodbye?"], "greetings.json")  # doctest: +SKIP
    """
    job = Job(chat, prompts, path, ignore_hash=ignore_hash)
    if not job.finish(wait=wait, sleep=sleep):
        return None
    outcomes = job.outcomes()
    warn_of_failures(outcomes)
    return outcomes


def batch_chat_text(
    chat: Chat, prompts: Iterable[Prompt], path: str | Path, **options: Any
) -> list[str | None] | None:
    """Returns the texts of the answers of `batch_chat()`.

    Args:
        chat: As in `batch_chat()`.
        prompts: As in `batch_chat()`.
        path: File for the state of the batch.
        **options: `wait`, `ignore_hash` and `sleep` of `batch_chat()`.

    Returns:
        A text for each prompt, `None` for one that failed; `None` if `wait` is false and the batch is not done.

    Raises:
        UsageError: As in `batch_chat()`.

    Examples:
        >>> batch_chat_text(chat, ["Hello?", "Goodbye?"], "greetings.json")  # doctest: +SKIP
        ['Hello!', 'Goodbye!']
    """
    outcomes = batch_chat(chat, prompts, path, **options)
    if outcomes is None:
        return None
    return [_text(outcome) if isinstance(outcome, Chat) else None for outcome in outcomes]


def batch_chat_structured(
    chat: Chat,
    prompts: Iterable[Prompt],
    path: str | Path,
    *,
    type: Any,
    convert: bool = True,
    frame: Library | None = None,
    mode: StructuredMode | None = None,
    wait: bool = True,
    ignore_hash: bool = False,
    sleep: Sleep = time.sleep,
) -> Any:
    """Gets structured data for each prompt through a batch.

    Args:
        chat: As in `batch_chat()`.
        prompts: As in `batch_chat()`.
        path: File for the state of the batch.
        type: The type of the data, as in `Chat.chat_structured()`.
        convert: Whether the data are validated and converted. Default: `True`.
        frame: `"pandas"` or `"polars"` for a data frame; `None` (default) for a list.
        mode: As in `Chat.chat_structured()`. Invalid data are not requested again.
        wait: Whether to wait until the batch is done. Default: `True`.
        ignore_hash: As in `batch_chat()`. Default: `False`.
        sleep: Function that pauses between polls, given seconds. Default: `time.sleep`.

    Returns:
        As `parallel_chat_structured()`; `None` if `wait` is false and the batch is not done.

    Raises:
        UsageError: The provider has no batches, or the schema cannot be requested.

    Examples:
        >>> year = type_object(year=type_integer())
        >>> batch_chat_structured(chat, ["When was Ada born?"], "born.json", type=year)  # doctest: +SKIP
        [{'year': 1815}]
    """
    rows = Rows(type, frame, convert=convert)
    wanted = Structured(rows.type, convert=rows.convert)
    job = Job(chat, prompts, path, wanted, mode=mode, ignore_hash=ignore_hash)
    if not job.finish(wait=wait, sleep=sleep):
        return None
    outcomes = [_data(outcome, wanted) for outcome in job.outcomes()]
    warn_of_failures(outcomes)
    return rows.collected(outcomes)


def batch_chat_completed(
    chat: Chat, prompts: Iterable[Prompt], path: str | Path, *, type: Any = None, ignore_hash: bool = False
) -> bool:
    """Returns whether the batch of a file is done, so that `batch_chat()` would not wait. It submits nothing.

    Args:
        chat: As in `batch_chat()`.
        prompts: As in `batch_chat()`.
        path: File with the state of the batch.
        type: The `type` of `batch_chat_structured()`; `None` (default) for the other functions.
        ignore_hash: As in `batch_chat()`. Default: `False`.

    Returns:
        Whether all answers are there.

    Raises:
        UsageError: The file belongs to other prompts.

    Examples:
        >>> batch_chat_completed(chat, ["Hello?", "Goodbye?"], "greetings.json")  # doctest: +SKIP
        False
    """
    wanted = None if type is None else Structured(type)
    job = Job(chat, prompts, path, wanted, ignore_hash=ignore_hash)
    return job.stage != "new" and job.finish(wait=False, sleep=time.sleep)


def _text(chat: Chat) -> str:
    turn = chat.last_turn("assistant")
    return turn.text if turn else ""


def _data(outcome: Chat | Exception, wanted: Structured) -> tuple[Any, Chat] | Exception:
    if not isinstance(outcome, Chat):
        return outcome
    turn = outcome.last_turn("assistant") or AssistantTurn()
    try:
        if cut := cut_short(turn):
            raise IncompleteResponseError(f"No structured data: {cut}")
        return wanted.value(turn), outcome
    except ResponseError as error:
        return error
