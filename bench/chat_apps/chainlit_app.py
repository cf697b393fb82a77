"""A chat with Chainlit."""

import os

import chainlit as cl
from openai import AsyncOpenAI

client = AsyncOpenAI(base_url=os.environ["BASE"], api_key="any-key")


@cl.on_chat_start
async def start() -> None:
    cl.user_session.set("said", [])


@cl.on_message
async def answer(message: cl.Message) -> None:
    said = [*cl.user_session.get("said"), {"role": "user", "content": message.content}]
    out = cl.Message(content="")
    async for chunk in await client.chat.completions.create(model="gpt-4.1", messages=said, stream=True):
        if chunk.choices and chunk.choices[0].delta.content:
            await out.stream_token(chunk.choices[0].delta.content)
    await out.update()
    cl.user_session.set("said", [*said, {"role": "assistant", "content": out.content}])
