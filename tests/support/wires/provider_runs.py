"""Answers in which providers ran tools themselves, by the name of the provider: the wire, the answer, its blocks, what is printed."""

from ellmer_core.wire.anthropic.to_wire import AnthropicMessages
from ellmer_core.wire.bedrock.to_wire import Bedrock
from ellmer_core.wire.gemini.to_wire import Gemini
from ellmer_core.wire.openai_responses.to_wire import OpenAIResponses

CLAUDE = [
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "cats"}},
    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1",
     "content": [{"type": "web_search_result", "url": "https://c.test", "title": "Cats", "encrypted_content": "E"}]},
    {"type": "server_tool_use", "id": "srvtoolu_2", "name": "bash_code_execution", "input": {"command": "ls"}},
    {"type": "bash_code_execution_tool_result", "tool_use_id": "srvtoolu_2",
     "content": {"type": "bash_code_execution_tool_result_error", "error_code": "unavailable"}},
]  # fmt: skip
OPENAI = [
    {"type": "web_search_call", "id": "w1", "status": "completed", "action": {"type": "search", "query": "cats"}},
    {"type": "code_interpreter_call", "id": "c1", "status": "completed", "code": "1 + 1", "container_id": "x",
     "outputs": [{"type": "logs", "logs": "2"}]},
    {"type": "file_search_call", "id": "f1", "status": "completed", "queries": ["cats"], "results": None},
    {"type": "mcp_call", "id": "m1", "name": "ask", "arguments": '{"q": "cats"}', "output": None,
     "error": {"code": 500}, "server_label": "s"},
]  # fmt: skip
GOOGLE = [
    {"executableCode": {"language": "PYTHON", "code": "1 + 1"}},
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
]
NOVA = [
    {"toolUse": {"type": "server_tool_use", "toolUseId": "t1", "name": "nova_code_interpreter", "input": {"snippet": "1"}}},
    {"toolResult": {"toolUseId": "t1", "type": "nova_code_interpreter_result", "status": "success",
                    "content": [{"json": {"stdOut": "1"}}]}},
]  # fmt: skip

CASES = {
    "anthropic": (
        AnthropicMessages(model="m"), {"content": CLAUDE, "stop_reason": "end_turn"}, CLAUDE,
        ['web_search(query = "cats")', '[{"type":"web_search_result","url":"https://c.test","title":"Cats"}]',
         'bash_code_execution(command = "ls")', "Error: unavailable"]),
    "openai": (
        OpenAIResponses(model="m"), {"output": OPENAI, "status": "completed"}, OPENAI,
        ['web_search(query = "cats")', "completed", 'code_interpreter(code = "1 + 1")', '[{"type":"logs","logs":"2"}]',
         'file_search(queries = ["cats"])', "completed", 'ask(q = "cats")', 'Error: {"code": 500}']),
    "gemini": (
        Gemini(model="m"), {"candidates": [{"content": {"parts": GOOGLE}, "finishReason": "STOP"}]}, GOOGLE,
        ['code_execution(language = "PYTHON",code = "1 + 1")', "2"]),
    "bedrock": (
        Bedrock(model="amazon.nova-pro"), {"output": {"message": {"content": NOVA}}, "stopReason": "end_turn"}, NOVA,
        ['nova_code_interpreter(snippet = "1")', '[{"json":{"stdOut":"1"}}]']),
}  # fmt: skip
