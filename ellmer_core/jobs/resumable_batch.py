"""A batch, and the file that stores its progress.

The file is JSON: `{"version": 1, "stage": "submitting" | "waiting" | "done", "asked": …, "batch": …, "results": …}`.
`asked` are fingerprints of the requests and their provider, which prevent that a file is used for other requests.
`batch` is the provider's own object; `results` are the answers by name, each with its status and body.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from .._chat.chat import Chat
from .._chat.structured_output.validated_answer import Structured
from ..contents.json_serialization import contents_record
from ..contents.turns import Turn, UserTurn
from ..conversation.io_operations import Loop
from ..conversation.request.turns_to_send import request_turns, warn_replaced
from ..conversation.response.answer_sanitizing import turn_of
from ..conversation.settings import Settings
from ..errors import EllmerError, EllmerWarning, ProviderError, ResponseError, UsageError
from ..models.prices.price_lookup import cost, log_usage
from ..transport.single_requests import asked_json, run, stepped
from ..wire.base import StructuredMode, Wire, answer_of
from ..wire.batches_and_files import Batches
from ..wire.interfaces import Json
from .prompts_and_results import Prompt, all_inputs

__all__ = ["Job", "Sleep"]

VERSION = 1
HOLDS = {"submitting": "asked", "waiting": "batch", "done": "results"}  # what there must be at each stage
DISCOUNT = 0.5  # at OpenAI, Anthropic, Google and Groq alike
POLL, LONGEST_POLL = 5.0, 60.0  # seconds between two looks, growing
Sleep = Callable[[float], object]


class Job:
    """A batch of prompts to forks of a chat. With the same prompts and path, it continues where it stopped."""

    def __init__(
        self,
        chat: Chat,
        prompts: Iterable[Prompt],
        path: str | Path,
        wanted: Structured | None = None,
        *,
        mode: StructuredMode | None = None,
        ignore_hash: bool = False,
    ) -> None:
        self.api = _api(chat.wire)
        self.chat, self.path, self.wanted, self.mode = chat, Path(path), wanted, mode
        given = all_inputs(prompts)
        self.forks = [chat.fork() for _ in given]
        self.users = [f._history.reply(f._contents(i)) for f, i in zip(self.forks, given, strict=True)]  # noqa: SLF001 - of this package
        self.state: Json = {"version": VERSION, "stage": "new", "asked": self.fingerprints()}
        if self.path.exists():
            self.state = _state(self.path, {} if ignore_hash else self.state["asked"])

    @property
    def stage(self) -> str:
        """The stage of the batch: `new`, `submitting`, `waiting` or `done`."""
        return str(self.state["stage"])

    def finish(self, *, wait: bool, sleep: Sleep) -> bool:
        """Continues the batch, to its end if `wait`. Returns whether it is done."""
        if self.stage == "new":
            self.submit()
        pause = POLL
        while self.stage == "waiting":
            batch = self.run(asked_json(self.chat.wire, self.api.poll(self.chat.wire, self.state["batch"])))
            self.save(batch=batch)
            if self.api.done(batch):
                answers = self.run(stepped(self.chat.wire, self.api.results(self.chat.wire, batch)))
                self.save(stage="done", results=answers)
            elif not wait:
                return False
            else:
                sleep(pause)
                pause = min(pause * 1.5, LONGEST_POLL)
        return True

    def submit(self) -> None:
        """Submits the batch. A refused request submitted nothing; after a broken connection, this is unknown."""
        if self.chat.get_tools():
            warnings.warn("Tools are not sent in a batch.", EllmerWarning, stacklevel=4)
        steps = self.api.submit(self.chat.wire, self.bodies())
        self.save(stage="submitting")
        try:
            batch = self.run(stepped(self.chat.wire, steps, max_tries=1))
        except (ProviderError, UsageError):
            self.path.unlink()
            raise
        self.save(stage="waiting", batch=batch)

    def bodies(self) -> dict[str, Json]:
        """Returns the requests by name."""
        wire, type = self.chat.wire, self.wanted.sent if self.wanted else None
        settings = self.chat._plan(stream=False, tool_mode="sequential")  # noqa: SLF001 - of this package
        return {
            f"chat-{place}": wire.asking(self.turns(fork, user, settings), (), type=type, mode=self.mode).json
            for place, (fork, user) in enumerate(zip(self.forks, self.users, strict=True))
        }

    def turns(self, fork: Chat, user: UserTurn, settings: Settings) -> list[Turn]:
        """Returns the turns in the form for the model, as a chat would send them."""
        sent = self.run(request_turns(fork._history, settings, user))  # noqa: SLF001 - of this package
        warn_replaced(settings, sent.replaced)
        return list(sent.turns)

    def run(self, loop: Loop[Any]) -> Any:
        return run(loop, self.chat._connection)  # noqa: SLF001 - of this package

    def outcomes(self) -> list[Chat | Exception]:
        """Returns each fork with its answer, or an error."""
        outcomes: list[Chat | Exception] = []
        new = not self.state.get("counted", False)  # token_usage() counts a batch once
        for place, (fork, user) in enumerate(zip(self.forks, self.users, strict=True)):
            try:
                self.answer(fork, user, self.state["results"].get(f"chat-{place}"), new=new)
                outcomes.append(fork)
            except EllmerError as error:
                outcomes.append(error)
        if new:
            self.save(counted=True)
        return outcomes

    def answer(self, fork: Chat, user: UserTurn, result: Json | None, *, new: bool) -> None:
        """Adds an answer to its fork. Raises the error if there is one instead."""
        if result is None:
            raise ResponseError("The batch has no answer to this prompt.")
        if result["status"] != 200:
            raise fork.wire.error(result["status"], {}, json.dumps(result["body"]).encode())
        turn = turn_of(fork.wire, result["body"])
        turn = answer_of(turn) if self.wanted else turn
        full = cost(fork.wire, turn.tokens)
        turn = replace(turn, cost=None if full is None else full * DISCOUNT)
        fork._history.commit(user, turn)  # noqa: SLF001 - of this package
        if new:
            log_usage(fork.wire, turn.tokens, turn.cost)

    def fingerprints(self) -> dict[str, str]:
        """Returns fingerprints of the prompts, the model, the history and the type."""
        wire = self.chat.wire
        type = wire.schema(self.wanted.sent) if self.wanted else None
        return {
            "provider": _hash([wire.name, wire.provider, wire.model, wire.base_url]),
            "parameters": _hash([dict(wire.params), dict(wire.api_args)]),
            "prompts": _hash(contents_record(self.users)),
            "history": _hash(contents_record(self.chat.get_turns(include_system_prompt=True))),
            "type": _hash(type),
        }

    def save(self, **changes: Any) -> None:
        """Writes the file atomically."""
        self.state |= changes
        new = self.path.with_name(f"{self.path.name}.new")
        new.write_text(json.dumps(self.state, ensure_ascii=False, indent=1), encoding="utf-8")
        new.replace(self.path)


def _api(wire: Wire) -> Batches:
    if wire.batches is None:
        raise UsageError(f"{wire.provider} has no supported batch API. Use parallel_chat() instead.")
    return wire.batches


def _state(path: Path, wanted: Mapping[str, str]) -> Json:
    """Returns the state in the file if it belongs to the `wanted` prompts."""
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
        version, stage, found = state["version"], state["stage"], state["asked"]
        if version == VERSION:
            _check(stage, state[HOLDS[stage]])
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise UsageError(
            f"{path} is not the state of a batch: {error!r}. The file was not changed."
        ) from error
    if version != VERSION:
        raise UsageError(f"{path} is of version {version!r}; this release reads version {VERSION}.")
    if differ := [name for name, value in wanted.items() if found.get(name) != value]:
        raise UsageError(
            f"{path} belongs to another batch: {', '.join(differ)} differ. Give another path, or pass ignore_hash=True if it is the same batch."
        )
    if stage == "submitting":
        raise UsageError(
            f"The batch of {path} was interrupted while it was submitted. Check at the provider whether the batch exists. Delete the file to submit it again."
        )
    return dict(state)


def _check(stage: str, held: Any) -> None:
    if not isinstance(held, dict):
        raise TypeError(f"no object {HOLDS[stage]}")


def _hash(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
