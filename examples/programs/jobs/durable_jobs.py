"""Reads many texts into objects. The answers are in a file, so that the program goes on where it was interrupted.

It prints:

    0 Person(name='Ann', age=33)
    1 Person(name='Otto', age=4)
    again: 2 people, nothing new was asked: True
"""

from dataclasses import dataclass

from ellmer_core import chat_openai, parallel_chat_as_completed, parallel_chat_structured, token_usage

TEXTS = ["Ann is 33.", "Otto is 4."]


@dataclass
class Person:
    name: str
    age: int


def main() -> None:
    chat = chat_openai("Extract the person.", model="gpt-4.1")
    found = parallel_chat_as_completed(chat, TEXTS, type=Person, path="people.jsonl")
    for place, person in sorted(found, key=lambda each: each[0]):
        print(place, person)

    before = token_usage()
    people = parallel_chat_structured(chat, TEXTS, type=Person, path="people.jsonl")
    print(f"again: {len(people)} people, nothing new was asked: {token_usage() == before}")


if __name__ == "__main__":
    main()
