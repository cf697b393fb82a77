"""Shortens a long conversation, saves it as a file for people and as one for the program, and goes on with it.

It prints:

    6 turns, then 4
    saved: # Chat
    goes on: True
"""

import json
from pathlib import Path

from ellmer_core import chat_openai, contents_record, contents_replay, export


def main() -> None:
    chat = chat_openai("Be brief.", model="gpt-5.6-terra")
    for number in ("one", "two", "three"):
        chat.chat(f"Say {number}.")
    before = len(chat.get_turns())
    chat.compact(keep=1)
    print(f"{before} turns, then {len(chat.get_turns())}")

    export(chat, "chat.md")
    print("saved:", Path("chat.md").read_text(encoding="utf-8").splitlines()[0])

    saved = json.dumps(contents_record(chat))
    again = contents_replay(json.loads(saved), chat=chat_openai(model="gpt-5.6-terra"))
    print("goes on:", bool(again.chat("What did I ask?")))


if __name__ == "__main__":
    main()
