"""A person decides later about a refund. In between, the conversation is a file, and another process goes on with it.

It prints:

    waits: refund {'order': 'A-17', 'euros': 80}
    refund says: 40 euros for A-17
    It is 40 euros for A-17.
"""

import json
from pathlib import Path

from ellmer_core import ApprovalRequiredError, Chat, chat_openai, tool

SAVED = Path("conversation.json")


@tool(needs_approval=lambda arguments: arguments["euros"] > 50)
def refund(order: str, euros: int) -> str:
    """Refunds an order.

    Args:
        order: The number of the order, such as A-17.
        euros: How much.
    """
    return f"{euros} euros for {order}"


def new_chat() -> Chat:
    chat = chat_openai("You are a clerk.", model="gpt-5.6-terra", approve="defer")
    chat.register_tool(refund)
    return chat


def ask() -> None:
    """The first process: it asks, and saves the conversation when a call waits."""
    chat = new_chat()
    try:
        chat.chat('Refund 80 euros for the order "A-17".')
    except ApprovalRequiredError as waiting:
        for request in waiting.requests:
            print("waits:", request.name, dict(request.arguments))
    SAVED.write_text(json.dumps(chat.record()), encoding="utf-8")


def decide() -> None:
    """The second process: a person allows half of it."""
    chat = new_chat()
    chat.restore(json.loads(SAVED.read_text(encoding="utf-8")))
    chat.on_tool_result(lambda result: print("refund says:", result.value))
    for request in chat.waiting_requests():
        chat.decide({request.id: {"approved": True, "arguments": {**request.arguments, "euros": 40}}})
    print(chat.chat())


if __name__ == "__main__":
    ask()
    decide()
