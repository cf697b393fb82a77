"""A chat that web clients can talk to: those of Vercel's AI SDK at /api/chat, and those of AG-UI at /api/agent.

uvicorn app:app --host 127.0.0.1 --port 8000
"""

from starlette.applications import Starlette
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


app = Starlette(
    routes=[
        Route("/api/chat", endpoint(vercel, find), methods=["POST"]),
        Route("/api/agent", endpoint(ag_ui, find), methods=["POST"]),
    ]
)
