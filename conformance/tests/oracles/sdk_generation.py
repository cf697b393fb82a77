"""Asks a server with the installed SDK, whatever its generation: `python sdk_generation.py anthropic URL` prints the
status of each request, and the headers that say what the SDK sends, as JSON. It runs in an environment of its own.
"""

import json
import sys

ASK = [{"role": "user", "content": "Hi."}]
WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}}
#: A document of the model's, which version 2026-10-21 no longer takes.
DOCUMENT = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "It rains."}}
#: A place of that document, which a user's text may cite before that version only.
CITED = {"type": "char_location", "cited_text": "It", "document_index": 0, "document_title": "Weather"}
CITED |= {"start_char_index": 0, "end_char_index": 2}

MESSAGES = {
    "plain": {"model": "claude-opus-4-5", "messages": ASK},
    "sampled": {"model": "claude-opus-4-5", "messages": ASK, "temperature": 0.5},
    "sampled, newest model": {"model": "claude-opus-5-5", "messages": ASK, "temperature": 0.5},
    "document of the model": {
        "model": "claude-opus-4-5",
        "messages": [*ASK, {"role": "assistant", "content": [DOCUMENT]}, *ASK],
    },
    "citations on a user's text": {
        "model": "claude-opus-4-5",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi.", "citations": [CITED]}]}],
    },
    "result without a call": {
        "model": "claude-opus-4-5",
        "messages": [
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "1"}]}
        ],
    },
}

_CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
_TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}}
CHATS = {
    "plain": {"model": "gpt-4.1", "messages": ASK},
    "a round of tools": {
        "model": "gpt-4.1",
        "tools": [_TOOL],
        "messages": [
            *ASK,
            {"role": "assistant", "content": None, "tool_calls": [_CALL]},
            {"role": "tool", "tool_call_id": "call_1", "content": "21 C"},
        ],
    },
    "result without a call": {
        "model": "gpt-4.1",
        "messages": [*ASK, {"role": "tool", "tool_call_id": "call_1", "content": "21 C"}],
    },
    "sampled, always thinking": {"model": "gpt-6-astra", "messages": ASK, "temperature": 0.5},
    "tools, always thinking": {"model": "gpt-6.1-sol", "messages": ASK, "tools": [_TOOL]},
}
RESPONSES = {
    "response": {"model": "gpt-6.1-terra", "input": "Hi.", "reasoning": {"effort": "none"}},
    "response, tools": {
        "model": "gpt-6.1-sol",
        "input": "Hi.",
        "tools": [{**_TOOL["function"], "type": "function"}],
    },
    "response, result without a call": {
        "model": "gpt-6.1-sol",
        "input": [{"type": "function_call_output", "call_id": "call_1", "output": "21 C"}],
    },
    "response, unknown effort": {"model": "gpt-6-astra", "input": "Hi.", "reasoning": {"effort": "none"}},
}


def status(ask):
    """Returns the HTTP status of a request."""
    try:
        ask()
    except Exception as error:
        if not hasattr(error, "status_code"):
            raise
        return error.status_code
    return 200


def sends(client):
    """Returns the version that a client names, and the headers that have its key."""
    headers = {
        name.lower(): value for name, value in {**client.default_headers, **client.auth_headers}.items()
    }
    keys = [name for name in ("authorization", "x-api-key") if isinstance(headers.get(name), str)]
    return {"version": headers.get("anthropic-version", ""), "keys": keys}


def of_anthropic(url):
    from anthropic import Anthropic

    client = Anthropic(base_url=url, api_key="any-key", max_retries=0)
    found = {
        name: status(
            lambda body=body: client.messages.create(
                model=body["model"],
                messages=body["messages"],
                max_tokens=100,
                extra_body={"temperature": body["temperature"]} if "temperature" in body else None,
            )
        )
        for name, body in MESSAGES.items()
    }
    return {**sends(client), "found": found}


def of_openai(url):
    from openai import OpenAI

    client = OpenAI(base_url=f"{url}/v1", api_key="any-key", max_retries=0)
    found = {
        name: status(lambda body=body: client.chat.completions.create(**body)) for name, body in CHATS.items()
    }
    found |= {
        name: status(lambda body=body: client.responses.create(**body)) for name, body in RESPONSES.items()
    }
    return {**sends(client), "found": found}


if __name__ == "__main__":
    print(json.dumps({"anthropic": of_anthropic, "openai": of_openai}[sys.argv[1]](sys.argv[2])))  # noqa: T201
