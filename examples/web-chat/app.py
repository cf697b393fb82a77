"""A chat that web clients can talk to: those of Vercel's AI SDK at /api/chat, and those of AG-UI at /api/agent.

uvicorn app:app --host 127.0.0.1 --port 8000
"""

from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from ellmer_core import chat, tool
from ellmer_core.web import ag_ui, endpoint, vercel


def get_weather(city: str) -> dict[str, float]:
    """Gets the weather now."""
    return {"celsius": 21.5 if city == "Köln" else 12.0}


@tool(needs_approval=True)
def delete_file(path: str) -> str:
    """Deletes a file."""
    return f"{path} is gone"


template = chat("anthropic/claude-sonnet-4-5", "You are terse.", when_busy="wait", max_tries=1, thinking=2000)
template.register_tools([get_weather, delete_file])
chats = {}


def find(conversation, scope):
    """Returns the user's chat. Your program knows users by their session; this one knows one user."""
    user = "ann"
    return chats.setdefault((user, conversation), template.fork())


async def page(request):
    """Returns the conversation for a page that is loaded again, to the AI SDK."""
    return JSONResponse(vercel.messages(find(request.query_params["id"], request.scope)))


async def agent_page(request):
    """Returns the conversation for a page that is loaded again, to AG-UI."""
    chat = find(request.query_params["id"], request.scope)
    return JSONResponse({"messages": ag_ui.messages(chat), "interrupts": ag_ui.interrupts(chat)})


app = Starlette(
    routes=[
        Route("/api/chat", endpoint(vercel, find), methods=["POST"]),
        Route("/api/agent", endpoint(ag_ui, find), methods=["POST"]),
        Route("/api/messages", page),
        Route("/api/agent/messages", agent_page),
    ]
)
