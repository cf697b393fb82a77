"""LangChain."""

# mypy: ignore-errors

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import TypedDict

HERE = str(Path(__file__).parent)
sys.path[:] = [place for place in sys.path if place != HERE]  # this file has the library's name
from langchain.agents import create_agent
from langchain.tools import ToolRuntime, tool
from langchain_anthropic import ChatAnthropic
from langchain_core import messages
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

sys.path.append(HERE)
from cells import names, nothing, report, runs, written

SERVER = os.environ["STRICT_SERVER"]
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Person(BaseModel):
    name: str
    age: int


class Typed(TypedDict):
    name: str
    age: int


def model(path="/v1", **more):
    return ChatOpenAI(model="gpt-4.1", base_url=f"{SERVER}{path}", api_key="k", **more)


def claude():
    return ChatAnthropic(model="claude-sonnet-4-5", base_url=SERVER, api_key="k")


def asked(text):
    return {"messages": [("user", text)]}


def add(x: float, y: float) -> float:
    """Adds two numbers."""
    return x + y


def structured():
    assert isinstance(model().with_structured_output(Person).invoke("Ann is 33."), Person)
    assert isinstance(model().with_structured_output(Typed).invoke("Ann is 33."), dict)


def asked_again():
    from langchain.agents.structured_output import ToolStrategy

    assert ToolStrategy(Person, handle_errors=True).handle_errors is True
    one = create_agent(model(), response_format=ToolStrategy(Person, handle_errors=True))
    assert isinstance(one.invoke(asked("Ann is 33."))["structured_response"], Person)


def with_tools():
    from langchain.agents.structured_output import ProviderStrategy

    one = create_agent(model(), tools=[add], response_format=ProviderStrategy(Person))
    assert isinstance(one.invoke(asked("Ann is 33."))["structured_response"], Person)


def partial_objects():
    from langchain_core.output_parsers import JsonOutputParser

    pieces = list(
        (model(model_kwargs={"response_format": {"type": "json_object"}}) | JsonOutputParser()).stream(
            "Answer with JSON: Ann is 33."
        )
    )
    assert all(isinstance(piece, dict) for piece in pieces)


def context():
    seen = []

    def add(x: float, y: float, runtime: ToolRuntime) -> float:
        """Adds two numbers."""
        seen.append(runtime.tool_call_id)
        return x + y

    globals()["ToolRuntime"] = ToolRuntime
    create_agent(model(), tools=[add]).invoke(asked("What is 2 + 3? Use the tool."))
    assert seen


def decided(*, edited):
    from langchain.agents.middleware import HumanInTheLoopMiddleware
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import Command

    ran = []

    def add(x: float, y: float) -> float:
        """Adds two numbers."""
        ran.append((x, y))
        return x + y

    one = create_agent(
        model(),
        tools=[add],
        middleware=[HumanInTheLoopMiddleware(interrupt_on={"add": True})],
        checkpointer=InMemorySaver(),
    )
    thread = {"configurable": {"thread_id": "1"}}
    first = one.invoke(asked("What is 2 + 3? Use the tool."), thread)
    assert "__interrupt__" in first
    change = {"type": "edit", "edited_action": {"name": "add", "args": {"x": 1, "y": 1}}}
    one.invoke(Command(resume={"decisions": [change if edited else {"type": "approve"}]}), thread)
    assert ran == [(1, 1) if edited else (2, 3)]


def question():
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import Command, interrupt

    seen = []

    def add(x: float, y: float) -> str:
        """Adds two numbers."""
        seen.append(interrupt("Which colour?"))
        return "fine"

    one = create_agent(model(), tools=[add], checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    one.invoke(asked("What is 2 + 3? Use the tool."), thread)
    one.invoke(Command(resume="blue"), thread)
    assert seen[-1] == "blue"


def image_as_a_result():
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}

    def picture() -> list:
        """Returns a picture."""
        return [image]

    create_agent(claude(), tools=[picture]).invoke(asked("Use the tool picture."))


def direct_result():
    direct = tool(add, return_direct=True)
    said = create_agent(model(), [direct]).invoke(asked("What is 2 + 3? Use the tool."))["messages"]
    assert isinstance(said[-1], messages.ToolMessage)
    assert float(said[-1].content) == 5


def fallback():
    broken = model("/nowhere", max_retries=0)
    assert broken.with_fallbacks([model()]).invoke("Hello").content


def saved():
    from langgraph.checkpoint.memory import InMemorySaver

    one = create_agent(model(), checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    one.invoke(asked("Hello"), thread)
    assert len(one.invoke(asked("And now?"), thread)["messages"]) == 4


def history(kind):
    name = "get weather" if kind == "name" else "f"
    call = messages.AIMessage("", tool_calls=[{"name": name, "args": {}, "id": "call_1"}])
    result = messages.ToolMessage("found it", tool_call_id="call_1")
    between = {
        "result": [messages.AIMessage("Yes"), result],
        "call": [call, messages.HumanMessage("So?")],
        "two": [call, result, result],
        "name": [call, result],
    }
    model().invoke(
        [
            messages.HumanMessage("Hi"),
            *between[kind],
            messages.AIMessage("Fine"),
            messages.HumanMessage("And now?"),
        ]
    )


def broken_histories():
    survived = set()
    for kind in ("result", "call", "two", "name"):
        try:
            history(kind)
        except Exception:
            continue
        survived.add(kind)
    assert survived == set(), survived


def limited_calls():
    from langchain.agents import create_agent
    from langchain.agents.middleware import ToolCallLimitMiddleware

    limit = ToolCallLimitMiddleware(run_limit=0)
    run = create_agent(model(), [add], middleware=[limit]).invoke(asked("What is 2 + 3? Use the tool."))
    blocked, answer = run["messages"][-2:]
    assert blocked.status == "error"
    assert answer.text


def arguments():
    chunks = list(model().bind_tools([add]).stream("What is 2 + 3? Use the tool."))
    assert any(chunk.tool_call_chunks for chunk in chunks)


def many():
    assert len(model().batch(["What is 2 + 2?", "What is 3 + 3?"])) == 2


def left():
    stream = model().stream("Hello, tell me a long story.")
    next(stream)
    stream.close()


C, L, OPENAI = "langchain_core", "langchain", "langchain_openai"
M = "langchain.agents.middleware:"
CELLS = {
    "A value of a Python type": runs("✓", structured),
    "The library chooses the mode for the model and the schema, and you can set it": names(
        "◐",
        "langchain.agents.structured_output:AutoStrategy",
        "langchain.agents.structured_output:ProviderStrategy",
    ),
    "An answer that does not fit the schema is requested again": runs("✓", asked_again),
    "Partial objects, typed": runs("◐", partial_objects),
    "Together with tools": runs("✓", with_tools),
    "Call id, dependencies, progress for a tool": runs("✓", context),
    "Limits of requests, calls, tokens, cost": names(
        "◐", f"{M}ModelCallLimitMiddleware", f"{M}ToolCallLimitMiddleware"
    ),
    "At a limit, the model answers with what it has": runs("◐", limited_calls),
    "A person approves calls, and can change their arguments": runs("✓", partial(decided, edited=True)),
    "The decision comes later, in another process": runs("✓", partial(decided, edited=False)),
    "Images and PDFs as results": runs("◐", image_as_a_result),
    "Tools that the provider runs": names("◐", "langchain_openai:ChatOpenAI.bind_tools"),
    "A running tool asks the user": runs("✓", question),
    "Uses tools of MCP servers; serves its own tools": names(
        "◐", "langchain_mcp_adapters.client:MultiServerMCPClient"
    ),
    "Tools that the model finds by a search": names("✓", f"{M}ProviderToolSearchMiddleware"),
    "A tool whose result is the answer, without another request": runs("✓", direct_result),
    "An MCP server asks the user": written("✓", "langchain", "MCPAdapter", "_arm_for_interrupts"),
    "An MCP server asks the model": nothing(
        r"(?i)sampling_?(handler|callback|model)", "langchain_mcp_adapters", L
    ),
    "Resources and prompts of MCP servers": names(
        "✓", "langchain_mcp_adapters.resources", "langchain_mcp_adapters.prompts"
    ),
    "OAuth of MCP servers": names("✓", "langchain_mcp_adapters.sessions:StreamableHttpConnection"),
    "Citations as content": names("✓", "langchain_core.messages.content:Citation"),
    "Images in an answer become content": names("✓", "langchain_core.messages.content:ImageContentBlock"),
    "Text, docx, xlsx": names("◐", "langchain_core.messages.content:FileContentBlock"),
    "Uploads to the provider": names("◐", "langchain_core.messages.content:FileContentBlock"),
    "An upload that is sent to another provider": nothing(
        r"(?i)re_?upload|upload_to|inline_upload", L, C, OPENAI
    ),
    "Content that cannot be sent is described in words, and the chat continues": nothing(
        r"(?i)describe_(image|media|content)|file_understanding", L, C, OPENAI
    ),
    "The next provider answers if one is down": runs("✓", fallback),
    "A message is added while the model works": nothing(r"(?i)^(enqueue|steer|interject)", L, C),
    "A long history is made shorter": names(
        "✓", f"{M}SummarizationMiddleware", "langchain_core.messages:trim_messages"
    ),
    "The provider makes a long history shorter": names(
        "◐",
        "langchain_anthropic:ChatAnthropic(context_management)",
        "langchain_openai:ChatOpenAI(context_management)",
    ),
    "A conversation is saved as JSON and continued": runs("✓", saved),
    "A history from elsewhere with a broken part is sent in a form that the provider accepts": runs(
        "–", broken_histories
    ),
    "One setting for thinking": names("◐", "langchain_openai:ChatOpenAI(reasoning_effort)"),
    "Parameters that a model does not take are left out, with a warning": names(
        "◐", "langchain_openai:ChatOpenAI(temperature)"
    ),
    "Cancelling a stream": runs("◐", left),
    "A chat app in the browser; in the terminal": nothing(r"(?i)chat_app|to_web|run_console", L, C),
    "Clients of Vercel's AI SDK, with approval": nothing(r"(?i)vercel|ui_message", L, C),
    "Clients of AG-UI, with approval": nothing(r"(?i)ag_?ui", L, C, but="(?i)language|guid|again|pagui"),
    "Arguments of a call while the model writes them": runs("✓", arguments),
    "A page that is loaded again shows the conversation": nothing(r"(?i)dump_messages|ui_messages", L, C),
    "A second request of a conversation waits": nothing(r"(?i)when_busy|multitask", L, C),
    "Many prompts at once": runs("✓", many),
    "After an interruption, they continue from a file": nothing(r"(?i)journal|resume_batch", L, C, OPENAI),
    "After an interruption, they return the answers so far": nothing(
        r"(?i)keyboard_?interrupt|partial_results", L, C, OPENAI
    ),
    "Batch APIs, for half the price": nothing(
        r"(?i)batch_api|message_batch|create_batch|batches",
        L,
        OPENAI,
        "langchain_anthropic",
        but="(?i)_batches$|iter|size",
    ),
    "Cost of a conversation": nothing(r"(?i)get_cost|total_cost|cost_of", L, C, OPENAI),
    "Newer prices without a new version": nothing(r"(?i)refresh_prices|update_prices", L, C, OPENAI),
    "Tokens counted beforehand": names("✓", "langchain_openai:ChatOpenAI.get_num_tokens_from_messages"),
    "A proxy; your own HTTP client": names(
        "✓", "langchain_openai:ChatOpenAI(openai_proxy)", "langchain_openai:ChatOpenAI(http_client)"
    ),
    "Graphs of agents, hand-overs": names("✓", "langgraph.graph:StateGraph"),
    "Durable execution (Temporal, DBOS)": names("✓", "langgraph.checkpoint.memory:InMemorySaver"),
    "Embeddings, vector stores, retrieval": names(
        "✓", "langchain.embeddings:init_embeddings", "langchain_core.vectorstores:InMemoryVectorStore"
    ),
    "Speech in real time": nothing(r"(?i)realtime|speech_to", L, OPENAI),
    "Your own evaluations": names("✓", "langsmith:evaluate"),
}

if __name__ == "__main__":
    report(CELLS)
