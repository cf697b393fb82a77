"""Requests to a server, blocking and async with the same two methods, and the server's answers."""

import asyncio
import json

import httpx
import httpx2
from chats.answers import answer


def calls(*names):
    made = [
        {"id": f"c{i}", "type": "function", "function": {"name": n, "arguments": "{}"}}
        for i, n in enumerate(names)
    ]
    return answer(None, tool_calls=made)


def event(text=None, finish=None):
    delta = {"content": text} if text is not None else {}
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


DONE = event(None, "stop") + b"data: [DONE]\n\n"


class Blocking:
    client, client2 = httpx.Client, httpx2.Client

    def __call__(self, chat, *inputs, **options):
        return chat.chat(*inputs, **options)

    def stream(self, chat, *inputs, seen=lambda _: None, **options):
        pieces = []
        for piece in chat.stream(*inputs, **options):
            pieces.append(piece)
            seen(piece)
        return pieces


class Async:
    client, client2 = httpx.AsyncClient, httpx2.AsyncClient

    def __call__(self, chat, *inputs, **options):
        return asyncio.run(chat.chat_async(*inputs, **options))

    def stream(self, chat, *inputs, seen=lambda _: None, **options):
        async def run():
            pieces = []
            async for piece in chat.stream_async(*inputs, **options):
                pieces.append(piece)
                seen(piece)
            return pieces

        return asyncio.run(run())
