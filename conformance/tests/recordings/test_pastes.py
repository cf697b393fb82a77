"""What a person copies from a terminal, a program or a log is read by `conformance lint`, as by the page of the judge."""

import json

import pytest
from click.testing import CliRunner

from ellmer_conformance.cli.recordings import lint
from ellmer_conformance.contract import rules
from ellmer_conformance.recordings.lint import lint_paste
from ellmer_conformance.recordings.pastes.truncated import completed, is_certain

WRONG = '[{"role": "user", "content": "Hi"}, {"role": "tool", "tool_call_id": "c1", "content": "5"}]'
URL = "https://api.openai.com/v1/chat/completions"


def _dumped(text: str) -> str:
    data = text.encode()
    rows = [data[at : at + 16] for at in range(0, len(data), 16)]
    return "\n".join(f"{at * 16:04x}  {row.hex(' '):47}  {row!r}" for at, row in enumerate(rows))


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
    "a collection of Postman with comments": json.dumps(
        {
            "item": [
                {
                    "name": "a",
                    "request": {
                        "url": {"raw": URL},
                        "body": {"raw": f'// why?\n{{"model": "gpt-4o", "messages": {WRONG}}}'},
                    },
                }
            ]
        }
    ),
    "a command in a log of JSON": json.dumps(
        {
            "level": "DEBUG",
            "message": f'sent:\ncurl -X POST \\\n{URL} \\\n-d \'{{"model": "gpt-4o", "messages": {WRONG}}}\'\n',
        }
    ),
    "a dump of Wireshark": _dumped(
        f'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n\r\n{{"model": "gpt-4o", "messages": {WRONG}}}'
    ),
    "a generation of Langfuse": (
        f'[{{"observations": [{{"type": "GENERATION", "level": "ERROR", "model": "gpt-4o", "input": {WRONG}}}]}}]'
    ),
    "JSON whose end is missing": f'{{"model": "gpt-4o", "messages": {WRONG[:-1]}, {{"role": "user", "content": "It beg',
    "a log whose end is missing": (
        "DEBUG:openai._base_client:Request options: {'method': 'post', 'url': '/chat/completions', 'json_data': "
        f"{{'model': 'gpt-4o', 'messages': {WRONG}, 'tools': [{{'type': 'func..."
    ),
    "a cassette whose end is missing": (
        f'interactions:\n- request:\n    uri: {URL}\n    body: \'{{"model": "gpt-4o", "messages": {WRONG}}}\'\n'
        "  response:\n    status: {code: 4"
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


CUT = '{"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": [{"id": "a"'


def test_a_text_that_ends_in_its_first_message_is_not_judged():
    report = lint_paste('{"model": "gpt-4o", "messages": [{"role": "us')

    assert report.problem == "The JSON is cut off: its end is missing. Paste all of it."


def test_the_report_says_that_the_end_is_missing():
    text = CliRunner().invoke(lint.command, ["-"], input=CUT).output

    assert "the end of the request, which is cut off" in text
    assert "0 violations." in text


@pytest.mark.parametrize("wire", rules.WIRES)
def test_a_legal_request_breaks_no_rule_wherever_it_is_cut(wire):
    book = rules.book(wire)
    legal = {
        json.dumps(body) for rule in book.rules.values() for body in rule.examples if _is_legal(book, body)
    }
    judged = 0
    for number, text in enumerate(sorted(legal)):
        whole = completed(text[: len(text) - 2 - number % (len(text) * 2 // 3)])
        request = book.request(json.loads(whole)) if whole else None
        for verdict in book.judge(request) if request else ():
            assert not [each for each in verdict.violations if is_certain(request, each)], whole
        judged += request is not None
    assert judged > len(legal) // 2


def _is_legal(book, body):
    return not any(verdict.violations for verdict in book.judge(book.request(body)))


def test_the_refused_request_of_a_log_is_shown_with_its_rule():
    text = f'POST /v1/chat/completions HTTP/1.1\nHost: api.openai.com\n\n{{"model": "gpt-4o", "messages": {WRONG}}}'
    text = CliRunner().invoke(lint.command, ["-"], input=f"{text}\n\nHTTP/1.1 400 Bad Request\n\n{{}}").output

    assert "openai-chat/PAIR-002" in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '{"model": "m", "messages": [{"role": "user", "content": "a"}, ..., {"role": "tool"}]}',
            "leaves out messages",
        ),
        ("[ModelRequest(parts=[UserPromptPart(content='Hi')])]", "messages of pydantic-ai"),
        (
            '{"inputs": {"messages": [[{"lc": 1, "id": ["langchain", "HumanMessage"], "kwargs": {}}]]}}',
            "messages of LangChain",
        ),
    ],
)
def test_what_cannot_be_judged_is_said_in_words(text, said):
    assert said in str(lint_paste(text).problem)


def test_spans_are_read_from_a_paste():
    messages = json.dumps(
        [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "5"}]}]
    )
    span = {"attributes": {"gen_ai.operation.name": "chat", "gen_ai.input.messages": messages}}

    assert {each.rule for each in lint_paste(json.dumps(span)).complaints} >= {"PAIR-002"}


# What only the program knows -------------------------------------------------------------------------------------

ASKED = "client.chat.completions.create(model='gpt-4.1', messages={})"


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        (ASKED.format("[{'role': 'user', 'content': question}]"), []),
        (ASKED.format("[{'role': 'user', 'content': 'Hello ' + name}]"), []),
        (ASKED.format("[{'role': 'user', 'content': 'Hi %s' % name if name else fallback()}]"), []),
        (ASKED.format("[system, *history[-5:], {'role': 'tool', 'tool_call_id': 'c', 'content': '5'}]"), []),
        (ASKED.format("history + [{'role': 'tool', 'tool_call_id': call.id, 'content': str(found)}]"), []),
        (ASKED.format("[{'role': 'tool', 'tool_call_id': call.id, 'content': str(found)}]"), ["PAIR-002"]),
        (ASKED.format("[{'role': 'user', 'content': None}]"), ["REQ-006"]),
        (
            ASKED.format(
                "[{'role': 'user', 'content': (f'Sum up ' f'{topic}')}], extra_headers=headers, timeout=5"
            ),
            [],
        ),
        ("ask({ model: MODEL, temperature: 3.0, messages: [{ role: 'user', content }] })", ["REQ-013"]),
        (
            "client.messages.create(model=MODEL, max_tokens=MOST, messages=[{'role': 'user', 'content': q}])",
            [],
        ),
        ("client.messages.create(messages=[{'role': 'user', 'content': q}], **options)", []),
        ("client.messages.create(model=MODEL, messages=[{'role': 'user', 'content': q}])", ["REQ-014"]),
        (
            "[{'role': 'tool', 'tool_call_id': 'c', 'content': '5'}]",
            ["PAIR-002"],
        ),  # no request without a model
        (
            "ask({ model: 'gpt-4.1', tools: all.map(t => ({ name: t })), messages: [{ role: 'user', content: q.trim() }] })",
            [],
        ),
        (
            "{ run: async ({ a }) => { return 1; }, body: { model: 'gpt-4.1', messages: [{ role: 'user', content }] } }",
            [],
        ),
    ],
)
def test_what_a_variable_holds_is_not_judged(text, ids):
    report = lint_paste(text)

    assert report.judged == 1
    assert [
        each.rule for each in report.complaints if each.outcome == "violation" and each.rule < "REQ-100"
    ] == ids


def test_ids_of_one_variable_are_one_id():
    call = (
        "{'id': call.id, 'type': 'function', 'function': {'name': call.name, 'arguments': json.dumps(given)}}"
    )
    messages = "[{{'role': 'user', 'content': q}}, {{'role': 'assistant', 'tool_calls': [{0}]}}, {1}]"
    result = "{'role': 'tool', 'tool_call_id': call.id, 'content': '5'}"

    assert lint_paste(ASKED.format(messages.format(call, result))).complaints == []


def test_the_report_says_that_a_variable_is_not_judged():
    said = (
        CliRunner().invoke(lint.command, ["-"], input=ASKED.format("[{'role': 'user', 'content': q}]")).output
    )

    assert "only the program knows it" in said


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("client.responses.create(model='gpt-5', input=items)", "in a variable"),
        (
            "messages = []\ntry:\n    client.chat.completions.create(**asked)\nexcept RateLimitError:\n    pass",
            "in a variable",
        ),
        (
            '[llm/start] [llm:ChatOpenAI] Entering LLM run with input:\n{"prompts": ["Human: hi"]}',
            "LangChain",
        ),
        (
            'Messages: []openai.ChatCompletionMessageParamUnion{openai.ToolMessage("5", "call_1")}',
            "functions of an SDK",
        ),
    ],
)
def test_a_program_without_a_request_is_told_what_to_paste(text, part):
    assert part in lint_paste(text).problem
