"""The state of a chat: its history, its tools and callbacks, its model with the parameters, and its settings. All of it is checked when it
is set, printed, saved and restored without I/O. `chat` asks the model.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from types import FunctionType
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, overload

from ..base.argument_checks import spelt_methods, takes
from ..base.log import warn
from ..contents.content import ContentToolRequest, ContentToolResult, ToolDef
from ..contents.display import Displayed
from ..contents.turns import AssistantTurn, SystemTurn, Turn, UserTurn
from ..conversation.approval import AskBefore, Decide, DecisionLike, decision_of
from ..conversation.history import History, chat_of_record, chat_record
from ..conversation.request import as_sent, conversation_as_sent
from ..conversation.settings import OneAtATime, UsageLimits, WhenBusy
from ..errors import UsageError
from ..models.unsupported_parameters import Asked, fitted
from ..wire.base import Wire
from ..wire.interfaces import Profile
from ..wire.interfaces import params as named_params
from .answers import Input, contents_of, echo_mode

if TYPE_CHECKING:
    from ..tools.definition import FunctionTool

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
Callback = Callable[[T], Awaitable[object] | object]


@spelt_methods
class ChatState(Displayed):
    """Base class of `Chat` with its attributes.

    Args:
        wire: As in `Chat`.
        system_prompt: As in `Chat`.
        thinking: As in `Chat`.
        profile: As in `Chat`.
    """

    def __init__(self, wire: Wire, system_prompt: str | None, thinking: Any, profile: Any) -> None:
        self._asked = Asked({**wire.params, **({} if thinking is None else {"thinking": thinking})}, profile)
        self.wire: Wire = _fitted(wire, self._asked)
        self._history = History()
        self._turn = OneAtATime()

        self._tools: dict[str, ToolDef] = {}
        self._on_request: list[Callback[ContentToolRequest]] = []
        self._on_result: list[Callback[ContentToolResult]] = []
        self._on_history: list[Callable[[list[Turn]], Iterable[Turn]]] = []

        self.max_tries = 3
        self.max_tool_rounds = 100
        self.usage_limits = UsageLimits()
        self.ask_before: AskBefore = ()
        self.approve: Decide | Literal["console", "defer"] | None = None
        self.deps: Any = None
        self.when_busy: WhenBusy = "raise"
        self.set_system_prompt(system_prompt)

    if not TYPE_CHECKING:  # a type checker that saw it would accept any name

        def __setattr__(self, name: str, value: Any) -> None:
            object.__setattr__(
                self, name, value if name.startswith("_") else _attribute(type(self), name, value)
            )

        def __getattr__(self, name: str) -> Any:  # of a name that was not found
            raise AttributeError(_unread(type(self), name))

    # --- The history -----------------------------------------------------------------------------------------

    def get_turns(self, *, include_system_prompt: bool = False) -> list[Turn]:
        """Returns the history, oldest turn first. An answer that broke off is an `AssistantPartialTurn`.

        If a request failed after tools had run, the last turn is the one that called them; the next request sends their
        results.

        Args:
            include_system_prompt: Whether the system prompt is included as a `SystemTurn`. Default: `False`.

        Examples:
            >>> chat = chat_openai()
            >>> _ = chat.chat("Hi")
            >>> [turn.text for turn in chat.get_turns()]
            ['Hi', 'Hello!']
        """
        turns = self._history.view()
        return turns if include_system_prompt else [t for t in turns if not isinstance(t, SystemTurn)]

    def set_turns(self, turns: Iterable[Turn]) -> None:
        """Replaces the history.

        Args:
            turns: The turns. A `SystemTurn` at the beginning replaces the system prompt, which otherwise stays.

        Raises:
            UsageError: A value is not a turn; the history did not change.

        Examples:
            >>> chat = chat_openai()
            >>> chat.set_turns([UserTurn("Hi"), AssistantTurn("Hello!")])
            >>> chat.last_turn().text
            'Hello!'
        """
        turns = list(turns)
        # The kinds are few, whereas a history may be long.
        first, others = {*map(type, turns[:1])}, {*map(type, islice(turns, 1, None))}
        if wrong := [kind for kind in first | others if not issubclass(kind, Turn)]:
            raise UsageError(
                f"A turn must be a UserTurn, an AssistantTurn or a SystemTurn, not {wrong[0].__name__}."
            )
        if any(issubclass(kind, SystemTurn) for kind in others):
            raise UsageError(
                "Only the first turn can be a SystemTurn. Use set_system_prompt() to replace the system prompt."
            )
        with self._turn.idle("set_turns()"):
            system = () if turns and isinstance(turns[0], SystemTurn) else self._history.turns[:1]
            turns[:0] = [turn for turn in system if isinstance(turn, SystemTurn)]
            self._history.replace(turns)

    def add_turn(self, *turns: Turn) -> None:
        """Adds turns to the history.

        Args:
            *turns: The turns.

        Raises:
            UsageError: A value is not a turn.

        Examples:
            >>> chat = chat_openai()
            >>> chat.add_turn(UserTurn("Hi"), AssistantTurn("Hello!"))
            >>> len(chat.get_turns())
            2
        """
        unsent = [self._history.reply(())] if self._history.results else []
        self.set_turns([*self.get_turns(include_system_prompt=True), *unsent, *turns])

    def add_message(self, *inputs: Input) -> None:
        """Adds a message to a conversation in progress, from another thread, a task, a tool or a callback.

        It goes out with the results of the tools that run now. If the model has answered meanwhile without a call, one more
        request is sent, and `chat()` returns the answer to that. If no conversation is in progress, the message goes out with the next
        one. Until then, it is not part of the history. A content that the model does not accept raises a `ContentError` in the
        conversation, and the message is dropped.

        Args:
            *inputs: As in `chat()`.

        Raises:
            UsageError: There is nothing to add, or a result of a tool.

        Examples:
            >>> def look(at: str) -> str:
            ...     "Looks at something."
            ...     chat.add_message("Be brief.")
            ...     return "a cat"
            >>> chat = ScriptedModel(tool_call("look", at="the sofa"), "A cat.").chat()
            >>> _ = chat.register_tool(look)
            >>> _ = chat.chat("Look at the sofa.")
            >>> chat.last_turn("user").text
            'Be brief.'
        """
        message = contents_of(inputs)
        if not message or any(isinstance(content, ContentToolResult) for content in message):
            raise UsageError("add_message() takes strings and contents, but no results of tools.")
        self._history.add(message)

    @overload
    def last_turn(self, role: Literal["assistant"]) -> AssistantTurn | None: ...
    @overload
    def last_turn(self, role: Literal["user", "system"] | None = None) -> Turn | None: ...
    def last_turn(self, role: Literal["user", "assistant", "system"] | None = None) -> Turn | None:
        """Returns the last turn, or `None` where there is none.

        Args:
            role: `"user"`, `"assistant"` or `"system"` returns the last turn of that role; `None` (default) any.

        Raises:
            UsageError: There is no such role.

        Examples:
            >>> chat = chat_openai()
            >>> _ = chat.chat("Hi")
            >>> chat.last_turn("user").text
            'Hi'
        """
        if role not in (None, "user", "assistant", "system"):
            raise UsageError(f'role must be "user", "assistant" or "system", not {role!r}.')
        turns = reversed(self._history.view())
        return next((turn for turn in turns if role in (None, turn.role)), None)

    def get_system_prompt(self) -> str | None:
        """Returns the system prompt.

        Examples:
            >>> chat_openai("You are terse.").get_system_prompt()
            'You are terse.'
        """
        first = self._history.turns[0] if self._history.turns else None
        return first.text if isinstance(first, SystemTurn) else None

    def set_system_prompt(self, value: str | None) -> None:
        """Replaces the system prompt.

        Args:
            value: The system prompt; `None` removes it.

        Raises:
            UsageError: The value is not a string, or a call of the chat is running.

        Examples:
            >>> chat = chat_openai("You are terse.")
            >>> chat.set_system_prompt(None)
            >>> chat.get_system_prompt() is None
            True
        """
        if value is not None and not isinstance(value, str):
            raise UsageError(f"The system prompt must be a string or None, not {type(value).__name__}.")
        with self._turn.idle("set_system_prompt()"):
            rest = [turn for turn in self._history.turns if not isinstance(turn, SystemTurn)]
            self._history.turns[:] = [*([SystemTurn(value)] if value is not None else []), *rest]

    def get_tokens(self) -> list[dict[str, Any]]:
        """Returns a row for each answer that its provider finished.

        Returns:
            Dictionaries with `input`, `output`, `cached`, `cache_write` and `reasoning` (tokens; `None` where the provider did
            not report them), `cost` (US dollars; `None` where the price is not known), and `preview`, the beginning of
            the question.

        Examples:
            >>> chat = chat_openai()
            >>> _ = chat.chat("Hi")
            >>> [(row["output"], row["preview"]) for row in chat.get_tokens()]
            [(5, 'Hi')]
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

        Raises:
            UsageError: `include` has another value.

        Examples:
            >>> chat = chat_openai(model="gpt-4.1")
            >>> _ = chat.chat("Hi")
            >>> chat.get_cost() < 0.01
            True
        """
        if include not in ("all", "last"):
            raise UsageError(f'include must be "all" or "last", not {include!r}.')
        costs = [row["cost"] for row in self.get_tokens()]
        costs = costs[-1:] if include == "last" else costs
        return None if None in costs else float(sum(costs))

    # --- Tools, callbacks and decisions ----------------------------------------------------------------------

    def register_tool(
        self, tool_def: Callable[P, R], *, model: type[Any] | None = None
    ) -> FunctionTool[P, R]:
        """Registers a tool. It replaces a tool of the same name with a warning, and works as a decorator.

        Args:
            tool_def: A tool, or a function that `tool()` can make one of.
            model: A pydantic model of all arguments of the function, as `arguments=` of `tool()`. Default: `None`: the signature
                of the function says them.

        Returns:
            The tool.

        Raises:
            UsageError: The function has a parameter without a type, or its name is not allowed.

        Examples:
            >>> chat = chat_openai()
            >>> @chat.register_tool
            ... def add(a: int, b: int) -> int:
            ...     "Adds two numbers."
            ...     return a + b
            >>> list(chat.get_tools())
            ['add']
        """
        definition: Any = _definition(tool_def, model)
        if definition.name in self._tools:
            warn(f"The tool {definition.name!r} was registered before; the new one replaces it.")
        self._tools[definition.name] = definition
        return definition  # type: ignore[no-any-return]  # a class for type checkers only

    def register_tools(self, tools: Iterable[ToolDef | Callable[..., Any]]) -> None:
        """Registers several tools, or none if one of them is not a tool. If a tool replaces another one of the same name, such as a
        tool of an MCP server, there is a warning.

        Args:
            tools: The tools, or functions.

        Raises:
            UsageError: One of them is not a tool.

        Examples:
            >>> def add(a: int, b: int) -> int:
            ...     "Adds two numbers."
            ...     return a + b
            >>> chat = chat_openai()
            >>> chat.register_tools([add, tool_web_search()])
            >>> list(chat.get_tools())
            ['add', 'web_search']
        """
        new = _defined(tools)
        for name in new.keys() & self._tools.keys():
            if new[name].function is not self._tools[name].function:
                warn(_REPLACED.format(repr(name)))
        self._tools.update(new)

    def set_tools(self, tools: Iterable[ToolDef | Callable[..., Any]]) -> None:
        """Replaces all tools.

        Args:
            tools: The tools, or functions.

        Raises:
            UsageError: One of them is not a tool.

        Examples:
            >>> chat = chat_openai()
            >>> chat.register_tools([tool_web_search()])
            >>> chat.set_tools([])
            >>> chat.get_tools()
            {}
        """
        new = _defined(tools)
        self._tools.clear()
        self._tools.update(new)

    def _searchable(self) -> Mapping[str, ToolDef]:
        """Returns the tools, with a search beside deferred ones."""
        from ..tools.tool_search import with_search  # noqa: PLC0415 - few chats defer tools

        return with_search(self._tools)

    def get_tools(self) -> dict[str, ToolDef]:
        """Returns the tools by name.

        Examples:
            >>> chat_openai().get_tools()
            {}
        """
        return dict(self._tools)

    def on_tool_request(self, callback: Callback[ContentToolRequest]) -> Callable[[], None]:
        """Calls a function before each tool call.

        Args:
            callback: The function; it receives the `ContentToolRequest` and may raise `ToolReject` (see `tool_reject()`). An
                async function works only in async calls.

        Returns:
            A function that removes the callback.

        Examples:
            >>> def check(request):
            ...     if request.name == "delete":
            ...         tool_reject("Files are never deleted.")
            >>> remove = chat_openai().on_tool_request(check)
        """
        return _registered(self._on_request, callback)

    def on_tool_result(self, callback: Callback[ContentToolResult]) -> Callable[[], None]:
        """Calls a function after each tool call, also after one that was rejected. A stream yields the result first, and the function is
        called when the next piece is asked for; it is not called if the stream is left there.

        Args:
            callback: The function; it receives the `ContentToolResult`. An async function works only in async calls.

        Returns:
            A function that removes the callback.

        Examples:
            >>> errors = []
            >>> chat = chat_openai()
            >>> remove = chat.on_tool_result(lambda result: errors.append(result.error))
            >>> remove()
        """
        return _registered(self._on_result, callback)

    def on_history(self, callback: Callable[[list[Turn]], Iterable[Turn]]) -> Callable[[], None]:
        """Calls a function before each request. The turns that it returns are sent instead of the history, which does not
        change.

        Args:
            callback: The function; it receives the list of turns. The last one is the new message, with the results of tools and what
                `add_message()` added. The function may return another one in its place; if it leaves the message out, it is sent
                nevertheless.

        Returns:
            A function that removes the callback.

        Examples:
            >>> chat = chat_openai()
            >>> remove = chat.on_history(lambda turns: turns[-5:])
            >>> chat.chat("Hi")
            'Hello!'
        """
        return _registered(self._on_history, callback)

    def waiting_requests(self) -> list[ContentToolRequest]:
        """Returns the tool calls of the last answer that have not been run, because they wait for a decision. For a tool that
        asked the user something, it is a `ContentToolQuestion`.

        Examples:
            >>> chat_openai().waiting_requests()
            []
        """
        return list(self._history.questions)

    def decide(self, decisions: Mapping[str, DecisionLike]) -> None:
        """Stores decisions about waiting tool calls. The next `chat()`, which needs no input, continues with them.

        Args:
            decisions: A decision for each call id: `True`, `False`, a `Decision`, or its JSON form
                `{"approved": true, "arguments": {…}, "reason": "…"}`.

        Raises:
            UsageError: No call with such an id waits, or a value is not a decision.

        Examples:
            >>> def pay(euros: int) -> str:
            ...     "Pays."
            ...     return f"paid {euros} EUR"
            >>> chat = ScriptedModel(tool_call("pay", euros=5), "Done.").chat(ask_before=["pay"], approve="defer")
            >>> _ = chat.register_tool(pay)
            >>> try:
            ...     chat.chat("Pay 5 EUR.")
            ... except ApprovalRequiredError:
            ...     chat.decide({request.id: True for request in chat.waiting_requests()})
            >>> chat.chat()
            'Done.'
        """
        with self._turn.idle("decide()"):
            self._history.decide({id: decision_of(decision) for id, decision in decisions.items()})

    # --- The model and its parameters ------------------------------------------------------------------------

    def get_model(self) -> str:
        """Returns the model's name.

        Examples:
            >>> chat_openai(model="gpt-4.1").get_model()
            'gpt-4.1'
        """
        return self.wire.model

    def set_model(self, model: str) -> None:
        """Continues with another model of the provider.

        Args:
            model: Name of the model.

        Raises:
            UsageError: The value is not a string, or is empty.

        Examples:
            >>> chat = chat_openai(model="gpt-4.1")
            >>> chat.set_model("gpt-4.1-mini")
            >>> chat.get_model()
            'gpt-4.1-mini'
        """
        if not isinstance(model, str) or not model:
            raise UsageError(f"The model must be a name, not {model!r}.")
        self.wire = _fitted(replace(self.wire, model=model), self._asked)

    @property
    def profile(self) -> Profile:
        """The profile of the model: what it accepts, as far as it is known, with the sources."""
        return self.wire.profile

    def get_params(self) -> dict[str, Any]:
        """Returns the parameters that were asked for, `thinking` among them; the model may take fewer.

        Examples:
            >>> chat_openai(model="gpt-4.1", params=params(temperature=0.2)).get_params()
            {'temperature': 0.2}
        """
        return dict(self._asked.params)

    def set_params(self, params: Mapping[str, Any] | None = None, **words: Any) -> None:
        """Replaces the parameters of the chat: `set_params(params(temperature=0.2))` or `set_params(temperature=0.2)`.

        Args:
            params: The parameters; `None` (default) leaves those that are given by name.
            **words: Parameters by name, as in `params()`.

        Examples:
            >>> chat = chat_openai(model="gpt-4.1")
            >>> chat.set_params(temperature=0.2)
            >>> chat.get_params()
            {'temperature': 0.2}
        """
        asked = Asked({**_checked(params), **named_params(**words)}, self._asked.profile)
        self.wire, self._asked = _fitted(self.wire, asked), asked

    def _wire_with(self, params: Mapping[str, Any]) -> Wire:
        """Returns the wire for one call, with parameters added to those of the chat."""
        return _fitted(self.wire, Asked({**self._asked.params, **_checked(params)}, self._asked.profile))

    def record(self) -> dict[str, Any]:
        """Returns the conversation as plain JSON, for `restore()`. Neither the key nor the tools are in it.

        Examples:
            >>> chat = chat_openai()
            >>> _ = chat.chat("Hi")
            >>> other = chat_openai()
            >>> other.restore(chat.record())
            >>> other.last_turn().text
            'Hello!'
        """
        return chat_record(self._history, self.wire.provider, self.wire.model)

    def restore(
        self,
        record: Any,
        *,
        classes: Iterable[type] = (),
        keep_model: bool = False,
        trust_html: bool = False,
    ) -> None:
        """Continues a recorded conversation in this chat.

        Requests find their tools among those that are registered here.

        Args:
            record: The JSON value of `record()`.
            classes: Content classes of other packages that may occur; any other class is refused. Default: none.
            keep_model: Whether this chat keeps its own model. Default: `False`: it takes the recorded model if the provider is
                the same.
            trust_html: Whether the HTML in displays of tool results is kept, because your own program recorded it. Default:
                `False`: only texts are shown.

        Raises:
            UsageError: The value is not a record; the chat did not change.

        Examples:
            >>> chat = chat_openai()
            >>> chat.restore(chat_openai("You are terse.").record())
            >>> chat.get_system_prompt()
            'You are terse.'
        """
        history, provider, model = chat_of_record(
            record, self._tools.values(), classes, trust_html=trust_html
        )
        with self._turn.idle("restore()"):
            self._history.replace(history.turns, history.results)
        if provider == self.wire.provider and not keep_model:
            self.set_model(model)

    # --- Display ---------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        from ..render.printed_form import format_chat  # noqa: PLC0415 - only needed to print

        results, wire = self._history.results, self.wire
        unsent = UserTurn([results[place] for place in sorted(results)]) if results else None
        turns = conversation_as_sent(wire, self._history.view())
        return format_chat(wire.provider, wire.model, turns, unsent and as_sent(wire, unsent), as_sent=True)

    def __repr__(self) -> str:
        return str(self).partition("\n")[0]

    def _repr_html_(self) -> str | None:
        from ..render.html import notebook_html  # noqa: PLC0415 - only needed in notebooks

        return notebook_html(self)

    def _repr_markdown_(self) -> str | None:
        from ..render.markdown import notebook_markdown  # noqa: PLC0415 - only needed in notebooks

        return notebook_markdown(self)


# --- What is set, checked --------------------------------------------------------------------------------


def _attribute(of: type, name: str, value: Any) -> Any:
    """Returns the value that a chat's attribute gets.

    Args:
        of: The class of the chat.
        name: The name of the attribute.
        value: The value that it is set to.

    Raises:
        AttributeError: A chat has no such attribute.
        UsageError: The attribute has no such values.
    """
    if name in _ATTRIBUTES:
        return _ATTRIBUTES[name](name, value)
    known = getattr(of, name, None)
    if known is None and of.__module__ == f"{__package__}.chat":  # others may have attributes of their own
        raise AttributeError(_unknown(of, name))
    if isinstance(known, FunctionType) and not callable(value):  # a test may replace one
        raise AttributeError(  # noqa: TRY004 - of the attribute, as the one above
            f"`{name}()` is a method of {of.__name__}; it is called, not set."
        )
    return value


def _unknown(of: type, name: str) -> str:
    """Returns a sentence about an attribute that is set and that a chat does not have, with the one that was probably meant."""
    meant = {**{each: f"`{each}`" for each in _ATTRIBUTES}, "tools": "`register_tool()` or `set_tools()`"}
    meant |= {each[4:]: f"`{each}()`" for each in dir(of) if each.startswith("set_") and each != "set_tools"}
    return _not_an_attribute(of, name, meant, f"it has {', '.join(meant.values())}.")


def _unread(of: type, name: str) -> str:
    """Returns a sentence about an attribute that is read and that a chat does not have, with what was probably meant."""
    if name.startswith("_"):
        return f"{of.__name__!r} object has no attribute {name!r}"
    public = {each: getattr(of, each, None) for each in dir(of) if not each.startswith("_")}
    meant = {each: f"`{each}()`" if callable(value) else f"`{each}`" for each, value in public.items()}
    meant |= {each[4:]: f"`{each}()`" for each in public if each.startswith("get_")}
    meant |= {each: f"`{each}`" for each in _ATTRIBUTES}
    meant = {name: _ELSEWHERE[name]} if name in _ELSEWHERE else meant
    return _not_an_attribute(of, name, meant, "dir() lists those that it has.")


def _not_an_attribute(of: type, name: str, meant: Mapping[str, str], otherwise: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only for mistakes

    near = get_close_matches(name, meant, 1)
    advice = f"did you mean {meant[near[0]]}?" if near else otherwise
    return f"`{name}` is not an attribute of {of.__name__}; {advice}"


#: What other libraries call what a chat does or has.
_ELSEWHERE = {
    **dict.fromkeys(
        ("invoke", "run", "run_sync", "ask", "send", "complete", "prompt", "generate"), "`chat()`"
    ),
    **dict.fromkeys(("ainvoke", "achat", "arun"), "`chat_async()`"),
    **dict.fromkeys(("extract_data", "extract", "parse"), "`chat_structured()`"),
    **dict.fromkeys(("messages", "history", "all_messages"), "`get_turns()`"),
    **dict.fromkeys(("clear", "reset"), "`set_turns([])`"),
    **dict.fromkeys(("usage", "token_usage"), "`get_tokens()`"),
    **dict.fromkeys(("save", "to_json", "model_dump"), "`record()`"),
    "astream": "`stream_async()`",
    "add_tool": "`register_tool()`",
    "provider": "`profile` or `get_model()`",
    "app": "`live_browser(chat)`",
    "console": "`live_console(chat)`",
    "export": "`export(chat, path)`",
}


def _right_value(right: Callable[[Any], bool], words: str, name: str, value: Any) -> Any:
    if not right(value):
        raise UsageError(f"{name}= must be {words}, not {value!r:.60}.")
    return value


def _whole(least: int) -> Callable[[str, Any], Any]:
    def right(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and value >= least

    return partial(_right_value, right, f"a whole number, {least} or more")


#: The checks, by the name of the attribute.
_ATTRIBUTES: dict[str, Callable[[str, Any], Any]] = {
    "wire": partial(_right_value, lambda value: isinstance(value, Wire), "a Wire"),
    "fallbacks": partial(
        _right_value, lambda value: isinstance(value, list), "a list, as `chat_fallback()` makes it"
    ),
    "echo": lambda _name, value: echo_mode(value),
    "max_tries": _whole(1),
    "max_tool_rounds": _whole(0),
    "usage_limits": partial(_right_value, lambda value: isinstance(value, UsageLimits), "UsageLimits(…)"),
    "ask_before": partial(
        _right_value,
        lambda value: callable(value) or isinstance(value, bool | str | Collection),
        "names, True or a function",
    ),
    "approve": partial(
        _right_value,
        lambda value: takes(value, 1) if callable(value) else value in ("console", "defer", None),
        'a function of one argument, "console", "defer" or None',
    ),
    "deps": lambda _name, value: value,
    "when_busy": partial(_right_value, lambda value: value in ("raise", "wait"), '"raise" or "wait"'),
}


def _definition(tool_def: ToolDef | Callable[..., Any], model: type[Any] | None = None) -> ToolDef:
    from ..tools.definition import tool  # noqa: PLC0415 - it takes long to load, and many chats have no tools

    if model is not None:
        function = tool_def.function if isinstance(tool_def, ToolDef) else tool_def
        return tool(function, arguments=model)
    return tool_def if isinstance(tool_def, ToolDef) else tool(tool_def)


_REPLACED = "The tool {} was registered before; the new one replaces it."


def _defined(tools: Iterable[ToolDef | Callable[..., Any]]) -> dict[str, ToolDef]:
    """Returns the tools by name."""
    if isinstance(tools, Mapping):
        raise UsageError("The tools must be a list, not a dictionary: each has its own name.")
    definitions = map(_definition, tools)
    return {definition.name: definition for definition in definitions}


def _registered(callbacks: list[F], callback: F) -> Callable[[], None]:
    if not callable(callback):
        raise UsageError(f"A callback must be a function of one argument, not {callback!r}.")
    callbacks.append(callback)
    registered = [callback]

    def remove() -> None:
        while registered:  # once: the same function may have been registered twice
            callbacks.remove(registered.pop())

    return remove


def _fitted(wire: Wire, asked: Asked) -> Wire:
    """Returns the wire with the parameters that the model accepts, and warns the caller of the others."""
    fit, warning = fitted(wire, asked)
    if warning:
        warn(warning)
    return fit


def _checked(params: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if not isinstance(params, Mapping | None):
        raise UsageError(f"params= must be a dictionary such as params() returns, not {params!r}.")
    return params or {}
