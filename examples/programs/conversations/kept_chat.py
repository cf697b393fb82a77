"""Keeps a conversation in a file, so that it goes on when the program is started again. The tools are given again.

It prints:

    started with 0 turns
    It is 21 °C in Köln.
    started with 4 turns
    the file has no key: True
    $…
"""

import json
from pathlib import Path

from ellmer_core import Chat, chat_openai, tool

FILE = Path("chat.json")


@tool
def get_weather(city: str) -> str:
    """Looks up the weather in a city."""
    return f"21 °C in {city}"


def opened() -> Chat:
    """Returns the chat, with its earlier turns if there are any."""
    chat = chat_openai("Answer in one sentence.", model="gpt-5.6-terra")
    chat.register_tool(get_weather)
    if FILE.exists():
        chat.restore(json.loads(FILE.read_text(encoding="utf-8")))
    print("started with", len(chat.get_turns()), "turns")
    return chat


def asked(chat: Chat, question: str) -> str:
    """Returns the answer, after the conversation has been saved."""
    answer = chat.chat(question)
    FILE.write_text(json.dumps(chat.record()), encoding="utf-8")
    return answer


def main() -> None:
    print(asked(opened(), "What is the weather in Köln?"))
    later = opened()  # another run of the program
    asked(later, "And what did I ask before?")
    print("the file has no key:", "any-key" not in FILE.read_text(encoding="utf-8"))
    print(f"${later.get_cost() or 0:.4f}")


if __name__ == "__main__":
    main()
