"""Many prompts that call a tool, with a budget for each day: what was answered is in a file, and the next day goes on from there.

It prints:

    Monday: 4 of 6 questions are answered, with 8 of 8 requests
    Tuesday: 6 of 6 questions are answered
    How many lamps of kind 1 are in stock? It is 1.
"""

import re
import warnings
from pathlib import Path

from ellmer_core import EllmerWarning, UsageLimits, chat_openai, parallel_chat_text, tool

QUESTIONS = [f"How many lamps of kind {number} are in stock?" for number in range(1, 7)]
FILE = Path("stock.jsonl")


@tool
def stock(item: str) -> int:
    """Looks up how many pieces of an item are in stock."""
    return int(re.sub(r"\D", "", item) or 0)


def main() -> None:
    chat = chat_openai(model="gpt-4.1")
    chat.register_tool(stock)

    chat.usage_limits = UsageLimits(requests=8, per="chat")  # cost=2.00 is a limit in dollars
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EllmerWarning)  # it says that some were not sent
        texts = parallel_chat_text(chat, QUESTIONS, path=FILE, on_error="continue", progress=False)
    answered = len(texts) - len(texts.errors)
    print(f"Monday: {answered} of {len(texts)} questions are answered, with {2 * answered} of 8 requests")

    chat.usage_limits = UsageLimits()
    texts = parallel_chat_text(chat, QUESTIONS, path=FILE, progress=False)
    print(f"Tuesday: {len(texts) - len(texts.errors)} of {len(texts)} questions are answered")
    print(QUESTIONS[0], texts[0])


if __name__ == "__main__":
    main()
