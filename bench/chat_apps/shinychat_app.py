"""A chat with shinychat."""

import os
from collections.abc import AsyncIterator

import shinychat
from openai import AsyncOpenAI
from shiny import App, Inputs, Outputs, Session

client = AsyncOpenAI(base_url=os.environ["BASE"], api_key="any-key")


def server(_inputs: Inputs, _outputs: Outputs, _session: Session) -> None:
    chat, said = shinychat.Chat("chat"), []

    async def answer() -> AsyncIterator[str]:
        text = ""
        async for chunk in await client.chat.completions.create(model="gpt-4.1", messages=said, stream=True):
            if chunk.choices and chunk.choices[0].delta.content:
                text += chunk.choices[0].delta.content
                yield chunk.choices[0].delta.content
        said.append({"role": "assistant", "content": text})

    @chat.on_user_submit
    async def _(text: str) -> None:
        said.append({"role": "user", "content": text})
        await chat.append_message_stream(answer())


app = App(shinychat.page_chat("Chat"), server)
