"""The settings of one conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..contents.content import ContentImageInline, ToolDef
from ..contents.turns import AssistantTurn, Tokens, Turn
from ..wire.base import StructuredMode, Wire
from .approval import AskBefore, Decide
from .cancellation import StreamController
from .io_operations import Callback
from .request.serialized_turn_cache import RequestCache
from .usage_limits import UsageLimits

if TYPE_CHECKING:
    from ..schemas.type_classes import Type

__all__ = ["Check", "Fallback", "Settings"]

Check = Callable[[AssistantTurn], str | None]


@dataclass(frozen=True, eq=False, repr=False)  # what is not made need not be compiled
class Settings:
    """The settings of one conversation. `type` asks for data, in a `mode`. An answer in which `check` finds a problem
    is requested again, up to `max_retries` times, with the problem as the next message. `price` returns US dollars
    for a model's tokens, if known; `count` is called for every answer. `fallbacks` are the providers to try next, in
    order.
    """

    wire: Wire
    tools: Mapping[str, ToolDef] = field(default_factory=dict)
    stream: bool = False
    type: Type | None = None
    mode: StructuredMode | None = None
    check: Check | None = None
    max_retries: int = 0
    concurrent: bool = False
    max_tries: int = 3
    max_tool_rounds: int = 100
    on_request: Sequence[Callback] = ()
    on_result: Sequence[Callback] = ()
    on_history: Sequence[Callable[[list[Turn]], Iterable[Turn]]] = ()
    controller: StreamController = field(default_factory=StreamController)
    price: Callable[[Wire, Tokens], float | None] = lambda _wire, _tokens: None
    count: Callable[[Wire, Tokens, float | None], object] = lambda _wire, _tokens, _cost: None
    written: RequestCache = field(default_factory=RequestCache)
    fetch: bool = False  # images by URL, where the API fetches none
    fetched: dict[str, ContentImageInline | str] = field(default_factory=dict)  # or why not
    told: set[str] = field(default_factory=set)  # what the caller was warned of
    provider: int = 0
    fallbacks: Sequence[Fallback] = ()
    deps: Any = None
    usage_limits: UsageLimits = field(default_factory=UsageLimits)
    ask_before: AskBefore = ()
    approve: Decide | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Fallback:
    """Another provider, and its index in the chat."""

    wire: Wire
    provider: int = 1
    max_tries: int = 3
    written: RequestCache = field(default_factory=RequestCache)
