"""Measures the processor time of many concurrent prompts with one library, in its own environment. It prints
the seconds for 10 and for 100 in progress as JSON; with ellmer_core also those of 200 users, each on a fork or on its
own chat.
"""

# ruff: noqa: PLC0415, T201 - each runs where only its own library is installed, and prints
from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable
from typing import Any

PROMPTS, USERS = 500, 200
ACTIVE = (10, 100)


def ellmer_core(url: str) -> Callable[[int], object]:
    from ellmer_core import chat_openai_completions, parallel_chat

    def many(active: int) -> object:
        with chat_openai_completions(model="gpt-4.1", api_key="k", base_url=f"{url}/v1", echo="none") as chat:
            return parallel_chat(chat, ["Hi"] * PROMPTS, max_active=active, rpm=1e9, progress=False)

    return many


def chatlas(url: str) -> Callable[[int], object]:
    from chatlas import ChatOpenAICompletions, parallel_chat

    def many(active: int) -> object:
        chat: Any = ChatOpenAICompletions(model="gpt-4.1", api_key="k", base_url=f"{url}/v1")
        return asyncio.run(parallel_chat(chat, ["Hi"] * PROMPTS, max_active=active, rpm=1_000_000))

    return many


def users(url: str, *, forks: bool) -> Callable[[], object]:
    """Runs all users at once, on forks of one chat or on their own chats."""
    from ellmer_core import chat_openai_completions

    def new() -> Any:
        return chat_openai_completions(model="gpt-4.1", api_key="k", base_url=f"{url}/v1", echo="none")

    async def talk() -> object:
        root = new()
        chats = [root.fork() if forks else new() for _ in range(USERS)]
        try:
            return await asyncio.gather(*(chat.chat_async("Hi") for chat in chats))
        finally:
            for chat in [root, *chats]:
                await chat.aclose()

    return lambda: asyncio.run(talk())


def seconds(work: Callable[[], object]) -> float:
    """Returns the minimum of three measurements, because the machine may be busy."""
    found = []
    for _ in range(3):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return min(found)


def main(name: str, url: str) -> None:
    many = {"ellmer_core": ellmer_core, "chatlas": chatlas}[name](url)
    many(ACTIVE[0])
    cost = {str(active): seconds(lambda active=active: many(active)) for active in ACTIVE}  # type: ignore[misc]  # mypy infers no type for a default
    if name == "ellmer_core":
        cost |= {"forks": seconds(users(url, forks=True)), "chats": seconds(users(url, forks=False))}
    print(json.dumps(cost))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
