"""pydantic-ai."""

# mypy: ignore-errors

from __future__ import annotations

import asyncio
import os
import sys
from base64 import b64decode
from pathlib import Path

HERE = str(Path(__file__).parent)
sys.path[:] = [place for place in sys.path if place != HERE]  # this file has the library's name
import pydantic_ai
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

sys.path.append(HERE)
from cells import names, nothing, report, runs

SERVER = os.environ["STRICT_SERVER"]
PNG = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class Person(BaseModel):
    name: str
    age: int


def model(path="/v1"):
    return OpenAIChatModel("gpt-4.1", provider=OpenAIProvider(base_url=f"{SERVER}{path}", api_key="k"))


def agent(**more):
    return Agent(model(), **more)


def add(x: float, y: float) -> float:
    """Adds two numbers."""
    return x + y


def structured():
    assert isinstance(agent(output_type=Person).run_sync("Ann is 33.").output, Person)
    assert isinstance(agent(output_type=list[int]).run_sync("One, two.").output, list)


def ways():
    from pydantic_ai import NativeOutput, PromptedOutput, ToolOutput

    assert PromptedOutput(Person)
    for way in (NativeOutput, ToolOutput):
        assert isinstance(agent(output_type=way(Person)).run_sync("Ann is 33.").output, Person)


def asked_again():
    tries = []
    one = agent(output_type=Person, retries=2)

    @one.output_validator
    def check(person):
        tries.append(person)
        if len(tries) < 2:
            raise pydantic_ai.ModelRetry("Once more.")
        return person

    one.run_sync("Ann is 33.")
    assert len(tries) == 2


def partial_objects():
    async def run():
        async with agent(output_type=Person).run_stream("Ann is 33.") as answer:
            return [piece async for piece in answer.stream_output(debounce_by=None)]

    assert all(isinstance(piece, Person) for piece in asyncio.run(run()))


def with_tools():
    one = agent(output_type=pydantic_ai.NativeOutput(Person), tools=[add])
    assert isinstance(one.run_sync("Ann is 33.").output, Person)


def context():
    seen = []
    one = agent(deps_type=str)

    @one.tool
    def add(ctx: pydantic_ai.RunContext[str], x: float, y: float) -> float:
        """Adds two numbers."""
        seen.append((ctx.tool_call_id, ctx.deps))
        return x + y

    one.run_sync("What is 2 + 3? Use the tool.", deps="mine")
    assert seen
    assert seen[0][1] == "mine"


def limits():
    one = agent(tools=[add])
    try:
        one.run_sync("What is 2 + 3? Use the tool.", usage_limits=pydantic_ai.UsageLimits(request_limit=1))
    except pydantic_ai.UsageLimitExceeded:
        return
    raise AssertionError("the limit did not hold")


def enqueued():
    one = agent()

    @one.tool
    def add(ctx: pydantic_ai.RunContext[None], x: float, y: float) -> float:
        """Adds two numbers."""
        ctx.enqueue("Be brief.")
        return x + y

    run = one.run_sync("What is 2 + 3? Use the tool.")
    said = [part.content for m in run.all_messages() for part in m.parts if part.part_kind == "user-prompt"]
    assert said[1:] == ["Be brief."], said


def decided_later():
    from pydantic_ai import DeferredToolRequests, DeferredToolResults, ToolApproved

    one = agent(output_type=[str, DeferredToolRequests])
    ran = []

    @one.tool_plain(requires_approval=True)
    def add(x: float, y: float) -> float:
        """Adds two numbers."""
        ran.append((x, y))
        return x + y

    first = one.run_sync("What is 2 + 3? Use the tool.")
    assert isinstance(first.output, DeferredToolRequests)
    [call] = first.output.approvals
    results = DeferredToolResults(approvals={call.tool_call_id: ToolApproved(override_args={"x": 1, "y": 1})})
    saved = pydantic_ai.ModelMessagesTypeAdapter.dump_json(first.all_messages())
    history = pydantic_ai.ModelMessagesTypeAdapter.validate_json(saved)
    one.run_sync(message_history=history, deferred_tool_results=results)
    assert ran == [(1, 1)]


def image_as_a_result():
    one = agent()

    @one.tool_plain
    def picture() -> pydantic_ai.BinaryContent:
        """Returns a picture."""
        return pydantic_ai.BinaryContent(PNG, media_type="image/png")

    one.run_sync("Use the tool picture.")


def questions():
    from pydantic_ai import CallDeferred, DeferredToolResults
    from pydantic_ai.capabilities import RequestInput

    asked = []

    def ask(*given):
        requests = next(each for each in given if hasattr(each, "calls"))
        asked.extend(requests.calls)
        return DeferredToolResults(calls={call.tool_call_id: "blue" for call in requests.calls})

    one = agent(capabilities=[RequestInput(ask)])

    @one.tool_plain
    def add(x: float, y: float) -> str:
        """Adds two numbers."""
        raise CallDeferred

    one.run_sync("What is 2 + 3? Use the tool.")
    assert asked


def final_result():
    done = agent(output_type=add).run_sync("What is 2 + 3? Use the tool.")
    assert done.output == 5
    assert done.usage.requests == 1


def fallback():
    from pydantic_ai.models.fallback import FallbackModel

    broken = OpenAIChatModel("gpt-4.1", provider=OpenAIProvider(base_url=f"{SERVER}/nowhere", api_key="k"))
    assert Agent(FallbackModel(broken, model())).run_sync("Hello").output


def shorter():
    from pydantic_ai.capabilities import ProcessHistory

    seen = []

    def last(messages):
        seen.append(len(messages))
        return messages[-1:]

    one = agent(capabilities=[ProcessHistory(last)])
    first = one.run_sync("Hello")
    one.run_sync("And now?", message_history=first.all_messages())
    assert seen[-1] >= 3


def saved_as_json():
    first = agent().run_sync("Hello")
    adapter = pydantic_ai.ModelMessagesTypeAdapter
    history = adapter.validate_json(adapter.dump_json(first.all_messages()))
    assert agent().run_sync("And now?", message_history=history).output


def history(kind):
    from pydantic_ai.messages import (
        ModelRequest,
        ModelResponse,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )

    name = "get weather" if kind == "name" else "f"
    call = ToolCallPart(name, {}, tool_call_id="call_1")
    result = ToolReturnPart(name, "found it", tool_call_id="call_1")
    hi, fine = ModelRequest([UserPromptPart("Hi")]), ModelResponse([TextPart("Fine")])
    between = {
        "result": [ModelResponse([TextPart("Yes")]), ModelRequest([result])],
        "call": [ModelResponse([call]), ModelRequest([UserPromptPart("So?")])],
        "two": [ModelResponse([call]), ModelRequest([result, result])],
        "name": [ModelResponse([call]), ModelRequest([result])],
    }
    agent().run_sync("And now?", message_history=[hi, *between[kind], fine])


def broken_histories():
    survived = set()
    for kind in ("result", "call", "two", "name"):
        try:
            history(kind)
        except Exception:
            continue
        survived.add(kind)
    assert survived == {"result", "call"}, survived


def arguments():
    async def run():
        kinds = set()
        async with agent(tools=[add]).iter("What is 2 + 3? Use the tool.") as steps:
            async for node in steps:
                if Agent.is_model_request_node(node):
                    async with node.stream(steps.ctx) as events:
                        async for event in events:
                            kinds.add(type(getattr(event, "delta", event)).__name__)
        return kinds

    assert "ToolCallPartDelta" in asyncio.run(run())


def own_client():
    import httpx

    seen = []
    client = httpx.AsyncClient(event_hooks={"request": [lambda request: _noted(seen, request)]})
    provider = OpenAIProvider(base_url=f"{SERVER}/v1", api_key="k", http_client=client)
    Agent(OpenAIChatModel("gpt-4.1", provider=provider)).run_sync("Hello")
    assert seen


async def _noted(seen, request):
    seen.append(request)


P = "pydantic_ai"
CELLS = {
    "A value of a Python type": runs("✓", structured),
    "The library chooses the mode for the model and the schema, and you can set it": runs("✓", ways),
    "An answer that does not fit the schema is requested again": runs("✓", asked_again),
    "Partial objects, typed": runs("✓", partial_objects),
    "Together with tools": runs("✓", with_tools),
    "Call id, dependencies, progress for a tool": runs("✓", context),
    "Limits of requests, calls, tokens, cost": runs("✓", limits),
    "At a limit, the model answers with what it has": nothing(
        r"(?i)at_?limit|on_?limit|limit_?behaviou?r", P
    ),
    "A person approves calls, and can change their arguments": runs("✓", decided_later),
    "The decision comes later, in another process": runs("✓", decided_later),
    "Images and PDFs as results": runs("✓", image_as_a_result),
    "Tools that the provider runs": names("✓", "pydantic_ai:WebSearchTool", "pydantic_ai:CodeExecutionTool"),
    "A running tool asks the user": runs("✓", questions),
    "Uses tools of MCP servers; serves its own tools": names("◐", "pydantic_ai.mcp:MCPToolset"),
    "Tools that the model finds by a search": names("✓", "pydantic_ai.capabilities:ToolSearch"),
    "A tool whose result is the answer, without another request": runs("✓", final_result),
    "An MCP server asks the user": names("✓", "pydantic_ai.mcp:MCPToolset(elicitation_handler)"),
    "An MCP server asks the model": names("✓", "pydantic_ai.mcp:MCPToolset(sampling_model)"),
    "Resources and prompts of MCP servers": names(
        "✓", "pydantic_ai.mcp:MCPToolset.list_resources", "pydantic_ai.mcp:MCPToolset.get_prompt"
    ),
    "OAuth of MCP servers": names("✓", "pydantic_ai.mcp:MCPToolset(auth)"),
    "Citations as content": names("✓", "pydantic_ai:Citation"),
    "Images in an answer become content": names("✓", "pydantic_ai:FilePart"),
    "Text, docx, xlsx": names("◐", "pydantic_ai:DocumentUrl"),
    "Uploads to the provider": names("◐", "pydantic_ai:UploadedFile"),
    "An upload that is sent to another provider": nothing(r"(?i)re_?upload|upload_to|inline_upload", P),
    "Content that cannot be sent is described in words, and the chat continues": names(
        "✓", "pydantic_ai.capabilities:FileUnderstanding"
    ),
    "The next provider answers if one is down": runs("✓", fallback),
    "A message is added while the model works": runs("✓", enqueued),
    "A long history is made shorter": runs("✓", shorter),
    "The provider makes a long history shorter": names(
        "✓", "pydantic_ai.models.anthropic:AnthropicCompaction", "pydantic_ai.models.openai:OpenAICompaction"
    ),
    "A conversation is saved as JSON and continued": runs("✓", saved_as_json),
    "A history from elsewhere with a broken part is sent in a form that the provider accepts": runs(
        "◐", broken_histories
    ),
    "One setting for thinking": names("✓", "pydantic_ai.capabilities:Thinking"),
    "Parameters that a model does not take are left out, with a warning": names(
        "✓", "pydantic_ai:UnsupportedSettingWarning"
    ),
    "Cancelling a stream": names(
        "✓", "pydantic_ai.result:StreamedRunResult.cancel", "pydantic_ai:CancellationToken"
    ),
    "A chat app in the browser; in the terminal": names(
        "✓", "pydantic_ai:Agent.to_web", "pydantic_ai:Agent.to_cli_sync"
    ),
    "Clients of Vercel's AI SDK, with approval": names("✓", "pydantic_ai.ui.vercel_ai:VercelAIAdapter"),
    "Clients of AG-UI, with approval": names("✓", "pydantic_ai.ui.ag_ui:AGUIAdapter"),
    "Arguments of a call while the model writes them": runs("✓", arguments),
    "A page that is loaded again shows the conversation": names(
        "✓", "pydantic_ai.ui.vercel_ai:VercelAIAdapter.dump_messages"
    ),
    "A second request of a conversation waits": nothing(r"(?i)when_busy|conversation_lock|session_queue", P),
    "Many prompts at once": nothing(r"(?i)^(parallel_chat|run_many|batch_run|run_all|map_prompts)", P),
    "After an interruption, they continue from a file": nothing(
        r"(?i)journal|resume_file", P, but="^Journal(Callable|Operation)"
    ),
    "After an interruption, they return the answers so far": nothing(r"(?i)partial_results", P),
    "Batch APIs, for half the price": names("✓", "pydantic_ai.capabilities:BatchModelRequests"),
    "Cost of a conversation": names("✓", "pydantic_ai:ModelResponse.cost"),
    "Newer prices without a new version": names("✓", "pydantic_ai.prices:update_in_background"),
    "Tokens counted beforehand": names("✓", "pydantic_ai.models:Model.count_tokens"),
    "A proxy; your own HTTP client": runs("✓", own_client),
    "Graphs of agents, hand-overs": names("✓", "pydantic_graph"),
    "Durable execution (Temporal, DBOS)": names("✓", "pydantic_ai.durable_exec"),
    "Embeddings, vector stores, retrieval": names("◐", "pydantic_ai:Embedder"),
    "Speech in real time": names("✓", "pydantic_ai.realtime"),
    "Your own evaluations": names("✓", "pydantic_evals:Dataset"),
}

if __name__ == "__main__":
    report(CELLS)
