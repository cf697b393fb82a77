"""A researcher that may open two pages for each question. A third call is refused with a reason, which the model reads.

It prints:

    writing: {"path": "a"}
    Two pages are enough, so I answer with what I have.
    pages: 2 read, 1 refused
    the next question: The page d.
"""

from collections import Counter

from ellmer_core import ContentToolRequest, ContentToolResult, ToolCallDelta, tool, tool_reject
from ellmer_core.testing import Asked, ScriptedModel, tool_call

LIMIT = 2
opened: Counter[str] = Counter()
outcomes: Counter[str] = Counter()


@tool
def open_page(path: str) -> str:
    """Opens a page."""
    return f"The page {path}."


def at_most_twice(request: ContentToolRequest) -> None:
    opened[request.name] += 1
    if opened[request.name] > LIMIT:
        tool_reject("Two pages are enough.")


def count(result: ContentToolResult) -> None:
    outcomes["refused" if result.error else "read"] += 1


def last_words(asked: Asked) -> str:
    refused = "Two pages are enough" in asked.results[-1]
    return "Two pages are enough, so I answer with what I have." if refused else asked.results[-1]


def main() -> None:
    calls = [tool_call("open_page", path=path) for path in ("a", "b", "c")]
    model = ScriptedModel(*calls, last_words, tool_call("open_page", path="d"), last_words)
    chat = model.chat()
    chat.register_tool(open_page)
    chat.on_tool_request(at_most_twice)
    chat.on_tool_result(count)

    text = ""
    written: dict[str, str] = {}
    for piece in chat.stream("Read the pages.", content="deltas"):
        if isinstance(piece, ToolCallDelta):
            written[piece.id] = written.get(piece.id, "") + piece.arguments
    print("writing:", next(iter(written.values())))
    text = chat.get_turns()[-1].text
    print(text)
    print(f"pages: {outcomes['read']} read, {outcomes['refused']} refused")

    opened.clear()
    print("the next question:", chat.chat("And page d?"))
    model.assert_finished()


if __name__ == "__main__":
    main()
