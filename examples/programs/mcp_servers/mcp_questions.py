"""Uses an MCP server in a terminal. The server asks the user something, which a function answers here, and a person with
`approve="console"`.

It prints:

    the server asks: Which seat to …?
    the fields: seat, meal
    It is …: 7A, a meal.
    no answer: The tool book failed: …
"""

import sys
from pathlib import Path

from ellmer_core import ContentToolQuestion, ContentToolRequest, chat_openai
from ellmer_core.mcp import mcp_tools

SERVER = Path(__file__).with_name("seat_server.py")


def decide(request: ContentToolRequest) -> dict[str, object]:
    """Answers what a person would: the seat, and yes to every call."""
    if not isinstance(request, ContentToolQuestion):
        return {"approved": True}
    print("the server asks:", request.message)
    print("the fields:", ", ".join(request.schema["properties"]))
    return {"approved": True, "arguments": {"seat": "7A", "meal": True}}


def main() -> None:
    with mcp_tools([sys.executable, str(SERVER)]) as tools:
        chat = chat_openai("Answer in one sentence.", model="gpt-5.6-terra", approve=decide)
        chat.register_tools(tools)
        print(chat.chat("Book a flight to Rome."))

        silent = chat_openai("Answer in one sentence.", model="gpt-5.6-terra", approve=lambda _request: False)
        silent.register_tools(tools)
        print("no answer:", silent.chat("Book a flight to Rome."))


if __name__ == "__main__":
    main()
