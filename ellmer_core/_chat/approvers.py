"""Approvers decide about tool calls: a function of the caller, the person at the console, or a person who answers
later.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ..contents.content import ContentToolRequest
from ..conversation.approval import DEFER, Decide, Decision, Said
from ..errors import UsageError, printable

__all__ = ["approver", "ask_at_console"]

QUESTION = "[y]es, [n]o, or [e]dit the arguments? "


def approver(approve: Any) -> Decide | None:
    """Returns the function for the setting `chat.approve`."""
    match approve:
        case None:
            return None
        case "console":
            return ask_at_console
        case "defer":
            return lambda _request: DEFER
        case _ if callable(approve):
            decide: Callable[[ContentToolRequest], Said] = approve
            return decide
    raise UsageError(f'approve must be a function, "console", "defer" or None, not {approve!r:.80}.')


def ask_at_console(request: ContentToolRequest) -> Decision:
    """Asks the person at the console. If there is none, the answer is no."""
    title = request.tool.title(request.arguments) if request.tool else request.name
    arguments = json.dumps(dict(request.arguments), ensure_ascii=False)
    try:
        answer = input(printable(f"{title}: {request.name}({arguments})\n{QUESTION}")).strip().lower()
        match answer[:1]:
            case "y":
                return Decision(approved=True)
            case "e":
                return _edited(input("Arguments, as JSON: "))
            case _:
                return Decision(approved=False)
    except EOFError:
        return Decision(approved=False, reason="Nobody was there to approve the tool call.")


def _edited(text: str) -> Decision:
    try:
        arguments = json.loads(text)
    except ValueError:
        arguments = None
    if isinstance(arguments, dict):
        return Decision(approved=True, arguments=arguments)
    return Decision(approved=False, reason="The user wanted other arguments, but wrote no JSON object.")
