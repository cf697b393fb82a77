"""A chat whose server answers as the test says, without a network."""

import httpx

import ellmer_core as ec
from ellmer_core.wire.openai_chat.request import OpenAIChat

CHAT = OpenAIChat(model="gpt-4.1", base_url="http://x")


def talk(answer, **options):
    """A chat whose every request is answered so."""
    transport = httpx.MockTransport(answer if callable(answer) else lambda _: answer)
    return ec.Chat(CHAT, client=httpx.Client(transport=transport), max_tries=1, **options)
