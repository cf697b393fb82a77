"""Many prompts at once. Each goes to a fork of one chat, with its system prompt, history, tools and callbacks.

Every request counts towards `rpm`, also those with tool results and retries. The chat itself does not change.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar, Unpack

from .._chat.answers import Input
from .._chat.chat import Chat
from .._chat.structured_output import Structured
from ..contents.json_serialization import contents_record, contents_replay
from ..contents.turns import AssistantTurn, Turn
from ..errors import ConversionError, UsageError, wrong_keyword
from ..schemas.data_frames import Library
from ..transport.http_clients import Connection
from ..wire.base import StructuredMode
from .prompts_and_results import (
    Prompt,
    Rows,
    all_inputs,
    fingerprints,
    prompts_record,
    warn_of_failures,
    warn_of_interruption,
)

__all__ = [
    "parallel_chat", "parallel_chat_async", "parallel_chat_structured", "parallel_chat_structured_async",
    "parallel_chat_text", "parallel_chat_text_async",
]  # fmt: skip


# --- The functions ---------------------------------------------------------------------------------------


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

    return await Parallel(chat, say, options, lambda fork: fork).run(prompts)


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

    outcomes = await Parallel(chat, say, options, _text).run(prompts)
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

    wanted = Structured(rows.type, convert=rows.convert)

    def outcome(fork: Chat) -> tuple[Any, Chat]:
        return wanted.value(fork.last_turn("assistant") or AssistantTurn()), fork

    return rows.collected(await Parallel(chat, say, options, outcome, wanted).run(prompts))


def _text(fork: Chat) -> str:
    turn = fork.last_turn("assistant")
    return turn.text if turn else ""


# --- Up to a number at once ------------------------------------------------------------------------------


T = TypeVar("T")
Say = Callable[[Chat, tuple[Input, ...]], Awaitable[Any]]
#: Whether a cancellation is Ctrl-C, after which a blocking call returns what is there.
_INTERRUPTIBLE: ContextVar[bool] = ContextVar("interruptible", default=False)


class Many(TypedDict, total=False):
    """The options of parallel prompts.

    - `max_active`: how many are in work at once. Default: 10.
    - `rpm`: how many requests may go out per minute. Default: 500.
    - `on_error`: `"return"` (default) starts no further prompt after one that failed, and waits for those in work;
      `"continue"` goes on with all; `"stop"` raises the error.
    - `progress`: whether to show a bar, in a terminal, where rich is installed. Default: yes.
    - `path`: file that keeps the answers as they arrive. The same call with the same file asks only what is missing.
      Default: none.
    """

    max_active: int
    rpm: float
    on_error: Literal["return", "continue", "stop"]
    progress: bool
    path: str | Path


class Parallel:
    """Sends all prompts, up to a number at once. `say` holds the conversation of a fork and returns its outcome.
    `restored` returns the outcome of a fork whose answer was in the journal; `wanted` is the type of its data.
    """

    def __init__(
        self,
        chat: Chat,
        say: Say,
        options: Many,
        restored: Callable[[Chat], Any],
        wanted: Structured | None = None,
    ) -> None:
        if unknown := options.keys() - Many.__annotations__.keys():
            raise wrong_keyword(min(unknown), "parallel_chat", Many.__annotations__)
        self.chat, self.say, self.restored, self.wanted = chat, say, restored, wanted
        self.path = options.get("path")
        self.journal: Journal | None = None
        self.max_active, rpm = options.get("max_active", 10), options.get("rpm", 500)
        self.on_error, self.progress = options.get("on_error", "return"), options.get("progress", True)
        if self.on_error not in {"return", "continue", "stop"}:
            raise UsageError(f'on_error must be "return", "continue" or "stop", not {self.on_error!r}.')
        if self.max_active < 1 or rpm <= 0:
            raise UsageError(
                f"max_active must be at least 1, and rpm must be more than 0, not {self.max_active} and {rpm}."
            )
        self.connection = Paced(chat._connection, rpm, self.max_active)  # noqa: SLF001 - of this package
        self.failed = False

    async def run(self, prompts: Iterable[Prompt]) -> list[Any]:
        """Returns the outcomes, in the order of the prompts."""
        asked = all_inputs(prompts)
        outcomes: list[Any] = [None] * len(asked)
        if self.path is not None:
            self.journal = Journal(self.path, fingerprints(self.chat, prompts_record(asked), self.wanted))
        waiting = iter(enumerate(asked))
        with progress_bar(len(asked), shown=self.progress) as advance:
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(self.max_active, len(asked))):
                        group.create_task(self.work(waiting, outcomes, advance))
            except ExceptionGroup as errors:
                raise errors.exceptions[0] from None
            except asyncio.CancelledError:
                if not _INTERRUPTIBLE.get():
                    raise
                warn_of_interruption(outcomes)
                return outcomes
        warn_of_failures(outcomes)
        return outcomes

    async def work(
        self,
        waiting: Iterator[tuple[int, tuple[Input, ...]]],
        outcomes: list[Any],
        advance: Callable[[], object],
    ) -> None:
        """Handles one prompt after the other until none is left."""
        for place, prompt in waiting:
            outcomes[place] = await self.outcome(place, prompt)
            advance()
            if self.failed and self.on_error == "return":
                break

    async def outcome(self, place: int, prompt: tuple[Input, ...]) -> Any:
        """Returns the result of one prompt. An error is returned, too, unless errors are raised."""
        fork = self.chat.fork()
        if self.journal is not None and place in self.journal.records:
            return self.restored(self.journal.restored(place, fork))
        begun = len(fork._history.turns)  # noqa: SLF001 - of this package
        fork._connection = self.connection  # noqa: SLF001 - of this package
        try:
            outcome = await self.say(fork, prompt)
        except Exception as error:
            if self.on_error == "stop":
                raise
            self.failed = self.failed or not isinstance(error, ConversionError)
            return error
        finally:
            fork._connection = self.chat._connection  # noqa: SLF001
        if self.journal is not None:
            self.journal.add(place, fork, begun)
        return outcome


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


async def _noted(work: Coroutine[Any, Any, T], running: list[Any]) -> T:
    """Runs the work as a task that can be cancelled from elsewhere."""
    task = asyncio.ensure_future(work)
    running.append((asyncio.get_running_loop(), task))
    return await task


# --- A file with the answers, written as they arrive: what was paid for is not asked again ---------------


VERSION = 1


class Journal:
    """The answers in one file of JSON lines. `asked` are the fingerprints that the file must have.

    The first line is `{"version": 1, "asked": …}`, with fingerprints of the prompts and the chat. Each other line is
    `{"place": …, "turns": …}`, with the place of a prompt and the turns of its answer. A line that was cut is dropped.
    """

    def __init__(self, path: str | Path, asked: Mapping[str, str]) -> None:
        self.path = Path(path)
        self.records: dict[int, Any] = {}
        whole = b""
        if self.path.exists():
            whole = self._read(asked)
        if not whole:
            whole = _line({"version": VERSION, "asked": dict(asked)})
        self._replace(whole)

    def add(self, place: int, chat: Chat, begun: int) -> None:
        """Adds the turns of a fork after the first `begun`, which it began with."""
        record = contents_record(chat._history.turns[begun:])  # noqa: SLF001 - of this package
        with self.path.open("ab") as file:
            file.write(_line({"place": place, "turns": record}))

    def restored(self, place: int, fork: Chat) -> Chat:
        """Returns the fork with its answer."""
        tools = list(fork.get_tools().values())
        turns = [turn for turn in contents_replay(self.records[place], tools=tools) if isinstance(turn, Turn)]
        history = fork._history  # noqa: SLF001 - of this package
        history.replace([*history.turns, *turns])
        return fork

    def _read(self, asked: Mapping[str, str]) -> bytes:
        """Reads the answers. Returns the lines that are whole."""
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        try:
            head, *lines = map(json.loads, whole.splitlines() or [data])
            version, found = head["version"], head["asked"]
            self.records = {line["place"]: line["turns"] for line in lines}
        except (ValueError, LookupError, TypeError) as error:
            raise UsageError(
                f"{self.path} has no answers of parallel prompts: {error!r}. The file was not changed."
            ) from error
        if version != VERSION:
            raise UsageError(f"{self.path} is of version {version!r}; this release reads version {VERSION}.")
        if differ := [name for name, value in asked.items() if found.get(name) != value]:
            raise UsageError(
                f"{self.path} belongs to other prompts: {', '.join(differ)} differ. Give another path."
            )
        return whole

    def _replace(self, data: bytes) -> None:
        new = self.path.with_name(f"{self.path.name}.new")
        new.write_bytes(data)
        new.replace(self.path)


def _line(value: Any) -> bytes:
    return (
        json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"
    )


# --- The rate limit --------------------------------------------------------------------------------------


class Paced(Connection):
    """A chat's connections with a limit of `rpm` requests per minute; the first `burst` requests do not wait."""

    def __init__(
        self,
        inner: Connection,
        rpm: float,
        burst: int = 1,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        super().__init__(inner.client, inner.timeouts, inner.limits)
        self.inner, self.clock, self.sleep = inner, clock, sleep
        self.interval = 60 / rpm
        self.ahead = self.interval * (burst - 1)
        self.next = -float("inf")

    async def concurrent(self) -> Any:
        """Returns the client when a request is allowed (generic cell rate algorithm, ITU-T I.371)."""
        now = self.clock()
        wait = max(self.next - self.ahead - now, 0.0)
        self.next = max(self.next, now) + self.interval
        if wait:
            await self.sleep(wait)
        return await self.inner.concurrent()


# --- The progress bar ------------------------------------------------------------------------------------


@contextmanager
def progress_bar(total: int, *, shown: bool) -> Iterator[Callable[[], object]]:
    """Yields a progress bar on standard error, in a terminal with rich."""
    try:
        from rich.console import Console  # noqa: PLC0415 - an extra, imported when first needed
        from rich.progress import MofNCompleteColumn, Progress  # noqa: PLC0415
    except ImportError:
        yield lambda: None
        return
    console = Console(stderr=True)
    columns = (*Progress.get_default_columns(), MofNCompleteColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not (shown and console.is_terminal)
    ) as bar:
        task = bar.add_task("Chatting", total=total)
        yield lambda: bar.advance(task)
