"""botocore and the SDKs of Ollama, Mistral and Cohere: each raises its own errors, in a stream, too."""

import cohere
import httpx
import ollama
import pytest
from botocore.exceptions import EventStreamError
from sdks.clients_of_other_formats import SDKS, Bedrock, Cohere, Mistral, Ollama
from sdks.replies import ANSWERS, FAILURES, serving

from ellmer_conformance.scenarios.script import Answer, Failure, Say
from ellmer_conformance.server.chat_apis.base import WRONG_KEY

BROKEN = {"broken": Failure("overloaded", after=Answer((Say("One moment, please."),)))}


@pytest.fixture(scope="module")
def server():
    with serving(ANSWERS | FAILURES | BROKEN) as server:
        yield server


def raised(sdk, url, *key):
    """Returns the status and the name of the error that an SDK raises."""
    with pytest.raises(sdk.errors) as caught:
        sdk(url, *key).ask("sync")
    return sdk.status(caught.value), str(caught.value)


@pytest.mark.parametrize(
    ("sdk", "kind", "status", "name"),
    [
        (Bedrock, "overloaded", 503, "ServiceUnavailableException"),
        (Bedrock, "server-error", 500, "InternalServerException"),
        (Bedrock, "rate-limit", 429, "ThrottlingException"),
        (Ollama, "overloaded", 503, "server busy, please try again.  maximum pending requests exceeded"),
        (Ollama, "server-error", 500, "llama runner process has terminated: exit status 2"),
        (Mistral, "server-error", 500, "internal_server_error"),
        (Mistral, "rate-limit", 429, None),
        (Cohere, "overloaded", 503, "ServiceUnavailableError"),
        (Cohere, "server-error", 500, "InternalServerError"),
        (Cohere, "rate-limit", 429, "TooManyRequestsError"),
    ],
)
def test_a_failure_is_the_sdks_own_error(server, sdk, kind, status, name):
    found, _ = raised(sdk, server.url(kind, next(server.nonces)))
    assert found == (status, name)


@pytest.mark.parametrize(
    ("sdk", "status", "name"),
    [
        (Bedrock, 403, "UnrecognizedClientException"),
        (Ollama, 401, "unauthorized"),
        (Mistral, 401, None),
        (Cohere, 401, "UnauthorizedError"),
    ],
)
def test_a_wrong_key_is_refused(server, sdk, status, name):
    found, _ = raised(sdk, server.url("text", next(server.nonces)), WRONG_KEY)
    assert found == (status, name)


@pytest.mark.parametrize("sdk", SDKS)
def test_an_unknown_case_is_not_found(server, sdk):
    (status, _), text = raised(sdk, server.url("tetx", next(server.nonces)))
    assert status == 404
    assert "There is no case 'tetx' here. Did you mean 'text'? The cases are: any, broken," in text


def test_botocore_raises_an_exception_in_the_stream(server):
    with pytest.raises(EventStreamError, match=r"serviceUnavailableException.*capacity limit"):
        Bedrock(server.url("broken", next(server.nonces))).ask("stream")


def test_ollama_raises_an_error_in_the_stream(server):
    with pytest.raises(ollama.ResponseError, match="server busy"):
        Ollama(server.url("broken", next(server.nonces))).ask("stream")


def test_cohere_is_told_of_an_error_in_the_stream(server):
    with httpx.Client(verify=False) as http:
        asked = Cohere(server.url("broken", next(server.nonces)))
        client = cohere.ClientV2(**asked.options, httpx_client=http)
        last = list(client.chat_stream(**asked.body))[-1]
    assert (last.delta.finish_reason, last.delta.error) == (
        "ERROR",
        "the service is unavailable, please try again later",
    )
