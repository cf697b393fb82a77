"""`create_tool_def()` asks a model to write the `tool()` call for an existing function."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from ..errors import UsageError
from .chat import Chat

__all__ = ["create_tool_def"]

INSTRUCTIONS = """\
You write definitions of tools for language models, in Python, with the library ellmer_core.

The user gives you the name of a function, its signature, and what is known about it: its docstring, else its source. Answer with one expression in a fenced Python block and nothing else: a call of `tool()`.

- The first argument is the function itself, by its name; the second says in one or two sentences what it does and what it returns, for a model that has to decide when to call it.
- `arguments=` is a dict with an entry for each parameter that a model should choose. Its value is one of `type_boolean`, `type_integer`, `type_number`, `type_string`, `type_enum(description, values=[…])`, `type_array(description, items=…)` and `type_object(description, name=…)`; the description comes first.
- A parameter with a default gets `required=False`. Leave none out; if a parameter is not JSON (a callback, a connection), say so in a comment.

```python
tool(
    get_weather,
    "Gets today's weather in a city, as text.",
    arguments={
        "city": type_string("Name of the city, in English."),
        "unit": type_enum("Unit of the temperature.", values=["C", "F"], required=False),
    },
)
```
"""


def create_tool_def(function: Callable[..., Any], chat: Chat) -> str:
    """Asks a model to write the `tool()` call for a function.

    The model sees the function's name, signature and docstring; it sees the source where there is no docstring.

    Args:
        function: The function.
        chat: The chat whose model is asked; its history does not change.

    Returns:
        Python code, to be read, corrected and pasted.

    Raises:
        UsageError: The value is not a function.
        ProviderError: The provider answered with an error.

    Examples:
        >>> code = create_tool_def(len, chat_openai())
    """
    if not callable(function):
        raise UsageError(f"create_tool_def() takes a function, not {function!r}.")
    writer = chat.fork()
    writer.set_tools([])
    writer.set_turns([])
    writer.set_system_prompt(INSTRUCTIONS)
    answer = writer.chat(_described(function), echo="none")
    fenced = re.search(r"```\w*\n(.*?)\n?```", answer, re.DOTALL)
    return (fenced[1] if fenced else answer).strip()


def _described(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    try:
        signature = f"{name}{inspect.signature(function)}"
    except (TypeError, ValueError):
        signature = f"{name}(…), whose parameters Python does not know"
    documentation = inspect.getdoc(function) or _source(function) or "(nothing else is known)"
    return f"<signature>\n{signature}\n</signature>\n<documentation>\n{documentation}\n</documentation>"


def _source(function: Callable[..., Any]) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return ""
