"""The judge of the site, in Python: what is pasted, how its wire format is found, and the fallback for pydantic_core.

`tests/browser/test_judge.py` runs it in a browser.
"""

import ast
import gzip
import html
import importlib.util
import json
import re
import sys
import time
from base64 import b64encode
from pathlib import Path
from urllib.parse import quote, quote_plus

import pydantic_core
import pytest
from code_blocks import ROOT

from ellmer_conformance.contract import rules
from ellmer_harness.format import json_text, uniform_events

FOLDER = ROOT / "docs" / "_site" / "_judge"
BODY = {"model": "gpt-4.1", "messages": [{"role": "user", "content": 'It\'s "you"'}]}
SENT = json.dumps(BODY)
URL = "https://api.openai.com/v1/chat/completions"


@pytest.fixture
def judge(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import judge

    return lambda text, *chosen: json.loads(judge.judged(text, *chosen))


def only(answer):
    (request,) = answer["requests"]
    return request


ENTRY = {
    "request": {
        "method": "POST",
        "url": URL,
        "headers": [],
        "postData": {"mimeType": "application/json", "text": SENT},
    },
    "response": {"status": 200, "headers": [], "content": {"text": "{}"}},
}
CASSETTE = {
    "version": 1,
    "interactions": [
        {
            "request": {"method": "POST", "uri": URL, "headers": {}, "body": SENT},
            "response": {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"string": "{}"}},
        }
    ],
}
QUOTED = SENT.replace("'", "'\\''")
BACKSLASHED = SENT.replace("\\", "\\\\").replace('"', '\\"')
CARETS = re.sub(r"[^\w\s:=+~'/.;()*-]", r"^\g<0>", BACKSLASHED)
BACKTICKS = SENT.replace("`", "``").replace('"', '`"')
DOUBLED = SENT.replace("'", "''")
QUOTE = "'\\''"
INDENTED = json.dumps(BODY, indent=2).splitlines()
FORMS = {
    "curl": f"curl {URL} -H 'content-type: application/json' -d '{QUOTED}'",
    "curl as people paste it": f"$ curl -sS -X POST \\\n  {URL} \\\n  --data-raw '{QUOTED}'",
    "curl as a browser copies it": f"curl '{URL}' --compressed --data-raw $'{SENT.replace(chr(92), chr(92) * 2).replace(chr(39), chr(92) + chr(39))}'",
    "curl with another base URL": f"curl --json '{QUOTED}' \"$BASE/chat/completions\"",
    "curl for cmd as a browser copies it": f'curl ^"{URL}^" ^\r\n  --data-raw ^"{CARETS}^"',
    "curl for cmd": f'curl.exe -X POST {URL} ^\r\n  -H "A: b" ^\r\n  -d "{BACKSLASHED}"',
    "curl for PowerShell": f"curl.exe {URL} `\n  -H 'A: b' `\n  -d '{DOUBLED}'",
    "curl for PowerShell 5": "curl.exe {} -d '{}'".format(URL, BACKSLASHED.replace("'", "''")),
    "curl for fish": "curl {} -d '{}'".format(URL, SENT.replace("\\", "\\\\").replace("'", "\\'")),
    "curl in double quotes": f'curl {URL} -H "Authorization: Bearer $KEY" -d "{BACKSLASHED}"',
    "curl with a here-document": f"export A=b\ncurl {URL} -d @- <<'EOF'\n{SENT}\nEOF\n",
    "curl that reads echo": f"echo '{QUOTED}' | curl {URL} -d @-",
    "curl after a prompt, with what follows": f"me@host:~$ A=b curl -s {URL} -d '{QUOTED}' | jq .\n{{\"it's\": 1}}",
    "curl in Markdown": f"```bash\ncurl {URL} -d '{QUOTED}'\n```",
    "PowerShell": f"Invoke-RestMethod -Uri \"{URL}\" -Method Post -Body '{DOUBLED}'",
    "PowerShell as a browser copies it": f'Invoke-WebRequest -Uri "{URL}" `\n-Headers @{{\n"a"="b"\n}} `\n-Body "{BACKTICKS}"',
    "PowerShell with a here-string": f"$body = @'\n{SENT}\n'@\nirm -Uri {URL} -Method Post -Body $body",
    "fetch as a browser copies it": f'fetch("{URL}", {{"body": {json.dumps(SENT)}, "method": "POST"}});',
    "JSON in a string": json.dumps(SENT),
    "JSON with comments": f"{{ // the model\n{SENT[1:-1]}, }}",
    "an object of JavaScript": "{model: 'gpt-4.1', messages: [{role: 'user', content: 'It\\'s \"you\"'},],}",
    "raw": f"POST /v1/chat/completions HTTP/1.1\nHost: api.openai.com\nContent-Type: application/json\n\n{SENT}",
    "HAR": json.dumps({"log": {"entries": [ENTRY]}}),
    "cassette": json.dumps(CASSETTE),
    "cassette in YAML": f"interactions:\n- request:\n    method: POST\n    uri: {URL}\n    headers: {{}}\n    body: '{SENT.replace(chr(39), chr(39) * 2)}'\n  response:\n    status: {{code: 200, message: OK}}\n    headers: {{}}\n    body: {{string: '{{}}'}}\n",
    "body": SENT,
    "body in a wrapper": json.dumps({"method": "post", "json_data": BODY}),
    "log of the openai package": "DEBUG:openai._base_client:Request options: {'method': 'post', 'url': '/chat/completions', 'headers': {'X-Stainless-Raw-Response': <openai.Omit object at 0x7f>}, 'files': None, 'idempotency_key': 'stainless-python-retry-1', 'json_data': "
    f'{BODY!r}}}\nDEBUG:httpx:HTTP Request: POST {URL} "HTTP/1.1 400 Bad Request"\n',
    "a call in Python": f"client.chat.completions.create(\n    model='gpt-4.1',  # newest\n    messages={BODY['messages']!r},\n)",
    "a call of fetch": f"await fetch('{URL}', {{ headers: {{ A: `b ${{c}}` }}, body: JSON.stringify({SENT}) }});",
    "a string of Java": f'String body = "{BACKSLASHED}";',
    "escaped for HTML": f"<pre>{html.escape(SENT)}</pre>",
    "escaped for a URL": quote(SENT),
    "a collection of Postman": json.dumps(
        {"item": [{"name": "a", "item": [{"request": {"url": {"raw": URL}, "body": {"raw": SENT}}}]}]}
    ),
    "curl with a variable": f"BODY='{QUOTED}'\ncurl {URL} -d \"$BODY\"",
    "curl with a here-string": f"curl {URL} -d @- <<< '{QUOTED}'",
    "curl that reads jq": f"jq -n '{QUOTED}' | curl {URL} --json @-",
    "curl with a variable as the host": f"curl ${{BASE_URL}}/chat/completions -d '{QUOTED}'",
    "wget": f"wget -qO- --post-data='{QUOTED}' {URL}",
    "HTTPie": f"http POST {URL} 'Authorization:Bearer k' model=gpt-4.1 messages:='{json.dumps(BODY['messages']).replace(chr(39), QUOTE)}'",
    "HTTPie with a whole body": f"https api.openai.com/v1/chat/completions --raw '{QUOTED}'",
    "HTTPie that reads echo": f"echo '{QUOTED}' | http POST {URL}",
    "PowerShell with a table": f"$body = @{{\n  model = 'gpt-4.1'\n  messages = @(\n    @{{ role = 'user'; content = 'It''s \"you\"' }}\n  )\n}} | ConvertTo-Json\nirm {URL} -Body $body",
    "PowerShell with a table of options": f"$asked = @{{\n  Uri = '{URL}'\n  Body = '{DOUBLED}'\n}}\nInvoke-RestMethod @asked",
    "HTTP with its answer": f"POST /v1/chat/completions HTTP/1.1\nHost: api.openai.com\n\n{SENT}\n\nHTTP/1.1 400 Bad Request\n\n{{}}",
    "HTTP in chunks": f"POST /v1/chat/completions HTTP/1.1\r\nHost: api.openai.com\r\n\r\n{len(SENT):x}\r\n{SENT}\r\n0\r\n\r\n",
    "HTTP/2": f":method: POST\n:authority: api.openai.com\n:path: /v1/chat/completions\n\n{SENT}",
    "an entry of a HAR": json.dumps(ENTRY),
    "entries of a HAR": json.dumps([ENTRY]),
    "the request of a HAR": json.dumps(ENTRY["request"]),
    "an interaction of a cassette": f"- request:\n    method: POST\n    uri: {URL}\n    body: '{DOUBLED}'\n    headers: {{}}\n  response:\n    status: {{code: 400, message: Bad}}\n    headers: {{}}\n    body: {{string: ''}}",
    "base64": b64encode(SENT.encode()).decode(),
    "base64 of gzip": b64encode(gzip.compress(SENT.encode())).decode(),
    "a data URL": "data:application/json;base64," + b64encode(SENT.encode()).decode(),
    "base64 in an event": json.dumps({"path": "/v1", "body": b64encode(SENT.encode()).decode()}),
    "JSON around a string": json.dumps({"name": "chat", "attributes": {"request_data": SENT}}),
    "YAML": 'model: gpt-4.1\nmessages:\n- role: user\n  content: It\'s "you"\n',
    "the lines of a mail": "\n".join(f"> {line}" for line in INDENTED),
    "the lines of a diff": "\n".join(f"+{line}" for line in INDENTED),
    "numbered lines": "\n".join(f"{at:3} {line}" for at, line in enumerate(INDENTED, 1)),
    "the lines of a container": "\n".join(f"app-1  | {line}" for line in INDENTED),
    "a form": f"body={quote_plus(SENT)}",
    "a hash of Ruby": SENT.replace('": ', '" => '),
    "an array of PHP": "$body = ['model' => 'gpt-4.1', 'messages' => [['role' => 'user', 'content' => 'It\\'s \"you\"']]];",
    "a string of C#": 'var json = @"{""model"": ""gpt-4.1"", ""messages"": [{""role"": ""user"", ""content"": ""It\'s \\""you\\""""}]}";',
    "objects of Python": "Request(model='gpt-4.1', messages=[Message(role='user', content='It\\'s \"you\"')])",
    "a variable of Python": f"said = {BODY['messages']!r}\nclient.chat.completions.create(model='gpt-4.1', messages=said)",
    "a variable of JavaScript": "const messages = [{ role: 'user', content: 'It\\'s \"you\"' }] as const;\nask({ model: 'gpt-4.1', messages });",
    "a string of Java in parts": f'String body = "{BACKSLASHED[:40]}" +\n  "{BACKSLASHED[40:]}";',
    "a log with a margin": "\n".join(f"Oct 01 10:00:00 host app[1]: {line}" for line in INDENTED),
    "a map of Go": 'map[string]any{"model": "gpt-4.1", "messages": []map[string]any{{"role": "user", "content": "It\'s \\"you\\""}}}',
    "a dictionary of Swift": '["model": "gpt-4.1", "messages": [["role": "user", "content": "It\'s \\"you\\""]]]',
    "a table of Lua": """{ model = "gpt-4.1", messages = { { role = "user", content = 'It\\'s "you"' } } }""",
    "a list of R": """list(model = "gpt-4.1", messages = list(list(role = "user", content = 'It\\'s "you"')))""",
    "YAML under a key": 'ask:\n  model: gpt-4.1\n  messages:\n  - role: user\n    content: It\'s "you"\n',
    "log in JSON": f"2026-11-22 INFO POST {URL}\nrequest body: {SENT}\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_every_usual_form_is_read(judge, form):
    request = only(judge(FORMS[form]))
    assert request["body"] == BODY
    assert (request["wire"], request["model"]) == ("openai-chat", "gpt-4.1")
    assert request["findings"] == []


TOLD = {
    '{"model": "gpt-4.1", "messages": [{"ro': "cut off",
    '{"model": "gpt-4.1" "messages": []}': "line 1, column 21",
    "DEBUG Request options: {'json_data': {'messages': [{'ro": "cannot be read",
    f"Invoke-RestMethod -Uri {URL} -Body $body": "ConvertTo-Json",
    'data: {"choices": [{"delta": {}}]}': "an answer",
    '{"object": "chat.completion", "choices": []}': "an answer",
    URL: "only a URL",
    "[HumanMessage(content='hi')]": "LangChain",
    "model: gpt-4.1\nmessages:\n  - role: 'user": "YAML",
    "bW9kZWw6IGdw" * 9: "base64",
    "{'message': 'Incorrect API key provided: sk-x'}": "the key",
    "Error code: 429 - {'message': 'You exceeded your current quota'}": "no money or quota left",
    "This model's maximum context length is 8192 tokens": "longer than",
    "body: {\n  model: 'gpt-4.1',\n  messages: [ [Object], [Object] ]\n}": "JSON.stringify",
}


@pytest.mark.parametrize(("text", "part"), TOLD.items())
def test_a_paste_that_is_no_request_is_told_in_words(judge, text, part):
    assert part in judge(text)["problem"]


def test_a_text_in_angle_brackets_stays_in_a_log(judge):
    body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "it's <b>bold</b> // # NOT_GIVEN"}]}
    assert (
        only(judge(f"Request options: {{'headers': {{'X': <Omit at 0x7>}}, 'json_data': {body!r}}}"))["body"]
        == body
    )


@pytest.mark.parametrize("name", ["body: [Array]", f'HTTP Request: POST {URL} "HTTP/1.1 400"'])
def test_a_log_without_a_body_is_told(judge, name):
    assert "does not have its body" in judge(name)["problem"]


def test_a_log_has_the_status_of_the_answer(judge):
    assert only(judge(FORMS["log of the openai package"]))["answered"] == 400


def test_the_provider_comes_from_the_url_unless_it_is_chosen(judge):
    text = FORMS["curl"].replace("api.openai.com/v1", "api.groq.com/openai/v1")
    assert only(judge(text))["provider"] == "groq"
    assert only(judge(text, "", "xai"))["provider"] == "xai"
    chosen = only(judge(text, "mistral", "", "mistral-small-latest"))
    assert (chosen["wire"], chosen["provider"], chosen["model"]) == (
        "mistral",
        "mistral",
        "mistral-small-latest",
    )


@pytest.mark.parametrize("wire", rules.WIRES)
def test_the_wire_format_of_a_body_is_found(judge, wire):
    bodies = [body for rule in rules.book(wire).rules.values() for body in rule.examples[:1]]
    found = [only(judge(json.dumps(body))).get("wire") for body in bodies]
    assert found.count(wire) > 0.9 * len(found)


def test_a_finding_has_all_that_the_page_shows(judge):
    rule = rules.book("anthropic").rules["PAIR-001"]
    (finding,) = only(judge(json.dumps(rule.counterexamples[0])))["findings"]
    assert (finding["rule"], finding["outcome"], finding["status"]) == ("PAIR-001", "fail", 400)
    assert "without `tool_result` blocks" in finding["says"]
    assert finding["says"] in json.loads(finding["answer"])["error"]["message"]
    assert finding["why"]
    assert finding["fix"]
    assert finding["legal"] == [*rule.examples[:2]]
    assert finding["page"] == "anthropic/pair-001/"


@pytest.mark.parametrize(
    "text",
    [
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
        "anthropic.BadRequestError: Error code: 400 - {'type': 'error', 'error': {'type': 'invalid_request_error', 'message': 'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.'}}",
    ],
)
def test_an_error_text_leads_to_its_rule(judge, text):
    first = judge(text)["matches"][0]  # of several rules that share the text
    assert first["full_id"] == "anthropic/PAIR-001"
    assert first["alike"] > 0.9
    assert first["refused"]
    assert first["legal"]


@pytest.mark.parametrize(
    ("text", "full_id", "page"),
    [
        ("The encrypted content gAAA...6KFQ could not be verified.", "THK-006", "behaviour/thk-006/"),
        (
            "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
            "openai-chat/moonshot/THK-005",
            "",
        ),
    ],
)
def test_an_error_text_leads_to_rules_of_conversations_and_of_providers(judge, text, full_id, page):
    first = judge(text)["matches"][0]
    assert (first["full_id"], first["page"]) == (full_id, page)


@pytest.mark.parametrize(
    ("text", "part"),
    [("curl https://example.com", "no data"), ("curl 'https://example.com", "cannot be read")],
)
def test_a_command_that_cannot_be_read_is_told(judge, text, part):
    assert part in judge(text)["problem"]


@pytest.mark.parametrize(
    "text", ["{" * 5000, "[" * 20000, "{'a': " * 1200, "\ufeff{}", "null", "curl", "\x00", "{}", "[]"]
)
def test_a_strange_paste_is_no_error(judge, text):
    assert judge(text)


def test_a_request_of_another_kind_says_why_it_is_not_judged(judge):
    assert (
        "not a chat request"
        in only(judge("curl https://api.openai.com/v1/embeddings -d '{\"input\": 1}'"))["reason"]
    )


# The fallback ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fallback():
    spec = importlib.util.spec_from_file_location("fallback", FOLDER / "browser" / "pydantic_core.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def outcome(function, *given, **options):
    try:
        return function(*given, **options)
    except ValueError:
        return ValueError


TEXTS = [
    *(
        '{"a": [1, 2.50, -0.0, 1e5, true, null, "ü\\n"]}',
        '{"a": 1, "a": 2}',
        "12345678901234567890",
        '"\\ud83d\\ude00"',
    ),
    *('"\\ud800"', "[1,]", "{'a': 1}", "", " ", "nul", '"\t"', "01", "[1] 2", "NaN"),
    *("[" * 150 + "]" * 150, "[" * 250 + "]" * 250),
]


def test_without_a_validator_each_event_is_parsed(fallback, monkeypatch):
    events = "".join(f'data: {{"n":{number},"text":"a word"}}\n\n' for number in range(200)).encode()
    assert uniform_events.parse(events)
    uniform_events._lines.cache_clear()
    monkeypatch.setattr(json_text, "SchemaValidator", fallback.SchemaValidator)
    monkeypatch.setattr(json_text, "core_schema", fallback.core_schema)
    assert uniform_events.parse(events) is None


@pytest.mark.parametrize("text", TEXTS, ids=[text[:20] for text in TEXTS])
def test_the_fallback_reads_as_pydantic_core_does(fallback, text):
    ours, real = (
        outcome(module.from_json, text.encode(errors="surrogatepass")) for module in (fallback, pydantic_core)
    )
    assert repr(ours) == repr(real)
    ours, real = (
        outcome(module.from_json, text, allow_inf_nan=False) for module in (fallback, pydantic_core)
    )
    assert repr(ours) == repr(real)


def test_the_fallback_reads_every_cassette_as_pydantic_core_does(fallback):
    for file in sorted((ROOT / "cassettes").rglob("*.json"))[::40]:
        data = file.read_bytes()
        value = pydantic_core.from_json(data)
        assert fallback.from_json(data) == value
        assert fallback.to_json(value, inf_nan_mode="constants") == pydantic_core.to_json(
            value, inf_nan_mode="constants"
        )


def test_no_module_of_the_package_shadows_the_real_one():
    assert Path(pydantic_core.__file__).parent.name == "pydantic_core"


DEEP = 1500
LONG_PASTES = {
    "options of HTTPie": ("http " + "--a " * 2000, "error text"),
    "headers without a body": ("POST /v1 HTTP/1.1\n" + "a: b\n" * 2000 + "x", "error text"),
    "objects around nothing": ('{"json":' * 450 + "1" + "}" * 450, "error text"),
    "objects that are too deep": ('{"json":' * DEEP + "1" + "}" * DEEP, "nested too deeply"),
    "folders of Postman": ('{"item":[' * 450 + "]}" * 450, "error text"),
    "items of Postman that are no list": ('{"item": 3}', "error text"),
    "backslashes": ("a " + "\\" * 20_000, "error text"),
}


@pytest.mark.parametrize("name", LONG_PASTES)
def test_a_hostile_paste_is_answered(judge, name):
    text, said = LONG_PASTES[name]
    assert said in str(judge(text))


@pytest.mark.slow
@pytest.mark.parametrize("text", ['{"a":' * 100_000, "Error code: 400 - " + "{'error': " * 50_000])
def test_a_paste_of_any_length_is_read_in_little_time(judge, text):
    began = time.process_time()
    assert judge(text)
    assert time.process_time() - began < 30  # some 4; without a limit, it took minutes


LONG = {
    "headers": lambda n: (
        f"curl {URL} " + " ".join(f"-H 'x-{at}: {at}'" for at in range(n)) + f" -d '{QUOTED}'"
    ),
    "headers for cmd": lambda n: f"curl.exe {URL} ^\n " + '-H "x: y" ' * n + f'-d "{BACKSLASHED}"',
    "here-documents without an end": lambda n: "curl <<A\n" * n,
    "commands before a pipe": lambda n: f"{'echo ' * n}| curl {URL} -d @-",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_n_words_of_a_command_cost_n(judge, name):
    from ellmer_conformance.recordings.pastes.commands import curl

    few, many = LONG[name](2000), LONG[name](8000)
    curl(few)
    for _ in range(3):  # a busy machine disturbs the caches of the processor
        took = []
        for text in (few, many):
            began = time.process_time()
            curl(text)
            took.append(time.process_time() - began)
        if took[1] < 8 * max(took[0], 0.02):
            break

    assert took[1] < 8 * max(took[0], 0.02)


def calls_for(number, opened, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    from ellmer_conformance.recordings.pastes.literals import dictionaries

    count = 0

    def counted(*_):
        nonlocal count
        count += 1

    sys.setprofile(counted)
    try:
        found = [value for _, _, value in dictionaries(opened * number + "{'b': 1}, 'c'")]
    finally:
        sys.setprofile(None)
    assert found == [{"b": 1}]
    return count


@pytest.mark.parametrize("opened", ["{'a':", "{'a': [", "{'a': f(", "{'a': x + ", "f(a=x + "])
def test_braces_that_are_never_closed_are_read_once(opened, monkeypatch):
    once = calls_for(50, opened, monkeypatch)
    assert calls_for(2000, opened, monkeypatch) < 60 * once


def test_the_snapshot_is_packed_without_pages_of_zeros(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    from build import PAGE, packed

    head, memory = b"head", bytes(PAGE) + b"ab" + bytes(3 * PAGE - 2) + b"c"
    packet = packed(head + memory, len(head))
    at = 4 + int.from_bytes(packet[:4], "little")
    assert json.loads(packet[4:at]) == {
        "size": len(memory),
        "parts": [[PAGE, 2 * PAGE], [4 * PAGE, len(memory)]],
    }
    assert packet[at:] == head + memory[PAGE : 2 * PAGE] + b"c"


def test_the_fallback_of_pydantic_core_can_be_the_first_import():
    """The readers import it, so an import of a reader at its top is a cycle, and the site has no judge."""
    tree = ast.parse((FOLDER / "browser" / "pydantic_core.py").read_text("utf-8"))
    imported = [node for node in tree.body if isinstance(node, ast.ImportFrom | ast.Import)]

    assert not [ast.unparse(node) for node in imported if "ellmer_" in ast.unparse(node)]


def test_the_reason_of_a_rule_is_a_sentence_and_no_list_of_records(judge):
    request = only(judge(json.dumps(BODY | {"messages": []})))
    shape = next(each for each in request["findings"] if each["rule"] == "REQ-106")
    assert shape["why"].startswith("the official types exclude it, and a refusal is on record")
    assert "http" not in shape["why"]
