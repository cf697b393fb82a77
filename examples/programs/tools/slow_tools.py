"""Async tools that run at the same time, show their progress, and are given up after a while. The answer of one call is cancelled.

It prints:

    It is 21 °C in Köln, 21 °C in Paris.
    a tool that is too slow: The tool `ask_the_stars` gave no result within 0.1 seconds.
    kept after a cancellation: AssistantPartialTurn
"""

import asyncio
import logging
from collections.abc import AsyncGenerator

from ellmer_core import StreamController, ToolContext, chat_openai, tool
from ellmer_core.testing import ScriptedModel, tool_call, tool_results

logging.basicConfig(level=logging.ERROR)  # a tool that fails is a warning
both_run = asyncio.Barrier(2)


@tool
async def get_weather(city: str, context: ToolContext[None]) -> str:
    """Looks up the weather in a city."""
    context.progress(f"asking for {city}")
    await both_run.wait()  # each call waits for the other one
    return f"21 °C in {city}"


@tool(timeout=0.1)
async def ask_the_stars(question: str) -> AsyncGenerator[str]:
    """Answers slowly."""
    yield f"looking up {question!r}"
    await asyncio.Event().wait()


async def main() -> None:
    model = ScriptedModel(
        [tool_call("get_weather", city="Köln"), tool_call("get_weather", city="Paris")],
        lambda asked: f"It is {', '.join(asked.results)}.",
        tool_call("ask_the_stars", question="rain?"),
        "I do not know.",
    )
    chat = model.chat()
    chat.register_tools([get_weather, ask_the_stars])
    print(await chat.chat_async("And in both?"))
    await chat.chat_async("Will it rain?")
    print("a tool that is too slow:", tool_results(chat)[-1].error)

    real = chat_openai(model="gpt-5.6-terra")
    controller = StreamController()
    async for _text in real.stream_async("Count to three.", controller=controller):
        controller.cancel()
    print("kept after a cancellation:", type(real.last_turn()).__name__)


if __name__ == "__main__":
    asyncio.run(main())
