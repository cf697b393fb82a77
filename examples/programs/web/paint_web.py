"""A route of your own for a client of AG-UI (`uvicorn paint_web:app`). A tool returns a picture to the page and to the model, and the
person changes the arguments of its call first. Run as a program, it asks itself once.

It prints:

    the page asks: Paint a picture?
    the page shows: image/png
    It is a blue image of 16 by 16 pixels.
"""

import json
from typing import Any

from PIL import Image
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from ellmer_core import Chat, ContentImage, ToolContext, UsageError, chat_openai, content_image_file, tool
from ellmer_core.web import ag_ui

chats: dict[str, Chat] = {}


@tool(needs_approval=True, annotations={"title": "Paint a picture"})
def paint(colour: str, context: ToolContext[dict[str, str]]) -> ContentImage:
    """Paints a picture in a colour."""
    context.progress(f"Painting for {context.deps['user']}…")
    Image.new("RGB", (16, 16), colour).save("painted.png")
    return content_image_file("painted.png")


def find(conversation: str, user: str) -> Chat:
    if conversation not in chats:
        chats[conversation] = chat_openai(model="gpt-5.6-terra")
        chats[conversation].register_tool(paint)
        chats[conversation].deps = {"user": user}
    return chats[conversation]


async def answer(request: Request) -> Response:
    try:
        asked = ag_ui.read(await request.body())
        chat = find(asked.conversation, "ann")  # the user comes from the session of your program
        asked.check(chat)
    except UsageError as error:
        return PlainTextResponse(str(error), status_code=400)
    return StreamingResponse(ag_ui.stream(chat, asked), headers=ag_ui.HEADERS)


app = Starlette(routes=[Route("/agent", answer, methods=["POST"])])


# --- a page ----------------------------------------------------------------------------------------------


def run(page: TestClient, **fields: Any) -> list[dict[str, Any]]:
    """Returns the events of one run."""
    empty: dict[str, Any] = {"state": {}, "messages": [], "tools": [], "context": [], "forwardedProps": {}}
    answer = page.post("/agent", json={"threadId": "t1", "runId": "r1", **empty, **fields})
    return [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]


def main() -> None:
    page = TestClient(app)
    said = {"id": "m1", "role": "user", "content": "Paint a picture in red."}
    [question] = run(page, messages=[said])[-1]["outcome"]["interrupts"]
    print("the page asks:", question["message"])

    changed = {"approved": True, "editedArgs": {"colour": "blue"}}
    events = run(page, resume=[{"interruptId": question["id"], "status": "resolved", "payload": changed}])
    [result] = [event["content"] for event in events if event["type"] == "TOOL_CALL_RESULT"]
    print("the page shows:", next(part["source"]["mimeType"] for part in result if part["type"] == "image"))
    print("".join(event.get("delta", "") for event in events if event["type"] == "TEXT_MESSAGE_CONTENT"))


if __name__ == "__main__":
    main()
