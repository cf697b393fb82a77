"""Has more tools than a model should see at once: the model searches for them.

It prints:

    called: search_tools
    called: rate_dollar
    …1.1…
"""

from ellmer_core import ToolDef, chat_openai, tool


def rate_tool(currency: str, euros: float) -> ToolDef:
    """Returns a tool for one currency."""

    def rate() -> float:
        return euros

    return tool(
        rate, name=f"rate_{currency}", description=f"Looks up what one {currency} is worth.", defer=True
    )


def main() -> None:
    chat = chat_openai(model="gpt-4.1")
    rates = enumerate(("dollar", "yen", "krone"))
    chat.register_tools([rate_tool(name, 1.1 + place) for place, name in rates])
    chat.on_tool_request(lambda request: print("called:", request.name))
    chat.chat("Search the tools for the dollar.")
    print(chat.chat("What is one dollar worth?"))


if __name__ == "__main__":
    main()
