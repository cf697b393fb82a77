"""chatlas."""

# mypy: ignore-errors

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

HERE = str(Path(__file__).parent)
sys.path[:] = [place for place in sys.path if place != HERE]  # this file has the library's name
import chatlas
from pydantic import BaseModel

sys.path.append(HERE)
from cells import names, nothing, report, runs

SERVER = os.environ["STRICT_SERVER"]
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Person(BaseModel):
    name: str
    age: int


def chat():
    return chatlas.ChatOpenAICompletions(model="gpt-4.1", base_url=f"{SERVER}/v1", api_key="k")


def claude():
    return chatlas.ChatAnthropic(model="claude-sonnet-4-5", api_key="k", kwargs={"base_url": SERVER})


def add(x: float, y: float) -> float:
    """Adds two numbers."""
    return x + y


def structured():
    found = chat().chat_structured("Ann is 33.", data_model=Person)
    assert isinstance(found, Person)
    try:
        chat().chat_structured("Ann is 33.", data_model=int)
    except Exception:
        return
    raise AssertionError("it takes any type now")


def partial_objects():
    pieces = list(chat().stream("Ann is 33.", data_model=Person))
    assert pieces
    assert all(isinstance(piece, str) for piece in pieces)


def structured_with_tools():
    one = chat()
    one.register_tool(add)
    assert isinstance(one.chat_structured("Ann is 33.", data_model=Person), Person)


def refused_by_a_callback():
    one = chat()
    one.register_tool(add)

    def refuse(_request):
        raise chatlas.ToolRejectError("no")

    one.on_tool_request(refuse)
    one.chat("What is 2 + 3? Use the tool.", echo="none")
    results = [c for t in one.get_turns() for c in t.contents if type(c).__name__ == "ContentToolResult"]
    assert results
    assert results[0].error is not None


def image_as_a_result():
    def picture():
        """Returns a picture."""
        return chatlas.types.ContentImageInline(image_content_type="image/png", data=PNG)

    one = claude()
    one.register_tool(picture)
    one.chat("Use the tool picture.", echo="none")


def saved_as_json():
    import json

    one = chat()
    one.chat("Hello", echo="none")
    saved = json.dumps([turn.model_dump(mode="json") for turn in one.get_turns()])
    other = chat()
    kinds = {"user": chatlas.UserTurn, "assistant": chatlas.AssistantTurn}
    other.set_turns([kinds[turn["role"]].model_validate(turn) for turn in json.loads(saved)])
    other.chat("And now?", echo="none")
    assert not hasattr(one, "record")


def cancelled():
    controller = chatlas.StreamController()
    pieces = []
    for piece in chat().stream("Hello, tell me a long story.", controller=controller):
        pieces.append(piece)
        controller.cancel()
    assert pieces


def no_common_setting():
    import inspect

    common = inspect.signature(chatlas.Chat.set_model_params).parameters
    assert not {"thinking", "reasoning", "effort"} & {*common}
    assert "reasoning" in inspect.signature(chatlas.ChatAnthropic).parameters


def many():
    answers = chatlas.parallel_chat(chat(), ["What is 2 + 2?", "What is 3 + 3?"])
    assert len(asyncio.run(answers) if asyncio.iscoroutine(answers) else answers) == 2


def a_batch_of_a_file():
    with tempfile.TemporaryDirectory() as folder:
        one = chatlas.ChatOpenAI(model="gpt-4.1", base_url=f"{SERVER}/v1", api_key="k")
        assert chatlas.batch_chat(one, ["What is 2 + 2?"], f"{folder}/batch.json", wait=False) is None
        assert Path(f"{folder}/batch.json").exists()


def cost():
    one = chat()
    one.chat("Hello", echo="none")
    assert one.get_cost() > 0


def counted():
    assert claude().token_count("Hello") > 0


def history(kind):
    from chatlas import AssistantTurn, ContentToolRequest, ContentToolResult, UserTurn

    call = ContentToolRequest(id="call_1", name="get weather" if kind == "name" else "f", arguments={})
    result = ContentToolResult(value="found it", request=call)
    turns = {
        "result": [UserTurn("Hi"), AssistantTurn("Yes"), UserTurn([result]), AssistantTurn("Fine")],
        "call": [UserTurn("Hi"), AssistantTurn([call]), UserTurn("So?"), AssistantTurn("Fine")],
        "two": [UserTurn("Hi"), AssistantTurn([call]), UserTurn([result, result]), AssistantTurn("Fine")],
        "name": [UserTurn("Hi"), AssistantTurn([call]), UserTurn([result]), AssistantTurn("Fine")],
    }
    one = chat()
    one.set_turns(turns[kind])
    one.chat("And now?", echo="none")


def broken_histories():
    survived = set()
    for kind in ("result", "call", "two", "name"):
        try:
            history(kind)
        except Exception:
            continue
        survived.add(kind)
    assert survived == {"two"}, survived


C = "chatlas"
CELLS = {
    "A value of a Python type": runs("✓", structured),
    "The library chooses the mode for the model and the schema, and you can set it": names(
        "◐", "chatlas:ChatAnthropic(structured_output_mode)"
    ),
    "An answer that does not fit the schema is requested again": nothing(r"max_retries|output_retries", C),
    "Partial objects, typed": runs("◐", partial_objects),
    "Together with tools": runs("✓", structured_with_tools),
    "Call id, dependencies, progress for a tool": nothing(
        r"(?i)tool_?context|run_?context|progress_?callback", C
    ),
    "Limits of requests, calls, tokens, cost": nothing(
        r"(?i)usage_?limit|max_cost|budget", C, but="(?i)thinking|reasoning"
    ),
    "At a limit, the model answers with what it has": nothing(
        r"(?i)at_?limit|on_?limit|limit_?behaviou?r", C
    ),
    "A person approves calls, and can change their arguments": runs("◐", refused_by_a_callback),
    "The decision comes later, in another process": nothing(r"(?i)defer(red)?_|approv|pending_call", C),
    "Images and PDFs as results": runs("✓", image_as_a_result),
    "Tools that the provider runs": names("✓", "chatlas:tool_web_search", "chatlas:tool_web_fetch"),
    "A running tool asks the user": nothing(
        r"(?i)elicit|ask_user|interrupt", C, but="(?i)keyboard|_?interrupted$"
    ),
    "Uses tools of MCP servers; serves its own tools": names(
        "◐", "chatlas:Chat.register_mcp_tools_stdio_async"
    ),
    "Tools that the model finds by a search": nothing(r"(?i)tool_?search|search_?tools|defer_?loading", C),
    "A tool whose result is the answer, without another request": nothing(
        r"(?i)return_?direct|final_?(tool|result)|direct_?result", C
    ),
    "An MCP server asks the user": nothing(r"(?i)elicit", C),
    "An MCP server asks the model": nothing(r"(?i)sampling", C),
    "Resources and prompts of MCP servers": nothing(r"(?i)list_resources|read_resource|get_prompt", C),
    "OAuth of MCP servers": nothing(r"(?i)oauth", C, but="(?i)snowflake|databricks|token"),
    "Citations as content": names("✓", "chatlas.types:ContentCitation"),
    "Images in an answer become content": names("✓", "chatlas.types:ContentImageInline"),
    "Text, docx, xlsx": names("◐", "chatlas:content_document_file"),
    "Uploads to the provider": names("✓", "chatlas:Chat.files", "chatlas:FileManager"),
    "An upload that is sent to another provider": nothing(r"(?i)re_?upload|upload_to|inline_upload", C),
    "Content that cannot be sent is described in words, and the chat continues": nothing(
        r"(?i)describe_(image|media|content)|placeholder_for", C
    ),
    "The next provider answers if one is down": nothing(
        r"(?i)fallback", C, but="(?i)_fallback$|fallback_model_name"
    ),
    "A message is added while the model works": nothing(r"(?i)enqueue|add_?message|steer|interject", C),
    "A long history is made shorter": nothing(
        r"(?i)compact|summariz|truncate_turns", C, but="(?i)compact_(json|str)"
    ),
    "The provider makes a long history shorter": nothing(r"(?i)context_management|compaction", C),
    "A conversation is saved as JSON and continued": runs("◐", saved_as_json),
    "A history from elsewhere with a broken part is sent in a form that the provider accepts": runs(
        "◐", broken_histories
    ),
    "One setting for thinking": runs("–", no_common_setting),
    "Parameters that a model does not take are left out, with a warning": names(
        "◐", "chatlas:Chat.set_model_params"
    ),
    "Cancelling a stream": runs("✓", cancelled),
    "A chat app in the browser; in the terminal": names("✓", "chatlas:Chat.app", "chatlas:Chat.console"),
    "Clients of Vercel's AI SDK, with approval": nothing(r"(?i)vercel|ui_message", C),
    "Clients of AG-UI, with approval": nothing(r"(?i)ag_?ui", C),
    "Arguments of a call while the model writes them": nothing(
        r"(?i)tool_?(call|request)_?delta|arguments_delta", C
    ),
    "A page that is loaded again shows the conversation": nothing(r"(?i)dump_messages|to_messages", C),
    "A second request of a conversation waits": nothing(r"(?i)when_busy|request_queue", C),
    "Many prompts at once": runs("✓", many),
    "After an interruption, they continue from a file": runs("◐", a_batch_of_a_file),
    "After an interruption, they return the answers so far": nothing(
        r"(?i)keyboard_?interrupt|partial_results", C
    ),
    "Batch APIs, for half the price": runs("✓", a_batch_of_a_file),
    "Cost of a conversation": runs("✓", cost),
    "Newer prices without a new version": nothing(r"(?i)refresh_prices|update_prices|download_prices", C),
    "Tokens counted beforehand": runs("✓", counted),
    "A proxy; your own HTTP client": names("◐", "chatlas:ChatOpenAI(kwargs)"),
    "Graphs of agents, hand-overs": nothing(r"(?i)hand_?off|hand_?over|agent_graph", C),
    "Durable execution (Temporal, DBOS)": nothing(r"(?i)temporal|dbos", C, but="(?i)temporary"),
    "Embeddings, vector stores, retrieval": nothing(r"(?i)embed|vector_?store", C, but="(?i)embedded"),
    "Speech in real time": nothing(r"(?i)realtime|speech", C),
    "Your own evaluations": names("–", "chatlas:Chat.export_eval"),
}

if __name__ == "__main__":
    report(CELLS)
