"""The SDKs of OpenAI, Anthropic and Google as clients in every mode, with their results."""

import asyncio
import json

import anthropic
import httpx2
import openai
from google import genai
from google.genai import types as google_types
from sdks.replies import TOOLS, Heard

from ellmer_conformance.scenarios.script import Usage


def run(coroutine):
    return asyncio.run(coroutine)


def completion(get):
    """Returns the completion, which the SDK's exception contains at a length stop."""
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
            "thinking": {"type": "adaptive", "display": "summarized"},
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
