"""Counts the lines of the library that a turn of a chat runs, an event of a stream, each tool, and 900 more turns before it. It is for a process
of its own: what other tests have imported or changed would count.
"""

from pathlib import Path

from counted_lines import lines_of

import ellmer_core
from bench import core, fast_server, subjects
from ellmer_core import Chat, chat_openai_completions, tool

OURS = str(Path(ellmer_core.__file__).parent)


def lines_of_ours(call):
    """Returns how many lines of the library a call runs, when it is made again."""
    for _ in range(3):
        call()
    return lines_of(call, below=OURS)


def chat_at(url: str) -> Chat:
    return chat_openai_completions(model="gpt-4.1", api_key=subjects.KEY, base_url=f"{url}/v1")


def turn_after(chat: Chat, turns):
    def turn():
        chat.set_turns(turns)
        return chat.chat("And now?")

    return turn


def counts(url: str) -> dict[str, float]:
    turn, stream = subjects.ellmer_core(url)
    with_tools = chat_at(url)
    for n in range(core.TOOLS):
        with_tools.register_tool(tool(core.weather, name=f"weather_{n}"))
    lines = lines_of_ours(turn_after(chat_at(url), []))
    long, longer = (lines_of_ours(turn_after(chat_at(url), core.said(turns))) for turns in (100, 1000))
    return {
        "turn": lines_of_ours(turn),
        "event": lines_of_ours(stream) / fast_server.EVENTS,
        "tool": (lines_of_ours(turn_after(with_tools, [])) - lines) / core.TOOLS,
        "earlier": longer - long,
    }
