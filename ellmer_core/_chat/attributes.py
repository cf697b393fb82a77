"""The attributes of a chat that a program sets. A value is checked when it is set, and a name that a chat does not have is refused: it
would have no effect, and nobody would notice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from types import FunctionType
from typing import Any

from ..conversation.settings import UsageLimits
from ..errors import UsageError
from ..wire.base import Wire
from .answers import echo_mode


def checked(of: type, name: str, value: Any) -> Any:
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
    """Returns a sentence about an attribute that a chat does not have, with the one that was probably meant."""
    from difflib import get_close_matches  # noqa: PLC0415 - only for mistakes

    meant = {**{each: f"`{each}`" for each in _ATTRIBUTES}, "tools": "`register_tool()` or `set_tools()`"}
    meant |= {each[4:]: f"`{each}()`" for each in dir(of) if each.startswith("set_") and each != "set_tools"}
    near = get_close_matches(name, meant, 1)
    advice = f"did you mean {meant[near[0]]}?" if near else f"it has {', '.join(meant.values())}."
    return f"`{name}` is not an attribute of {of.__name__}; {advice}"


def _one(right: Callable[[Any], bool], words: str, name: str, value: Any) -> Any:
    if not right(value):
        raise UsageError(f"{name}= must be {words}, not {value!r:.60}.")
    return value


def _whole(least: int) -> Callable[[str, Any], Any]:
    def right(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and value >= least

    return partial(_one, right, f"a whole number, {least} or more")


#: The checks, by the name of the attribute.
_ATTRIBUTES: dict[str, Callable[[str, Any], Any]] = {
    "wire": partial(_one, lambda value: isinstance(value, Wire), "a Wire"),
    "fallbacks": partial(
        _one, lambda value: isinstance(value, list), "a list, as `chat_fallback()` makes it"
    ),
    "echo": lambda _name, value: echo_mode(value),
    "max_tries": _whole(1),
    "max_tool_rounds": _whole(0),
    "usage_limits": partial(_one, lambda value: isinstance(value, UsageLimits), "UsageLimits(…)"),
    "ask_before": partial(
        _one,
        lambda value: callable(value) or isinstance(value, bool | str | Collection),
        "names, True or a function",
    ),
    "approve": partial(
        _one,
        lambda value: callable(value) or value in ("console", "defer", None),
        'a function, "console", "defer" or None',
    ),
    "deps": lambda _name, value: value,
    "when_busy": partial(_one, lambda value: value in ("raise", "wait"), '"raise" or "wait"'),
}
