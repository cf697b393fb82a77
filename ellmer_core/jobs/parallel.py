"""Many prompts at once. Each goes to a fork of one chat, with its system prompt, history, tools and callbacks.

Every request counts towards `rpm`, also those with tool results and retries; `pacing.py` decides when it goes out. The
chat itself does not change.
"""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterable,
    Iterator,
)
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, Unpack, overload

from .._chat.answers import Input
from .._chat.chat import Chat
from .._chat.structured_output import Structured
from ..base.argument_checks import wrong_keyword
from ..base.log import warn
from ..contents.turns import AssistantTurn
from ..errors import ConversionError, NotSentError, UsageError, UsageLimitError
from ..schemas.data_frames import Library
from ..wire.base import StructuredMode
from .job_files import Journal, file_of, held
from .pacing import Budget, Pace, paced
from .prompts_and_results import (
    Outcome,
    Prompt,
    PromptProgress,
    PromptResults,
    Rows,
    all_inputs,
    chats,
    errors_of,
    fingerprints,
    prompt_fingerprints,
    texts,
    warn_of_failures,
)

if TYPE_CHECKING:
    from typing_extensions import TypeForm

__all__ = [
    "parallel_chat", "parallel_chat_as_completed", "parallel_chat_as_completed_async", "parallel_chat_async",
    "parallel_chat_structured", "parallel_chat_structured_async", "parallel_chat_text", "parallel_chat_text_async",
]  # fmt: skip


# --- The functions ---------------------------------------------------------------------------------------


def parallel_chat(
    chat: Chat, prompts: Iterable[Prompt], **options: Unpack[Many]
) -> PromptResults[Chat | Exception]:
    """Sends each prompt to its own fork of the chat, many at once.

    After Ctrl-C it returns the forks that have answered.

    Args:
        chat: The chat that is forked. It has no client of its own, or an async one.
        prompts: The prompts: strings, contents, or lists of those.
        options: The keyword arguments of `Many`.

    Returns:
        The forks in the order of the prompts, as `PromptResults`, which also has the `cost` of all. In place of a fork that
        failed is its error, and in place of one that was not started a `NotSentError`, which says why.

    Raises:
        UsageError: The value of an option is wrong, or the chat has a blocking client.
        TypeError: There is no such option.
        ProviderError: With `on_error="stop"`, the first error.

    Examples:
        >>> [fork.last_turn().text for fork in parallel_chat(chat_openai(), ["Hi", "Bye"])]
        ['Hello!', 'Hello!']
    """
    return blocking(parallel_chat_async(chat, prompts, **options))


async def parallel_chat_async(
    chat: Chat, prompts: Iterable[Prompt], **options: Unpack[Many]
) -> PromptResults[Chat | Exception]:
    """Works as `parallel_chat()`, for async code.

    Args:
        chat: As in `parallel_chat()`.
        prompts: As in `parallel_chat()`.
        options: The keyword arguments of `Many`.

    Returns:
        As `parallel_chat()`.

    Raises:
        UsageError: As in `parallel_chat()`.

    Examples:
        >>> import asyncio
        >>> len(asyncio.run(parallel_chat_async(chat_openai(), ["Hi", "Bye"])))
        2
    """

    job = Parallel(chat, _chatted, options)
    return chats(await job.run(all_inputs(prompts)), job.budget.cost)


def parallel_chat_text(
    chat: Chat, prompts: Iterable[Prompt], **options: Unpack[Many]
) -> PromptResults[str | None]:
    """Returns the texts of the answers of `parallel_chat()`.

    Args:
        chat: As in `parallel_chat()`.
        prompts: As in `parallel_chat()`.
        options: The keyword arguments of `Many`.

    Returns:
        A text for each prompt, `None` for one that failed or was not sent. The list's `errors` say why, by index, and
        its `cost` is that of all.

    Raises:
        UsageError: As in `parallel_chat()`.

    Examples:
        >>> parallel_chat_text(chat_openai(), ["Hi", "Bye"])
        ['Hello!', 'Hello!']
    """
    return blocking(parallel_chat_text_async(chat, prompts, **options))


async def parallel_chat_text_async(
    chat: Chat, prompts: Iterable[Prompt], **options: Unpack[Many]
) -> PromptResults[str | None]:
    """Works as `parallel_chat_text()`, for async code.

    Args:
        chat: As in `parallel_chat()`.
        prompts: As in `parallel_chat()`.
        options: The keyword arguments of `Many`.

    Returns:
        As `parallel_chat_text()`.

    Raises:
        UsageError: As in `parallel_chat()`.

    Examples:
        >>> import asyncio
        >>> asyncio.run(parallel_chat_text_async(chat_openai(), ["Hi"]))
        ['Hello!']
    """

    job = Parallel(chat, _chatted, options)
    return texts(await job.run(all_inputs(prompts)), job.budget.cost)


@overload
def parallel_chat_structured(
    chat: Chat,
    prompts: Iterable[Prompt],
    *,
    type: TypeForm[T],
    convert: Literal[True] = True,
    frame: None = None,
    mode: StructuredMode | None = None,
    max_retries: int = 1,
    **options: Unpack[Many],
) -> PromptResults[T | None]: ...
@overload
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
) -> Any: ...
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
        options: The keyword arguments of `Many`.

    Returns:
        The data of each prompt in a list, `None` where there are none, or the data frame. The list's `errors` have
        the reasons by index, and its `cost` is the sum of all.

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


@overload
async def parallel_chat_structured_async(
    chat: Chat,
    prompts: Iterable[Prompt],
    *,
    type: TypeForm[T],
    convert: Literal[True] = True,
    frame: None = None,
    mode: StructuredMode | None = None,
    max_retries: int = 1,
    **options: Unpack[Many],
) -> PromptResults[T | None]: ...
@overload
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
) -> Any: ...
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
        options: The keyword arguments of `Many`.

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

    job = Parallel(
        chat, _structured(rows, mode, max_retries), options, Structured(rows.type, convert=rows.convert)
    )
    return rows.collected(await job.run(all_inputs(prompts)), job.budget.cost)


@overload
def parallel_chat_as_completed(
    chat: Chat, prompts: Iterable[Prompt], *, type: None = None, **options: Unpack[ManyData]
) -> Generator[tuple[int, Chat | Exception], None, None]: ...
@overload
def parallel_chat_as_completed(
    chat: Chat, prompts: Iterable[Prompt], *, type: TypeForm[T], **options: Unpack[ManyData]
) -> Generator[tuple[int, T | Exception], None, None]: ...
@overload
def parallel_chat_as_completed(
    chat: Chat, prompts: Iterable[Prompt], *, type: Any, **options: Unpack[ManyData]
) -> Generator[tuple[int, Any], None, None]: ...
def parallel_chat_as_completed(
    chat: Chat,
    prompts: Iterable[Prompt],
    *,
    type: Any = None,
    mode: StructuredMode | None = None,
    max_retries: int = 1,
    **options: Unpack[Many],
) -> Generator[tuple[int, Any], None, None]:
    """Works as `parallel_chat()` or `parallel_chat_structured()`, but yields each result as it arrives.

    The other prompts go on while the caller handles a result. If you end the loop early, the requests in progress are cancelled.

    Args:
        chat: As in `parallel_chat()`.
        prompts: As in `parallel_chat()`.
        type: The type of the data, as in `Chat.chat_structured()`. `None` (default) yields forks of the chat.
        mode: As in `Chat.chat_structured()`.
        max_retries: As in `Chat.chat_structured()`. Default: 1.
        options: The keyword arguments of `Many`.

    Returns:
        A generator of the index of each prompt and its result: the fork, or the data, or the error. A prompt that was not sent
        has a `NotSentError`, which says why.

    Raises:
        UsageError: As in `parallel_chat()`.

    Examples:
        >>> for index, answer in parallel_chat_as_completed(chat_openai(), ["Hi"]):
        ...     print(index, answer.last_turn().text)
        0 Hello!
    """
    job, asked = _as_completed(chat, type, mode, max_retries, options), all_inputs(prompts)
    return arriving(lambda: job.results(asked))


@overload
def parallel_chat_as_completed_async(
    chat: Chat, prompts: Iterable[Prompt], *, type: None = None, **options: Unpack[ManyData]
) -> AsyncGenerator[tuple[int, Chat | Exception], None]: ...
@overload
def parallel_chat_as_completed_async(
    chat: Chat, prompts: Iterable[Prompt], *, type: TypeForm[T], **options: Unpack[ManyData]
) -> AsyncGenerator[tuple[int, T | Exception], None]: ...
@overload
def parallel_chat_as_completed_async(
    chat: Chat, prompts: Iterable[Prompt], *, type: Any, **options: Unpack[ManyData]
) -> AsyncGenerator[tuple[int, Any], None]: ...
def parallel_chat_as_completed_async(
    chat: Chat,
    prompts: Iterable[Prompt],
    *,
    type: Any = None,
    mode: StructuredMode | None = None,
    max_retries: int = 1,
    **options: Unpack[Many],
) -> AsyncGenerator[tuple[int, Any], None]:
    """Works as `parallel_chat_as_completed()`, for async code: iterate with `async for`.

    Args:
        chat: As in `parallel_chat()`.
        prompts: As in `parallel_chat()`.
        type: As in `parallel_chat_as_completed()`.
        mode: As in `Chat.chat_structured()`.
        max_retries: As in `Chat.chat_structured()`. Default: 1.
        options: The keyword arguments of `Many`.

    Returns:
        An asynchronous generator of what `parallel_chat_as_completed()` yields. A loop that ends it early closes it with
        `contextlib.aclosing()`.

    Raises:
        UsageError: As in `parallel_chat()`.

    Examples:
        >>> import asyncio
        >>> async def ask():
        ...     async for index, answer in parallel_chat_as_completed_async(chat_openai(), ["Hi"]):
        ...         print(index, answer.last_turn().text)
        >>> asyncio.run(ask())
        0 Hello!
    """
    return _as_completed(chat, type, mode, max_retries, options).results(all_inputs(prompts))


def _as_completed(
    chat: Chat, type: Any, mode: StructuredMode | None, max_retries: int, options: Many
) -> Parallel:
    if options.get("progress") is None:
        options = {**options, "progress": False}
    if type is None:
        return Parallel(chat, _chatted, options)
    say = _structured(Rows(type, None, convert=True), mode, max_retries)
    return Parallel(chat, say, options, Structured(type))


async def _chatted(fork: Chat, prompt: tuple[Input, ...]) -> Chat:
    await fork.chat_async(*prompt, echo="none")
    return fork


def _structured(rows: Rows, mode: StructuredMode | None, max_retries: int) -> Say:
    async def say(fork: Chat, prompt: tuple[Input, ...]) -> Any:
        return await fork.chat_structured_async(
            *prompt, type=rows.type, convert=rows.convert, mode=mode, max_retries=max_retries
        )

    return say


# --- Up to a number at once ------------------------------------------------------------------------------


T = TypeVar("T")
Say = Callable[[Chat, tuple[Input, ...]], Awaitable[Any]]
#: Whether a cancellation is Ctrl-C, after which a blocking call returns what is there.
_INTERRUPTIBLE: ContextVar[bool] = ContextVar("interruptible", default=False)


class Many(TypedDict, total=False):
    """The options of parallel prompts.

    Args:
        max_active: How many are in work at once. There are fewer while the provider's headers say so: its rate limits, and how long to
            wait after an answer 429. Default: 10.
        rpm: How many requests are sent per minute. Default: 500.
        on_error: `"return"` (default) starts no further prompt after one that failed, and waits for those in work; `"continue"` goes
            on with all; `"stop"` raises the error.
        progress: Whether to show a bar with the cost, in a terminal, where rich is installed; or a function that is called with a
            `PromptProgress` after each prompt. Default: a bar, but none if the results are yielded as they arrive.
        path: A file that keeps the answers as they arrive. The same call with the same file asks only what is missing, also with more
            prompts at its end. While one call uses it, another one is refused, in any process. Default: none.
    """

    max_active: int
    rpm: float
    on_error: Literal["return", "continue", "stop"]
    progress: bool | Callable[[PromptProgress], object] | None
    path: str | Path | None


DEFAULTS = {"max_active": 10, "rpm": 500, "on_error": "return"}  # of the options whose default is not `None`


class ManyData(Many, total=False):
    """The options of results that are yielded as they arrive."""

    mode: StructuredMode | None
    max_retries: int


class Parallel:
    """Sends all prompts, up to a number at once. `say` holds the conversation of a fork and returns its value. `wanted` is
    the type of the data, if they are data.
    """

    def __init__(self, chat: Chat, say: Say, options: Many, wanted: Structured | None = None) -> None:
        if unknown := options.keys() - Many.__annotations__.keys():
            wrong = wrong_keyword(min(unknown), "parallel_chat", Many.__annotations__)
            raise TypeError(
                f"got an unexpected keyword argument: {wrong}"
            )  # `spelt()` names the function that was called
        self.chat, self.say, self.wanted = chat, say, wanted
        self.path = None if (path := options.get("path")) is None else file_of(path)
        self.progress = options.get("progress")
        self.journal: Journal | None = None
        given: Any = {**DEFAULTS, **options}
        self.max_active, self.rpm, self.on_error = given["max_active"], given["rpm"], given["on_error"]
        if self.on_error not in {"return", "continue", "stop"}:
            raise UsageError(f'on_error must be "return", "continue" or "stop", not {self.on_error!r}.')
        if self.max_active < 1:
            raise UsageError(f"max_active= must be 1 or more, not {self.max_active}.")
        if self.rpm <= 0:
            raise UsageError(f"rpm= must be more than 0, not {self.rpm}.")
        self.budget = Budget(chat.usage_limits)
        if chat.usage_limits.per == "chat":
            self.budget.add(chat.get_turns())
        self.paces = [Pace(self.rpm, self.max_active) for _ in (chat, *chat.fallbacks)]
        self.failure: Exception | None = None  # after which no other prompt is started

    async def run(self, asked: list[tuple[Input, ...]]) -> list[Outcome]:
        """Returns the outcomes, in the order of the prompts. After Ctrl-C, those that are there."""
        outcomes: list[Outcome] = [
            NotSentError("The job was interrupted before this prompt was answered.") for _ in asked
        ]
        try:
            async with aclosing(self.outcomes(asked)) as arriving:
                async for place, outcome in arriving:
                    outcomes[place] = outcome
        except asyncio.CancelledError:
            if not _INTERRUPTIBLE.get():
                raise
            answered = len(asked) - len(errors_of(outcomes))
            warn(
                f"Interrupted: {answered} of {len(asked)} prompts were answered; the errors of the others say why."
            )
        else:
            warn_of_failures(errors_of(outcomes), len(outcomes))
        return outcomes

    async def results(self, asked: list[tuple[Input, ...]]) -> AsyncGenerator[tuple[int, Any], None]:
        """Yields the value or the error of each prompt as it arrives."""
        async with aclosing(self.outcomes(asked)) as outcomes:
            async for place, outcome in outcomes:
                yield place, outcome[0] if isinstance(outcome, tuple) else outcome

    async def outcomes(self, asked: list[tuple[Input, ...]]) -> AsyncGenerator[tuple[int, Outcome], None]:
        """Yields each outcome once, as it arrives. Those in the journal come first, those that were not sent last."""
        with (
            nullcontext() if self.path is None else held(self.path) as only_read,
            reporting(len(asked), self.progress) as report,
        ):
            if self.path is not None:
                self.journal = Journal(
                    self.path, fingerprints(self.chat, self.wanted), prompt_fingerprints(asked)
                )
            kept = self.journal.lines if self.journal else {}
            if only_read is not None and len(kept) < len(asked):
                raise only_read
            waiting = iter(sorted(enumerate(asked), key=lambda prompt: prompt[0] not in kept))
            done = failed = 0
            async with aclosing(self.arriving(waiting, min(self.max_active, len(asked)))) as arriving:
                async for place, outcome in arriving:
                    done, failed = done + 1, failed + isinstance(outcome, Exception)
                    report(PromptProgress(done, len(asked), failed, self.budget.cost))
                    yield place, outcome
            for place, _ in waiting:
                yield place, self.unsent()

    async def arriving(
        self, waiting: Iterator[tuple[int, tuple[Input, ...]]], workers: int
    ) -> AsyncGenerator[tuple[int, Outcome], None]:
        """Yields the outcomes while workers take the waiting prompts. Raises the first error that a worker raises.

        It is no task group, which would cancel the caller's code between two outcomes.
        """
        arrived: asyncio.Queue[tuple[int, Outcome] | None] = asyncio.Queue()
        tasks = [asyncio.ensure_future(self.work(waiting, arrived)) for _ in range(workers)]
        whole = asyncio.gather(*tasks)

        def end(ended: asyncio.Future[Any]) -> None:
            if not ended.cancelled():
                ended.exception()  # it may be that nobody asks for it
            arrived.put_nowait(None)

        whole.add_done_callback(end)
        try:
            while (outcome := await arrived.get()) is not None:
                yield outcome
            await whole
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def work(
        self,
        waiting: Iterator[tuple[int, tuple[Input, ...]]],
        arrived: asyncio.Queue[tuple[int, Outcome] | None],
    ) -> None:
        """Handles one prompt after the other until none is left."""
        for place, prompt in waiting:
            arrived.put_nowait((place, await self.outcome(place, prompt)))
            if self.failure and self.on_error == "return":
                break

    async def outcome(self, place: int, prompt: tuple[Input, ...]) -> Outcome:
        """Returns the value of one prompt and its fork. An error is returned, too, unless errors are raised."""
        fork = self.chat.fork()
        begun = len(fork._history.turns)  # noqa: SLF001 - of this package
        if self.journal is not None and place in self.journal.lines:
            return self.restored(place, fork, begun)
        try:
            with paced(fork, self.paces, self.budget):
                value = await self.say(fork, prompt)
        except Exception as error:
            if self.on_error == "stop":
                raise
            if not isinstance(error, ConversionError):
                self.failure = self.failure or error
            return error
        self.keep(place, fork, begun)
        return value, fork

    def keep(self, place: int, fork: Chat, begun: int) -> None:
        """Writes an answer to the journal. If that fails, it is still returned, but no further prompt is started."""
        if self.journal is None:
            return
        try:
            self.journal.add(place, fork, begun)
        except OSError as error:
            if self.on_error == "stop":
                raise
            self.failure = self.failure or error
            warn(f"{self.path} cannot be written: {error}. The answer to prompt {place} is only in memory.")

    def restored(self, place: int, fork: Chat, begun: int) -> Outcome:
        """Returns the outcome whose answer is in the journal. It was paid from the same budget."""
        assert self.journal
        self.journal.restored(place, fork)
        self.budget.end(self.budget.add(fork._history.turns[begun:]))  # noqa: SLF001 - of this package
        if self.wanted is None:
            return fork, fork
        return self.wanted.value(fork.last_turn("assistant") or AssistantTurn()), fork

    def unsent(self) -> Exception:
        """Returns the error of a prompt that was not sent. The budget of all prompts does not pay for it either."""
        if isinstance(self.failure, UsageLimitError) and self.budget.limits.per == "chat":
            return UsageLimitError(str(self.failure))
        error = NotSentError(
            f"This prompt was not sent, because another prompt failed ({type(self.failure).__name__}: {self.failure}). "
            'on_error="continue" goes on with the others.'
        )
        error.__cause__ = self.failure
        return error


def blocking(work: Coroutine[Any, Any, T]) -> T:
    """Runs the coroutine to its end or to Ctrl-C. If an event loop is running, as in notebooks, it uses another
    thread.
    """
    context = copy_context()
    context.run(_INTERRUPTIBLE.set, True)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return context.run(asyncio.run, work)
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[T]]] = []
    with ThreadPoolExecutor(1, "ellmer_core parallel") as pool:
        outcome = pool.submit(context.run, asyncio.run, _noted(work, running))
        try:
            return outcome.result()
        except KeyboardInterrupt:
            for loop, task in running:
                loop.call_soon_threadsafe(task.cancel)
            return outcome.result()


def arriving(results: Callable[[], AsyncGenerator[T, None]]) -> Generator[T, None, None]:
    """Yields what an async generator yields, which runs in an event loop of another thread. It is cancelled if the caller
    ends early.
    """
    arrived: SimpleQueue[tuple[T] | None] = SimpleQueue()
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = []

    async def work() -> None:
        async with aclosing(results()) as each:
            async for result in each:
                arrived.put((result,))

    with ThreadPoolExecutor(1, "ellmer_core parallel") as pool:
        ended = pool.submit(copy_context().run, asyncio.run, _noted(work(), running))
        ended.add_done_callback(lambda _: arrived.put(None))
        try:
            while (item := arrived.get()) is not None:
                yield item[0]
            ended.result()
        finally:
            for loop, task in running:
                if not ended.done():
                    loop.call_soon_threadsafe(task.cancel)


async def _noted(work: Coroutine[Any, Any, T], running: list[Any]) -> T:
    """Runs the work as a task that can be cancelled from elsewhere."""
    task = asyncio.ensure_future(work)
    running.append((asyncio.get_running_loop(), task))
    return await task


# --- The progress ----------------------------------------------------------------------------------------


Report = Callable[[PromptProgress], object]


@contextmanager
def reporting(total: int, progress: bool | Report | None) -> Iterator[Report]:
    """Yields the caller's function, or one that shows a bar on standard error, in a terminal with rich."""
    if callable(progress):
        yield progress
        return
    try:
        from rich.console import Console  # noqa: PLC0415 - an extra, imported when first needed
        from rich.progress import MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415 - only a bar needs rich
    except ImportError:
        yield lambda _progress: None
        return
    console = Console(stderr=True)
    columns = (*Progress.get_default_columns(), MofNCompleteColumn(), TextColumn("{task.fields[cost]}"))
    with Progress(
        *columns, console=console, transient=True, disable=progress is False or not console.is_terminal
    ) as bar:
        task = bar.add_task("Chatting", total=total, cost="")
        yield lambda now: bar.update(
            task, completed=now.done, cost="" if now.cost is None else f"${now.cost:.2f}"
        )
