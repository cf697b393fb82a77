"""A chat whose server gives the test's answers, without a network."""

import httpx

import ellmer_core as ec
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat

CHAT = OpenAIChat(model="gpt-4.1", base_url="http://x")


def talk(answer, **options):
    """Returns a chat whose every request gets this answer."""
    transport = httpx.MockTransport(answer if callable(answer) else lambda _: answer)
    return ec.Chat(CHAT, client=httpx.Client(transport=transport), max_tries=1, **options)
