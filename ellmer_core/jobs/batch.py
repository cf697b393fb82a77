"""Many prompts by a provider's batch API: handed in, waited for, collected; interrupted and resumed at will."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .._chat.chat import Chat
from .._chat.structured import Structured
from ..contents.turns import AssistantTurn
from ..conversation.response_reading import cut_short
from ..errors import IncompleteResponseError, ResponseError
from ..schemas.data_frames import Library
from ..wire.structured import StructuredMode
from .batch_job import Job, Sleep
from .prompts_and_results import Prompt, Rows, warn_of_failures

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
    """Says each prompt to a fork of its own of `chat`, all in one batch: cheaper, but it may take a day. Returns the
    forks in the order of the prompts, an error in place of one that failed; `None` if `wait` is false and the
    batch is not done.

    The state is kept at `path`: called again with it, in this process or another, the function goes on where it
    was. A file that belongs to other prompts, or to another model, is refused unless `ignore_hash`. Tools are not
    sent. For OpenAI, Anthropic, Google Gemini and Groq.
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
    """The texts of the answers, as by `batch_chat()`; `None` for those that failed."""
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
    """The data of the answers, as `parallel_chat_structured()` gives it, by way of `batch_chat()`. `mode` is that of
    `chat_structured()`; data of another shape are not asked for again."""
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
    """Whether the batch of that file is done, so that `batch_chat()` would not have to wait. Hands nothing in.

    `type` is that of `batch_chat_structured()`.
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
