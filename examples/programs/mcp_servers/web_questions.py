"""A web chat whose MCP server asks the user: `uvicorn web_questions:app` serves it to a client of AG-UI. Run as a program, it
asks itself once, and answers the question as the page would.

It prints:

    the server asks: Which seat to Rome?
    the fields: seat, meal
    It is Rome: 7A, a meal.
    the page again: user, assistant, tool, assistant
"""

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from ellmer_core import Chat, chat_openai
from ellmer_core.mcp import mcp_tools
from ellmer_core.web import Scope, ag_ui, endpoint

SERVER = Path(__file__).with_name("seat_server.py")
template = chat_openai("Answer in one sentence.", model="gpt-5.6-terra", when_busy="wait")
chats: dict[tuple[str, str], Chat] = {}


@asynccontextmanager
async def lifespan(_app: Starlette) -> AsyncGenerator[None]:
    """Keeps one MCP server for all conversations, as long as the program runs."""
    async with mcp_tools([sys.executable, str(SERVER)]) as tools:
        template.register_tools(tools)
        yield


def find(conversation: str, scope: Scope) -> Chat:
    user = "ann"  # from the session of your program
    return chats.setdefault((user, conversation), template.fork())


async def messages(request: Request) -> JSONResponse:
    """Returns the conversation and its open questions, for a page that is loaded again."""
    chat = find(request.query_params["id"], request.scope)
    return JSONResponse({"messages": ag_ui.messages(chat), "interrupts": ag_ui.interrupts(chat)})


app = Starlette(
    routes=[Route("/agent", endpoint(ag_ui, find), methods=["POST"]), Route("/messages", messages)],
    lifespan=lifespan,
)


# --- a page ----------------------------------------------------------------------------------------------


def asked(page: TestClient, **fields: Any) -> list[dict[str, Any]]:
    """Returns the events of one run."""
    run: dict[str, Any] = {
        "threadId": "t1",
        "runId": "r1",
        "state": {},
        "messages": [],
        "tools": [],
        "context": [],
    }
    answer = page.post("/agent", json={**run, "forwardedProps": {}, **fields})
    return [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]


def main() -> None:
    with TestClient(app) as page:
        said = {"id": "m1", "role": "user", "content": "Book a flight to Rome."}
        [question] = asked(page, messages=[said])[-1]["outcome"]["interrupts"]
        print("the server asks:", question["message"])
        print("the fields:", ", ".join(question["responseSchema"]["properties"]["editedArgs"]["properties"]))

        answers = {"approved": True, "editedArgs": {"seat": "7A", "meal": True}}
        decision = {"interruptId": question["id"], "status": "resolved", "payload": answers}
        print("".join(event.get("delta", "") for event in asked(page, resume=[decision])))

        shown = page.get("/messages", params={"id": "t1"}).json()["messages"]
        print("the page again:", ", ".join(message["role"] for message in shown))


if __name__ == "__main__":
    main()
