"""Answers many users at once. Each has a conversation of their own, made from one template.

It prints:

    100 answers, 100 conversations of 2 turns
"""

import asyncio

from ellmer_core import Chat, chat_openai, tool


@tool
async def get_weather(city: str) -> str:
    """Looks up the weather in a city."""
    await asyncio.sleep(0)
    return f"21 °C in {city}"


async def answer(chats: dict[str, Chat], template: Chat, user: str, text: str) -> str:
    chat = chats.setdefault(user, template.fork())
    return await chat.chat_async(text)


async def main() -> None:
    template = chat_openai("Be brief.", model="gpt-5.6-terra", when_busy="wait")
    template.register_tool(get_weather)
    chats: dict[str, Chat] = {}
    users = [f"user {number}" for number in range(100)]
    answers = await asyncio.gather(*(answer(chats, template, user, f"I am {user}.") for user in users))
    [turns] = {len(chat.get_turns()) for chat in chats.values()}
    print(f"{len(answers)} answers, {len(chats)} conversations of {turns} turns")


if __name__ == "__main__":
    asyncio.run(main())
