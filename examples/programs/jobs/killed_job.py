"""A job that is killed in the middle, and goes on: the second run asks only for what the first one has not got.

It prints:

    the first run was killed: True
    the second run: 40 people, without errors: True
    it paid for less than all: True
"""

import os
import subprocess
import sys
from collections.abc import Callable

from pydantic import BaseModel

from ellmer_core import PromptProgress, chat_openai, parallel_chat_structured, token_usage

TEXTS = [f"Ann is {age}." for age in range(40)]


class Person(BaseModel):
    name: str
    age: int


def kill_at(count: int, progress: PromptProgress) -> None:
    """Ends the program as a power cut would."""
    if progress.done >= count:
        os._exit(1)


def job(progress: Callable[[PromptProgress], object]) -> None:
    chat = chat_openai("Extract the person.", model="gpt-4.1")
    people = parallel_chat_structured(
        chat, TEXTS, type=Person, path="people.jsonl", max_active=4, progress=progress
    )
    ages = [person.age for person in people if person is not None]
    paid = sum(row["cost"] or 0 for row in token_usage())
    print(f"the second run: {len(ages)} people, without errors: {not people.errors}")
    print("it paid for less than all:", people.cost is not None and 0 < paid < people.cost)


def main() -> None:
    if "killed" in sys.argv:
        job(lambda now: kill_at(10, now))
        return
    first = subprocess.run([sys.executable, __file__, "killed"], check=False)
    print("the first run was killed:", first.returncode != 0)
    job(lambda _now: None)


if __name__ == "__main__":
    main()
