"""The same two programs with each library: one sends a message and gets "Hello.", and one reads a stream of words.

Each takes a server's URL and returns two functions, which return the text.
"""

# ruff: noqa: PLC0415 - each runs where only its own library is installed
from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Programs = tuple[Callable[[], str], Callable[[], str]]
ASKED = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Say hello."}]}
#: As long as a real one: an answer is searched for keys of 16 characters and more.
KEY = "sk-" + "bench0" * 8
HEADERS = {"authorization": f"Bearer {KEY}"}


def bare(url: str) -> Programs:
    """Returns the programs without a library."""
    import httpx

    client, path = httpx.Client(headers=HEADERS), f"{url}/v1/chat/completions"

    def turn() -> str:
        answer = client.post(path, json=ASKED)
        return str(answer.raise_for_status().json()["choices"][0]["message"]["content"])

    def stream() -> str:
        text = []
        with client.stream("POST", path, json={**ASKED, "stream": True}) as answer:
            for line in answer.iter_lines():
                if line.startswith("data: {"):
                    text += [choice["delta"].get("content", "") for choice in json.loads(line[6:])["choices"]]
        return "".join(text)

    return turn, stream


def ellmer_core(url: str) -> Programs:
    from ellmer_core import chat_openai_completions

    chat = chat_openai_completions(model="gpt-4.1", api_key=KEY, base_url=f"{url}/v1", echo="none")

    def turn() -> str:
        chat.set_turns([])
        return chat.chat("Say hello.")

    def stream() -> str:
        chat.set_turns([])
        return "".join(chat.stream("Say hello."))

    return turn, stream


def openai(url: str) -> Programs:
    from openai import OpenAI

    client: Any = OpenAI(api_key=KEY, base_url=f"{url}/v1").chat.completions

    def turn() -> str:
        return str(client.create(**ASKED).choices[0].message.content)

    def stream() -> str:
        chunks = client.create(**ASKED, stream=True)
        return "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)

    return turn, stream


def chatlas(url: str) -> Programs:
    from chatlas import ChatOpenAICompletions

    chat: Any = ChatOpenAICompletions(model="gpt-4.1", api_key=KEY, base_url=f"{url}/v1")

    def turn() -> str:
        chat.set_turns([])
        return str(chat.chat("Say hello.", echo="none", stream=False))

    def stream() -> str:
        chat.set_turns([])
        return "".join(chat.stream("Say hello.", echo="none"))

    return turn, stream


def pydantic_ai(url: str) -> Programs:
    from pydantic_ai.direct import model_request_stream_sync, model_request_sync
    from pydantic_ai.messages import ModelRequest
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model: Any = OpenAIChatModel("gpt-4.1", provider=OpenAIProvider(base_url=f"{url}/v1", api_key=KEY))
    asked = [ModelRequest.user_text_prompt("Say hello.")]

    def turn() -> str:
        return "".join(part.content for part in model_request_sync(model, asked).parts)

    def stream() -> str:
        with model_request_stream_sync(model, asked) as events:
            for _ in events:
                pass
            return "".join(part.content for part in events.response.parts)

    return turn, stream


def langchain(url: str) -> Programs:
    from langchain_openai import ChatOpenAI

    chat: Any = ChatOpenAI(model="gpt-4.1", api_key=KEY, base_url=f"{url}/v1")

    def turn() -> str:
        return str(chat.invoke("Say hello.").content)

    def stream() -> str:
        return "".join(chunk.content for chunk in chat.stream("Say hello."))

    return turn, stream


def litellm(url: str) -> Programs:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # or it downloads one
    from litellm import completion

    def turn() -> str:
        return str(asked().choices[0].message.content)

    def stream() -> str:
        chunks = asked(stream=True)
        return "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)

    def asked(**more: Any) -> Any:
        return completion("openai/gpt-4.1", ASKED["messages"], api_key=KEY, api_base=f"{url}/v1", **more)

    return turn, stream


@dataclass(frozen=True)
class Subject:
    """A library: its packages, its imports, and its two programs."""

    package: str
    statement: str
    programs: Callable[[str], Programs]


SUBJECTS = {
    "ellmer_core": Subject(".", "import ellmer_core; ellmer_core.Chat", ellmer_core),
    "openai": Subject("openai", "import openai", openai),
    "chatlas": Subject("chatlas", "import chatlas", chatlas),
    "pydantic-ai": Subject(
        "pydantic-ai-slim[openai]", "import pydantic_ai, pydantic_ai.models.openai", pydantic_ai
    ),
    "langchain": Subject("langchain-openai", "import langchain_openai", langchain),
    "litellm": Subject("litellm", "import litellm", litellm),
}
