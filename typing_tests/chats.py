"""Chats as a user writes them. Never run: mypy reads it, and an `ignore` that is not needed is an error."""

from collections.abc import Generator
from pathlib import Path
from typing import Any, assert_type

import ellmer_core
from ellmer_core import (
    AssistantTurn,
    Chat,
    Content,
    ContentToolRequest,
    PromptResults,
    StreamController,
    Timeouts,
    Turn,
    UserTurn,
    batch_chat,
    batch_chat_completed,
    batch_chat_text,
    chat,
    chat_anthropic,
    chat_claude,
    chat_google_vertex,
    chat_openai,
    chat_openai_compatible,
    chat_openai_responses,
    content_image_url,
    models_openai,
    parallel_chat,
    parallel_chat_text,
    params,
    refresh_prices,
)

assert_type(chat("openai/gpt-5.6-terra", "Be brief."), Chat)
assert_type(chat_openai("Be brief.", model="gpt-4.1", params=params(temperature=0.5), echo="none"), Chat)
assert_type(chat_anthropic(api_key="k", timeout=Timeouts(total=60), tool_media="native"), Chat)
assert_type(chat_claude(proxy="http://localhost:3128"), Chat)
assert_type(chat_openai_responses(), Chat)

named = chat_openai()
named.approve = "defer"
named.system_prompt = "Be brief."  # type: ignore[attr-defined]  # a name that a chat does not have
assert_type(chat_openai_compatible(base_url="http://x", model="m", strict=True), Chat)
assert_type(refresh_prices("prices.json"), int)
assert_type(chat_google_vertex(project="p", location="l"), Chat)

chat_openai(modle="gpt-4.1")  # type: ignore[call-arg]
chat_openai(echo="loud")  # type: ignore[arg-type]
chat_openai(credentials="the key itself")  # type: ignore[arg-type]
ellmer_core.chat_opnai()  # type: ignore[attr-defined]
ellmer_core.models_opnai()  # type: ignore[attr-defined]
ellmer_core.Chta  # type: ignore[attr-defined]  # noqa: B018 - what is checked is that it is not there

said = chat_openai()
picture = content_image_url("https://example.com/cat.png")
assert_type(said.chat("What is this?", picture), str)
assert_type(said.get_turns(), list[Turn])
assert_type(said.last_turn("assistant"), AssistantTurn | None)
assert_type(said.token_count("Hi", include="complete"), int)
assert_type(said.get_cost(), float | None)
said.set_turns([UserTurn("Hi"), AssistantTurn(["Hello.", picture])])
said.chat(5)  # type: ignore[arg-type]
said.token_count("Hi", include="all")  # type: ignore[arg-type]

controller = StreamController()
assert_type(said.stream("Hi", controller=controller), Generator[str, None, None])
assert_type(said.stream("Hi", content="all"), Generator[Content, None, None])
for piece in said.stream("Hi", content="all"):
    if isinstance(piece, ContentToolRequest):
        assert_type(piece.name, str)


async def talk() -> None:
    assert_type(await said.chat_async("Hi"), str)
    assert_type(await said.token_count_async("Hi"), int)
    async for text in said.stream_async("Hi"):
        assert_type(text, str)
    async for content in said.stream_async("Hi", content="all"):
        assert_type(content, Content)


with chat_openai() as one:
    assert_type(one, Chat)

many = ["one", "two", [picture, "three"]]
assert_type(parallel_chat(said, many, max_active=5, on_error="continue"), PromptResults[Chat | Exception])
assert_type(parallel_chat_text(said, many), PromptResults[str | None])
assert_type(batch_chat(said, many, Path("batch.json")), PromptResults[Chat | Exception])
assert_type(batch_chat_text(said, many, "batch.json", wait=False), PromptResults[str | None] | None)
assert_type(batch_chat_completed(said, many, "batch.json"), bool)
parallel_chat(said, many, on_error="ignore")  # type: ignore[arg-type]
parallel_chat(said, many, max_actve=5)  # type: ignore[call-arg]

assert_type(models_openai(api_key="k"), list[dict[str, Any]])
