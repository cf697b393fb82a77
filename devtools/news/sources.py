"""The packages that are read for news: which of their files are about chats, and where their lists are.

The files of other APIs (fine-tuning, administration, voices, agents) are not read name by name. Their endpoints are, so a
new API is news, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["SOURCES", "Source"]


@dataclass(frozen=True)
class Source:
    """A package of the index.

    Args:
        package: Its name in the index.
        provider: The provider that it is about.
        reads: Patterns of the files whose fields, values and types are read.
        apart: Patterns of files that are not read although a pattern of `reads` matches.
        models: The files whose text constants are names of models.
        betas: The file whose text constants are names of beta features.
        version: The file and the constant with the API version.
        endpoints: Patterns of the files whose paths are endpoints.
        roots: Names of classes or operations. Only they and the types that they lead to are read; empty for all.
    """

    package: str
    provider: str
    reads: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    betas: str = ""
    version: tuple[str, str] | None = None
    endpoints: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()


_OF_OPENAI = (
    "openai/types/chat/*",
    "openai/types/responses/*",
    "openai/types/shared/*",
    "openai/types/shared_params/*",
)

SOURCES: tuple[Source, ...] = (
    Source(
        "anthropic",
        "anthropic",
        reads=("anthropic/types/*.py", "anthropic/types/beta/beta_*.py", "anthropic/types/beta/message_*.py"),
        apart=(
            *("anthropic/types/beta/*managed_agents*", "anthropic/types/beta/beta_webhook*"),
            *("anthropic/types/beta/beta_dream*", "anthropic/types/beta/beta_*user_profile*"),
            *("anthropic/types/beta/beta_*skill*", "anthropic/types/beta/beta_*tunnel*"),
            *("anthropic/types/beta/beta_organization*", "anthropic/types/beta/beta_*environment*"),
            *("anthropic/types/model*", "anthropic/types/anthropic_beta*", "anthropic/types/*user_profile*"),
            *("anthropic/types/*skill*", "anthropic/types/beta_*"),
        ),
        models=("anthropic/types/model_param.py",),
        betas="anthropic/types/anthropic_beta_param.py",
        version=("anthropic/_constants.py", "ANTHROPIC_API_VERSION"),
        endpoints=("anthropic/resources/**",),
    ),
    Source(
        "openai",
        "openai",
        reads=_OF_OPENAI,
        apart=("openai/types/shared/chat_model.py", "openai/types/shared/all_models.py"),
        models=("openai/types/shared/chat_model.py", "openai/types/shared/all_models.py"),
        endpoints=("openai/resources/**",),
    ),
    Source(
        "google-genai",
        "google",
        reads=("google/genai/types.py",),
        roots=("GenerateContentConfig", "GenerateContentResponse", "Content", "CountTokensResponse", "Model"),
        models=("google/genai/_interactions/types/model*.py", "google/genai/_gaos/types/**/model*.py"),
        version=("google/genai/_api_client.py", "GOOGLE_AI_API_DEFAULT_VERSION"),
        endpoints=(
            "google/genai/models.py",
            "google/genai/caches.py",
            "google/genai/files.py",
            "google/genai/batches.py",
        ),
    ),
    Source(
        "mistralai",
        "mistral",
        reads=(
            *("mistralai/client/models/chatcompletion*.py", "mistralai/client/models/completion*.py"),
            *("mistralai/client/models/*message.py", "mistralai/client/models/*urlchunk.py"),
            *("mistralai/client/models/t*chunk.py", "mistralai/client/models/filechunk.py"),
            *("mistralai/client/models/referencechunk.py", "mistralai/client/models/audiochunk.py"),
            *("mistralai/client/models/tool.py", "mistralai/client/models/toolc*.py"),
            *("mistralai/client/models/function*.py", "mistralai/client/models/responseformat*.py"),
        ),
        apart=(  # of conversations, voices, fine-tuning and the Responses API, which are other endpoints
            *("mistralai/client/models/function*e[nv]*.py", "mistralai/client/models/realtime*"),
            *("mistralai/client/models/responses*", "mistralai/client/models/completionf*"),
            *("mistralai/client/models/toolcallconf*", "mistralai/client/models/toolfile*"),
            *("mistralai/client/models/transcription*",),
        ),
        endpoints=("mistralai/client/*.py",),
    ),
    Source(
        "cohere",
        "cohere",
        reads=(
            "cohere/types/*chat*.py",
            "cohere/types/*message*.py",
            "cohere/types/*tool*.py",
            "cohere/types/*content*.py",
        ),
        endpoints=("cohere/raw_base_client.py", "cohere/v2/raw_client.py"),
    ),
    Source("ollama", "ollama", reads=("ollama/_types.py",), endpoints=("ollama/_client.py",)),
    Source(
        "groq",
        "groq",
        reads=("groq/types/chat/*", "groq/types/shared*/*"),
        models=("groq/types/chat/completion_create_params.py",),
        endpoints=("groq/resources/**",),
    ),
    Source(
        "xai-sdk",
        "xai",
        # Its messages are gRPC's. This project speaks xAI's HTTP API, which has OpenAI's formats.
        models=("xai_sdk/types/model.py",),
        endpoints=("xai_sdk/proto/v6/*_pb2_grpc.py",),
    ),
    Source(
        "botocore",
        "bedrock",
        reads=("botocore/data/bedrock-runtime/*/service-2.json.gz",),
        roots=("Converse", "ConverseStream", "CountTokens"),
    ),
    Source("genai-prices", "", models=("genai_prices/data.py",)),
)

#: The names of providers in the price table, and ours.
PRICED: Mapping[str, str] = {
    "anthropic": "anthropic",
    "openai": "openai",
    "google": "google",
    "mistral": "mistral",
    "cohere": "cohere",
    "groq": "groq",
    "x-ai": "xai",
    "deepseek": "deepseek",
    "aws": "bedrock",
}
