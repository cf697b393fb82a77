"""Shows an answer while it arrives, with the calls of tools, and cancels another one.

It prints:

    [get_weather({'city': 'Oslo'})]
    [-3 °C in Oslo]
    It is -3 °C in Oslo.
    cancelled: interrupted by the user
"""

from ellmer_core import (
    AssistantPartialTurn,
    ContentText,
    ContentToolRequest,
    ContentToolResult,
    StreamController,
    chat_openai,
    tool,
)


@tool
def get_weather(city: str) -> str:
    """Looks up the weather in a city."""
    return f"-3 °C in {city}"


def main() -> None:
    chat = chat_openai(model="gpt-5.6-terra")
    chat.register_tool(get_weather)
    for content in chat.stream("What is the weather in Oslo?", content="all"):
        match content:
            case ContentToolRequest(name=name, arguments=arguments):
                print(f"[{name}({dict(arguments)})]")
            case ContentToolResult(value=value):
                print(f"[{value}]")
            case ContentText(text=text):
                print(text, end="")
            case _:
                pass
    print()

    controller = StreamController()
    for _ in chat.stream("Count to 100, please.", controller=controller):
        controller.cancel("interrupted by the user")
    last = chat.last_turn()
    print("cancelled:", last.reason if isinstance(last, AssistantPartialTurn) else "no")


if __name__ == "__main__":
    main()
