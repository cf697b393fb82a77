"""GPT-6.2 drops reasoning after a changed prefix: the client's requests keep it, in turns of every kind."""

from ellmer_conformance.server import StrictServer
from ellmer_conformance.server.issued.reasoning_prefixes import dropped
from ellmer_core import ContentImageInline, chat_openai

DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def add(x: float, y: float) -> float:
    """Adds two numbers."""
    return x + y


def test_no_reasoning_of_a_conversation_is_dropped():
    with StrictServer() as server:
        chat = chat_openai(
            api_key="sk-any", base_url=f"{server.origin}/v1", model="gpt-6.2-sol", thinking="low"
        )
        chat.register_tool(add)
        chat.chat("What is 2 + 3? Use the tool.")
        "".join(map(str, chat.stream("And 4 + 5? Use the tool.")))
        chat.chat("What is 7 + 8? Use the tool.", ContentImageInline("image/png", DOT))
        bodies = [entry.request.body for entry in server.requests]
    kept = [sum(item.get("type") == "reasoning" for item in body["input"]) for body in bodies]
    assert kept == [0, 1, 2, 3, 4, 5]
    assert [dropped(body, "gpt-6.2-sol", seal="gAAAAAB") for body in bodies] == [[]] * 6
    last = bodies[-1]
    changed = {**last, "input": [{"role": "user", "content": "Hello"}, *last["input"][1:]]}
    assert len(dropped(changed, "gpt-6.2-sol", seal="gAAAAAB")) == 5
