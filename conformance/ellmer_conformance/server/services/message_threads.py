"""Anthropic's message threads: a request begins one, and the next ones send only what is new.

https://platform.claude.com/docs/en/build-with-claude/message-threads. A thread keeps the system prompt and the tools. The sentence of the
refusal is UNVERIFIED; its status and the `error_code` `thread_not_found` are in the source of the SDK (`anthropic/lib/threads`).
"""

from __future__ import annotations

from dataclasses import replace

from ...contract.observed.exchange import Request
from ...contract.readers.anthropic import continues_thread
from ...contract.readers.json_access import items_of, object_of, text_of
from ...contract.rule import Refusal
from ..http.messages import Reply
from .service_request import StoredObjects

__all__ = ["continued", "keep", "names_thread"]

_KIND = "message thread"
_MOST = 256  # answers of a conversation that can be continued
_HELD = ("system", "tools")


def names_thread(request: Request) -> bool:
    """Tells whether a request begins or continues a thread.

    Args:
        request: The request.
    """
    return request.wire == "anthropic" and bool(object_of(request.body.get("thread")))


def continued(request: Request, shelf: StoredObjects) -> Request | Refusal:
    """Returns a request with the messages, the tools and the system prompt of the thread that it continues, or the refusal of an
    unknown one.

    Args:
        request: A request to Messages.
        shelf: The stored objects of its conversation.
    """
    if not continues_thread(request.body):
        return request
    before = text_of(object_of(request.body.get("thread")).get("previous_message_id"))
    found = shelf.kept.get(_KIND, {}).get(before)
    if found is None:
        sentence = f"No thread was found for message {before}. Send the whole conversation again."
        return Refusal(sentence, 404, "not_found_error", "thread_not_found")
    messages = [*found["messages"], *items_of(request.body.get("messages"))]
    return replace(request, body={**request.body, **found, "messages": messages})


def keep(request: Request, reply: Reply, shelf: StoredObjects) -> None:
    """Keeps a conversation with its newest answer.

    Args:
        request: The request, with the messages of the thread that it continues.
        reply: Its answer.
        shelf: The stored objects of its conversation.
    """
    from ...contract.provider_answers.joined_streams import anthropic_message  # noqa: PLC0415 - the server starts without the harness

    try:
        message = anthropic_message(reply.body)
    except ValueError:
        return
    id = text_of(message.get("id"))
    if not id or reply.ending != "end":
        return
    threads = shelf.kept.setdefault(_KIND, {})
    held = {name: request.body[name] for name in _HELD if name in request.body}
    answer = {"role": "assistant", "content": message.get("content")}
    threads[id] = {**held, "messages": [*items_of(request.body.get("messages")), answer]}
    if len(threads) > _MOST:
        del threads[next(iter(threads))]
