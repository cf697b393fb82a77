"""A chat with Gradio."""

import os
from collections.abc import Iterator
from typing import Any

import gradio as gr
from openai import OpenAI

client = OpenAI(base_url=os.environ["BASE"], api_key="any-key")


def text_of(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def answer(message: str, history: list[dict[str, Any]]) -> Iterator[str]:
    said = [{"role": each["role"], "content": text_of(each["content"])} for each in history]
    said.append({"role": "user", "content": message})
    text = ""
    for chunk in client.chat.completions.create(model="gpt-4.1", messages=said, stream=True):
        if chunk.choices and chunk.choices[0].delta.content:
            text += chunk.choices[0].delta.content
            yield text


page = gr.ChatInterface(answer, save_history=True, editable=True, flagging_mode="manual")
page.launch(server_name="127.0.0.1", server_port=int(os.environ["PORT"]))
