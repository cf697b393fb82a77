"""A chat with this library."""

import os

from ellmer_core import chat_app, chat_openai_completions

chat = chat_openai_completions(model="gpt-4.1", base_url=os.environ["BASE"], api_key="any-key")
app = chat_app(chat, store=os.environ["STORE"])
