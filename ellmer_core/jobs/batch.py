"""Many prompts through a provider's batch API: they are submitted, waited for and collected, and can be interrupted
and resumed.

The file of a batch is JSON: `{"version": 1, "stage": "submitting" | "waiting" | "done", "asked": …, "tag": …, "batch": …,
"results": …}`. `asked` are fingerprints of the requests and their provider, which prevent that a file is used for other
requests. `tag` marks the batch at the provider, so that it is found if the process was killed before the provider's answer was
written. `batch` is the provider's own object; `results` are the answers by name, each with its status and body.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload
from uuid import uuid4

from .. import errors
from .._chat.answers import contents_of
from .._chat.chat import Chat
from .._chat.structured_output import Structured
from ..base.file_replacement import explained, replace_file
from ..base.log import warn
from ..contents.json_serialization import contents_record
from ..contents.turns import AssistantTurn, UserTurn
from ..conversation.io_operations import Loop
from ..conversation.request import Sendable, request_turns, warn_replaced
from ..conversation.response import cut_short, turn_of
from ..conversation.settings import Settings
from ..models.prices.price_lookup import cost, log_usage
from ..schemas.data_frames import Library
from ..transport.single_requests import asked, asked_json, run, stepped
from ..wire.base import StructuredMode, Wire, answer_of
from ..wire.batches_and_files import Batches, Steps
from ..wire.interfaces import Json
from .job_files import UNSENT, file_of, held, read
from .prompts_and_results import (
    Outcome,
    Prompt,
    PromptResults,
    Rows,
    all_inputs,
    chats,
    cost_of,
    errors_of,
    fingerprints,
    texts,
    warn_of_failures,
)

if TYPE_CHECKING:
    from typing_extensions import TypeForm

__all__ = ["batch_chat", "batch_chat_completed", "batch_chat_structured", "batch_chat_text"]


# --- The functions ---------------------------------------------------------------------------------------


T = TypeVar("T")


@overload
def batch_chat(
    chat: Chat,
    prompts: Iterable[Prompt],
    path: str | Path,
    *,
    wait: Literal[True] = True,
    ignore_hash: bool = False,
    sleep: Sleep = time.sleep,
) -> PromptResults[Chat | Exception]: ...
@overload
def batch_chat(
    chat: Chat,
    prompts: Iterable[Prompt],
    path: str | Path,
    *,
    wait: bool,
    ignore_hash: bool = False,
    sleep: Sleep = time.sleep,
) -> PromptResults[Chat | Exception] | None: ...
def batch_chat(
    chat: Chat,
    prompts: Iterable[Prompt],
    path: str | Path,
    *,
    wait: bool = True,
    ignore_hash: bool = False,
    sleep: Sleep = time.sleep,
) -> PromptResults[Chat | Exception] | None:
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
        OSError: The file cannot be written. The error says whether the batch was submitted.

    Examples:
        >>> chats = batch_chat(chat, ["Hello?", "Goodbye?"], "greetings.json")  # doctest: +SKIP
    """
    with held(path := file_of(path)):
        job = Job(chat, prompts, path, ignore_hash=ignore_hash)
        if not job.finish(wait=wait, sleep=sleep):
            return None
        outcomes = job.outcomes()
    warn_of_failures(errors_of(outcomes), len(outcomes))
    return chats(outcomes, cost_of(outcomes))


@overload
def batch_chat_text(
    chat: Chat,
    prompts: Iterable[Prompt],
    path: str | Path,
    *,
    wait: Literal[True] = True,
    ignore_hash: bool = False,
    sleep: Sleep = time.sleep,
) -> PromptResults[str | None]: ...
@overload
def batch_chat_text(
    chat: Chat,
    prompts: Iterable[Prompt],
    path: str | Path,
    *,
    wait: bool,
    ignore_hash: bool = False,
    sleep: Sleep = time.sleep,
) -> PromptResults[str | None] | None: ...
def batch_chat_text(
    chat: Chat,
    prompts: Iterable[Prompt],
    path: str | Path,
    *,
    wait: bool = True,
    ignore_hash: bool = False,
    sleep: Sleep = time.sleep,
) -> PromptResults[str | None] | None:
    """Returns the texts of the answers of `batch_chat()`.

    Args:
        chat: As in `batch_chat()`.
        prompts: As in `batch_chat()`.
        path: File for the state of the batch.
        wait: As in `batch_chat()`. Default: `True`.
        ignore_hash: As in `batch_chat()`. Default: `False`.
        sleep: As in `batch_chat()`. Default: `time.sleep`.

    Returns:
        A text for each prompt, `None` for one that failed; `None` if `wait` is false and the batch is not done.

    Raises:
        UsageError: As in `batch_chat()`.

    Examples:
        >>> batch_chat_text(chat, ["Hello?", "Goodbye?"], "greetings.json")  # doctest: +SKIP
        ['Hello!', 'Goodbye!']
    """
    forks = batch_chat(chat, prompts, path, wait=wait, ignore_hash=ignore_hash, sleep=sleep)
    return (
        None
        if forks is None
        else texts([(each, each) if isinstance(each, Chat) else each for each in forks], forks.cost)
    )


@overload
def batch_chat_structured(
    chat: Chat,
    prompts: Iterable[Prompt],
    path: str | Path,
    *,
    type: TypeForm[T],
    convert: Literal[True] = True,
    frame: None = None,
    mode: StructuredMode | None = None,
    wait: Literal[True] = True,
    ignore_hash: bool = False,
    sleep: Sleep = time.sleep,
) -> PromptResults[T | None]: ...
@overload
def batch_chat_structured(
    chat: Chat,
    prompts: Iterable[Prompt],
    path: str | Path,
    *,
    type: TypeForm[T],
    convert: Literal[True] = True,
    frame: None = None,
    mode: StructuredMode | None = None,
    wait: bool,
    ignore_hash: bool = False,
    sleep: Sleep = time.sleep,
) -> PromptResults[T | None] | None: ...
@overload
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
) -> Any: ...
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
    with held(path := file_of(path)):
        job = Job(chat, prompts, path, wanted, mode=mode, ignore_hash=ignore_hash)
        if not job.finish(wait=wait, sleep=sleep):
            return None
        outcomes = [_data(outcome, wanted) for outcome in job.outcomes()]
    warn_of_failures(errors_of(outcomes), len(outcomes))
    return rows.collected(outcomes, cost_of(outcomes))


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
    with held(path := file_of(path)):
        job = Job(chat, prompts, path, wanted, ignore_hash=ignore_hash)
        return job.stage != "new" and job.finish(wait=False, sleep=time.sleep)


def _data(outcome: Outcome, wanted: Structured) -> Outcome:
    if isinstance(outcome, Exception):
        return outcome
    _, fork = outcome
    turn = fork.last_turn("assistant") or AssistantTurn()
    try:
        if cut := cut_short(turn):
            raise errors.IncompleteResponseError(f"The answer has no structured data: {cut}")
        return wanted.value(turn), fork
    except errors.ResponseError as error:
        return error


# --- The batch, and the file that stores its progress ----------------------------------------------------


VERSION = 1
HOLDS = {"submitting": "asked", "waiting": "batch", "done": "results"}  # what there must be at each stage
DISCOUNT = 0.5  # at OpenAI, Anthropic, Google and Groq alike
POLL, LONGEST_POLL = 5.0, 60.0  # seconds between two looks, growing
UNLISTED = 120.0  # seconds after which a batch that the provider does not list was not submitted
Sleep = Callable[[float], object]


class Job:
    """A batch of prompts to forks of a chat. With the same prompts and path, it continues where it stopped."""

    def __init__(
        self,
        chat: Chat,
        prompts: Iterable[Prompt],
        path: Path,
        wanted: Structured | None = None,
        *,
        mode: StructuredMode | None = None,
        ignore_hash: bool = False,
    ) -> None:
        self.api = _api(chat.wire)
        self.chat, self.path, self.wanted = chat, path, wanted
        self.mode: StructuredMode | None = mode
        self.unwritten: OSError | None = None
        inputs = all_inputs(prompts)
        self.forks = [chat.fork() for _ in inputs]
        self.users = [f._history.reply(contents_of(i)) for f, i in zip(self.forks, inputs, strict=True)]  # noqa: SLF001 - of this package
        asked = fingerprints(chat, wanted, contents_record(self.users))
        self.state: Json = {
            "version": VERSION,
            "stage": "new",
            "asked": asked,
            "tag": f"ellmer-core-{uuid4().hex}",
        }
        if self.path.exists():
            self.state = _state(self.path, {} if ignore_hash else self.state["asked"], tagged=self.api.tagged)

    @property
    def stage(self) -> str:
        """The stage of the batch: `new`, `submitting`, `waiting` or `done`."""
        return str(self.state["stage"])

    def finish(self, *, wait: bool, sleep: Sleep) -> bool:
        """Continues the batch, to its end if `wait`. Returns whether it is done."""
        if self.stage == "submitting" and not self.found(wait=wait, sleep=sleep):
            return False
        if self.stage == "new":
            self.submit()
        pause = POLL
        while self.stage == "waiting":
            batch = self.run(asked_json(self.chat.wire, self.api.poll(self.chat.wire, self.state["batch"])))
            self.keep(batch=batch)
            if self.api.done(batch):
                answers = self.run(stepped(self.chat.wire, self.api.results(self.chat.wire, batch)))
                self.keep(stage="done", results=answers)
            elif not wait:
                self.check_kept()
                return False
            else:
                sleep(pause)
                pause = min(pause * 1.5, LONGEST_POLL)
        return True

    def found(self, *, wait: bool, sleep: Sleep) -> bool:
        """Looks for a batch that may have been submitted before the process was killed. Returns whether that is decided: it is
        found, or the provider has not listed it for so long that there is none.
        """
        waited = 0.0
        while True:
            batch = self.run(stepped(self.chat.wire, self.api.find(self.chat.wire, self.state["tag"])))
            if batch is not None:
                self.keep(stage="waiting", batch=batch)
                return True
            if max(waited, time.time() - self.state["since"]) >= UNLISTED:
                self.state["stage"] = "new"
                return True
            if not wait:
                return False
            sleep(POLL)
            waited += POLL

    def submit(self) -> None:
        """Submits the batch. A refusal proves that there is none; after any other failure, this is unknown."""
        if self.chat.get_tools():
            warn("Tools are not sent in a batch.")
        self.chat._connection.prepare(self.chat.wire.base_url)  # noqa: SLF001 - of this package
        steps = self.api.submit(self.chat.wire, self.bodies(), self.state["tag"])
        try:
            batch = self.run(self.submitted(steps))
        except errors.EllmerError as error:
            if _proves_nothing_was_submitted(error):
                with suppress(OSError):
                    self.path.unlink(missing_ok=True)
            raise
        self.keep(stage="waiting", batch=batch)

    def submitted(self, steps: Steps[Json]) -> Loop[Json]:
        """Sends the requests that submit the batch. Files (`raw`) may be sent again. The request that creates the batch is
        sent once, and the file says so right before it is sent.
        """
        wire = self.chat.wire
        try:
            request = next(steps)
            while True:
                if request.raw is None:
                    sending = asked(wire, request, max_tries=1, before=self.begin)
                else:
                    sending = asked(wire, request)
                request = steps.send((yield from sending))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # StopIteration has no type parameter

    def begin(self) -> None:
        """Notes that the batch is about to be submitted."""
        with explained(self.path, UNSENT):
            self.save(stage="submitting", since=time.time())

    def bodies(self) -> dict[str, Json]:
        """Returns the requests by name."""
        type = self.wanted.sent if self.wanted else None
        settings = self.chat._plan(stream=False, tool_mode="sequential")  # noqa: SLF001 - of this package
        sent = [
            self.sendable(fork, user, settings) for fork, user in zip(self.forks, self.users, strict=True)
        ]
        return {
            f"chat-{place}": each.wire.asking(each.turns, (), type=type, mode=self.mode).json
            for place, each in enumerate(sent)
        }

    def sendable(self, fork: Chat, user: UserTurn, settings: Settings) -> Sendable:
        """Returns the turns in the form for the model, as a chat would send them."""
        sent: Sendable = self.run(request_turns(fork._history, settings, user))  # noqa: SLF001 - of this package
        warn_replaced(settings, sent.replaced)
        return sent

    def run(self, loop: Loop[Any]) -> Any:
        return run(loop, self.chat._connection)  # noqa: SLF001 - of this package

    def outcomes(self) -> list[Outcome]:
        """Returns each fork with its answer, or an error."""
        outcomes: list[Outcome] = []
        new = not self.state.get("counted", False)  # token_usage() counts a batch once
        for place, (fork, user) in enumerate(zip(self.forks, self.users, strict=True)):
            try:
                self.answer(fork, user, self.state["results"].get(f"chat-{place}"), new=new)
                outcomes.append((fork, fork))
            except errors.EllmerError as error:
                outcomes.append(error)
        if new:
            self.keep(counted=True)
        return outcomes

    def answer(self, fork: Chat, user: UserTurn, result: Json | None, *, new: bool) -> None:
        """Adds an answer to its fork. Raises the error if there is one instead."""
        if result is None:
            raise errors.ResponseError("The batch has no answer to this prompt.")
        if result["status"] != 200:
            raise fork.wire.error(result["status"], {}, json.dumps(result["body"]).encode())
        turn = turn_of(fork.wire, result["body"])
        turn = answer_of(turn) if self.wanted else turn
        full = cost(fork.wire, turn.tokens)
        turn = replace(turn, cost=None if full is None else full * DISCOUNT)
        fork._history.commit(*filter(None, [user]), turn)  # noqa: SLF001 - of this package
        if new:
            log_usage(fork.wire, turn)

    def save(self, **changes: Any) -> None:
        """Writes the file."""
        self.state |= changes
        replace_file(self.path, json.dumps(self.state, ensure_ascii=False, indent=1).encode())
        self.unwritten = None

    def keep(self, **changes: Any) -> None:
        """Writes the file of a batch that was submitted. If that fails, it goes on in memory."""
        first = self.unwritten is None
        try:
            self.save(**changes)
        except OSError as error:
            self.unwritten = error
            if first:
                warn(
                    f"{self.path} cannot be written: {error}. The batch goes on in memory. Make room before it ends."
                )

    def check_kept(self) -> None:
        """Raises an error with the state of a batch that is only in memory, which ends now."""
        if (error := self.unwritten) is not None:
            text = json.dumps(self.state, ensure_ascii=False)
            with explained(
                self.path, f"The batch was submitted. Make room, and save this text in the file: {text}"
            ):
                raise error


def _proves_nothing_was_submitted(error: errors.EllmerError) -> bool:
    """Tells whether the provider refused the request, or was never reached. A gateway's 502 or 504 may come after the
    provider has accepted it, and so may a 408.
    """
    match error:
        case errors.ProviderError(status=int(status)):
            return 300 <= status < 500 and status != 408
        case errors.RequestTimeoutError():
            return error.phase == "connect"
    return isinstance(error, errors.UsageError)


def _api(wire: Wire) -> Batches:
    if wire.batches is None:
        raise errors.UsageError(f"{wire.provider} has no supported batch API. Use parallel_chat() instead.")
    return wire.batches


def _state(path: Path, wanted: Mapping[str, str], *, tagged: bool) -> Json:
    """Returns the state in the file if it belongs to the `wanted` prompts. A batch whose submission was interrupted must be
    `tagged`, so that it can be found.
    """
    try:
        state = json.loads(read(path))
        version, stage, found = state["version"], state["stage"], state["asked"]
        if version == VERSION:
            _check(stage, state[HOLDS[stage]])
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise errors.UsageError(
            f"{path} is not the state of a batch: {error!r:.200}. The file was not changed."
        ) from error
    if version != VERSION:
        raise errors.UsageError(
            f"{path} is of version {version!r}; this release reads version {VERSION}. Update ellmer-core, or use another path."
        )
    if differ := [name for name, value in wanted.items() if found.get(name) != value]:
        raise errors.UsageError(
            f"{path} belongs to another batch: it differs in {', '.join(differ)}. Use another path, or pass ignore_hash=True if it is the same batch."
        )
    if stage == "submitting" and not (tagged and {"tag", "since"} <= state.keys()):
        raise errors.UsageError(
            f"The batch of {path} was interrupted while it was submitted. Check at the provider whether the batch exists. Delete the file to submit it again."
        )
    return dict(state)


def _check(stage: str, value: Any) -> None:
    if not isinstance(value, dict):
        raise TypeError(f"{HOLDS[stage]!r} is not an object")
