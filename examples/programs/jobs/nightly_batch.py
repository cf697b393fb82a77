"""Sorts letters at half the price: the batch is submitted in the evening and collected by a later run of the program.

A scheduler runs it every hour. The file remembers the batch, so that a run that was interrupted loses nothing.

It prints:

    waiting for the answers to 3 letters
    done: True
    letter 0: Letter(topic='refund', urgent=…)
    letter 1: Letter(topic='refund', urgent=…)
    letter 2: Letter(topic='refund', urgent=…)
    cost: $0.0…
"""

from dataclasses import dataclass
from typing import Literal

from ellmer_core import batch_chat_completed, batch_chat_structured, chat_openai

LETTERS = ["Where is my money?", "The parcel is open.", "Thank you all!"]
FILE = "letters.json"


@dataclass
class Letter:
    topic: Literal["refund", "damage", "praise"]
    urgent: bool


def run() -> bool:
    """Submits the batch, or looks at it. Returns whether it was collected."""
    chat = chat_openai("Sort the letter.", model="gpt-4.1")
    letters = batch_chat_structured(chat, LETTERS, FILE, type=Letter, wait=False)
    if letters is None:
        print(f"waiting for the answers to {len(LETTERS)} letters")
        return False
    for number, letter in enumerate(letters):
        print(f"letter {number}: {letter}")
    print(f"cost: ${letters.cost:.6f}")
    return True


def main() -> None:
    if not run():  # in the evening
        chat = chat_openai("Sort the letter.", model="gpt-4.1")
        print("done:", batch_chat_completed(chat, LETTERS, FILE, type=Letter))
        run()  # an hour later


if __name__ == "__main__":
    main()
