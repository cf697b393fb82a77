"""A chat with Gradio, with what it offers beyond the smallest page."""

import os
from collections.abc import Iterator
from typing import Any

import gradio as gr
import matplotlib.pyplot as plt
import pandas as pd
from openai import OpenAI

client = OpenAI(base_url=os.environ["BASE"], api_key="any-key")


def answer(message: dict[str, Any], _history: list[Any], model: str, _temperature: float) -> Iterator[Any]:
    text = message["text"]
    if "table" in text:
        frame = pd.DataFrame({"city": ["Rome", "Oslo", "Bonn"], "sold": [2, 9, 5]})
        yield gr.ChatMessage(content=gr.Dataframe(value=frame))
    elif "chart" in text:
        figure, axes = plt.subplots()
        axes.bar([1, 2, 3], [2, 9, 5])
        yield gr.Plot(value=figure)
    elif "weather" in text:
        yield gr.ChatMessage('{"city": "Rome"}: Sunny', metadata={"title": "get_weather"})
    else:
        said = [{"role": "user", "content": text}]
        out = ""
        for chunk in client.chat.completions.create(model=model, messages=said, stream=True):
            if chunk.choices and chunk.choices[0].delta.content:
                out += chunk.choices[0].delta.content
                yield out


page = gr.ChatInterface(
    answer,
    multimodal=True,
    save_history=True,
    editable=True,
    flagging_mode="manual",
    textbox=gr.MultimodalTextbox(sources=["upload", "microphone"]),
    additional_inputs=[
        gr.Dropdown(["gpt-4.1", "gpt-4.1-mini"], value="gpt-4.1", label="Model"),
        gr.Slider(0, 1, value=1, label="Temperature"),
    ],
)
page.launch(
    server_name="127.0.0.1",
    server_port=int(os.environ["PORT"]),
    auth=("anna", "any-password") if os.environ.get("AUTH") else None,
)
