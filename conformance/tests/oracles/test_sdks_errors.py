"""The official SDKs against the strict server: each raises its own errors."""

import anthropic
import openai
import pytest
from google.genai import errors as google_errors
from google.genai import types as google_types
from sdks.clients import SDKS, Anthropic, Gemini, OpenAIChat, OpenAIResponses
from sdks.replies import ANSWERS, FAILURES, serving

from ellmer_conformance.server.chat_apis.base import WRONG_KEY


@pytest.fixture(scope="module")
def server():
    with serving(ANSWERS | FAILURES) as server:
        yield server


def raised(sdk, url, key="any-key"):
    """Returns the error that an SDK raises, and its status."""
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
    assert "There is no case 'tetx' here. Did you mean 'text'? The cases are: any, call," in str(error)


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
