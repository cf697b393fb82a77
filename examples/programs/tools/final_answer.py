"""A help desk whose answers must be exact: the result of a tool is the answer, and the model does not retell it.

It prints:

    Our shop in Paris is open from 9 to 18.
    answers of the model: 1
    the next message sends the result: True
    …Paris…
    streamed: Our shop in Köln is open from 9 to 18.
    an error is no answer: …no shop in Rome…
"""

import asyncio
import logging

from ellmer_core import ContentToolResult, chat_openai, tool


@tool(final=True)
def get_opening_hours(city: str) -> str:
    """Looks up the opening hours of the shop in a city."""
    if city not in {"Paris", "Köln"}:
        raise ValueError(f"There is no shop in {city}.")
    return f"Our shop in {city} is open from 9 to 18."


async def streamed(question: str) -> tuple[str, list[ContentToolResult]]:
    chat = chat_openai(model="gpt-4.1")
    chat.register_tool(get_opening_hours)
    results: list[ContentToolResult] = []
    chat.on_tool_result(results.append)
    text = "".join([piece async for piece in chat.stream_async(question)])
    return text, results


def main() -> None:
    chat = chat_openai("Answer questions about our shops.", model="gpt-4.1")
    chat.register_tool(get_opening_hours)
    print(chat.chat("What are the opening hours in Paris?"))
    print("answers of the model:", len(chat.get_tokens()))
    print("the next message sends the result:", "not sent yet" in str(chat))
    print(chat.chat("Thank you. Which city was it?"))

    text, results = asyncio.run(streamed("What are the opening hours in Köln?"))
    assert text == results[0].value
    print("streamed:", text)

    chat.set_turns([])
    print("an error is no answer:", chat.chat("What are the opening hours in Rome?"))


if __name__ == "__main__":
    logging.basicConfig(level=logging.ERROR)  # a tool that fails is a warning
    main()
