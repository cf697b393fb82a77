"""A web chat whose refunds wait for a person: `uvicorn refunds_web:app` serves it to a client of Vercel's AI SDK. The conversations
are in a database, so that a question survives a restart of the server. Run as a program, it asks itself once, and denies the refund as
the page would.

It prints:

    small: the order A-16 is paid back
    large: approval-requested
    after a restart, the page shows: approval-requested
    denied: output-denied
    the model read: Tool call denied. It is too much.
"""

import json
import sqlite3
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from ellmer_core import Chat, chat_anthropic, tool
from ellmer_core.testing import tool_results
from ellmer_core.web import Scope, endpoint, vercel

database = sqlite3.connect("chats.sqlite", check_same_thread=False)
database.execute("create table if not exists chats (id text primary key, record text)")
chats: dict[str, Chat] = {}


@tool(needs_approval=lambda arguments: arguments["amount"] > 50)
def refund(order: str, amount: float) -> str:
    """Refunds an amount of money for an order."""
    return f"the order {order} is paid back"


def find(conversation: str, scope: Scope) -> Chat:
    """Returns a conversation: that in memory, that in the database, or a new one. Look it up among those of your user."""
    if conversation not in chats:
        chat = chat_anthropic("You are a clerk.", model="claude-sonnet-5", when_busy="wait")
        chat.register_tool(refund)
        row = database.execute("select record from chats where id = ?", [conversation]).fetchone()
        if row:
            chat.restore(json.loads(row[0]))
        chats[conversation] = chat
    return chats[conversation]


def keep(conversation: str) -> None:
    """Writes a conversation to the database, after each answer."""
    record = json.dumps(chats[conversation].record())
    with database:
        database.execute("insert or replace into chats values (?, ?)", [conversation, record])


async def messages(request: Request) -> JSONResponse:
    """Returns a conversation to a page that is loaded again."""
    return JSONResponse(vercel.messages(find(request.query_params["id"], request.scope)))


app = Starlette(
    routes=[Route("/api/chat", endpoint(vercel, find), methods=["POST"]), Route("/api/messages", messages)]
)


# --- a page ----------------------------------------------------------------------------------------------


def send(page: TestClient, messages: list[dict[str, Any]]) -> None:
    page.post("/api/chat", json={"id": "7", "messages": messages}).raise_for_status()
    keep("7")


def shown(page: TestClient) -> list[dict[str, Any]]:
    return page.get("/api/messages", params={"id": "7"}).json()


def ask(page: TestClient, id: str, text: str) -> dict[str, Any]:
    """Returns the last part of the page's last message, after a question."""
    send(page, [*shown(page), {"id": id, "role": "user", "parts": [{"type": "text", "text": text}]}])
    return shown(page)[-1]["parts"][-1]


def main() -> None:
    page = TestClient(app)
    ask(page, "a", "Refund 20 for order A-16.")
    print("small:", tool_results(chats["7"])[-1].value)
    print("large:", ask(page, "b", "Refund 80 for order A-17.")["state"])

    chats.clear()  # the server starts again
    *before, last = shown(page)
    call = last["parts"][-1]
    print("after a restart, the page shows:", call["state"])

    call["state"] = "approval-responded"
    call["approval"] |= {"approved": False, "reason": "It is too much."}
    send(page, [*before, last])
    print("denied:", next(part["state"] for part in shown(page)[-1]["parts"] if "toolCallId" in part))
    print("the model read:", tool_results(chats["7"])[-1].value)


if __name__ == "__main__":
    main()
