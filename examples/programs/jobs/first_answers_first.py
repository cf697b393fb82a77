"""Many prompts in async code: each answer is taken as soon as it arrives, and one that fails does not stop the others.

It prints:

    [0, 1, 2]
    Person(name='Ann', age=33) Person(name='Otto', age=4)
    failed: …
    every chat: 2 turns each, 0 errors
"""

import asyncio
from dataclasses import dataclass

from ellmer_core import (
    Chat,
    chat_openai,
    parallel_chat_as_completed_async,
    parallel_chat_async,
)


@dataclass
class Person:
    name: str
    age: int


async def people(chat: Chat, prompts: list[str]) -> dict[int, Person | Exception]:
    answers = parallel_chat_as_completed_async(chat, prompts, type=Person)
    return {index: answer async for index, answer in answers}


async def main() -> None:
    async with chat_openai("Answer briefly.", model="gpt-4.1") as chat:
        found = await people(chat, ["Ann is 33.", "Otto is 4.", ""])
        print(sorted(found))
        print(found[0], found[1])
        print("failed:", type(found[2]).__name__)
        chats = await parallel_chat_async(chat, ["Say hello.", "Count to three."], on_error="continue")
        turns = {len(one.get_turns()) for one in chats if isinstance(one, Chat)}
        print(f"every chat: {', '.join(map(str, turns))} turns each, {len(chats.errors)} errors")


if __name__ == "__main__":
    asyncio.run(main())
