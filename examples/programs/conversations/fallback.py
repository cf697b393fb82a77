"""Goes on with another provider when the first one cannot be reached. The conversation and the tools stay.

It prints:

    It is 21 °C in Köln.
    answered by: claude-sonnet-5
"""

import logging

from ellmer_core import chat_anthropic, chat_fallback, chat_openai_compatible, tool

logging.basicConfig(level=logging.ERROR)  # a change of the provider is a warning


@tool
def get_weather(city: str) -> str:
    """Looks up the weather in a city."""
    return f"21 °C in {city}"


def main() -> None:
    mine = chat_openai_compatible(base_url="http://127.0.0.1:9/v1", api_key="none", model="m", max_tries=1)
    chat = chat_fallback([mine, chat_anthropic(model="claude-sonnet-5")])
    chat.register_tool(get_weather)
    print(chat.chat("What is the weather in Köln?"))
    last = chat.last_turn("assistant")
    print("answered by:", last.json["model"] if last and last.json else "nobody")


if __name__ == "__main__":
    main()
