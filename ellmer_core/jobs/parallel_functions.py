"""Many prompts at once. Each goes to a fork of one chat, with its system prompt, history, tools and callbacks.

Every request counts towards `rpm`, also those with tool results and retries. The chat itself does not change.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

from .._chat.base import Input
from .._chat.chat import Chat
from ..schemas.data_frames import Library
from ..wire.base import StructuredMode
from .parallel_execution import Many, Parallel, blocking
from .prompts_and_results import Prompt, Rows

__all__ = [
    "parallel_chat",
    "parallel_chat_async",
    "parallel_chat_structured",
    "parallel_chat_structured_async",
    "parallel_chat_text",
    "parallel_chat_text_async",
]


def parallel_chat(
    chat: Chat, prompts: Iterable[Prompt], **options: Unpack[Many]
) -> list[Chat | Exception | None]:
    """Sends each prompt to its own fork of the chat, many at once.

    After Ctrl-C it returns the forks that have answered.

    Args:
        chat: The chat that is forked. It has no client of its own, or an async one.
        prompts: The prompts: strings, contents, or lists of those.
        **options: How many at once, how fast, and what happens on an error; see `Many`.

    Returns:
        The forks in the order of the prompts; the error in place of a fork that failed, and `None` in place of one
        that was not started.

    Raises:
        UsageError: The value of an option is wrong, or the chat has a blocking client.
        TypeError: There is no such option.
        ProviderError: With `on_error="raise"`, the first error.

    Examples:
        >>> [fork.last_turn().text for fork in parallel_chat(chat_openai(), ["Hi", "Bye"])]
        ['Hello!', 'Hello!']
    """
    return blocking(parallel_chat_async(chat, prompts, **options))


async def parallel_chat_async(
    chat: Chat, prompts: Iterable[Prompt], **options: Unpack[Many]
) -> list[Chat | Exception | None]:
    """Works as `parallel_chat()`, for async code.

    Args:
        chat: As in `parallel_chat()`.
        prompts: As in `parallel_chat()`.
        **options: As in `parallel_chat()`.

    Returns:
        As `parallel_chat()`.

    Raises:
        UsageError: As in `parallel_chat()`.

    Examples:
        >>> import asyncio
        >>> len(asyncio.run(parallel_chat_async(chat_openai(), ["Hi", "Bye"])))
        2
    """

    async def say(fork: Chat, prompt: tuple[Input, ...]) -> Chat:
        await fork.chat_async(*prompt, echo="none")
        return fork

    return await Parallel(chat, say, options).run(prompts)


def parallel_chat_text(chat: Chat, prompts: Iterable[Prompt], **options: Unpack[Many]) -> list[str | None]:
    """Returns the texts of the answers of `parallel_chat()`.

    Args:
        chat: As in `parallel_chat()`.
        prompts: As in `parallel_chat()`.
        **options: As in `parallel_chat()`.

    Returns:
        A text for each prompt, `None` for one that failed.

    Raises:
        UsageError: As in `parallel_chat()`.

    Examples:
        >>> parallel_chat_text(chat_openai(), ["Hi", "Bye"])
        ['Hello!', 'Hello!']
    """
    return blocking(parallel_chat_text_async(chat, prompts, **options))


async def parallel_chat_text_async(
    chat: Chat, prompts: Iterable[Prompt], **options: Unpack[Many]
) -> list[str | None]:
    """Works as `parallel_chat_text()`, for async code.

    Args:
        chat: As in `parallel_chat()`.
        prompts: As in `parallel_chat()`.
        **options: As in `parallel_chat()`.

    Returns:
        As `parallel_chat_text()`.

    Raises:
        UsageError: As in `parallel_chat()`.

    Examples:
        >>> import asyncio
        >>> asyncio.run(parallel_chat_text_async(chat_openai(), ["Hi"]))
        ['Hello!']
    """

    async def say(fork: Chat, prompt: tuple[Input, ...]) -> str:
        return await fork.chat_async(*prompt, echo="none")

    outcomes = await Parallel(chat, say, options).run(prompts)
    return [outcome if isinstance(outcome, str) else None for outcome in outcomes]


def parallel_chat_structured(
    chat: Chat,
    prompts: Iterable[Prompt],
    *,
    type: Any,
    convert: bool = True,
    frame: Library | None = None,
    mode: StructuredMode | None = None,
    max_retries: int = 1,
    **options: Unpack[Many],
) -> Any:
    """Gets structured data for each prompt, many at once.

    Args:
        chat: As in `parallel_chat()`.
        prompts: As in `parallel_chat()`.
        type: The type of the data, as in `Chat.chat_structured()`.
        convert: Whether the data are validated and converted. Default: `True`.
        frame: `"pandas"` or `"polars"` for a data frame with a row for each prompt and a column for each property of
            `type`, and the columns `.error`, `.input_tokens`, `.output_tokens` and `.cost` (US dollars). `None`
            (default) for a list.
        mode: As in `Chat.chat_structured()`.
        max_retries: As in `Chat.chat_structured()`. Default: 1.
        **options: As in `parallel_chat()`.

    Returns:
        The data of each prompt in a list, `None` where there are none; or the data frame.

    Raises:
        UsageError: The schema cannot be requested, or an option is wrong.

    Examples:
        >>> year = type_object(name=type_string(), born=type_integer())
        >>> parallel_chat_structured(chat_openai(), ["Who wrote the first program?"], type=year)
        [{'name': 'Ada Lovelace', 'born': 1815}]
    """
    return blocking(
        parallel_chat_structured_async(
            chat,
            prompts,
            type=type,
            convert=convert,
            frame=frame,
            mode=mode,
            max_retries=max_retries,
            **options,
        )
    )


async def parallel_chat_structured_async(
    chat: Chat,
    prompts: Iterable[Prompt],
    *,
    type: Any,
    convert: bool = True,
    frame: Library | None = None,
    mode: StructuredMode | None = None,
    max_retries: int = 1,
    **options: Unpack[Many],
) -> Any:
    """Works as `parallel_chat_structured()`, for async code.

    Args:
        chat: As in `parallel_chat()`.
        prompts: As in `parallel_chat()`.
        type: As in `parallel_chat_structured()`.
        convert: As in `parallel_chat_structured()`. Default: `True`.
        frame: As in `parallel_chat_structured()`.
        mode: As in `Chat.chat_structured()`.
        max_retries: As in `Chat.chat_structured()`. Default: 1.
        **options: As in `parallel_chat()`.

    Returns:
        As `parallel_chat_structured()`.

    Raises:
        UsageError: As in `parallel_chat_structured()`.

    Examples:
        >>> import asyncio
        >>> year = type_object(name=type_string(), born=type_integer())
        >>> asyncio.run(parallel_chat_structured_async(chat_openai(), ["Who?"], type=year))
        [{'name': 'Ada Lovelace', 'born': 1815}]
    """
    rows = Rows(type, frame, convert=convert)

    async def say(fork: Chat, prompt: tuple[Input, ...]) -> tuple[Any, Chat]:
        data = await fork.chat_structured_async(
            *prompt, type=rows.type, convert=rows.convert, mode=mode, max_retries=max_retries
        )
        return data, fork

    return rows.collected(await Parallel(chat, say, options).run(prompts))
