"""The history of a chat for its user: turns, the system prompt, tokens and cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, Literal, overload

from ..contents.turns import AssistantTurn, SystemTurn, Turn, UserTurn
from ..conversation.history import History
from ..errors import UsageError

__all__ = ["Memory"]


class Memory:
    """The part of a `Chat` that has the history. Only one conversation changes it at a time."""

    def __init__(self) -> None:
        self._history = History()
        self._lock = Lock()
        self._talking: object = None

    def get_turns(self, *, include_system_prompt: bool = False) -> list[Turn]:
        """Returns the history, oldest turn first. An answer that broke off is an `AssistantPartialTurn`.

        If a request failed after tools had run, the last turn is the one that called them; the next request sends their
        results.

        Args:
            include_system_prompt: Whether the system prompt is included as a `SystemTurn`. Default: `False`.
        """
        turns = self._history.view()
        return turns if include_system_prompt else [t for t in turns if not isinstance(t, SystemTurn)]

    def set_turns(self, turns: Iterable[Turn]) -> None:
        """Replaces the history.

        Args:
            turns: The turns. A `SystemTurn` at the beginning replaces the system prompt, which otherwise stays.

        Raises:
            UsageError: A value is not a turn; the history did not change.
        """
        turns = list(turns)
        first, others = {*map(type, turns[:1])}, {*map(type, turns[1:])}  # few, whereas a history may be long
        if wrong := [kind for kind in first | others if not issubclass(kind, Turn)]:
            raise UsageError(
                f"A turn must be a UserTurn, an AssistantTurn or a SystemTurn, not {wrong[0].__name__}."
            )
        if any(issubclass(kind, SystemTurn) for kind in others):
            raise UsageError(
                "Only the first turn can be a SystemTurn. Use set_system_prompt() to replace the system prompt."
            )
        with self._idle("set_turns()"):
            kept = () if turns and isinstance(turns[0], SystemTurn) else self._history.turns[:1]
            turns[:0] = [turn for turn in kept if isinstance(turn, SystemTurn)]
            self._history.replace(turns)

    def add_turn(self, *turns: Turn) -> None:
        """Adds turns to the history.

        Args:
            *turns: The turns.

        Raises:
            UsageError: A value is not a turn.
        """
        unsent = [self._history.reply(())] if self._history.results else []
        self.set_turns([*self.get_turns(include_system_prompt=True), *unsent, *turns])

    @overload
    def last_turn(self, role: Literal["assistant"]) -> AssistantTurn | None: ...
    @overload
    def last_turn(self, role: Literal["user", "system"] | None = None) -> Turn | None: ...
    def last_turn(self, role: Literal["user", "assistant", "system"] | None = None) -> Turn | None:
        """Returns the last turn, or `None` where there is none.

        Args:
            role: `"user"`, `"assistant"` or `"system"` returns the last turn of that role; `None` (default) any.
        """
        if role not in (None, "user", "assistant", "system"):
            raise UsageError(f'role must be "user", "assistant" or "system", not {role!r}.')
        turns = reversed(self._history.view())
        return next((turn for turn in turns if role in (None, turn.role)), None)

    def get_system_prompt(self) -> str | None:
        """Returns the system prompt."""
        first = self._history.turns[0] if self._history.turns else None
        return first.text if isinstance(first, SystemTurn) else None

    def set_system_prompt(self, value: str | None) -> None:
        """Replaces the system prompt.

        Args:
            value: The system prompt; `None` removes it.
        """
        if value is not None and not isinstance(value, str):
            raise UsageError(f"The system prompt must be a string or None, not {type(value).__name__}.")
        with self._idle("set_system_prompt()"):
            rest = [turn for turn in self._history.turns if not isinstance(turn, SystemTurn)]
            self._history.turns[:] = [*([SystemTurn(value)] if value is not None else []), *rest]

    def get_tokens(self) -> list[dict[str, Any]]:
        """Returns a row for each answer that its provider finished.

        Returns:
            Dictionaries with `input`, `output`, `cached`, `cache_write` and `reasoning` (tokens; `None` where the provider did
            not report them), `cost` (US dollars; `None` where the price is not known), and `preview`, the beginning of
            the question.
        """
        rows, asked = [], ""
        for turn in self._history.turns:
            if isinstance(turn, UserTurn):
                asked = turn.text
            elif isinstance(turn, AssistantTurn) and not turn.lost:
                rows.append({**vars(turn.tokens), "cost": turn.cost, "preview": asked[:60]})
        return rows

    def get_cost(self, include: Literal["all", "last"] = "all") -> float | None:
        """Returns the cost in US dollars, or `None` where the price of an answer is not known.

        Args:
            include: `"all"` (default) counts all answers, `"last"` the last one.
        """
        if include not in ("all", "last"):
            raise UsageError(f'include must be "all" or "last", not {include!r}.')
        costs = [row["cost"] for row in self.get_tokens()]
        costs = costs[-1:] if include == "last" else costs
        return None if None in costs else float(sum(costs))

    def _repr_html_(self) -> str | None:
        from ..render.html import notebook_html  # noqa: PLC0415 - only needed in notebooks

        return notebook_html(self)

    def _repr_markdown_(self) -> str | None:
        from ..render.markdown import contents_markdown  # noqa: PLC0415 - only needed in notebooks

        return contents_markdown(self)

    @contextmanager
    def _entered(self, loop: object) -> Iterator[None]:
        """Reserves the chat for one conversation."""
        with self._lock:
            if self._talking is not None:
                raise UsageError(
                    "This chat is in the middle of an answer. Wait until it finishes, close() the stream, or use a fork() for two requests at once."
                )
            self._talking = loop
        try:
            yield
        finally:
            self._left(loop)

    def _left(self, loop: object) -> None:
        with self._lock:
            if self._talking is loop:
                self._talking = None

    @contextmanager
    def _idle(self, what: str) -> Iterator[None]:
        with self._lock:
            if self._talking is not None:
                raise UsageError(f"{what} cannot be used while the chat is answering.")
            yield
