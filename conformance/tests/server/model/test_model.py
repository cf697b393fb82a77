"""The server's own model, over all wire formats, streamed or not: no script, and no case in the URL."""

import json
from base64 import b64encode

import httpx
import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

import ellmer_core as ec
from ellmer_conformance.contract.observed.exchange import Request
from ellmer_conformance.scenarios.cases._media_and_tools import RED, REPORT
from ellmer_conformance.server import StrictServer
from ellmer_conformance.server.model import answer_of
from ellmer_conformance.server.model.schema_values import filled
from ellmer_conformance.server.model.user_words import UserWords

#: A chat of each wire format, with the path that its base URL has.
CHATS = {
    "openai-chat": (ec.chat_openai_completions, "/v1", "gpt-4.1"),
    "openai-responses": (ec.chat_openai, "/v1", "gpt-5.6-terra"),
    "anthropic": (ec.chat_anthropic, "/v1", "claude-sonnet-5"),
    "gemini": (ec.chat_google_gemini, "/v1beta", "gemini-3.5-flash"),
    "bedrock": (ec.chat_aws_bedrock, "", "us.anthropic.claude-sonnet-5"),
    "ollama": (ec.chat_ollama, "", "qwen3-vl:4b"),
    "mistral": (ec.chat_mistral, "/v1", "mistral-small-latest"),
    "cohere": (ec.chat_cohere, "/v2", "command-a-03-2025"),
}
STREAMED = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
EACH_WIRE = pytest.mark.parametrize("wire", CHATS)


@pytest.fixture(scope="module")
def server():
    with StrictServer() as started:
        yield started


@pytest.fixture
def chat(server, monkeypatch):
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "any-key")
    monkeypatch.setenv("AWS_REGION", "us-east-1")

    def of(wire, **more):
        make, path, model = CHATS[wire]
        base = server.url("any", "-@mistral") if wire == "mistral" else server.origin
        key = {} if wire in {"bedrock", "ollama"} else {"api_key": "any-key"}
        return make(base_url=base + path, model=model, echo="none", **key, **more)

    return of


def ask(chat, stream, *contents):
    return "".join(chat.stream(*contents)) if stream else str(chat.chat(*contents))


@ec.tool
def get_weather(city: str) -> str:
    """Looks up the weather.

    Args:
        city: Name of the city.
    """
    return f"21 °C in {city}"


@ec.tool
def draw():
    """Draws a picture."""
    return ec.ContentImageInline("image/png", b64encode(RED.data).decode())


def calls(chat):
    return [
        (r.name, r.arguments)
        for t in chat.get_turns()
        for r in t.contents
        if isinstance(r, ec.ContentToolRequest)
    ]


@EACH_WIRE
@STREAMED
def test_a_tool_is_called_and_its_result_is_the_answer(chat, wire, stream):
    talk = chat(wire)
    talk.register_tool(get_weather)
    assert ask(talk, stream, "What is the weather in Paris?") == "It is 21 °C in Paris."
    assert calls(talk) == [("get_weather", {"city": "Paris"})]


@EACH_WIRE
@STREAMED
def test_several_things_are_several_calls(chat, wire, stream):
    talk = chat(wire)
    talk.register_tool(get_weather)
    answer = ask(talk, stream, "What is the weather in Paris, in Oslo and in Duluth, MN?")
    assert [arguments["city"] for _, arguments in calls(talk)] == ["Paris", "Oslo", "Duluth, MN"]
    assert answer.startswith("Paris: 21 °C in Paris. Oslo: 21 °C in Oslo.")


@pytest.mark.parametrize("wire", [wire for wire in CHATS if wire != "cohere"])  # its model sees no images
@STREAMED
def test_an_image_of_a_tool_is_seen_and_remembered(chat, wire, stream):
    talk = chat(wire)
    talk.register_tool(draw)
    assert "a red image of 32 by 32 pixels" in ask(talk, stream, "Draw something and describe it.")
    assert ask(talk, stream, "What colour was it?") == "It was red."


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic", "gemini", "bedrock"])
def test_a_pdf_is_read(chat, wire):
    pdf = ec.ContentPDF("application/pdf", b64encode(REPORT.data).decode(), "report.pdf")
    assert "a PDF of 1 page" in ask(chat(wire), False, "What is in it?", pdf)


@EACH_WIRE
@STREAMED
def test_a_failed_tool_is_told(chat, wire, stream):
    @ec.tool
    def print_report() -> str:
        """Prints the report."""
        raise RuntimeError("The printer is on fire.")

    talk = chat(wire)
    talk.register_tool(print_report)
    assert "The printer is on fire." in ask(talk, stream, "Print the report")


class Person(BaseModel):
    name: str
    born: int


@EACH_WIRE
def test_a_demanded_schema_is_filled_with_the_users_words(chat, wire):
    found = chat(wire).chat_structured("Ada Lovelace was born in 1815.", type=Person)
    assert found == Person(name="Ada Lovelace", born=1815)


@EACH_WIRE
@pytest.mark.parametrize("mode", ["tool", None])
def test_data_are_given_after_the_calls_of_other_tools(chat, wire, mode):
    """Some models are made to call any tool until they give the data. Each other tool that fits is called once."""

    @ec.tool
    def find_birth_year(name: str) -> int:
        """Finds the year of birth."""
        return 1815

    @ec.tool
    def find_birth_place(name: str) -> str:
        """Finds the place of birth."""
        return "London"

    talk = chat(wire, max_tool_rounds=3)
    talk.register_tools([find_birth_year, find_birth_place, get_weather])
    found = talk.chat_structured("Find the birth year of Ada Lovelace, born in 1815.", type=Person, mode=mode)
    assert isinstance(found, Person)


@EACH_WIRE
@STREAMED
def test_an_answer_ends_at_the_limit_of_tokens(chat, wire, stream):
    talk = chat(wire)
    talk.set_params(max_tokens=16)
    with pytest.warns(ec.EllmerWarning, match="max_tokens"):
        answer = ask(talk, stream, "Count from 1 to 200.")
    assert answer == ", ".join(map(str, range(1, 201)))[:64]
    assert talk.last_turn().finish_reason == "max_tokens"


@pytest.mark.parametrize(
    "wire", [wire for wire in CHATS if wire != "openai-responses"]
)  # it has no such setting
@STREAMED
def test_an_answer_ends_before_a_stop_sequence(chat, wire, stream):
    talk = chat(wire)
    talk.set_params(stop_sequences=["7"])
    assert ask(talk, stream, "Count from 1 to 9.").strip() == "1, 2, 3, 4, 5, 6,"


@EACH_WIRE
def test_tokens_are_counted(chat, wire):
    short, long = chat(wire), chat(wire)
    short.chat("Hello!")
    long.chat("Tell me something. " * 100)
    few, many = (sum(each["input"] for each in talk.get_tokens()) for talk in (short, long))
    assert 0 < few < 30
    assert 300 < many < 600


IN_WORDS = {
    "this library": "Answer only with JSON according to this JSON Schema: {}",
    "after an example": 'A schema such as {{"foo": ["bar"]}} is wrong.\nReturn JSON. Here is the output schema:\n```\n{}\n```',
    "and more": "Always respond with a JSON object that's compatible with this schema:\n\n{}\n\nNo Markdown.",
}


@pytest.mark.parametrize("words", IN_WORDS.values(), ids=IN_WORDS)
@pytest.mark.parametrize("role", ["system", "user"])
@pytest.mark.parametrize("more", [{}, {"response_format": {"type": "json_object"}}], ids=["text", "JSON"])
def test_a_schema_in_words_is_filled(words, role, more):
    told = {"role": role, "content": words.format(json.dumps(Person.model_json_schema()))}
    asked = {"role": "user", "content": "Ada Lovelace was born in 1815."}
    answer = answer_of(Request("openai-chat", "deepseek", {"model": "m", "messages": [told, asked], **more}))
    assert Person.model_validate_json(answer.text or "")


@pytest.mark.parametrize(
    "text", ["What does this schema mean? {}", "Answer by this schema: {", 'Reply by this schema: {"a": 1}']
)
def test_a_text_about_a_schema_demands_none(text):
    said = [{"role": "user", "content": text}]
    assert (answer_of(Request("openai-chat", "openai", {"messages": said})).text or "").startswith("I read")


# what a request demands, without a library --------------------------------------------------------------

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
HELLO = [{"role": "user", "content": "Hello!"}]


def function(name):
    return {
        "type": "function",
        "function": {"name": name, "description": "A tool.", "parameters": PARAMETERS},
    }


OPENAI = {"model": "gpt-4.1", "messages": HELLO, "tools": [function("first"), function("second")]}
FLAT = [{"type": "function", "name": n, "parameters": PARAMETERS} for n in ("first", "second")]
CLAUDE = {"model": "claude-sonnet-5", "max_tokens": 99, "messages": HELLO}
CLAUDE["tools"] = [{"name": name, "input_schema": PARAMETERS} for name in ("first", "second")]
GEMINI = {"contents": [{"role": "user", "parts": [{"text": "Hello!"}]}]}
GEMINI["tools"] = [
    {"functionDeclarations": [{"name": n, "parameters": PARAMETERS} for n in ("first", "second")]}
]
CONVERSE = {"messages": [{"role": "user", "content": [{"text": "Hello!"}]}]}
SPECS = [{"toolSpec": {"name": n, "inputSchema": {"json": PARAMETERS}}} for n in ("first", "second")]
AT_CHAT, AT_RESPONSES, AT_CLAUDE = "/v1/chat/completions", "/v1/responses", "/v1/messages"
AT_GEMINI = "/v1beta/models/gemini-3.5-flash:generateContent"
AT_BEDROCK = "/model/us.anthropic.claude-sonnet-5/converse"
SECOND = {"type": "function", "function": {"name": "second"}}
RESPONSE = {"model": "gpt-4.1", "input": "Hello!", "tools": FLAT}
FORCED = {
    "chat by name": (AT_CHAT, OPENAI | {"tool_choice": SECOND}, "second"),
    "chat any": (AT_CHAT, OPENAI | {"tool_choice": "required"}, "first"),
    "responses by name": (
        AT_RESPONSES,
        RESPONSE | {"tool_choice": {"type": "function", "name": "second"}},
        "second",
    ),
    "responses any": (AT_RESPONSES, RESPONSE | {"tool_choice": "required"}, "first"),
    "anthropic by name": (AT_CLAUDE, CLAUDE | {"tool_choice": {"type": "tool", "name": "second"}}, "second"),
    "anthropic any": (AT_CLAUDE, CLAUDE | {"tool_choice": {"type": "any"}}, "first"),
    "gemini by name": (
        AT_GEMINI,
        GEMINI
        | {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["second"]}}},
        "second",
    ),
    "gemini any": (AT_GEMINI, GEMINI | {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}, "first"),
    "bedrock by name": (
        AT_BEDROCK,
        CONVERSE | {"toolConfig": {"tools": SPECS, "toolChoice": {"tool": {"name": "second"}}}},
        "second",
    ),
    "bedrock any": (
        AT_BEDROCK,
        CONVERSE | {"toolConfig": {"tools": SPECS, "toolChoice": {"any": {}}}},
        "first",
    ),
    "mistral any": ("/c/any/-@mistral/v1/chat/completions", OPENAI | {"tool_choice": "any"}, "first"),
    "cohere any": ("/v2/chat", OPENAI | {"model": "command-a-03-2025", "tool_choice": "REQUIRED"}, "first"),
}
KEYS = {"authorization": "Bearer any-key", "x-api-key": "any-key", "anthropic-version": "2023-06-01"}


@pytest.mark.parametrize("name", FORCED)
def test_a_forced_tool_is_called(server, name):
    path, body, tool = FORCED[name]
    keys = KEYS | ({"x-goog-api-key": "any-key"} if path == AT_GEMINI else {})
    reply = httpx.post(server.origin + path, json=body, headers=keys)
    assert reply.status_code == 200, reply.text
    assert f'"name":"{tool}"' in reply.text.replace('": ', '":')


def test_a_request_gets_the_same_bytes_again(server):
    first, second = (httpx.post(server.origin + AT_CHAT, json=OPENAI, headers=KEYS).content for _ in range(2))
    assert first == second


def test_thinking_is_shown_where_it_is_asked_for():
    asked = CLAUDE | {"thinking": {"type": "adaptive"}}
    assert "The user asks: “Hello!”" in answer_of(Request("anthropic", "anthropic", asked)).thinking
    assert not answer_of(Request("anthropic", "anthropic", CLAUDE)).thinking


def test_a_tool_that_does_not_fit_is_not_called():
    assert not answer_of(Request("openai-chat", "openai", OPENAI | {"messages": HELLO})).calls


# data for schemas ---------------------------------------------------------------------------------------

SCHEMAS = {
    "enum that is named": ({"enum": ["celsius", "fahrenheit"]}, "In Fahrenheit, please", "fahrenheit"),
    "default": (
        {"type": "string", "format": "date", "default": "2026-05-01"},
        "Hi on 2026-07-09",
        "2026-07-09",
    ),
    "numbers": ({"type": "array", "items": {"type": "number"}}, "Add 2, 3.5 and -4", [2, 3.5, -4]),
    "names": (
        {"type": "array", "items": {"type": "string"}},
        "Please invite Ada and Grace Hopper",
        ["Ada", "Grace Hopper"],
    ),
    "range": ({"type": "integer", "minimum": 50}, "Of 7 take 60", 60),
    "exclusive": ({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 2}, "", 1),
    "step": ({"type": "integer", "minimum": 7, "multipleOf": 5}, "", 10),
    "pattern": ({"type": "string", "pattern": "^[A-Z]{3}-[0-9]{2}$"}, "Order ABC-12 now", "ABC-12"),
    "made for a pattern": ({"type": "string", "pattern": r"^\d{5}(-x)?$"}, "", "11111-x"),
    "alternatives": ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, "7", 7),
    "email": ({"type": "string", "format": "email"}, "Write to ada@example.org", "ada@example.org"),
    "file": (
        {"properties": {"path": {"type": "string"}, "to": {"type": "string"}}, "required": ["path"]},
        "Write to ada@example.org, e.g. by https://a.example/b.html, what is in src/app.py",
        {"path": "src/app.py"},
    ),
    "capital letters": (
        {"type": "OBJECT", "properties": {"n": {"type": "INTEGER"}}, "required": ["n"]},
        "4",
        {"n": 4},
    ),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_value_comes_from_the_words_or_the_schema(name):
    schema, text, value = SCHEMAS[name]
    assert filled(schema, UserWords(text)) == value


def functions(**parameters):
    """Offered tools: each name with the properties of its arguments, all required."""
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "parameters": {"type": "object", "properties": fields, "required": list(fields)},
            },
        }
        for name, fields in parameters.items()
    ]


TEXT = {"type": "string"}
PERSON = {"type": "object", "properties": {"name": TEXT, "email": {"type": "string", "format": "email"}}}
SHAPES = [
    {"properties": {"kind": {"const": kind}, "size": {"type": "number"}}, "required": ["kind", "size"]}
    for kind in ("circle", "square")
]
OFFERED = functions(
    get_weather={"city": TEXT},
    get_time={"timezone": TEXT},
    book_flight={
        "origin": TEXT,
        "destination": TEXT,
        "date": {"type": "string", "format": "date"},
        "seats": {"type": "integer"},
    },
    create_event={
        "title": TEXT,
        "start": {"type": "string", "format": "date-time"},
        "guests": {"type": "array", "items": PERSON | {"required": ["name", "email"]}},
    },
    send_email={"to": {"type": "string", "format": "email"}, "subject": TEXT, "body": TEXT},
    calculate={"expression": TEXT},
    draw_shape={"shape": {"oneOf": SHAPES}},
    get_current_user={},
)


@pytest.mark.parametrize(
    ("question", "calls"),
    [
        ("Wie ist das Wetter in Berlin?", [("get_weather", {"city": "Berlin"})]),
        ("Quel temps fait-il à Lyon ?", [("get_weather", {"city": "Lyon"})]),
        ("Какая погода в Москве?", [("get_weather", {"city": "Москве"})]),
        ("What time is it in Asia/Tokyo and what's the weather in Osaka?", [("get_weather", {"city": "Osaka"}), ("get_time", {"timezone": "Asia/Tokyo"})]),
        ("Book a flight from Berlin to Rome on December 24, 2026 for two people", [("book_flight", {"origin": "Berlin", "destination": "Rome", "date": "2026-12-24", "seats": 2})]),
        (
            "Create an event 'Team sync' on 3 May 2027 at 5pm with Ann (ann@example.com) and Bob (bob@example.com)",
            [("create_event", {"title": "Team sync", "start": "2027-05-03T17:00:00Z", "guests": [{"name": "Ann", "email": "ann@example.com"}, {"name": "Bob", "email": "bob@example.com"}]})],
        ),
        ("Send an email to jane@example.com with subject 'Hello' saying 'See you at 5'", [("send_email", {"to": "jane@example.com", "subject": "Hello", "body": "See you at 5"})]),
        ("Calculate 12 * (3 + 4)", [("calculate", {"expression": "12 * (3 + 4)"})]),
        ("Draw a square of size 4", [("draw_shape", {"shape": {"kind": "square", "size": 4}})]),
        ("Who am I? Get the current user.", [("get_current_user", {})]),
    ],
)  # fmt: skip
def test_questions_in_odd_forms(question, calls):
    body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": question}], "tools": OFFERED}
    answer = answer_of(Request("openai-chat", "openai", body))
    assert [(call.name, call.arguments) for call in answer.calls] == calls


def test_a_schema_of_itself_ends():
    node = {"type": "object", "properties": {"child": {"$ref": "#/$defs/node"}}, "required": ["child"]}
    optional = {**node, "properties": {"child": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}}}
    schema = {"$ref": "#/$defs/node", "$defs": {"node": optional}}
    jsonschema.validate(filled(schema, UserWords("")), schema)
    assert filled({"$ref": "#/$defs/node", "$defs": {"node": node}}, UserWords(""))


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [{"$ref": "#"}] * 9},
        {"anyOf": [{"$ref": "#"}]},
        {
            "type": "object",
            "properties": {name: {"$ref": "#"} for name in "abcdefghij"},
            "required": [*"abcdefghij"],
        },
        {"type": "array", "minItems": 10**9, "items": {"$ref": "#"}},
        {"type": "string", "pattern": "(a+)+$"},
    ],
)
def test_a_schema_that_grows_without_end_takes_no_time(schema):
    assert len(json.dumps(filled(schema, UserWords("a" * 50 + "!")))) < 1_000_000


def leaves():
    limits = st.integers(-50, 50)
    return st.one_of(
        st.just({"type": "boolean"}),
        st.builds(
            lambda low, size: {"type": "integer", "minimum": low, "maximum": low + size},
            limits,
            st.integers(0, 9),
        ),
        st.builds(lambda low: {"type": "number", "exclusiveMinimum": low}, limits),
        st.builds(
            lambda low, more: {"type": "string", "minLength": low, "maxLength": low + more},
            st.integers(0, 30),
            st.integers(0, 30),
        ),
        st.builds(
            lambda values: {"enum": values},
            st.lists(st.text(max_size=5), min_size=1, max_size=3, unique=True),
        ),
        st.sampled_from(
            [{"type": "string", "format": form} for form in ("date", "email", "uuid", "date-time")]
        ),
        st.just({"type": ["null", "string"]}),
    )


def objects(inner):
    fields = st.dictionaries(
        st.sampled_from(["city", "count", "query", "date", "name", "to"]), inner, max_size=4
    )
    lists = st.builds(
        lambda items, least: {"type": "array", "items": items, "minItems": least, "maxItems": least + 2},
        inner,
        st.integers(0, 3),
    )
    return lists | fields.map(
        lambda found: {
            "type": "object",
            "properties": found,
            "required": [*found],
            "additionalProperties": False,
        }
    )


@settings(max_examples=150)
@given(
    schema=st.recursive(leaves(), objects, max_leaves=8),
    text=st.text(max_size=60) | st.just("Ada is 36 in Paris"),
)
def test_data_satisfy_their_schema(schema, text):
    value = filled(schema, UserWords(text))
    jsonschema.validate(json.loads(json.dumps(value)), schema)


@settings(max_examples=150)
@given(
    wire=st.sampled_from([*CHATS]),
    body=st.dictionaries(
        st.sampled_from(
            [
                "messages",
                "contents",
                "input",
                "tools",
                "tool_choice",
                "toolConfig",
                "response_format",
                "text",
                "format",
                "options",
            ]
        ),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=6),
            lambda x: (
                st.lists(x, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["type", "name", "function", "role", "content", "parts"]), x, max_size=3
                )
            ),
            max_leaves=9,
        ),
    ),
)
def test_a_request_of_any_shape_is_answered(wire, body):
    assert answer_of(Request(wire, "", body)).usage.input > 0


@EACH_WIRE
def test_the_total_of_the_last_results_is_known(chat, wire):
    @ec.tool
    def get_price(item: str) -> str:
        """Looks up the price of an item."""
        return {"Pen": "2.50 EUR", "Book": "12 EUR"}[item]

    talk = chat(wire)
    talk.register_tool(get_price)
    assert ask(talk, False, "What is the price of a Pen and a Book?") == "Pen: 2.50 EUR. Book: 12 EUR."
    assert ask(talk, False, "How much was that in total?") == "It was 14.5 in total."
