"""What a person copies from a terminal, a program or a log is read by `conformance lint`, as by the page of the judge."""

import pytest
from click.testing import CliRunner

from ellmer_conformance.cli.recordings import lint
from ellmer_conformance.recordings.lint import lint_paste

WRONG = '[{"role": "user", "content": "Hi"}, {"role": "tool", "tool_call_id": "c1", "content": "5"}]'
URL = "https://api.openai.com/v1/chat/completions"

#: Requests to Chat Completions with a result that answers no call.
PASTES = {
    "fish": f'set -x body \'{{"model": "gpt-4o", "messages": {WRONG}}}\'\ncurl {URL}?key=$KEY -H "a: b" -d $body',
    "nested items of HTTPie": (
        "http POST api.openai.com/v1/chat/completions model=gpt-4o messages[0][role]=user messages[0][content]=hi "
        "messages[1][role]=tool messages[1][tool_call_id]=c1 messages[1][content]=x"
    ),
    "a list that grows": (
        'messages = [{"role": "user", "content": "Hi"}]\n'
        'messages.append({"role": "tool", "tool_call_id": "c1", "content": "5"})\n'
        'client.chat.completions.create(model="gpt-4o", messages=messages)'
    ),
    "a sum of lists": (
        'history = [{"role": "user", "content": "Hi"}]\n'
        'client.chat.completions.create(model="gpt-4o", messages=history + [{"role": "tool", "tool_call_id": "c1", "content": "5"}])'
    ),
    "a list in a list": (
        'history = [{"role": "user", "content": "Hi"}]\n'
        'client.chat.completions.create(model="gpt-4o", messages=[*history, {"role": "tool", "tool_call_id": "c1", "content": "5"}])'
    ),
    "a prompt of Python": f'>>> body = {{\n...     "model": "gpt-4o",\n...     "messages": {WRONG},\n... }}\n>>> post("{URL}", json=body)',
    "a prompt of IPython": f'In [12]: body = {{"model": "gpt-4o",\n    ...:   "messages": {WRONG}}}\nIn [13]: post("{URL}")',
    "a table of a log": (
        '@timestamp,@message\n2025-11-03,"{""operation"":""chat"",""input"":{""sent"":{""model"":""gpt-4o"",""messages"":'
        '[{""role"":""tool"",""tool_call_id"":""c1"",""content"":""5""}]}}}"'
    ),
    "a traceback of rich": (
        "│ ╭──── locals ────╮ │\n"
        "│ │ payload = {'model': 'gpt-4o', │ │\n"
        f"│ │ │ 'messages': {WRONG} │ │\n"
        "│ │ } │ │"
    ),
    "a file of an editor's client": (
        "# the chat\n@host = https://api.openai.com\n\nPOST {{host}}/v1/chat/completions\nContent-Type: application/json\n\n"
        f'{{"model": "gpt-4o", "messages": {WRONG}}}'
    ),
    "C#": (
        'var body = new\n{\n  model = "gpt-4o", temperature = 0.1f,\n  messages = new object[]\n  {\n'
        '    new { role = "user", content = "Hi" },\n'
        '    new { role = "tool", tool_call_id = "c1", content = "5" }\n  }\n};\n'
        f'await http.PostAsJsonAsync("{URL}", body);'
    ),
    "a dictionary of C#": (
        'new Dictionary<string, object> { ["model"] = "gpt-4o", ["messages"] = new[] '
        '{ new { role = "tool", tool_call_id = "c1", content = "5" } } }'
    ),
    "Julia": (
        f'HTTP.post("{URL}", h, JSON3.write(Dict("model" => "gpt-4o", "messages" => '
        '[Dict("role" => "tool", "tool_call_id" => "c", "content" => "x")])))'
    ),
    "Kotlin": (
        'mapOf("model" to "gpt-4o", "messages" to listOf(mapOf("role" to "tool", "tool_call_id" to "c", "content" to "x")))'
    ),
    "Java": (
        f'http.post("{URL}", Map("model" -> "gpt-4o", "messages" -> List.of(Map.of("role", "tool", "tool_call_id", "c", '
        '"content", "x"))))'
    ),
}


@pytest.mark.parametrize("text", PASTES.values(), ids=PASTES)
def test_the_wrong_message_is_found(text):
    report = lint_paste(text)

    assert {each.full_id for each in report.complaints} >= {"openai-chat/PAIR-002"}


def test_a_list_that_grows_is_one_request():
    (found,) = lint_paste(PASTES["a list that grows"]).wires.values()

    assert found.judged == 1


def test_calls_of_googles_sdk_are_what_it_sends():
    report = lint_paste(
        'client.models.generate_content(model="gemini-2.5-pro", contents=[\n'
        '  types.Content(role="user", parts=[types.Part.from_text(text="Weather?")]),\n'
        '  types.Content(role="model", parts=[types.Part(function_call=types.FunctionCall(name="w", args={})),\n'
        '    types.Part(function_call=types.FunctionCall(name="w", args={}))]),\n'
        '  types.Content(role="user", parts=[types.Part.from_function_response(name="w", response={"r": 1})]),\n'
        "], config=types.GenerateContentConfig(temperature=0, tools=[types.Tool(function_declarations=[\n"
        '  types.FunctionDeclaration(name="w", description="d")])]))'
    )

    assert [each.full_id for each in report.complaints] == ["gemini/PAR-003"]


def test_a_call_of_an_sdk_shows_the_provider_if_no_url_does():
    report = lint_paste('ollama.chat(model="llama3.2", messages=[{"role": "user", "content": "Hi"}])')

    assert [*report.wires] == ["ollama"]


def test_options_of_the_aws_command_are_fields_of_the_body():
    report = lint_paste(
        "aws bedrock-runtime converse --model-id anthropic.claude-3-haiku-20240307-v1:0 \\\n"
        """--messages '[{"role": "user", "content": [{"toolResult": {"toolUseId": "t", "content": [{"text": "x"}]}}]}]' \\\n"""
        """--inference-config '{"maxTokens": 100}'"""
    )

    assert {each.full_id for each in report.complaints} >= {"bedrock/PAIR-002"}


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("messages: [{ role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1' }] }]", "the AI SDK"),
        ('llm.invoke([HumanMessage(content="Hi")])', "LangChain"),
        ('{"attributes": {"gen_ai.input.messages": "[]"}}', "OpenTelemetry"),
    ],
)
def test_messages_that_are_not_sent_are_not_judged(text, advice):
    report = lint_paste(text)

    assert not report.judged
    assert advice in report.problem


def linted(*arguments, given=None):
    return CliRunner().invoke(lint.command, arguments, input=given)


def test_standard_input_is_judged():
    found = linted("-", given=f'curl {URL} -d \'{{"model": "gpt-4o", "messages": {WRONG}}}\'')

    assert found.exit_code == 1
    assert "openai-chat/PAIR-002" in found.output


def test_an_error_text_is_sent_to_explain():
    found = linted("-", given="messages with role 'tool' must be a response")

    assert found.exit_code == 2
    assert "conformance explain" in " ".join(found.output.split())


def test_a_named_file_may_be_a_paste_and_a_file_in_a_folder_is_none(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text(PASTES["C#"], encoding="utf-8")

    assert "openai-chat/PAIR-002" in linted(str(file)).output
    assert "PAIR-002" not in linted(str(tmp_path)).output


def test_a_named_body_is_judged_without_its_wire_format(tmp_path):
    file = tmp_path / "refused.json"
    file.write_text(f'{{"model": "gpt-4o", "messages": {WRONG}}}', encoding="utf-8")

    assert linted(str(file)).exit_code == 1


def test_a_named_file_that_cannot_be_read_says_what_to_paste(tmp_path):
    file = tmp_path / "cut.txt"
    file.write_text('{"model": "gpt-4o", "messages": [{"role": "user", "content": "H', encoding="utf-8")

    assert "cut off" in " ".join(linted(str(file)).output.split())
