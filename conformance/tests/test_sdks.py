"""The official SDKs against the strict server: a third author must read every reply, and raise its own errors."""

import asyncio
import itertools
import json
from dataclasses import dataclass

import anthropic
import httpx2
import openai
import pytest
from google import genai
from google.genai import errors as google_errors
from google.genai import types as google_types

from ellmer_conformance.scenarios.script import Answer, Call, Failure, Say, Script, Think, Usage
from ellmer_conformance.server import StrictServer
from ellmer_conformance.server.dialects.base import WRONG_KEY

PARIS, OSLO = Call("get_weather", {"city": "Pařiž 🗼"}), Call("get_weather", {"city": "Oslo", "days": [1, 2]})
ANSWERS = {
    "text": Answer((Say("Bonjour, 世界! 👩‍👩‍👧 All is well."),), usage=Usage(21, 13, 8)),
    "nothing": Answer((), usage=Usage(21, 0)),
    "thinking": Answer((Think("They greet me. I greet them."), Say("Hello.")), usage=Usage(21, 40, 0, 30)),
    "call": Answer((PARIS,), usage=Usage(60, 20)),
    "parallel": Answer((Say("Two cities."), PARIS, OSLO), usage=Usage(60, 44)),
    "no-arguments": Answer((Call("now"),)),
    "length": Answer((Say("Once upon a"),), stop="length", usage=Usage(9, 3)),
}
FAILURES = {kind: Failure(kind) for kind in ("overloaded", "server-error", "rate-limit", "context-length")}
MODES = ("sync", "async", "stream", "async-stream")
TOOLS = {
    "get_weather": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "now": {"type": "object", "properties": {}},
}


@dataclass
class Heard:
    """What an SDK made of a reply, in neutral words."""

    text: str
    thoughts: str
    calls: list
    stop: str
    usage: Usage


@pytest.fixture(scope="module")
def server():
    scripts = {name: Script((step,)) for name, step in (ANSWERS | FAILURES).items()}
    with StrictServer(scripts) as server:
        server.nonces = map(str, itertools.count())
        yield server


def run(coroutine):
    return asyncio.run(coroutine)


def completion(get):
    """The SDK raises at a length stop, with the completion in its hands."""
    try:
        return get()
    except openai.LengthFinishReasonError as error:
        return error.completion


# OpenAI ---------------------------------------------------------------------------------------------------


class OpenAIChat:
    model = "gpt-4.1"
    shows_thoughts = False

    def __init__(self, url, key="any-key"):
        self.options = {"base_url": f"{url}/v1", "api_key": key, "max_retries": 0}
        functions = [{"name": name, "parameters": schema} for name, schema in TOOLS.items()]
        self.body = {
            "model": self.model,
            "messages": [{"role": "user", "content": "Hello"}],
            "tools": [{"type": "function", "function": function} for function in functions],
        }

    def ask(self, mode):
        if mode == "sync":
            with openai.OpenAI(**self.options, http_client=httpx2.Client(verify=False)) as client:
                return client.chat.completions.create(**self.body)
        if mode == "stream":
            with (
                openai.OpenAI(**self.options, http_client=httpx2.Client(verify=False)) as client,
                client.chat.completions.stream(**self.body, stream_options={"include_usage": True}) as stream,
            ):
                return completion(stream.get_final_completion)
        return run(self.ask_async(streamed=mode == "async-stream"))

    async def ask_async(self, *, streamed):
        async with openai.AsyncOpenAI(**self.options, http_client=httpx2.AsyncClient(verify=False)) as client:
            if not streamed:
                return await client.chat.completions.create(**self.body)
            async with client.chat.completions.stream(
                **self.body, stream_options={"include_usage": True}
            ) as stream:
                try:
                    return await stream.get_final_completion()
                except openai.LengthFinishReasonError as error:
                    return error.completion

    def heard(self, reply):
        choice, usage = reply.choices[0], reply.usage
        calls = choice.message.tool_calls or []
        return Heard(
            choice.message.content or "",
            "",
            [(call.function.name, json.loads(call.function.arguments)) for call in calls],
            {"stop": "stop", "tool_calls": "tool", "length": "length"}[choice.finish_reason],
            Usage(
                usage.prompt_tokens,
                usage.completion_tokens,
                usage.prompt_tokens_details.cached_tokens,
                usage.completion_tokens_details.reasoning_tokens,
            ),
        )


class OpenAIResponses:
    model = "gpt-5.6-terra"
    shows_thoughts = True

    def __init__(self, url, key="any-key"):
        self.options = {"base_url": f"{url}/v1", "api_key": key, "max_retries": 0}
        self.body = {
            "model": self.model,
            "input": "Hello",
            "reasoning": {"summary": "auto"},
            "tools": [
                {"type": "function", "name": name, "parameters": schema, "strict": False}
                for name, schema in TOOLS.items()
            ],
        }

    def ask(self, mode):
        if mode == "sync":
            with openai.OpenAI(**self.options, http_client=httpx2.Client(verify=False)) as client:
                return client.responses.create(**self.body)
        if mode == "stream":
            with (
                openai.OpenAI(**self.options, http_client=httpx2.Client(verify=False)) as client,
                client.responses.stream(**self.body) as stream,
            ):
                return list(stream)[-1].response
        return run(self.ask_async(streamed=mode == "async-stream"))

    async def ask_async(self, *, streamed):
        async with openai.AsyncOpenAI(**self.options, http_client=httpx2.AsyncClient(verify=False)) as client:
            if not streamed:
                return await client.responses.create(**self.body)
            async with client.responses.stream(**self.body) as stream:
                return [event async for event in stream][-1].response

    def heard(self, reply):
        calls = [item for item in reply.output if item.type == "function_call"]
        reasoning = [item for item in reply.output if item.type == "reasoning"]
        assert all(item.encrypted_content for item in reasoning)
        stop = reply.incomplete_details.reason if reply.incomplete_details else "tool" if calls else "stop"
        return Heard(
            reply.output_text,
            "".join(part.text for item in reasoning for part in item.summary),
            [(call.name, json.loads(call.arguments)) for call in calls],
            "length" if stop == "max_output_tokens" else stop,
            Usage(
                reply.usage.input_tokens,
                reply.usage.output_tokens,
                reply.usage.input_tokens_details.cached_tokens,
                reply.usage.output_tokens_details.reasoning_tokens,
            ),
        )


# Anthropic ------------------------------------------------------------------------------------------------


class Anthropic:
    model = "claude-sonnet-5"
    shows_thoughts = True

    def __init__(self, url, key="any-key"):
        self.options = {"base_url": url, "api_key": key, "max_retries": 0}
        self.body = {
            "model": self.model,
            "max_tokens": 2048,
            "thinking": {"type": "adaptive"},
            "messages": [{"role": "user", "content": "Hello"}],
            "tools": [{"name": name, "input_schema": schema} for name, schema in TOOLS.items()],
        }

    def ask(self, mode):
        if mode == "sync":
            with anthropic.Anthropic(**self.options, http_client=httpx2.Client(verify=False)) as client:
                return client.messages.create(**self.body)
        if mode == "stream":
            with (
                anthropic.Anthropic(**self.options, http_client=httpx2.Client(verify=False)) as client,
                client.messages.stream(**self.body) as stream,
            ):
                return stream.get_final_message()
        return run(self.ask_async(streamed=mode == "async-stream"))

    async def ask_async(self, *, streamed):
        async with anthropic.AsyncAnthropic(
            **self.options, http_client=httpx2.AsyncClient(verify=False)
        ) as client:
            if not streamed:
                return await client.messages.create(**self.body)
            async with client.messages.stream(**self.body) as stream:
                return await stream.get_final_message()

    def heard(self, reply):
        blocks, usage = reply.content, reply.usage
        assert all(block.signature for block in blocks if block.type == "thinking")
        return Heard(
            "".join(block.text for block in blocks if block.type == "text"),
            "".join(block.thinking for block in blocks if block.type == "thinking"),
            [(block.name, block.input) for block in blocks if block.type == "tool_use"],
            {"end_turn": "stop", "tool_use": "tool", "max_tokens": "length"}[reply.stop_reason],
            Usage(
                usage.input_tokens + usage.cache_read_input_tokens,
                usage.output_tokens,
                usage.cache_read_input_tokens,
                usage.output_tokens_details.thinking_tokens,
            ),
        )


# Gemini ---------------------------------------------------------------------------------------------------


class Gemini:
    model = "gemini-3.5-flash"
    shows_thoughts = True

    def __init__(self, url, key="any-key"):
        plain = {"verify": False}  # loading certificates takes longer than the rest of a test
        http = {"base_url": url, "client_args": plain, "async_client_args": plain}
        self.options = {"api_key": key, "vertexai": False, "http_options": http}
        declarations = [
            google_types.FunctionDeclaration(name=name, parameters_json_schema=schema)
            for name, schema in TOOLS.items()
        ]
        config = google_types.GenerateContentConfig(
            tools=[google_types.Tool(function_declarations=declarations)],
            thinking_config=google_types.ThinkingConfig(include_thoughts=True),
            automatic_function_calling=google_types.AutomaticFunctionCallingConfig(disable=True),
        )
        self.arguments = {"model": self.model, "contents": "Hello", "config": config}

    def ask(self, mode):
        with genai.Client(**self.options) as client:
            if mode == "sync":
                return [client.models.generate_content(**self.arguments)]
            if mode == "stream":
                return list(client.models.generate_content_stream(**self.arguments))
        return run(self.ask_async(streamed=mode == "async-stream"))

    async def ask_async(self, *, streamed):
        async with genai.Client(**self.options).aio as client:
            if not streamed:
                return [await client.models.generate_content(**self.arguments)]
            return [chunk async for chunk in await client.models.generate_content_stream(**self.arguments)]

    def heard(self, chunks):
        candidates = [chunk.candidates[0] for chunk in chunks]
        parts = [part for candidate in candidates for part in candidate.content.parts or []]
        calls = [part for part in parts if part.function_call]
        assert not calls or (calls[0].thought_signature and all(part.function_call.id for part in calls))
        usage, finish = chunks[-1].usage_metadata, candidates[-1].finish_reason.value
        thoughts = usage.thoughts_token_count or 0
        return Heard(
            "".join(part.text for part in parts if part.text and not part.thought),
            "".join(part.text for part in parts if part.text and part.thought),
            [(part.function_call.name, part.function_call.args) for part in calls],
            "tool" if calls else {"STOP": "stop", "MAX_TOKENS": "length"}[finish],
            Usage(
                usage.prompt_token_count,
                usage.candidates_token_count + thoughts,
                usage.cached_content_token_count or 0,
                thoughts,
            ),
        )


SDKS = (OpenAIChat, OpenAIResponses, Anthropic, Gemini)


def expected(answer: Answer, *, shows_thoughts: bool) -> Heard:
    calls = [(part.name, dict(part.arguments)) for part in answer.parts if isinstance(part, Call)]
    return Heard(
        "".join(part.text for part in answer.parts if isinstance(part, Say)),
        "".join(part.text for part in answer.parts if isinstance(part, Think) and shows_thoughts),
        calls,
        answer.stop or ("tool" if calls else "stop"),
        answer.usage,
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", ANSWERS)
@pytest.mark.parametrize("sdk", SDKS)
def test_a_reply_is_read(server, sdk, case, mode):
    asked = sdk(server.url(case, next(server.nonces)))
    assert asked.heard(asked.ask(mode)) == expected(ANSWERS[case], shows_thoughts=sdk.shows_thoughts)


# errors ---------------------------------------------------------------------------------------------------


def raised(sdk, url, key="any-key"):
    """The error that an SDK raises, and its status."""
    with pytest.raises((openai.APIStatusError, anthropic.APIStatusError, google_errors.APIError)) as caught:
        sdk(url, key).ask("sync")
    error = caught.value
    return error, error.code if isinstance(error, google_errors.APIError) else error.status_code


@pytest.mark.parametrize(
    ("sdk", "kind", "status", "name"),
    [
        (OpenAIChat, "overloaded", 503, "InternalServerError"),
        (OpenAIChat, "server-error", 500, "InternalServerError"),
        (OpenAIChat, "rate-limit", 429, "RateLimitError"),
        (OpenAIChat, "context-length", 400, "BadRequestError"),
        (OpenAIResponses, "server-error", 500, "InternalServerError"),
        (OpenAIResponses, "rate-limit", 429, "RateLimitError"),
        (OpenAIResponses, "context-length", 400, "BadRequestError"),
        (Anthropic, "overloaded", 529, "OverloadedError"),
        (Anthropic, "server-error", 500, "InternalServerError"),
        (Anthropic, "rate-limit", 429, "RateLimitError"),
        (Anthropic, "context-length", 400, "BadRequestError"),
        (Gemini, "overloaded", 503, "ServerError"),
        (Gemini, "server-error", 500, "ServerError"),
        (Gemini, "rate-limit", 429, "ClientError"),
        (Gemini, "context-length", 400, "ClientError"),
    ],
)
def test_a_failure_is_the_sdks_own_error(server, sdk, kind, status, name):
    error, found = raised(sdk, server.url(kind, next(server.nonces)))
    assert (found, type(error).__name__) == (status, name)


@pytest.mark.parametrize(
    ("sdk", "status", "name"),
    [
        (OpenAIChat, 401, "AuthenticationError"),
        (OpenAIResponses, 401, "AuthenticationError"),
        (Anthropic, 401, "AuthenticationError"),
        (Gemini, 400, "ClientError"),  # as recorded: API_KEY_INVALID is a 400
    ],
)
def test_a_wrong_key_is_refused(server, sdk, status, name):
    error, found = raised(sdk, server.url("text", next(server.nonces)), WRONG_KEY)
    assert (found, type(error).__name__) == (status, name)


@pytest.mark.parametrize("sdk", SDKS)
def test_an_unknown_case_is_not_found(server, sdk):
    error, found = raised(sdk, server.url("tetx", next(server.nonces)))
    assert found == 404
    assert "There is no case 'tetx' here. The cases are: any, call," in str(error)


USER = {"role": "user", "content": "Hello"}
ORPHANS = {  # a result that answers no call, in each format; and what the provider says to it
    OpenAIChat: (
        {"messages": [USER, {"role": "tool", "tool_call_id": "call_1", "content": "5"}]},
        "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'",
    ),
    OpenAIResponses: (
        {"input": [USER, {"type": "function_call_output", "call_id": "call_1", "output": "5"}]},
        "No tool call found for function call output with call_id call_1.",
    ),
    Anthropic: (
        {
            "messages": [
                USER,
                {"role": "assistant", "content": "Yes?"},
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "5"}],
                },
            ]
        },
        "unexpected `tool_use_id` found in `tool_result` blocks: toolu_1",
    ),
    Gemini: (
        {"contents": [google_types.Part.from_function_response(name="now", response={"output": "5"})]},
        "Please ensure that function response turn comes immediately after a function call turn.",
    ),
}


@pytest.mark.parametrize("sdk", SDKS)
def test_a_misordered_request_is_the_sdks_own_error(server, sdk):
    changed, message = ORPHANS[sdk]
    asked = sdk(server.url("text", next(server.nonces)))
    (asked.arguments if sdk is Gemini else asked.body).update(changed)
    with pytest.raises(
        (openai.BadRequestError, anthropic.BadRequestError, google_errors.ClientError)
    ) as caught:
        asked.ask("sync")
    assert message in str(caught.value)
