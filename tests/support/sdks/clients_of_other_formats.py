"""botocore and the SDKs of Ollama, Mistral and Cohere as clients, as in `clients.py`."""

import asyncio
import json
from contextlib import closing

import boto3
import cohere
import httpx
import ollama
from botocore.config import Config
from botocore.exceptions import ClientError
from cohere.core import ApiError
from mistralai.client import Mistral as MistralClient
from mistralai.client.errors import SDKError
from sdks.replies import TOOLS, Heard

from ellmer_conformance.scenarios.script import Usage

FUNCTIONS = [
    {"type": "function", "function": {"name": name, "description": name, "parameters": schema}}
    for name, schema in TOOLS.items()
]
HELLO = [{"role": "user", "content": "Hello"}]
ALL, BLOCKING = ("sync", "async", "stream", "async-stream"), ("sync", "stream")


class Bedrock:
    """A client of botocore, which signs its requests, reads the binary stream and checks its checksums."""

    modes = BLOCKING
    errors = ClientError

    def __init__(self, url, key="AKIAIOSFODNN7EXAMPLE"):
        self.options = {
            "region_name": "us-east-1",
            "endpoint_url": url,
            "aws_access_key_id": key,
            "aws_secret_access_key": "secret",
            "config": Config(retries={"total_max_attempts": 1}),
        }
        specs = [
            {"toolSpec": {"name": name, "inputSchema": {"json": schema}}} for name, schema in TOOLS.items()
        ]
        self.body = {
            "modelId": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "messages": [{"role": "user", "content": [{"text": "Hello"}]}],
            "toolConfig": {"tools": specs},
            "additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 1024}},
        }

    def ask(self, mode):
        with closing(boto3.client("bedrock-runtime", **self.options)) as client:
            if mode == "stream":
                with closing(client.converse_stream(**self.body)["stream"]) as events:
                    return self.joined(events)
            reply = client.converse(**self.body)
            return reply["output"]["message"]["content"], reply["stopReason"], reply["usage"]

    def joined(self, events):
        blocks, ending = {}, {}
        for event in events:
            ((kind, value),) = event.items()
            if kind in {"messageStop", "metadata"}:
                ending |= value
            elif kind == "contentBlockStart":
                blocks[value["contentBlockIndex"]] = {"toolUse": {**value["start"]["toolUse"], "input": ""}}
            elif kind == "contentBlockDelta":
                add(blocks.setdefault(value["contentBlockIndex"], {}), value["delta"])
        for block in blocks.values():
            if "toolUse" in block:
                block["toolUse"]["input"] = json.loads(block["toolUse"]["input"])
        return [whole(blocks[index]) for index in sorted(blocks)], ending["stopReason"], ending["usage"]

    def heard(self, reply):
        blocks, stop, usage = reply
        thoughts = [
            block["reasoningContent"]["reasoningText"] for block in blocks if "reasoningContent" in block
        ]
        calls = [block["toolUse"] for block in blocks if "toolUse" in block]
        assert all(thought["signature"] for thought in thoughts)
        assert all(call["toolUseId"].startswith("tooluse_") for call in calls)
        cached = usage.get("cacheReadInputTokens", 0)
        return Heard(
            "".join(block.get("text", "") for block in blocks),
            "".join(thought["text"] for thought in thoughts),
            [(call["name"], call["input"]) for call in calls],
            {"end_turn": "stop", "tool_use": "tool", "max_tokens": "length"}[stop],
            Usage(usage["inputTokens"] + cached, usage["outputTokens"], cached),
        )

    @staticmethod
    def status(error):
        return error.response["ResponseMetadata"]["HTTPStatusCode"], error.response["Error"]["Code"]


def add(block, delta):
    """Adds a delta to a block of the same shape. Texts are joined."""
    for key, value in delta.items():
        if isinstance(value, dict):
            add(block.setdefault(key, {}), value)
        else:
            block[key] = block.get(key, "") + value


def whole(block):
    """Returns a block as it is without a stream."""
    if "reasoningContent" in block:
        return {"reasoningContent": {"reasoningText": block["reasoningContent"]}}
    return block


class Ollama:
    modes = ALL
    errors = ollama.ResponseError

    def __init__(self, url, key="any-key"):
        self.options = {"host": url, "headers": {"authorization": f"Bearer {key}"}, "verify": False}
        self.body = {"model": "qwen3:4b", "messages": HELLO, "tools": FUNCTIONS}

    def ask(self, mode):
        if mode.startswith("async"):
            return asyncio.run(self.ask_async(streamed=mode == "async-stream"))
        with ollama.Client(**self.options) as client:
            if mode == "sync":
                return [client.chat(**self.body)]
            return list(client.chat(**self.body, stream=True))

    async def ask_async(self, *, streamed):
        async with ollama.AsyncClient(**self.options) as client:
            if not streamed:
                return [await client.chat(**self.body)]
            return [line async for line in await client.chat(**self.body, stream=True)]

    def heard(self, lines):
        messages, last = [line.message for line in lines], lines[-1]
        calls = [call.function for message in messages for call in message.tool_calls or []]
        assert [line.done for line in lines] == [False] * (len(lines) - 1) + [True]
        return Heard(
            "".join(message.content or "" for message in messages),
            "".join(message.thinking or "" for message in messages),
            [(call.name, dict(call.arguments)) for call in calls],
            "tool" if calls else last.done_reason,
            Usage(last.prompt_eval_count, last.eval_count),
        )

    @staticmethod
    def status(error):
        return error.status_code, error.error


class Mistral:
    modes = ALL
    errors = SDKError

    def __init__(self, url, key="any-key"):
        self.options = {"api_key": key, "server_url": url}
        self.body = {
            "model": "mistral-small-latest",
            "messages": HELLO,
            "tools": FUNCTIONS,
            "reasoning_effort": "high",
            "http_headers": {"x-forwarded-host": "api.mistral.ai"},  # else the path says OpenAI
        }

    def ask(self, mode):
        if mode.startswith("async"):
            return asyncio.run(self.ask_async(streamed=mode == "async-stream"))
        with httpx.Client(verify=False) as http, MistralClient(**self.options, client=http) as client:
            if mode == "sync":
                return self.whole(client.chat.complete(**self.body))
            with client.chat.stream(**self.body) as stream:
                return self.joined(list(stream))

    async def ask_async(self, *, streamed):
        async with (
            httpx.AsyncClient(verify=False) as http,
            MistralClient(**self.options, async_client=http) as client,
        ):
            if not streamed:
                return self.whole(await client.chat.complete_async(**self.body))
            async with await client.chat.stream_async(**self.body) as stream:
                return self.joined([event async for event in stream])

    def whole(self, reply):
        choice = reply.choices[0]
        return [choice.message.content], choice.message.tool_calls or [], choice.finish_reason, reply.usage

    def joined(self, events):
        choices = [event.data.choices[0] for event in events]
        calls = [call for choice in choices for call in choice.delta.tool_calls or []]
        return [c.delta.content for c in choices], calls, choices[-1].finish_reason, events[-1].data.usage

    def heard(self, reply):
        contents, calls, stop, usage = reply
        parts = [part for content in contents if isinstance(content, list) for part in content]
        texts = [part.text if part.type == "text" else "" for part in parts]
        thoughts = [piece.text for part in parts if part.type == "thinking" for piece in part.thinking]
        assert all(len(call.id) == 9 for call in calls)
        return Heard(
            "".join([*texts, *(content for content in contents if isinstance(content, str))]),
            "".join(thoughts),
            [(call.function.name, json.loads(call.function.arguments)) for call in calls],
            {"stop": "stop", "tool_calls": "tool", "length": "length"}[stop],
            Usage(usage.prompt_tokens, usage.completion_tokens, usage.prompt_tokens_details["cached_tokens"]),
        )

    @staticmethod
    def status(error):
        return error.status_code, json.loads(error.body).get("type")


class Cohere:
    modes = ALL
    errors = ApiError

    def __init__(self, url, key="any-key"):
        self.options = {"api_key": key, "base_url": url}
        self.body = {
            "model": "command-a-reasoning-08-2025",
            "messages": HELLO,
            "tools": FUNCTIONS,
            "request_options": {"max_retries": 0},
        }

    def ask(self, mode):
        if mode.startswith("async"):
            return asyncio.run(self.ask_async(streamed=mode == "async-stream"))
        with httpx.Client(verify=False) as http:
            client = cohere.ClientV2(**self.options, httpx_client=http)
            if mode == "sync":
                return self.whole(client.chat(**self.body))
            return self.joined(list(client.chat_stream(**self.body)))

    async def ask_async(self, *, streamed):
        async with httpx.AsyncClient(verify=False) as http:
            client = cohere.AsyncClientV2(**self.options, httpx_client=http)
            if not streamed:
                return self.whole(await client.chat(**self.body))
            return self.joined([event async for event in client.chat_stream(**self.body)])

    def whole(self, reply):
        message = reply.message
        calls = [(call.function.name, call.function.arguments) for call in message.tool_calls or []]
        texts = [message.tool_plan or "", *(p.text for p in message.content or [] if p.type == "text")]
        thoughts = [part.thinking for part in message.content or [] if part.type == "thinking"]
        return texts, thoughts, calls, reply.finish_reason, reply.usage

    def joined(self, events):
        texts, thoughts, names, arguments = [], [], {}, {}
        for event in events:
            match event.type:
                case "content-delta":
                    content = event.delta.message.content
                    texts.append(content.text or "")
                    thoughts.append(content.thinking or "")
                case "tool-plan-delta":
                    texts.append(event.delta.message.tool_plan)
                case "tool-call-start":
                    names[event.index] = event.delta.message.tool_calls.function.name
                case "tool-call-delta":
                    piece = event.delta.message.tool_calls.function.arguments
                    arguments[event.index] = arguments.get(event.index, "") + piece
        calls = [(name, arguments[index]) for index, name in names.items()]
        return texts, thoughts, calls, events[-1].delta.finish_reason, events[-1].delta.usage

    def heard(self, reply):
        texts, thoughts, calls, stop, usage = reply
        return Heard(
            "".join(texts),
            "".join(thoughts),
            [(name, json.loads(arguments)) for name, arguments in calls],
            {"COMPLETE": "stop", "TOOL_CALL": "tool", "MAX_TOKENS": "length"}[stop],
            Usage(int(usage.tokens.input_tokens), int(usage.tokens.output_tokens), int(usage.cached_tokens)),
        )

    @staticmethod
    def status(error):
        return error.status_code, type(error).__name__


SDKS = (Bedrock, Ollama, Mistral, Cohere)
