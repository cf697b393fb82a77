"""A chat with this library, with what it offers beyond the smallest page."""

import os

import pandas as pd

from ellmer_core import chat_app, chat_openai_completions, tool


def get_weather(city: str) -> str:
    """Gets the weather in a city."""
    return f"Sunny in {city}, 21 degrees."


def sales_table() -> pd.DataFrame:
    """Gets the sales table."""
    return pd.DataFrame({"city": ["Rome", "Oslo", "Bonn"], "sold": [2, 9, 5]})


def delete_file(path: str) -> str:
    """Deletes a file."""
    return f"{path} is gone."


chat = chat_openai_completions(model="gpt-4.1", base_url=os.environ["BASE"], api_key="any-key")
for each in (get_weather, sales_table):
    chat.register_tool(each)
chat.register_tool(tool(delete_file, needs_approval=True))
app = chat_app(
    chat,
    store=os.environ["STORE"],
    models=["gpt-4.1", "gpt-4.1-mini"],
    settings={"temperature": [0, 0.5, 1]},
    on_feedback=lambda _turn, _good, _user: None,
)
