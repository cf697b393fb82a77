"""A chat for a web page: `uvicorn web_app:app` serves it to `useChat()` of the AI SDK. Run as a program, it asks itself once.

It prints:

    200 text/event-stream
    data: {"type":"start"}
    data: [DONE]
    the page again: user, assistant
"""

from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from ellmer_core import Chat, chat_openai, tool
from ellmer_core.web import Scope, endpoint, vercel


@tool(needs_approval=True)
def delete_file(path: str) -> str:
    """Deletes a file."""
    return f"{path} is gone"


template = chat_openai("Answer in one sentence.", model="gpt-5.6-terra", when_busy="wait")
template.register_tool(delete_file)
chats: dict[tuple[str, str], Chat] = {}


def find(conversation: str, scope: Scope) -> Chat:
    user = "ann"  # from the session of your program
    return chats.setdefault((user, conversation), template.fork())


async def messages(request: Request) -> JSONResponse:
    """Returns the conversation, for a page that is loaded again."""
    return JSONResponse(vercel.messages(find(request.query_params["id"], request.scope)))


app = Starlette(
    routes=[Route("/api/chat", endpoint(vercel, find), methods=["POST"]), Route("/api/messages", messages)]
)


def main() -> None:
    said: dict[str, Any] = {"role": "user", "parts": [{"type": "text", "text": "Hello!"}]}
    with TestClient(app) as page:
        answer = page.post("/api/chat", json={"id": "c1", "messages": [said]})
        print(answer.status_code, answer.headers["content-type"])
        print(answer.text.splitlines()[0])
        print(answer.text.splitlines()[-2])
        shown = page.get("/api/messages", params={"id": "c1"}).json()
        print("the page again:", ", ".join(message["role"] for message in shown))


if __name__ == "__main__":
    main()
