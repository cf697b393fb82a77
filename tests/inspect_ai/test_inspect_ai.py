"""Evaluations with inspect-ai itself, with a server on 127.0.0.1. (It has many dependencies: see `nox -s inspect`.)"""

import asyncio
import json

import pytest

from ellmer_core import chat_openai_completions

pytest.importorskip("inspect_ai.model")
pytestmark = pytest.mark.filterwarnings("ignore")  # of theirs

from inspect_ai import Task, eval  # noqa: E402 - skipped where it is not there
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.model import (  # noqa: E402
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ContentDocument,
    ContentImage,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    get_model,
)
from inspect_ai.scorer import includes  # noqa: E402
from inspect_ai.solver import generate, use_tools  # noqa: E402
from inspect_ai.tool import ToolCall, ToolCallError, tool  # noqa: E402

from ellmer_core.contents.content import (  # noqa: E402  # noqa: E402
    ContentImageInline,
    ContentPDF,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
)
from ellmer_core.contents.turns import AssistantTurn, SystemTurn, UserTurn  # noqa: E402
from ellmer_core.errors import UsageError  # noqa: E402
from ellmer_core.inspect_ai import EllmerModel, chat_solver, messages_of, turns_of  # noqa: E402  # noqa: E402

KEY = "sk-secret"


def answer(content=None, *calls, finish="stop"):
    message = {"role": "assistant", "content": content} | ({"tool_calls": list(calls)} if calls else {})
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 3}}
    return json.dumps({"choices": [{"message": message, "finish_reason": finish}], "usage": usage}).encode()


CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"x": 2, "y": 3}'}}


def evaluated(task, tmp_path, **how):
    [log] = eval(task, log_dir=str(tmp_path), display="none", **how)
    assert log.status == "success", log.error
    [sample] = log.samples
    assert KEY not in log.model_dump_json()
    return sample


def test_a_chat_as_a_solver(server, reply, tmp_path):
    def add(x: int, y: int) -> int:
        """Adds."""
        return x + y

    server.answers(reply([answer(None, CALL, finish="tool_calls")]), reply([answer("It is 5.")]))
    chat = chat_openai_completions("Be brief.", model="m", api_key=KEY, base_url=server.url, echo="none")
    chat.register_tool(add)
    task = Task(dataset=[Sample("2 + 3?", target="5")], solver=chat_solver(chat), scorer=includes())
    sample = evaluated(task, tmp_path, model="mockllm/model")

    assert sample.scores["includes"].value == "C"
    assert [message.role for message in sample.messages] == ["user", "assistant", "tool", "assistant"]
    assert sample.messages[2].text == "5"
    assert sample.output.completion == "It is 5."
    assert sample.output.usage.input_tokens_cache_read == 3
    assert server.asked[0].json["messages"][0] == {"role": "system", "content": "Be brief."}
    assert chat.get_turns() == [], "each sample has a fork"


def test_a_provider_of_ours_as_a_model(server, reply, tmp_path):
    @tool
    def add():
        async def execute(x: int, y: int) -> int:
            """Adds.

            Args:
                x: One.
                y: Another.
            """
            return x + y

        return execute

    server.answers(reply([answer(None, CALL, finish="tool_calls")]), reply([answer("It is 5.")]))
    model = get_model("ellmer/openai_completions/m", base_url=server.url, api_key=KEY)
    task = Task(
        dataset=[Sample("2 + 3?", target="5")],
        solver=[use_tools(add()), generate()],
        scorer=includes(),
        config=GenerateConfig(temperature=0.5, stop_seqs=["END"]),
    )
    sample = evaluated(task, tmp_path, model=model)
    first, second = (asked.json for asked in server.asked)

    assert sample.scores["includes"].value == "C"
    assert (first["temperature"], first["stop"]) == (0.5, ["END"])
    assert first["tools"][0]["function"]["parameters"]["properties"]["x"]["type"] == "integer"
    assert second["messages"][1]["tool_calls"] == [CALL]
    assert second["messages"][2] == {"role": "tool", "tool_call_id": "c1", "content": "5"}
    assert sample.output.usage.total_tokens == 13


def test_messages_and_turns():
    call = ToolCall(id="c1", function="look", arguments={"x": 1})
    messages = [
        ChatMessageSystem(content="Be brief."),
        ChatMessageUser(content=[ContentText(text="See"), ContentImage(image="data:image/png;base64,aGk=")]),
        ChatMessageAssistant(
            content=[ContentReasoning(reasoning="Hm"), ContentText(text="I look")], tool_calls=[call]
        ),
        ChatMessageTool(
            content=[ContentText(text="a"), ContentText(text="b")], tool_call_id="c1", function="look"
        ),
        ChatMessageUser(
            content=[ContentDocument(document="data:application/pdf;base64,aGk=", filename="a.pdf")]
        ),
        ChatMessageAssistant(content="", tool_calls=[call]),
        ChatMessageTool(
            content="", tool_call_id="c1", function="look", error=ToolCallError("unknown", "no luck")
        ),
    ]
    system, asked, said, told, again, last = turns_of(messages)
    request = ContentToolRequest("c1", "look", {"x": 1})

    assert system == SystemTurn("Be brief.")
    assert asked.contents[1] == ContentImageInline("image/png", "aGk=")
    assert said.contents[0] == ContentThinking("Hm")
    assert said.tool_requests == (request,)
    assert told.contents == (
        ContentToolResult(["a", "b"], request=request),
        ContentPDF("application/pdf", "aGk=", "a.pdf"),
    )
    assert again.tool_requests == (request,)
    assert last.contents[0].error == "no luck"


def test_what_a_provider_attached_goes_back():
    request = ContentToolRequest("c1", "look", {}, extra={"gemini": {"signature": "s"}})
    turn = AssistantTurn([ContentThinking("Hm", {"anthropic": {"block": {"signature": "s"}}}), request])
    [message] = messages_of([turn], "m")
    [back] = turns_of([ChatMessageAssistant.model_validate_json(message.model_dump_json())])

    assert back.contents == turn.contents
    tool, user = messages_of([UserTurn([ContentToolResult(error="no", request=request), "Well?"])], "m")
    assert (tool.error.message, user.text) == ("Tool calling failed with error no", "Well?")


def test_what_cannot_be_asked():
    model = EllmerModel("openai_completions/m", api_key=KEY)
    with pytest.raises(UsageError, match="tool_choice"):
        asyncio.run(model.generate([ChatMessageUser(content="Hi")], [], "any", GenerateConfig()))
    with pytest.raises(UsageError, match="nothing to answer"):
        asyncio.run(model.generate([ChatMessageAssistant(content="Hi")], [], "auto", GenerateConfig()))
